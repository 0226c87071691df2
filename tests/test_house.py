"""The source: weight, plain lines, no shadowed modules, packages that can be imported alone, plain English."""

import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pqswarm
from tests.weights import RECORD, weigh_packages

ROOT = Path(__file__).parents[1]
SKIP = "# fmt" + ": skip"
PACKAGES = ["pqswarm", *(m.name for m in pkgutil.walk_packages(pqswarm.__path__, "pqswarm.") if m.ispkg)]


def test_no_package_outgrows_its_recorded_weight():
    """If one must grow, run ``python -m tests.weights`` and say why in the commit."""
    recorded = tomllib.loads(RECORD.read_text(encoding="utf-8"))
    weights = weigh_packages()
    assert set(weights) == set(recorded)
    grown = {
        package: {unit: (number, recorded[package][unit]) for unit, number in weight.items()}
        for package, weight in weights.items()
        if any(number > recorded[package][unit] for unit, number in weight.items())
    }
    assert not grown


def test_lines_are_plain():
    """No line starts with ``*(`` to defeat the formatter, which is switched off for at most ten matrices."""
    packed, skipped = [], []
    for folder in ("src", "tests", "benchmarks", "research", "examples", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if folder == "src" and line.lstrip().startswith("*("):
                    packed.append(f"{path}:{number}")
                if line.endswith(SKIP):
                    skipped.append(f"{path}:{number}")
    assert not packed
    assert len(skipped) <= 10, skipped


@pytest.mark.parametrize("name", PACKAGES)
def test_no_module_is_hidden_by_what_its_package_exports(name):
    package = importlib.import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    hidden = {
        export
        for export in modules & set(getattr(package, "__all__", ()))
        if getattr(package, export) is not sys.modules.get(f"{name}.{export}")
    }
    assert not hidden


def test_figures_of_recordings_and_the_style_of_figures_need_no_study():
    """`identify --pdf` must not need the dependencies of studies."""
    program = "import pqswarm.report.style, pqswarm.identify.show.figures, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "pqswarm.report.style" in loaded
    assert not [name for name in loaded if name.startswith("pqswarm.study")]


BANNED = {
    r"\b(to|of|for) who\b": "anyone who",
    r"\bstrangers?\b": "untrusted, third-party",
    r"\bis no \w+ of\b": "say what it is",
    r"\bcannot be told\b|\btold apart\b": "inconclusive; not significantly different",
    r"\banybody's\b": "any",
    r"\bone's own\b": "your own",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\b(not_?)?judg(e|es|ed|ing)\b": "analyze, classify",
    r"\bsmall voltage change": "rapid voltage change",
    r"\bgreatest\b": "maximum, largest",
    r"\bof others\b": "third-party, other",
    r"\bso many\b": "that many",
    r"\bbent by hand\b": "reshaped",
    r"\bpaper in small\b": "a small version of the paper",
}
BANNED_ON_PAGES = {
    r"\bspeaks? against\b": "limitations",
    r"\bchance has its part\b": "within run-to-run variation",
    r"\bof ours\b": "our",
    r"\bwritten down\b": "fixed",
    r"\brooms\b": "tabs, sections",
    r"\btold\b": "reported, given",
    r"\b(no|some)body\b": "no one; a user",
    r"\bfast road\b": "exact evaluator",
    r"\bin one sentence\b": "with a clear error message",
    r"\bon a busy machine\b": "leave it out",
    r"\bwhich search for me\b": "choose an algorithm",
    r"\bwithout typing\b": "in a browser",
    r"\bpaper is silent\b": "choices the paper leaves open",
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


def any_of(phrases):
    """One expression for all phrases: the texts are long."""
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases).replace(" ", r"[\s#*]+"))


ANY = any_of(BANNED)
ANY_ON_PAGES = any_of(BANNED_ON_PAGES)


def banned_places(text, expression=ANY):
    """Line numbers of banned phrases, also where a line break splits them, with what to write instead."""
    for match in expression.finditer(text.lower()):
        words = re.sub(r"[\s#*]+", " ", match[0])
        instead = next(word for phrase, word in {**BANNED, **BANNED_ON_PAGES}.items() if re.search(phrase, words))
        yield f"{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}; write: {instead}"


def test_no_banned_phrase():
    found = [
        f"{path.relative_to(ROOT)}:{place}"
        for path in texts()
        for place in banned_places(path.read_text(encoding="utf-8"))
    ]
    assert not found


def test_no_banned_phrase_on_pages():
    """Pages say what is: they neither argue nor use private words."""
    found = [
        f"{path.relative_to(ROOT)}:{place}"
        for path in texts()
        if path.suffix in (".md", ".rst") and path.parts[len(ROOT.parts)] != "src"
        for place in banned_places(path.read_text(encoding="utf-8"), ANY_ON_PAGES)
    ]
    assert not found


@pytest.mark.parametrize("phrase", ["so MANY", "cannot be\n    # told", "judged"])
def test_a_phrase_is_found_in_any_case_and_across_lines(phrase):
    (place,) = banned_places(f"it\n{phrase}")
    assert place.startswith("2: ")
