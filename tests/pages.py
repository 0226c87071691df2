"""What an HTML page holds."""

from html.parser import HTMLParser

_EMPTY = ("br", "hr", "img", "input", "link", "meta")


class Page(HTMLParser):
    """Tags with their attributes, texts, scripts and JSON of a page; what is not nested, or given twice, is a fault."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.scripts, self.data, self.faults = [], [], [], [], []
        self._open = []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self._open]

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag == "script":
            self._kept = self.data if dict(attrs).get("type") == "application/json" else self.scripts
            self._kept.append("")
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if len(attrs) > len(dict(attrs)):
            self.faults.append(f"<{tag}> has an attribute twice")

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes no <{tag}>")

    def handle_data(self, data):
        inside = self._open[-1] if self._open else ""
        if inside == "script":
            self._kept[-1] += data
        elif inside != "style":
            self.texts.append(data)

    def of(self, tag, **wanted):
        """The attributes of each tag that has the wanted ones."""
        return [attrs for name, attrs in self.tags if name == tag and wanted.items() <= attrs.items()]

    @property
    def text(self):
        return " ".join(" ".join(self.texts).replace("\u00a0", " ").split())
