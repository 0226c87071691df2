"""Sections: registered ones appear everywhere, names cannot clash, and any study has a complete report."""

import importlib
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.golden.report import FILE, report_text
from tests.report.studies import chapter, summary_of, tables

from pqswarm.errors import PqswarmError
from pqswarm.report import SECTIONS, Content, Drawing, StudySection, Table, write_figures, write_report
from pqswarm.report.document import compose
from pqswarm.report.html import html_report
from pqswarm.report.sections.registry import REGISTRY
from pqswarm.study import read_plan, run_study

PLUGIN = """
from matplotlib.figure import Figure

from pqswarm.report import ClassifierSection, Content, Drawing, Table


def content(study, found):
    evaluations = {title: sum(run.result.n_evaluations for run in runs) for title, runs in found.runs.items()}

    def draw():
        figure = Figure(figsize=(4, 3), layout="constrained")
        figure.subplots().bar(list(evaluations), list(evaluations.values()))
        return figure

    rows = [{"algorithm": title, "evaluations": number} for title, number in evaluations.items()]
    return Content(
        words=["An evaluation is one subset tried."],
        drawings=[Drawing("", "Subsets tried", "All runs together.", draw)],
        tables=[Table("effort", "Subsets tried by all runs", rows, {"evaluations": ("subsets", "")})],
        answer=["All algorithms tried equally many subsets."],
    )


SECTION = ClassifierSection("effort", "How many subsets were tried?", content)
"""


@pytest.mark.slow
def test_a_registered_section_appears_everywhere(smoke_study, tmp_path, installed, no_pictures, monkeypatch):
    assert len(PLUGIN.strip().splitlines()) <= 30
    installed(PLUGIN, "", REGISTRY)
    REGISTRY.register(importlib.import_module("plugin").SECTION)
    for form in ("html", "md", "latex", "csv"):
        write_report(smoke_study, form, tmp_path / "out" / form)
    # Others have been drawn often enough.
    monkeypatch.setattr("pqswarm.report.document.REGISTRY", {"effort": REGISTRY["effort"]})
    write_figures(smoke_study, tmp_path / "figures")
    page, markdown, latex = ((tmp_path / "out" / form).read_text(encoding="utf-8") for form in ("html", "md", "latex"))
    assert page.count(">How many subsets were tried?</h3>") == 2
    assert page.count("<li>All algorithms tried equally many subsets.</li>") == 2
    assert len(re.findall(r"<figcaption>Figure \d+\. Subsets tried</figcaption>", page)) == 2
    assert 'id="table-nb-effort"' in page
    assert markdown.count("### How many subsets were tried?\n\nAn evaluation is one subset tried.") == 2
    assert markdown.count("- All algorithms tried equally many subsets.") == 2
    assert "| GA        | 360     |" in markdown
    assert r"\label{tab:k-nn-effort}" in latex
    assert (tmp_path / "out" / "csv" / "k-nn-effort.csv").read_text().startswith("algorithm,evaluations\nGA,360\n")
    assert {"k-nn-effort.svg", "nb-effort.svg"} <= {file.name for file in (tmp_path / "figures").iterdir()}


def registered(monkeypatch, *contents):
    members = {f"s{i}": StudySection(f"s{i}", "Why?", lambda study, content=c: content) for i, c in enumerate(contents)}
    monkeypatch.setattr("pqswarm.report.document.REGISTRY", members)


@pytest.mark.parametrize(("names", "clash"), [(("a", "a"), "a"), (("runs",), "runs"), (("a/b",), "a/b")])
def test_names_that_would_be_lost_are_refused(study, monkeypatch, names, clash):
    registered(monkeypatch, *(Content(tables=[Table(name, "", [{"a": 1}])]) for name in names))
    with pytest.raises(PqswarmError, match=f"'{clash}': names must be unique"):
        compose(study)


def test_what_a_section_says_of_the_study_joins_its_description(study, monkeypatch):
    registered(monkeypatch, Content(answer=["It rained."]), Content())
    document = compose(study)
    assert document.description.endswith(" It rained.")
    assert document.parts == ()


def test_drawings_are_named_after_their_section(study, monkeypatch):
    registered(monkeypatch, *(Content(drawings=[Drawing(name, "", "", None)]) for name in ("", "", "x")))
    assert [drawing.name for drawing in compose(study).drawings] == [
        *("overview", "investigation-framework", "investigation-bench"),
        *("s0", "s1", "s2-x"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": []}, "table 't' must have rows"),
        ({"rows": [{"a": 1}, {"b": 1}]}, "all with the same keys"),
        ({"rows": [{"speed": 1}], "columns": {"sped": ("Speed", "")}}, "did you mean 'speed'"),
        ({"rows": [{"speed": 1}], "lowest": ("sped",)}, "unknown column of table 't' 'sped'"),
    ],
)
def test_tables_with_wrong_keys_are_refused(arguments, message):
    with pytest.raises(PqswarmError, match=message):
        Table("t", "caption", **arguments)


