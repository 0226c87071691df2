"""The documentation is true: examples and code blocks run, commands exist, links lead somewhere."""

import ast
import csv
import doctest
import importlib
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from tests.test_package import PACKAGES

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")]
    if not {"_build", "generated", "auto_examples", "_templates"} & set(page.relative_to(ROOT).parts)
)
MARKDOWN = [page for page in PAGES if page.suffix == ".md"]
FENCE = re.compile(r"^(?P<note><!-- not run -->\n)?```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = [
    ROOT / "docs/index.md",
    *sorted((ROOT / "docs/start").glob("*.md")),
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
    *sorted((ROOT / "docs/how").glob("*.md")),
]


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page, language):
    """The code blocks of a page in a language: the code, and whether it is marked as run."""
    found = FENCE.finditer(page.read_text(encoding="utf-8"))
    return [(block["code"], block["note"] is None) for block in found if block["language"] == language]


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    """With warnings as errors; in this process, as the gallery does, and with a tenth of the budget of searches."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    plt.switch_backend("Agg")
    source = re.sub(r"^(BUDGET = \d+)0$", r"\1", example.read_text(encoding="utf-8"), flags=re.MULTILINE)
    try:
        with mpl.rc_context():
            exec(compile(source, str(example), "exec"), {"__name__": "__main__", "__file__": str(example)})
    finally:
        plt.close("all")
    assert capsys.readouterr().out


def test_there_are_examples():
    assert len(EXAMPLES) >= 8
    for example in EXAMPLES:
        assert re.match(r'"""\n.+\n=+\n\n', example.read_text()), f"{example.name} has no heading"


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_code_blocks_run(page, tmp_path, monkeypatch, capsys):
    """The blocks of a page run in order, in one namespace."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for code, runs in blocks(page, "python"):
        compiled = compile(code, name_of(page), "exec")
        if runs:
            exec(compiled, namespace)
    examples = "\n".join(code for code, _ in blocks(page, "pycon"))
    test = doctest.DocTestParser().get_doctest(examples, {}, name_of(page), None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0, capsys.readouterr().out


@pytest.mark.parametrize("page", [page for page in MARKDOWN if page not in RUN], ids=name_of)
def test_other_code_blocks_are_sound(page):
    """They compile, and their imports exist."""
    for code, _ in blocks(page, "python"):
        for node in ast.walk(ast.parse(code, name_of(page))):
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module)
                missing = [alias.name for alias in node.names if not hasattr(module, alias.name)]
                assert not missing, f"{node.module} has no {missing}"


def test_the_algorithm_of_the_tutorial_is_short():
    code = blocks(ROOT / "docs/tutorials/own-algorithm.md", "python")[0][0]
    assert 40 < len(code.splitlines()) <= 80


@pytest.mark.parametrize("page", MARKDOWN, ids=name_of)
def test_commands_exist(page):
    """Commands in the text accept the arguments and options given."""
    from typer.main import get_command

    from pqswarm.cli.main import app

    text = page.read_text(encoding="utf-8").partition("### Renamed")[0]  # a table of earlier names
    lines = re.findall(r"^(?:\$ |    )(?:\.venv/bin/)?pqswarm ([a-z][^#>|\n]*)", text, re.MULTILINE)
    lines += [line for line in re.findall(r"`pqswarm ([a-z][^`\n]*)`", text) if "..." not in line]
    for line in lines:
        command, words = get_command(app), shlex.split(line)
        while words and hasattr(command, "commands"):
            assert words[0] in command.commands, f"pqswarm {line}: no such command"
            command = command.commands[words.pop(0)]
        complete = bool(words) or not any(parameter.required for parameter in command.params)
        if complete and "--help" not in words and not hasattr(command, "commands"):
            command.make_context("pqswarm", words)


def test_plans_in_tutorials_are_plans(tmp_path):
    from pqswarm.study import load_plan

    found = [code for page in RUN for code, _ in blocks(page, "toml")]
    assert found
    for code in found:
        if "title" in tomllib.loads(code):
            (tmp_path / "plan.toml").write_text(code)
            assert load_plan(str(tmp_path / "plan.toml")).algorithms


@pytest.mark.parametrize("page", MARKDOWN, ids=name_of)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src(?:set)?="([^"]+)"', text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        goal = (page.parent / path).resolve() if path else page
        made_by_the_gallery = re.fullmatch(r"(?:\.\./)*auto_examples/(index|plot_\w+)\.rst", path)
        if made_by_the_gallery:
            stem = made_by_the_gallery[1]
            assert stem == "index" or ROOT / f"examples/{stem}.py" in EXAMPLES, f"no example {stem}"
            continue
        assert goal.exists(), f"{target} does not exist"
        if anchor and goal.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", goal.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in slugs, f"{goal.name} has no heading {anchor}"


def test_the_result_on_the_first_page_is_that_of_the_study():
    first = " ".join((ROOT / "docs/index.md").read_text(encoding="utf-8").split())
    claim = re.search(r"\*\*(\d+) of 99 features \D*(\S+) %\D*all 99 \D*(\S+) %\*\*", first)
    with (ROOT / "docs/results/paper-runs.csv").open(encoding="utf-8", newline="") as lines:
        runs = [row for row in csv.DictReader(lines) if (row["classifier"], row["algorithm"]) == ("k-NN", "2D-UPSO")]
    size, error = (sum(float(row[column]) for row in runs) / len(runs) for column in ("size", "error"))
    whole = re.search(
        r"all 99 features have J\(U\) = (\S+)", (ROOT / "docs/results/paper.html").read_text(encoding="utf-8")
    )
    assert claim.groups() == (f"{size:.0f}", f"{100 * error:.1f}", f"{100 * float(whole[1]):.1f}")


def test_pictures_of_cards_are_small_and_used():
    """Every picture is on some page, and every picture on a page exists (make_pictures.py draws them)."""
    kept = {path.stem: path.stat().st_size for path in (ROOT / "docs/_static/cards").iterdir()}
    used = {
        name for page in PAGES for name in re.findall(r"_static/cards/(\w+)\.png", page.read_text(encoding="utf-8"))
    }
    assert set(kept) == used
    assert max(kept.values()) < 20_000


@pytest.mark.parametrize("package", ["pqswarm", *PACKAGES])
def test_reference_is_complete(package):
    """Every public name is listed on the page of its package."""
    short = package.split(".")[1] if "." in package else "top"
    text = (ROOT / "docs/reference" / f"{short}.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (\w+)$", text, re.MULTILINE)) | set(re.findall(r"py:data:: (\w+)", text))
    listed |= set(re.findall(r"``(\w+)``", text)) if package == "pqswarm" else set()
    missing = set(importlib.import_module(package).__all__) - listed
    assert not missing, f"add {sorted(missing)} to docs/reference/{short}.rst"
    assert short in (ROOT / "docs/reference/index.rst").read_text(encoding="utf-8")
