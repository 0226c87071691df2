"""benchmarks/corpus counts right, wrong, missed and false statements about a recording."""

import sys
from pathlib import Path

import pytest

from pqswarm.identify import Failure
from pqswarm.identify.analysis import Analysis, EventResult
from pqswarm.measure import Event, Thresholds
from pqswarm.measure.event import ChannelEvent

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def corpus():
    sys.path.insert(0, str(BENCHMARKS))
    import corpus

    yield corpus
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture
def analysis():
    """A sag on phase A to 0.6 pu for 5 cycles, and an input VX that is not connected."""
    part = ChannelEvent(0, "VA", "A", "sag", 0.6, 0.4, 0.5, 0.11)
    event = Event("sag", "sag", (part,), "", 0.6, "pu", 0.4, 0.5, 0.11, 50.0, 230.0, "sag on phase A")
    said = EventResult(event, "sag", {"sag": 0.9}, "agree", (0.0, 1.0))
    caveats = ("Ignored: VX (no voltage).",)
    return Analysis("made", (said,), (), 3200.0, 50.0, 50.0, 3200, Thresholds(), caveats=caveats)


def counts(corpus, analysis, **expected):
    from corpus.compare import compare

    comparison = corpus.Comparison("made")
    compare(corpus.Expected("*", **expected), analysis, comparison)
    return comparison.right, len(comparison.wrong), len(comparison.missed), len(comparison.false)


def test_right_wrong_missed_and_false(corpus, analysis):
    find = corpus.Find
    right = find("sag", "A", (0.59, 0.61), (4.5, 6.5))
    assert counts(corpus, analysis, finds=(right,), ignored=("VX",), headline="VA") == (4, 0, 0, 0)
    assert counts(corpus, analysis, finds=(find("sag", "A", (0.7, 0.8)),)) == (1, 1, 0, 0)
    assert counts(corpus, analysis, finds=(find("sag", "A", cut="end"),)) == (1, 1, 0, 0)
    assert counts(corpus, analysis, finds=(find("sag", "A B"),)) == (2, 0, 1, 0)
    assert counts(corpus, analysis, finds=(find("swell", "A"),)) == (0, 0, 1, 1)
    assert counts(corpus, analysis) == (0, 0, 0, 1)
    assert counts(corpus, analysis, finds=(right,), never=("sag",)) == (1, 0, 0, 1)
    assert counts(corpus, analysis, finds=(right,), ignored=("VY",)) == (2, 1, 0, 0)
    assert counts(corpus, analysis, finds=(right,), says="reversed", unsaid="sag") == (2, 1, 1, 0)


def test_refusals(corpus, analysis):
    refused = Failure("x.mat", "x.mat", "is a MATLAB file.")
    assert counts(corpus, refused, refused="matlab") == (1, 0, 0, 0)
    assert counts(corpus, refused, refused="SEL") == (0, 1, 0, 0)
    assert counts(corpus, refused, finds=(corpus.Find("sag"),)) == (0, 0, 1, 0)
    assert counts(corpus, analysis, refused="") == (0, 0, 0, 1)


def test_each_recording_is_needed_and_each_file_expected(corpus, tmp_path):
    (tmp_path / "new.csv").write_text("")
    one, two = corpus.check_corpus(tmp_path, [corpus.Expected("a/*.cfg")])
    assert (one.missed, two.name) == (["no such file in the folder"], "new.csv")
    assert not one.is_right
    assert not two.is_right
