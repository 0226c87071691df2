"""The report of data of one's own speaks of them alone: not of power quality, and not of the paper."""

import re
import shutil

import pytest
from tests.report.studies import summary_of, tables
from tests.study.own_data import SHARE, own_plan

from pqswarm.report import html, write_comparison, write_report
from pqswarm.report.document import compose
from pqswarm.report.overview import describe_dataset
from pqswarm.study import run_study

DRAW = html._html_pictures
WORDS = ("event", "preset", "wavelet", "noise", "ieee", "paper", "power")
NB = '[[classifiers]]\nname = "NB"\nkind = "gaussian-nb"\n[[algorithms]]'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("garden")
    plan = own_plan(folder, SHARE, "n_neighbors = 3\ngrid_search = false\n[[algorithms]]", NB)
    run_study(plan, folder / "study", jobs=1)
    return folder / "study"


def words_of(path):
    """What a reader sees of a file, without what only the browser reads."""
    text = path.read_text()
    if path.suffix == ".html":
        text = re.sub(r"<(style|script)\b.*?</\1>", "", text, flags=re.DOTALL)
        spoken = re.findall(r'(?:alt|title|aria-label|data-\w+)="([^"]*)"', text)
        text = " ".join([re.sub(r"<[^>]*>", " ", text), *spoken])
    return f"{path.name} {text}".lower()


@pytest.mark.parametrize("form", ["html", "md", "latex", "csv"])
def test_no_word_of_power_quality_and_of_the_paper(folder, form, monkeypatch):
    # Both classifiers have the same figures: those of one are drawn.
    monkeypatch.setattr(
        html, "_html_pictures", lambda one, prefix: {"wide": ""} if "nb-" in one.name else DRAW(one, prefix)
    )
    written = write_report(folder, form)
    for path in sorted(written.iterdir()) if written.is_dir() else [written]:
        found = {word: re.findall(f".{{0,40}}{word}.{{0,20}}", words_of(path)) for word in WORDS}
        assert not {word: places for word, places in found.items() if places}, path.name
    if form != "csv":
        text = words_of(written)
        assert "held-out samples" in text
        assert "k-nn" in text


def test_nor_on_the_page_of_two_studies(folder, tmp_path):
    again = shutil.copytree(folder, tmp_path / "again")
    text = words_of(write_comparison([folder, again], "md", tmp_path / "two.md"))
    assert not [word for word in WORDS if word in text]
    assert "the studies searched on the same samples" in text


def test_what_is_left_is_complete(folder):
    study = summary_of(folder)
    assert describe_dataset(study) == (
        "36 samples of 3 classes, with 6 features each. 2D-UPSO, GA and SFFS searched for the features with which k-NN "
        "and NB misclassify the fewest samples, in 3-fold cross-validation: 2 runs of 40 evaluations each (SFFS: "
        "once). The best subsets were then tested on 12 held-out samples."
    )
    shown = tables(study, study.classifiers[0])
    assert {"performance", "features", "held-out", "stability", "sequential-runs"} <= set(shown)
    assert not {name for name in shown if "noise" in name or name in ("robust", "contrast")}
    assert {row["low"] for row in shown["held-out"].rows} == {None}  # one set has no interval
    figures = {drawing.name for drawing in compose(study).drawings}  # the page has drawn them
    assert {"k-nn-confusion", "nb-algorithms-convergence", "k-nn-hyperparameters"} <= figures
    assert not {name for name in figures if "noise" in name or "event" in name}