def test_the_registry_holds_our_sections_first():
    assert list(REGISTRY.values())[: len(SECTIONS)] == list(SECTIONS)
    assert len({section.name for section in SECTIONS}) == len(SECTIONS)


PLAN = """
runs = 2
max_evaluations = 20
paper = true
baseline = "mine"
dataset = { events_per_class = 10, snr = [inf, 20], preset = "field", classes = ["sag", "swell", "harmonics"] }
held_out = { events_per_class = 2, seeds = [1, 2] }
folds = { number = 2 }
classifiers = [
    { name = "Gauss", kind = "gaussian-nb" },
    { name = "Tree", estimator = "sklearn.tree.DecisionTreeClassifier", parameters = { max_depth = 3 } },
    { name = "k-NN", kind = "k-nn", n_neighbors = 1, metric = "euclidean", grid_search = false },
]
[[algorithms]]
name = "mine"
algorithm = "ga"
parameters = { size = 6 }
[[algorithms]]
algorithm = "bpso"
[[algorithms]]
name = "other"
algorithm = "sffs"
parameters = { size = 2 }
"""


@pytest.mark.slow
def test_any_classifiers_have_a_complete_report(tmp_path, no_pictures):
    run_study(read_plan(PLAN), tmp_path / "study", jobs=1)
    study = summary_of(tmp_path / "study")
    assert [found.name for found in study.classifiers] == ["Gauss", "Tree", "k-NN"]
    expected = {"performance", "fronts", "features", "stability"}  # two runs are too few for a test
    expected |= {"sequential-runs", "robust", "noise", "noise-held-out", "contrast", "confusions", "held-out"}
    gauss, tree, knn = (tables(study, found) for found in study.classifiers)
    assert set(gauss) == set(tree) == set(knn) == expected | {"events", "parameters"}
    captions = [each["noise"].caption.partition(":")[0] for each in (gauss, tree, knn)]
    assert [caption == "Table 9 of the paper" for caption in captions] == [False, False, True]  # the paper has this one
    assert "sklearn.tree.DecisionTreeClassifier(max_depth=3)" in chapter(study, study.classifiers[1]).description
    for form in ("html", "md", "latex", "csv"):
        write_report(tmp_path / "study", form)
    drawings = {drawing.name: drawing for drawing in compose(study).drawings}
    assert {"gauss-confusion", "tree-noise", "k-nn-features", "events"} <= set(drawings)
    for name, drawing in drawings.items():
        if not name.startswith("gauss-"):  # the same as those of the tree
            drawing.draw()


def test_any_classes_and_features_have_a_complete_report(study, knn, no_pictures):
    names = tuple(f"x{i}" for i in range(99))
    counts = np.array([[5, 1, 0], [0, 6, 0], [2, 0, 4]])
    found = replace(knn, noise=replace(knn.noise, before=counts, after=counts))
    other = replace(study, class_names=("sag", "swell", "my_own"), feature_names=names, classifiers=[found])
    assert all(row["feature"] in names for row in tables(other, found)["features"].rows)
    document = compose(other)
    drawings = {drawing.name: drawing for drawing in document.drawings}
    assert "k-nn-features-others" not in drawings  # maps are for bands by functions
    listed = [label.get_text() for label in drawings["k-nn-features"].draw().axes[0].get_yticklabels()]
    assert set(listed) < set(names)
    labels = drawings["k-nn-confusion"].draw().axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["Sag", "Swell", "My own", "precision [%]"]
    (row, other_row) = tables(other, found)["confusions"].rows
    assert (row["classes"], row["before"], row["before_fraction"]) == ("Sag and My own", 2, pytest.approx(200 / 3))
    assert (other_row["classes"], other_row["after"]) == ("Sag and Swell", 1)
    flawless = replace(found, noise=replace(found.noise, before=np.eye(3, dtype=int), after=np.eye(3, dtype=int)))
    assert "confusions" not in tables(other, flawless)
    assert "wavelet" not in document.description
    assert "events" not in drawings  # no event of a class that the preset cannot generate
    assert "of the wavelet transform" not in html_report(document)


def test_the_text_of_every_section_is_the_golden_one(smoke_study):
    """After a change of wording, write it anew and read the difference: see tests/golden/report.py."""
    assert report_text(smoke_study) == FILE.read_text(encoding="utf-8")
