"""``pqswarm compare``: test which of several algorithms is better."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqswarm._base.files import write_atomically
from pqswarm._base.text import json_text
from pqswarm.cli.options import Overwrite, argument, check_writable, choose_format, complete_names, option
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.statistics import FriedmanResult, Results

FORMATS = {"text": ".txt", "csv": ".csv", "md": ".md", "latex": ".tex", "json": ".json"}
"""Formats and their suffixes."""

_HEADINGS = {
    "mean_rank": "mean rank",
    "rank_sum": "rank sum",
    "statistic_lower": "from",
    "statistic_upper": "to",
    "statistic_interval": "by rounding",
    "degrees_of_freedom": "df",
    "denominator_degrees": "df 2",
    "p_value": "p",
    "rank_difference": "rank difference",
    "p_hommel": "p (Hommel)",
    "alpha_over_i": "alpha/i",
    "superiority": "P(better)",
    "superiority_lower": "from",
    "superiority_upper": "to",
    "superiority_interval": "95 % interval",
    "difference_lower": "from",
    "difference_upper": "to",
    "difference_interval": "95 % interval",
    "p_equivalence": "p (equivalence)",
    "mean_against": "its mean",
    "p_better": "P(better)",
    "p_equal": "P(equal)",
    "p_worse": "P(worse)",
}
_FEW = 3  # data sets, below which nothing is compared
_FEWEST = 6  # data sets with which Wilcoxon's test can be significant
_TITLES = {"text": "{}", "csv": "# {}", "md": "### {}\n"}
_NOTES = {"text": "{}", "csv": "# {}", "md": "\n{}"}


def compare(
    results: Annotated[
        Path | None,
        argument(
            "FILE",
            "CSV file with one column per algorithm and one row per run or data set, or with one row per run and "
            "algorithm, such as the runs.csv of a study; a column dataset, block, fold or snr says what belongs "
            "together.",
        ),
    ] = None,
    ranks: Annotated[
        str | None,
        option("R,...", "Published mean ranks instead of a file, such as 5.9,5.2,1.3 or GA=5.9,BPSO=5.2,UPSO=1.3."),
    ] = None,
    blocks: Annotated[
        int | None, option("N", "With --ranks: number of runs or data sets that they are means of.", min=2)
    ] = None,
    higher_is_better: Annotated[
        bool, typer.Option("--higher-is-better", help="The results are accuracies, not error rates.")
    ] = False,
    control: Annotated[
        str | None, option("NAME", "Algorithm to compare the others with.", show_default="the best one")
    ] = None,
    pair: Annotated[tuple[str, str] | None, option("A B", "Also compare these two algorithms.")] = None,
    margin: Annotated[
        float | None,
        option(
            "FRACTION",
            "Fraction of the mean below which a difference does not matter.",
            show_default="0.05; for accuracies 0.01",
        ),
    ] = None,
    column: Annotated[
        str, option("NAME", "Column to compare in a file with one row per run, such as error or size.")
    ] = "error",
    classifier: Annotated[
        str | None, option("NAME", "Classifier whose runs to compare, if the file has several.")
    ] = None,
    style: Annotated[
        str | None,
        option(
            "NAME",
            "text, csv, md, latex or json.",
            "--format",
            "-f",
            show_default="from the suffix of --out; otherwise text",
            autocompletion=complete_names(__name__, "FORMATS"),
        ),
    ] = None,
    contrast: Annotated[
        bool, typer.Option("--contrast", help="Also estimate the difference between each pair of algorithms.")
    ] = False,
    out: Annotated[Path | None, option("FILE", "File to write.", "--out", "-o", show_default="standard output")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Test which algorithm is better.

    Friedman, Iman-Davenport, Wilcoxon and Mann-Whitney tests with Hommel's correction, and contrast estimation.

    Example: pqswarm compare runs.csv --column size --classifier k-NN --control 2D-UPSO
    """
    form = choose_format(style, out, FORMATS, "text")
    if margin is not None and not 0 <= margin < 1:
        raise PqswarmError(f"--margin must be a fraction of at least 0 and below 1, such as 0.05, not {margin:g}.")
    if (results is None) == (ranks is None):
        raise PqswarmError("give either a FILE of results or published --ranks.")
    if (blocks is None) != (ranks is None):
        raise PqswarmError("--ranks and --blocks belong together: give both, such as --ranks 1.2,1.8 --blocks 40.")
    if out is not None:
        if results is not None and out.exists() and results.exists() and out.samefile(results):
            raise PqswarmError(f"{out} is the input: give --out another name.")
        check_writable(out, overwrite)
    if ranks is not None and blocks is not None:
        for_files = {
            "--pair": pair is not None,
            "--margin": margin is not None,
            "--classifier": classifier is not None,
            "--column": column != "error",
            "--higher-is-better": higher_is_better,
            "--contrast": contrast,
        }
        unfit = [name for name, is_given in for_files.items() if is_given]
        if unfit:
            raise PqswarmError(f"{unfit[0]} needs results: it cannot be used with --ranks.")
        report = _compare_published_ranks(_read_ranks_option(ranks, blocks), control)
        label = "ranks"
    else:
        given = _read_compared_results(Path(str(results)), column, classifier)
        report = _compare_results(given, control, pair, margin, higher_is_better, contrast)
        parts = (Path(str(results)).stem, classifier or "", "" if column == "error" else column)
        label = re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, parts)).lower()).strip("-")
    text = json_text(report, indent=2) if form == "json" else _compare_tables(form, report, label)
    if out is None:
        typer.echo(text)
        return
    typer.echo(f"wrote {write_atomically(out, text + chr(10))}")


