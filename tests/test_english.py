"""The language of the product: phrases that once made it read like a translation do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BANNED = {
    r"\b(to|of|for) who\b": "anyone who",
    r"\bstrangers?\b": "untrusted, third-party",
    r"\bis no \w+ of\b": "say what it is",
    r"\bcannot be told\b|\btold apart\b": "inconclusive; not significantly different",
    r"\banybody's\b": "any",
    r"\bone's own\b": "your own",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\b(not_?)?judg(e|es|ed|ing)\b": "analyse, classify",
    r"\bsmall voltage change": "rapid voltage change",
    r"\bgreatest\b": "maximum, largest",
    r"\bof others\b": "third-party, other",
    r"\bso many\b": "that many",
    r"\bbent by hand\b": "reshaped",
    r"\bpaper in small\b": "a small version of the paper",
}
SUFFIXES = (".py", ".md", ".rst", ".js", ".html", ".jinja", ".toml", ".css", ".cu")
FOLDERS = ("src", "docs", "examples", "benchmarks", "research")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "pyproject.toml")


def texts():
    yield from (ROOT / name for name in PAGES)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            generated = {"_build", "auto_examples", "generated", "__pycache__"} & set(path.parts)
            if path.suffix in SUFFIXES and not generated:
                yield path


def read_text(path):
    """The text of a file, without the map of earlier names, which quotes them."""
    return path.read_text(encoding="utf-8").partition("### Renamed")[0]


# One expression for all: the texts are long.
ANY = re.compile("|".join(f"(?:{phrase})" for phrase in BANNED).replace(" ", r"[\s#*]+"))


def banned_places(text):
    """Line numbers of banned phrases, also where a line break splits them, with what to write instead."""
    for match in ANY.finditer(text.lower()):
        instead = next(word for phrase, word in BANNED.items() if re.search(phrase, re.sub(r"[\s#*]+", " ", match[0])))
        yield f"{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}; write: {instead}"


def test_no_banned_phrase():
    assert not [f"{path.relative_to(ROOT)}:{place}" for path in texts() for place in banned_places(read_text(path))]


@pytest.mark.parametrize("phrase", ["so MANY", "cannot be\n    # told", "judged"])
def test_a_phrase_is_found_in_any_case_and_across_lines(phrase):
    (place,) = banned_places(f"it\n{phrase}")
    assert place.startswith("2: ")
