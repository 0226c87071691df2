"""Build hook: the README as a package index shows it, without pictures and links into the repository."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"<picture>.*?</picture>\n|^!\[[^]]*\]\((?!https?:)[^)]*\)\n", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?!https?:|#)[^)]*\)")


class CustomMetadataHook(MetadataHookInterface):
    """Sets the long description."""

    def update(self, metadata: dict) -> None:
        """Take the README without what leads nowhere on an index."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": _LINK.sub(r"\1", _PICTURE.sub("", text))}