def _read_compared_results(path: Path, column: str, classifier: str | None) -> "Results":
    from pqswarm.statistics import read_results
    from pqswarm.study.store import FILE_NAME

    if (path / FILE_NAME).is_file():
        raise PqswarmError(
            f"{path} is a study: `pqswarm report {path} --format csv` writes its runs to report-csv/runs.csv."
        )
    return read_results(path, column=column, classifier=classifier)


def _read_ranks_option(text: str, blocks: int) -> "FriedmanResult":
    """Read ranks such as ``5.9,1.3`` or ``GA=5.9,BPSO=1.3``."""
    from pqswarm.statistics import friedman_from_ranks

    parts = [part.rpartition("=") for part in text.split(",")]
    names = [name.strip() for name, _, _ in parts]
    digits = [number.strip().partition(".")[2] for _, _, number in parts]
    try:
        values = [float(number) for _, _, number in parts]
    except ValueError:
        values = []
    if not values or any(names) != all(names):
        raise PqswarmError(
            f"--ranks must be numbers separated by commas, such as 5.9,5.2,1.3 or GA=5.9,BPSO=5.2,UPSO=1.3, "
            f"not {text!r}."
        )
    return friedman_from_ranks(
        values, blocks, names=names if all(names) else None, decimals=max(len(one) for one in digits)
    )


def _compare_ranks(ranks: "FriedmanResult", control: str | None) -> dict[str, Any]:
    """What ranks alone tell."""
    from pqswarm.statistics import posthoc

    comparison = posthoc(ranks, control)
    mean_ranks = dict(zip(ranks.names, ranks.mean_ranks.tolist(), strict=True))

    def best_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(rows, key=lambda row: mean_ranks[row["algorithm"]])

    return {
        "n_blocks": ranks.n_blocks,
        "ranks": best_first(ranks.rows()),
        "friedman": ranks.tests(),
        "control": comparison.control,
        "alpha": comparison.alpha,
        "posthoc": best_first(comparison.rows()),
    }


def _compare_published_ranks(ranks: "FriedmanResult", control: str | None) -> dict[str, Any]:
    report = _compare_ranks(ranks, control)
    if ranks.rounding:
        k = len(ranks.names)
        half = ranks.rounding / ranks.n_blocks
        low, high = ranks.chi2_range
        step = 2 * half / (k * (k + 1) / (6 * ranks.n_blocks)) ** 0.5
        report["rounding"] = (
            f"The printed mean ranks are known to ±{half:g}, and add up to {ranks.mean_ranks.sum():g} (exactly: "
            f"{k * (k + 1) / 2:g}): Friedman's statistic is between {low:.2f} and {high:.2f}, and each z of the tests "
            f"after it is known to ±{step:.2g}."
        )
    return report


