"""Everything written about a recording must be harmless: on a terminal, in a browser, to a parser."""

import base64
import csv
import hashlib
import io
import json
import re
import unicodedata
from xml.etree import ElementTree

from tests.pages import Page

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


def check_html(text, where):
    """A page runs only scripts whose digests its policy lists, and loads nothing."""
    text.encode("utf-8")
    page = Page(text)
    faults = [fault for fault in page.faults if fault.endswith("twice")]
    for tag, attributes in page.tags:
        faults += [f"<{tag}>"] * (tag in ACTIVE)
        for name, value in attributes.items():
            is_act = name.startswith("on") or name in ("srcdoc", "formaction", "ping")
            is_link = name in ("href", "src", "xlink:href", "action", "data", "poster", "srcset")
            if is_act or (is_link and not LINKS.match(value or "")):
                faults.append(f"{name}={value!r:.80}")
    require(not faults, f"{where}: {faults[:3]}")
    policies = [given["content"] for given in page.of("meta", **{"http-equiv": "Content-Security-Policy"})]
    digests = re.findall(r"'sha256-([^']+)'", "".join(policies))
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
