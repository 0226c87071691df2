"""The documentation is true: examples and code blocks run and print what is shown, commands exist, links lead on."""

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

from tests.core_alone import Blocker
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
SECTIONS = ("start", "tutorials", "guides", "explanation")
RUN = [
    ROOT / "README.md",
    ROOT / "docs/index.md",
    *(page for section in SECTIONS for page in sorted((ROOT / "docs" / section).glob("*.md"))),
]
REMOVED = {
    r"MOSAIC": "MERIT",
    r"(?:algorithm = |minimize\()\"2d-clpso\"": "2d-upso; a subclass of Swarm2D",
    r"paper-stepped": "paper-grid",
    r"\bfield-16\b": "field-extended",
    r"\bpqswarm (?:features|sample|site)\b(?!-)": "dataset, make-samples, site-file",
    r"\bidentify\b[^\n]*--again\b": "identify --reanalyze",
    r"\bMemo\b": "CachedEvaluator",
    r"\bRacingEvaluator\b": "Evaluator.raced",
    r"\b(?:Event)?Verdict\b(?=[`(.])": "Analysis, EventResult",
    r"\w*AtMoment\b": "Snapshot",
    r"\bcharacterise\(": "characterize(",
    r"\balgorithm_params\b": "algorithm=(name, {...})",
    r"\bouter_cv\b": "nested_score",
    r"\b(?:fixed_features|excluded_features|feature_groups)\b": "constraints",
    r"\b(?:selection_frequency_|plot_stability|warm_start|n_runs)\b": "removed",
    r"\bSwarmSelector\([^)]*\brule=": "always rescored; n_features_to_select",
    r"\bheld_out\.(?:share|others)\b": "held_out.fraction, held_out.cross_dataset",
}
"""Names of things that are gone, with what takes their place."""
NAMES_IN_PUBLISHED_FILES = {"docs/results/replication.md": {"MOSAIC"}}


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
    """The blocks of a page run in order, in one namespace, and print what a block of text after them shows.

    A page that does not mention pandas does not need it.
    """
    monkeypatch.chdir(tmp_path)
    if "pandas" not in page.read_text(encoding="utf-8"):
        monkeypatch.delitem(sys.modules, "pandas", raising=False)
        monkeypatch.setattr(sys, "meta_path", [Blocker("pandas"), *sys.meta_path])
    namespace = {"__name__": "__main__"}
    printed = None
    for block in FENCE.finditer(page.read_text(encoding="utf-8")):
        if block["language"] == "python":
            compiled = compile(block["code"], name_of(page), "exec")
            printed = None
            if block["note"] is None:
                exec(compiled, namespace)
                printed = capsys.readouterr().out
        elif block["language"] == "text" and printed is not None:
            assert block["code"] in printed
        else:
            printed = None
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


@pytest.mark.slow
@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs/start/engineer.md"], ids=name_of)
def test_commands_print_what_is_shown(page, tmp_path, monkeypatch):
    """A shown line that ends in ... is the start of a line of the output."""
    from typer.testing import CliRunner

    from pqswarm.cli.main import app

    monkeypatch.chdir(tmp_path)
    compared = 0
    for code, _ in blocks(page, "console"):
        for command in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
            line, *shown = command.splitlines()
            if re.match(r"pqswarm (make-samples|identify) ", line):
                printed = CliRunner().invoke(app, shlex.split(line)[1:]).stdout.splitlines()
                for text in shown:
                    start = text.removesuffix(" ...")
                    assert any(one == text or (start != text and one.startswith(start)) for one in printed), text
                    compared += 1
    assert compared >= 4


def test_readme_is_short_and_starts_with_the_two_commands():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    first_screen = "\n".join(lines[:25])
    assert "make study" in first_screen
    assert "make test" in first_screen
    assert not re.search(r"\bp [=<]", "\n".join(lines))


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_number_of_searches_is_that_of_the_registry(page):
    from pqswarm.search import ALGORITHMS

    counts = re.findall(r"(\d+)\s+(?:search\s+)?(?:algorithms|searches)\b", (ROOT / page).read_text(encoding="utf-8"))
    assert counts
    assert {int(count) for count in counts} == {len(ALGORITHMS)}