def _compare_results(
    given: "Results",
    control: str | None,
    pair: tuple[str, str] | None,
    margin: float | None,
    higher_is_better: bool,
    contrast: bool,
) -> dict[str, Any]:
    from pqswarm.statistics import contrast_estimation, friedman

    report = _compare_ranks(friedman(given.values, names=given.names, lower_is_better=not higher_is_better), control)
    report |= {"left_out": list(given.left_out), "lower_is_better": not higher_is_better}
    report |= _compare_with_control(given, report["control"], pair, margin, higher_is_better)
    report["rely_on"] = _choose_tests(report, was_chosen=control is not None)
    if contrast:
        report["contrast"] = contrast_estimation(given.values, given.names).rows()
    return report


def _choose_tests(report: Mapping[str, Any], was_chosen: bool) -> list[str]:
    """Which of the tests to rely on, and why, where two disagree."""
    alpha = report["alpha"]
    chi2, together = (row["p_value"] for row in report["friedman"][-2:])
    advice = []
    if (chi2 <= alpha) != (together <= alpha):
        advice.append(
            f"Friedman's chi-square (p = {chi2:.3g}) and Iman-Davenport (p = {together:.3g}) disagree: rely on "
            f"Iman-Davenport, because the chi-square approximation is too cautious with few rows."
        )
    key, test = ("paired", "Wilcoxon's test") if "paired" in report else ("unpaired", "the Mann-Whitney test")
    alone = {row["against"]: row["conclusion"] in ("better", "worse") for row in report.get(key, ())}
    ranked = {row["algorithm"]: row["significant"] for row in report["posthoc"]}
    disputed = [name for name in alone if alone[name] != ranked[name]]
    if disputed:
        advice.append(
            f"The post hoc test of mean ranks and {test} disagree on {', '.join(disputed)}: "
            + _choose_pairwise_test(key, report["n_blocks"])
        )
    found = [name for name, differs in alone.items() if differs]
    if together > alpha and found:
        reason = (
            f"rely on {test}, because {report['control']} was named beforehand and Hommel's correction suffices"
            if was_chosen
            else f"rely on Iman-Davenport, because {report['control']} was chosen as the best of these very results, "
            f"which favors it; name an algorithm with --control before you look at results"
        )
        advice.append(
            f"Iman-Davenport finds no difference among all algorithms (p = {together:.3g}), {test} one from "
            f"{', '.join(found)}: {reason}."
        )
    return advice


def _choose_pairwise_test(key: str, n_blocks: int) -> str:
    if key == "unpaired":
        return (
            "rely on the Mann-Whitney test, because runs in one row have nothing in common, and it compares each run "
            "with all; if rows are data sets, head their column dataset and rely on Wilcoxon's test."
        )
    if n_blocks < _FEWEST:
        return (
            f"rely on neither, because with {n_blocks} data sets Wilcoxon's p is at least {2 / 2**n_blocks:.2g}, and "
            f"mean ranks need about ten; take at least six data sets."
        )
    return (
        "rely on Wilcoxon's test, because it weighs how large the differences are, and does not depend on which other "
        "algorithms are compared."
    )


def _compare_with_control(
    given: "Results", control: str, pair: tuple[str, str] | None, margin: float | None, higher_is_better: bool
) -> dict[str, Any]:
    """Comparisons of one algorithm with the others: over data sets if rows are paired, otherwise of all runs."""
    from pqswarm.statistics import compare_datasets, compare_runs

    if given.blocks and len(given) < _FEW:
        return {}
    compare_all: Any = compare_datasets if given.blocks else compare_runs
    samples = given.samples if given.blocks else dict(zip(given.names, given.values.T, strict=True))
    options: Any = {"lower_is_better": not higher_is_better, "margin": margin}
    with_control, of_pair = ("paired", "paired_pairs") if given.blocks else ("unpaired", "pairs")
    tables = {with_control: [comparison.row() for comparison in compare_all(samples, control=control, **options)]}
    if pair is not None:
        tables[of_pair] = [comparison.row() for comparison in compare_all(samples, pairs=[pair], **options)]
    return tables


