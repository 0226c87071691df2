"""Everything written about a recording must be harmless: on a terminal, in a browser, to a parser."""

import base64
import csv
import hashlib
import io
import json
import re
import unicodedata
from html.parser import HTMLParser
from xml.etree import ElementTree

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
ACTIVE = {"iframe", "object", "embed", "base", "form", "applet", "frame", "foreignobject", "animate", "set", "image"}
STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Kinds of characters: controls, marks of direction and width, halves of surrogates, ends of lines and paragraphs."""

LINKS = re.compile(r"#|data:|https://|http://www\.w3\.org/")


class Finding(Exception):
    """A fault."""


def require(condition, sentence):
    """Raise a finding unless a condition holds."""
    if not condition:
        raise Finding(sentence)


def check_terminal(text, where, longest=20_000):
    """Text for a terminal has no control characters and is not too long."""
    bad = sorted({letter for letter in set(text) if unicodedata.category(letter) in STEERING and letter != "\n"})
    require(not bad, f"{where}: control characters {bad[:5]} in {text[:200]!r}")
    require(len(text) <= longest, f"{where}: {len(text)} characters of text")


def check_json(text, where):
    """Strict JSON, which has no NaN."""

    def refuse(name):
        raise Finding(f"{where}: {name} in JSON")

    try:
        text.encode("utf-8")
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Finding(f"{where}: no JSON: {error}") from error


def check_csv(text, where):
    """All rows have the same length, and no cell is a formula."""
    text.encode("utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    require(len({len(row) for row in rows}) == 1, f"{where}: rows of several lengths")
    for cell in {cell for row in rows for cell in row}:
        if cell.startswith(FORMULAS) and not re.fullmatch(r"-?[\d.e+-]+", cell):
            raise Finding(f"{where}: a cell is a formula: {cell[:80]!r}")


class _Page(HTMLParser):
    """Collects scripts, handlers and links of a page."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.faults, self.scripts, self.policy, self.open = [], [], "", None

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in ACTIVE:
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name in ("srcdoc", "formaction", "ping"):
                self.faults.append(f"{name}={value!r:.80}")
            if name in ("href", "src", "xlink:href", "action", "data") and not LINKS.match(value or ""):
                self.faults.append(f"{name}={value!r:.80}")
        if tag == "meta" and given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if tag == "script" and given.get("type") != "application/json":
            self.scripts.append("")
            self.open = self.scripts
        elif tag == "script":
            self.open = []

    def handle_endtag(self, tag):
        if tag == "script":
            self.open = None

    def handle_data(self, data):
        if self.open:
            self.open[-1] += data


def check_html(text, where):
    """A page runs only scripts whose digests its policy lists, and loads nothing."""
    text.encode("utf-8")
    page = _Page()
    page.feed(text)
    page.close()
    require(not page.faults, f"{where}: {page.faults[:3]}")
    digests = re.findall(r"'sha256-([^']+)'", page.policy)
    found = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in page.scripts]
    require(found == digests, f"{where}: {len(found)} scripts, {len(digests)} in the policy, or other ones")


def check_svg(text, where):
    """A picture is well-formed XML without scripts."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise Finding(f"{where}: no XML: {error}") from error
    for element in root.iter():
        tag = str(element.tag).rsplit("}", 1)[-1].lower()
        require(tag != "script" and tag not in ACTIVE - {"image"}, f"{where}: <{tag}>")
        for name, value in element.attrib.items():
            short = name.rsplit("}", 1)[-1].lower()
            require(not short.startswith("on"), f"{where}: {short}={value[:80]!r}")
            require(short != "href" or LINKS.match(value), f"{where}: {short}={value[:80]!r}")
