"""``pqswarm compare``, as a person uses it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.articles import CLASSES, compile_article, needs_latex
from tests.cli.running import refused, run
from tests.statistics import paper

from pqswarm.cli.compare import FORMATS as ENDINGS
from pqswarm.cli.options import complete_names
from pqswarm.statistics import compare_runs

FORMATS = ("text", "csv", "md", "latex", "json")


def invoke(*arguments):
    return run("compare", *arguments).output


@pytest.fixture
def accuracies(tmp_path):
    path = tmp_path / "accuracies.csv"
    lines = [",".join(("SNR", *paper.NAMES))]
    levels = ("inf", 50, 45, 40, 35, 30, 25, 20)
    lines += [",".join(map(str, (level, *row))) for level, row in zip(levels, paper.ACCURACIES["k-NN"], strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_text(pqswarm, accuracies):
    run = pqswarm("compare", accuracies, "--higher-is-better", "--contrast")
    assert run.returncode == 0
    assert not run.stderr
    lines = [line.split() for line in run.stdout.splitlines()]
    assert run.stdout.startswith("Mean ranks of 6 algorithms over 8 rows; higher results are better\n")
    assert ["2D-UPSO", "1", "8"] in lines
    assert "Post hoc: every algorithm against 2D-UPSO" in run.stdout
    assert "p (Hommel) is the adjusted p-value" in run.stdout
    assert "positive: the row is better" in run.stdout
    assert ["ACO", "0.66583", "0", "-0.4125", "-0.13917", "0.11417", "-2.0933"] in lines
    assert "Contrast" not in invoke(accuracies)
    assert "positive: the row is worse" in invoke(accuracies, "--contrast")


ERRORS = """data set,MINE,BPSO,GA,ACO,UMDA
a,10,11,30,31,15
b,20,22,40,41,25
c,30,33,50,51,35
d,40,44,60,61,45
e,50,55,70,71,56
f,60,66,80,81,67
g,70,77,90,91,78
h,80,88,99,98,89
"""


def test_it_says_which_test_to_rely_on_where_two_disagree(tmp_path):
    path = tmp_path / "errors.csv"
    path.write_text(ERRORS)
    content = json.loads(invoke(path, "-f", "json", "--control", "MINE"))
    after = {row["algorithm"]: row["significant"] for row in content["posthoc"]}
    pairs = {row["against"]: row["conclusion"] for row in content["paired"]}
    assert (after["BPSO"], pairs["BPSO"]) == (False, "better")
    (advice,) = content["rely_on"]
    assert "disagree on BPSO: rely on Wilcoxon's test, because" in advice
    for style in ("text", "csv", "md"):
        assert advice in invoke(path, "-f", style, "--control", "MINE").replace("# ", "").splitlines()
    assert "rely on Wilcoxon's test" in invoke(path, "-f", "latex", "--control", "MINE")
    path.write_text("".join(ERRORS.splitlines(keepends=True)[:6]))
    (advice,) = json.loads(invoke(path, "-f", "json", "--control", "MINE"))["rely_on"]
    assert "rely on neither, because with 5 data sets Wilcoxon's p is at least 0.062" in advice


def test_it_says_nothing_where_tests_agree(accuracies, tmp_path):
    path = tmp_path / "errors.csv"
    path.write_text("\n".join(["data set,A,B", *(f"{i},{i},{i + 1 + i / 10}" for i in range(12))]))
    assert json.loads(invoke(path, "-f", "json"))["rely_on"] == []
    assert "rely on" not in invoke(path)


def write_table(path, rows, label):
    names = "ABCDEF"[: len(rows[0])]
    path.write_text(
        "\n".join([",".join((label, *names)), *(",".join(map(str, (i, *row))) for i, row in enumerate(rows))])
    )


def test_all_at_once_against_pairs(tmp_path):
    """B is always worse than A, but the test of all six finds no difference."""
    rows = [[25, 26, 15, 8, 9, 1], [2, 4, 5, 24, 19, 27], [15, 17, 29, 21, 18, 16], [16, 17, 8, 24, 20, 0]]
    rows += [[11, 12, 16, 1, 22, 21], [25, 27, 2, 25, 0, 16], [2, 4, 14, 12, 12, 0], [0, 2, 0, 20, 15, 19]]
    write_table(tmp_path / "errors.csv", rows, "fold")
    content = json.loads(invoke(tmp_path / "errors.csv", "-f", "json", "--control", "A"))
    assert content["friedman"][-1]["p_value"] > 0.05
    assert "one from B: rely on Wilcoxon's test, because A was named beforehand" in content["rely_on"][-1]
    rows = [[one for i, one in enumerate(row) if i != 5] for row in rows]  # now A is the best
    write_table(tmp_path / "errors.csv", rows, "fold")
    content = json.loads(invoke(tmp_path / "errors.csv", "-f", "json"))
    assert content["control"] == "A"
    assert "rely on Iman-Davenport, because A was chosen as the best of these very results" in content["rely_on"][-1]


def test_runs_are_compared_by_all_pairs_of_them(tmp_path):
    rows = [[4, 8, 12], [8, 4, 7], [7, 12, 8], [2, 11, 9], [2, 11, 8], [3, 9, 10], [0, 4, 13], [6, 11, 10], [7, 6, 10]]
    write_table(tmp_path / "runs.csv", rows, "run")
    content = json.loads(invoke(tmp_path / "runs.csv", "-f", "json"))
    assert [row["significant"] for row in content["posthoc"]] == [False, True]
    assert [row["conclusion"] for row in content["unpaired"]] == ["better", "better"]
    (advice,) = content["rely_on"]
    assert "disagree on B: rely on the Mann-Whitney test, because runs in one row have nothing in common" in advice


def test_the_two_tests_of_all_at_once(tmp_path):
    write_table(tmp_path / "runs.csv", [[1, 4, 3, 2], [1, 4, 2, 3], [1, 4, 2, 3], [2, 3, 4, 1]], "run")
    content = json.loads(invoke(tmp_path / "runs.csv", "-f", "json"))
    plain, corrected, iman_davenport = (row["p_value"] for row in content["friedman"])
    assert plain == corrected > 0.05 > iman_davenport
    assert "disagree: rely on Iman-Davenport" in content["rely_on"][0]


def test_published_ranks():
    """The row of the paper, which adds up to 21.1 instead of 21."""
    given = ("--ranks", "5.9,5.2,2.3,2.4,4.0,1.3", "--blocks", 40)
    content = json.loads(invoke(*given, "-f", "json"))
    plain, other = content["friedman"]
    assert plain["statistic_lower"] < 182.66 < plain["statistic_upper"]
    assert other["form"] == "Iman-Davenport"
    assert content["control"] == "algorithm 6"
    said = "known to ±0.05, and add up to 21.1 (exactly: 21): Friedman's statistic is between 179.60 and 196.74"
    for style in ("text", "csv", "md"):
        assert said in invoke(*given, "-f", style)
    named = ("--ranks", ",".join(f"{name}={rank}" for name, rank in zip(paper.NAMES, given[1].split(","), strict=True)))
    latex = invoke(*named, *given[2:], "-f", "latex", "--control", "BPSO")
    assert r"\label{tab:ranks-friedman}" in latex
    assert r"known to $\pm$0.05" in latex
    assert "Post hoc: every algorithm against BPSO" in latex
    exact = json.loads(invoke("--ranks", "234,206,92.5,95.5,160,52", "--blocks", 40, "-f", "json"))
    assert exact["friedman"][0]["statistic"] == pytest.approx(182.66, abs=0.005)
    assert "rounding" not in exact


def test_latex_has_captions_and_labels_after_the_file(accuracies):
    text = invoke(accuracies, "--higher-is-better", "--contrast", "-f", "latex", "--pair", "GA", "ACO")
    labels = [f"tab:accuracies-{key}" for key in ("ranks", "friedman", "posthoc", "paired", "paired-pairs", "contrast")]
    assert re.findall(r"\\label\{(.*?)\}", text) == labels
    assert r"\caption{Post hoc: every algorithm against 2D-UPSO}" in text
    assert r"$\alpha$/i" in text


@needs_latex
@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("name", CLASSES)
def test_latex_fits_a_journal(name, accuracies, tmp_path):
    runs = Path(__file__).parents[2] / "docs" / "results" / "paper-runs.csv"
    body = "\n".join(
        [
            invoke(accuracies, "--higher-is-better", "--contrast", "-f", "latex", "--pair", "GA", "ACO"),
            invoke(
                runs, "--classifier", "k-NN", "--column", "size", "--contrast", "-f", "latex", "--pair", "GA", "ACO"
            ),
            invoke("--ranks", "5.9,5.2,2.3,2.4,4.0,1.3", "--blocks", 40, "-f", "latex"),
        ]
    )
    assert compile_article(tmp_path, body, name, CLASSES[name]) >= 2


def test_direction_and_control(accuracies):
    low = json.loads(invoke(accuracies, "-f", "json"))
    assert low["lower_is_better"]
    assert low["ranks"][0]["algorithm"] == low["control"] == "GA"
    chosen = json.loads(invoke(accuracies, "-f", "json", "--control", "BPSO"))
    assert chosen["control"] == "BPSO"
    assert {row["algorithm"] for row in chosen["posthoc"]} == set(paper.NAMES) - {"BPSO"}
    signs = {row["algorithm"]: row["rank_difference"] > 0 for row in chosen["posthoc"]}
    assert signs["2D-UPSO"]
    assert not signs["GA"]
    assert "contrast" not in chosen


def test_runs_that_a_study_wrote(tmp_path):
    path = tmp_path / "runs.csv"
    lines = ["classifier,algorithm,run,error,size"]
    lines += [f"NB,{name},{i},{error + i / 1000},{9 + i}" for name, error in (("A", 0.1), ("B", 0.2)) for i in range(6)]
    lines += ["NB,SFFS,0,0.05,9"]
    path.write_text("\n".join(lines))
    content = json.loads(invoke(path, "-f", "json", "--control", "B", "--pair", "A", "B"))
    assert content["left_out"] == ["SFFS"]
    (row,), (pair,) = content["unpaired"], content["pairs"]
    assert (row["algorithm"], row["against"], row["conclusion"]) == ("B", "A", "worse")
    assert (pair["algorithm"], pair["superiority"], pair["conclusion"]) == ("A", 1.0, "better")
    assert pair["p_value"] == pytest.approx(stats.mannwhitneyu(range(6), range(10, 16), method="exact").pvalue)
    text = invoke(path, "--column", "size")
    assert "Left out (single run): SFFS." in text
    assert "Independent runs: A against every other algorithm" in text
    assert text.splitlines()[-2].endswith("inconclusive")
    assert json.loads(invoke(path, "-f", "json", "--column", "size", "--margin", "0.9"))["unpaired"][0][
        "conclusion"
    ] == ("practically equal")


def test_data_sets_are_not_compared_as_runs(accuracies):
    found = json.loads(invoke(accuracies, "-f", "json", "--pair", "GA", "ACO"))
    assert "unpaired" not in found
    assert "pairs" not in found
    (pair,) = found["paired_pairs"]
    values = dict(zip(paper.NAMES, np.array(paper.ACCURACIES["k-NN"]).T, strict=True))
    assert pair["wins"] + pair["ties"] + pair["losses"] == 8
    assert pair["p_value"] == pytest.approx(stats.wilcoxon(values["GA"], values["ACO"]).pvalue)
    assert "One data set or block is one observation" in invoke(accuracies)


LINES = [("seed 1", "GA", 5), ("seed 1", "PSO", 4), ("seed 2", "GA", 9), ("seed 2", "PSO", 7), ("seed 3", "GA", 6)]
LINES += [("seed 3", "PSO", 3), ("seed 4", "GA", 8), ("seed 4", "PSO", 4)]


@pytest.mark.parametrize("heading", ["dataset", "fold", "snr", "block"])
def test_lines_are_paired_by_what_they_belong_to_in_any_order(tmp_path, heading):
    found = []
    for order in ([0, 1, 2, 3, 4, 5, 6, 7], [7, 2, 1, 4, 3, 0, 6, 5]):
        rows = [f"{heading},algorithm,error", *(",".join(map(str, LINES[i])) for i in order)]
        (tmp_path / "runs.csv").write_text("\n".join(rows))
        found.append(json.loads(invoke(tmp_path / "runs.csv", "-f", "json", "--control", "PSO")))
    assert found[0]["friedman"] == found[1]["friedman"]
    assert found[0]["paired"] == found[1]["paired"]
    assert found[0]["paired"][0]["p_value"] == pytest.approx(stats.wilcoxon([4, 7, 3, 4], [5, 9, 6, 8]).pvalue)


def test_incomplete_blocks_are_refused(tmp_path):
    for lines, told in ((LINES[:-1], "'PSO' has no result in 'seed 4', where others"), ([*LINES, LINES[0]], "twice")):
        rows = ["dataset,algorithm,error", *(",".join(map(str, line)) for line in lines)]
        (tmp_path / "runs.csv").write_text("\n".join(rows))
        assert told in refused("compare", tmp_path / "runs.csv")


def test_the_same_interval_as_the_report(tmp_path):
    """Of the same runs, in another order and with digits lost in a file."""
    errors = {name: np.random.default_rng(i).integers(20, 60, 12) / 3500 for i, name in enumerate(("A", "B"))}
    direct = compare_runs({name: np.round(each, 12) for name, each in errors.items()}, control="A")[0].row()
    rows = [f"{i},{name},{value!r}" for name, each in errors.items() for i, value in enumerate(each[::-1].tolist())]
    (tmp_path / "runs.csv").write_text("\n".join(["run,algorithm,error", *rows]))
    (read,) = json.loads(invoke(tmp_path / "runs.csv", "-f", "json", "--control", "A"))["unpaired"]
    for key in ("difference", "difference_lower", "difference_upper"):
        assert read[key] == pytest.approx(direct[key], abs=1e-12)


def test_runs_of_the_reference_results():
    """A long table as a study writes it, with several classifiers and algorithms that ran once."""
    runs = Path(__file__).parents[2] / "docs" / "results" / "paper-runs.csv"
    content = json.loads(invoke(runs, "-f", "json", "--classifier", "k-NN"))
    assert (content["n_blocks"], content["control"]) == (40, "BPSO")
    assert content["left_out"] == ["SFFS", "SFFS all sizes"]


@pytest.mark.usefixtures("few_draws")
def test_the_ending_decides_the_format(accuracies, tmp_path):
    for style, ending in ENDINGS.items():
        out = tmp_path / f"table{ending}"
        invoke(accuracies, "--out", out)
        assert out.read_text() == invoke(accuracies, "--format", style)


@pytest.fixture
def few_draws(monkeypatch):
    """Draws and resamples take most of the time of a comparison; its format does not depend on their number."""
    monkeypatch.setattr("pqswarm.statistics.comparisons._DRAWS", 500)
    monkeypatch.setattr("pqswarm.statistics.comparisons._RESAMPLES", 99)


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("style", FORMATS)
def test_formats_and_out(style, accuracies, tmp_path):
    printed = invoke(accuracies, "--format", style, "--contrast")
    out = tmp_path / "new" / "table"
    assert invoke(accuracies, "--format", style, "--contrast", "--out", out) == f"wrote {out}\n"
    assert out.read_text() == printed
    assert printed.count("chBPSO") >= 4
    mark = {"text": "df ", "csv": "# Friedman", "md": "|---|", "latex": r"\toprule", "json": '"friedman"'}[style]
    assert mark in printed
    invoke(accuracies, "--format", style, "--out", out, "--overwrite")
    assert len(out.read_text()) < len(printed)


def test_it_says_when_there_is_no_difference(tmp_path):
    path = tmp_path / "even.csv"
    path.write_text("a,b,c\n1,2,3\n2,3,1\n3,1,2\n")
    assert "The Friedman test is not significant (p = 1)" in invoke(path)
    path.write_text("a,b,c\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n")
    assert "not significant" not in invoke(path)


def test_names_of_many_scripts_and_signs(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("2D_UPSO & co,粒子群,[bold]x\n1,2,3\n1,2,3\n", encoding="utf-8")
    assert r"2D\_UPSO \& co" in invoke(path, "-f", "latex")
    text = invoke(path)
    assert "粒子群" in text
    assert "[bold]x" in text


def test_completion():
    assert complete_names("pqswarm.cli.compare", "FORMATS")("j") == ["json"]
    assert tuple(complete_names("pqswarm.cli.compare", "FORMATS")("")) == FORMATS