def _compare_tables(style: str, report: dict[str, Any], label: str) -> str:
    from pqswarm.statistics import table
    from pqswarm.statistics.tables import csv_comment_cell, escape_markdown

    parts = [r"% needs \usepackage{array,booktabs}"] if style == "latex" else []
    for key, (title, *notes) in _describe_compare_tables(report).items():
        notes = list(filter(None, notes))
        if style == "latex":
            rows = [_join_compare_columns(row, report["control"]) for row in report[key]]
            more = {"caption": title, "label": f"{label}-{key.replace('_', '-')}", "note": " ".join(notes)}
            parts.append(table(rows, style, headings=_HEADINGS | _LATEX_HEADINGS, digits=4, **more))
            continue
        if style == "md":
            title, *notes = map(escape_markdown, (title, *notes))
        head, *last = [_TITLES[style].format(title), *(_NOTES[style].format(note) for note in notes)]
        if style == "csv":
            head, *last = map(csv_comment_cell, (head, *last))
        parts.append("\n".join([head, table(report[key], style, headings=_HEADINGS), *last]))
    return "\n\n".join(parts)


_LATEX_HEADINGS = {"alpha_over_i": "α/i", "wins": "wins/ties/losses"}  # noqa: RUF001


def _join_compare_columns(row: Mapping[str, Any], control: str) -> dict[str, Any]:
    """A row with fewer columns: intervals and counts in one each, without the algorithm that the caption names."""
    joined: dict[str, Any] = {}
    for key, value in row.items():
        name = key.removesuffix("_lower")
        if name != key:
            joined[f"{name}_interval"] = None if value is None else f"{value:.3g} to {row[f'{name}_upper']:.3g}"
        elif key == "wins":
            joined[key] = f"{value}/{row['ties']}/{row['losses']}"
        elif not key.endswith("_upper") and key not in ("ties", "losses"):
            joined[key] = value
    if joined.get("algorithm") == control and "against" in joined:
        del joined["algorithm"]
    return joined


def _describe_compare_tables(report: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Title and notes of each table."""
    is_lower = report.get("lower_is_better", True)
    better, side = ("lower", "worse") if is_lower else ("higher", "better")
    said = f"; {better} results are better" if "lower_is_better" in report else ""
    left_out = report.get("left_out")
    blocks = f"over {report['n_blocks']} data sets or blocks"
    every = f"{report['control']} against every other algorithm"
    advice = " ".join(report.get("rely_on", ()))
    unpaired = "" if "pairs" in report else _UNPAIRED
    described = {
        "ranks": (
            f"Mean ranks of {len(report['ranks'])} algorithms over {report['n_blocks']} rows{said}",
            f"Left out (single run): {', '.join(left_out)}." if left_out else "",
        ),
        "friedman": ("Friedman test: do the algorithms differ?", report.get("rounding", "")),
        "posthoc": (f"Post hoc: every algorithm against {report['control']}", _explain_compare_posthoc(report)),
        "paired": (f"{every}, {blocks}", _PAIRED, advice),
        "paired_pairs": (f"The chosen pair, {blocks}", _PAIRED),
        "unpaired": (f"Independent runs: {every}, all pairs of runs", unpaired, advice),
        "pairs": ("Independent runs: the chosen pair, all pairs of runs", _UNPAIRED),
        "contrast": (
            f"Contrast estimation: results of the row minus those of the column; positive: the row is {side}",
        ),
    }
    return {key: texts for key, texts in described.items() if key in report}


_PAIRED = (
    "One data set or block is one observation. p: Wilcoxon signed-rank test. difference: of the means, with the 95 % "
    "interval of a hierarchical bootstrap (data sets, then runs). P(better), P(equal), P(worse): Bayesian signed-rank "
    "test; equal within the margin. inconclusive: neither a difference nor practical equality is shown."
)
_UNPAIRED = (
    "For independent runs; if each row is one data set, its results are paired: use the tables above instead. p: "
    "Mann-Whitney test. P(better): probability that a run is better, counting ties as half, with Newcombe's 95 % "
    "interval. difference: of the means, with a bootstrap interval. practically equal: two one-sided Welch tests show "
    "that the difference is within the margin, not that it is zero. inconclusive: neither is shown."
)


def _explain_compare_posthoc(report: Mapping[str, Any]) -> str:
    alpha = report["alpha"]
    note = (
        f"p (Hommel) is the adjusted p-value, significant if at most {alpha:g}. alpha/i is the threshold for the "
        f"unadjusted p that some papers print as APV, not a p-value (alpha = {alpha:g}, i = 1 for the largest p)."
    )
    p = report["friedman"][-1]["p_value"]  # of Iman and Davenport
    if p > alpha:
        note += f" The Friedman test is not significant (p = {p:.3g}): these comparisons should not be interpreted."
    return note