def test_readme_compares_by_the_published_runs():
    """Mean error on new samples and mean size, of SwarmSelector, the next selector and the random forest."""
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    stated = re.search(
        r"On (\d+) problems .* with (\d+) s .* error of (\S+) % .* with (\d+) features; "
        r"`SelectKBest`, the next selector, has (\S+) % with (\d+)\. A random forest .* has (\S+) %",
        text,
    )
    runs = read_table(ROOT / "docs/results/peers-unseen.csv")
    means = {}
    for method in {run["method"] for run in runs}:
        own = [run for run in runs if run["method"] == method]
        error, size = (sum(float(run[key]) for run in own) / len(own) for key in ("held_out", "size"))
        means[method] = (f"{100 * error:.1f}", f"{size:.0f}")
    others = {"boruta", "kbest", "l1", "rfecv", "sfs", "sffs"}
    assert min(others, key=lambda method: float(means[method][0])) == "kbest"
    limits = {run["limit"] for run in runs}
    problems = {run["problem"] for run in runs}
    expected = (str(len(problems)), *limits, *means["swarm"], *means["kbest"], means["forest"][0])
    assert stated.groups() == expected


def test_the_first_study_lists_the_built_in_plans():
    from pqswarm.study.plan_file import PLANS

    text = (ROOT / "docs/tutorials/first-study.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)
    assert set(listed) == set(PLANS)
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    assert f"{words[len(PLANS)].capitalize()} plans are built in" in text


def test_contributing_is_short_and_names_all_modules():
    """In the table of modules, each name is a module of one of the packages of its row, and none is missing."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    rows = re.findall(
        r"^\| (`[^|]+) \| (.+) \|$", text.partition("## Where to look")[2].partition("\n## ")[0], re.MULTILINE
    )
    source = ROOT / "src/pqswarm"
    named = {source / "errors.py"}
    for packages, modules in rows:
        names = re.findall(r"`([\w/]+)/`", packages)
        folders = [source / name for name in names]
        folders += [folder.parent / name for folder in folders[:1] for name in names[1:]]  # names next to the first
        for name in re.findall(r"`(\w+)`", modules):
            found = [folder / f"{name}.py" for folder in folders if (folder / f"{name}.py").exists()]
            assert found, f"{packages}: no module {name}"
            named.update(found)
    modules = {path for path in source.rglob("*.py") if not path.name.startswith("__")}
    assert named == modules, sorted(path.name for path in named ^ modules)


@pytest.mark.parametrize("page", MARKDOWN, ids=name_of)
def test_no_line_is_a_comment_of_the_site(page):
    """MyST drops a line that starts with a percent sign, without a warning."""
    dropped = re.findall(r"^\s*%.*", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert not dropped


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_names_what_was_removed(page):
    text = page.read_text(encoding="utf-8").partition("### Renamed")[0]
    found = {match[0]: instead for name, instead in REMOVED.items() for match in re.finditer(name, text)}
    allowed = NAMES_IN_PUBLISHED_FILES.get(name_of(page), set())
    assert not found.keys() - allowed, found


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


def test_the_tables_of_the_replication_are_those_of_its_runs():
    """Error on new events [%] of the best subset of each algorithm, mean over the data sets."""
    results = ROOT / "docs/results"
    columns = {}
    for preset in ("paper", "paper-grid"):
        best, errors = {}, {}
        for run in read_table(results / f"replication-{preset}-runs.csv"):
            key = (run["dataset"], run["classifier"], run["algorithm"])
            found = (float(run["error"]), int(run["size"]), int(run["run"]))
            best[key] = min(best.get(key, found), found)
        for test in read_table(results / f"replication-{preset}-held-out.csv"):
            key = (test["dataset"], test["classifier"], test["algorithm"])
            if test["algorithm"] == "all features" or (key in best and test["run"] == str(best[key][2])):
                errors.setdefault(key, []).append(float(test["error"]))
        for (_, classifier, algorithm), values in errors.items():
            column = columns.setdefault(f"{preset}, {classifier}", {})
            column.setdefault(algorithm, []).append(sum(values) / len(values))
    titles = {"SFFS over all sizes": "SFFS all sizes", "MERIT, the default of pqswarm": "MERIT"}
    for row in read_table(results / "replication-table.csv"):
        algorithm = row.pop("features of")
        means = {name: column[titles.get(algorithm, algorithm)] for name, column in columns.items()}
        assert row == {name: f"{100 * sum(values) / len(values):.1f}" for name, values in means.items()}


def read_table(path):
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
