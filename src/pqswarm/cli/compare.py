"""``pqswarm compare``: test which of several algorithms is better."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqswarm._base.files import write_atomically
from pqswarm.cli.options import Overwrite, argument, check_writable, choose_format, complete_names, option
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.statistics import Results

FORMATS = {"text": ".txt", "csv": ".csv", "md": ".md", "latex": ".tex", "json": ".json"}
"""Formats and their suffixes."""

_HEADINGS = {
    "mean_rank": "mean rank",
    "rank_sum": "rank sum",
    "degrees_of_freedom": "df",
    "p_value": "p",
    "rank_difference": "rank difference",
    "p_hommel": "p (Hommel)",
    "alpha_over_i": "alpha/i",
    "superiority": "P(better)",
    "superiority_lower": "from",
    "superiority_upper": "to",
    "difference_lower": "from",
    "difference_upper": "to",
    "p_equivalence": "p (equivalence)",
    "mean_against": "its mean",
    "p_better": "P(better)",
    "p_equal": "P(equal)",
    "p_worse": "P(worse)",
}
_FEW = 3  # data sets, below which nothing is compared
# Titles contain names as written by the user: in LaTeX they are comments, in Markdown headings.
_TITLES = {"text": "{}", "csv": "# {}", "md": "### {}\n", "latex": "% {}"}
_NOTES = {"text": "{}", "md": "\n{}", "latex": "% {}"}


complete_format = complete_names(__name__, "FORMATS")


def compare(
    results: Annotated[
        Path,
        argument(
            "FILE",
            "CSV file with one column per algorithm and one row per run or data set, or with one row per run and "
            "algorithm, such as the runs.csv of a study; a column dataset, block, fold or snr says what belongs "
            "together.",
        ),
    ],
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
            "FORMAT",
            "text, csv, md, latex or json.",
            "--format",
            "-f",
            show_default="by the suffix of --out, or text",
            autocompletion=complete_format,
        ),
    ] = None,
    contrast: Annotated[
        bool, typer.Option("--contrast", help="Also estimate the difference between each pair of algorithms.")
    ] = False,
    out: Annotated[Path | None, option("FILE", "File to write.", "--out", "-o", show_default="standard output")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Test which algorithm is better.

    Friedman, Wilcoxon and Mann-Whitney tests with Hommel's correction, and contrast estimation.

    Example: pqswarm compare runs.csv --column size --classifier k-NN --control 2D-UPSO
    """
    form = choose_format(style, out, FORMATS, "text")
    if margin is not None and not 0 <= margin < 1:
        raise PqswarmError(f"--margin must be a fraction of at least 0 and below 1, such as 0.05, not {margin:g}.")
    if out is not None:
        if out.exists() and results.exists() and out.samefile(results):
            raise PqswarmError(f"{out} is the input: give --out another name.")
        check_writable(out, overwrite)
    from pqswarm.statistics import contrast_estimation, friedman, posthoc, read_results
    from pqswarm.study.store import FILE_NAME

    if (results / FILE_NAME).is_file():
        raise PqswarmError(
            f"{results} is a study: `pqswarm report {results} --format csv` writes its runs to report-csv/runs.csv."
        )
    given = read_results(results, column=column, classifier=classifier)
    ranks = friedman(given.values, names=given.names, lower_is_better=not higher_is_better)
    comparison = posthoc(ranks, control)
    mean_ranks = dict(zip(ranks.names, ranks.mean_ranks.tolist(), strict=True))

    def best_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(rows, key=lambda row: mean_ranks[row["algorithm"]])

    report: dict[str, Any] = {
        "n_blocks": ranks.n_blocks,
        "left_out": list(given.left_out),
        "lower_is_better": not higher_is_better,
        "ranks": best_first(ranks.rows()),
        "friedman": ranks.tests(),
        "control": comparison.control,
        "alpha": comparison.alpha,
        "posthoc": best_first(comparison.rows()),
    }
    report |= _compare_with_control(given, comparison.control, pair, margin, higher_is_better)
    if contrast:
        report["contrast"] = contrast_estimation(given.values, given.names).rows()
    as_json = partial(json.dumps, indent=2, ensure_ascii=False, allow_nan=False)
    text = as_json(report) if form == "json" else _compare_tables(form, report)
    if out is None:
        typer.echo(text)
        return
    typer.echo(f"wrote {write_atomically(out, text + chr(10))}")


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


def _compare_tables(style: str, report: dict[str, Any]) -> str:
    from pqswarm.statistics import table
    from pqswarm.statistics.tables import csv_comment_cell, escape_markdown

    better, side = ("lower", "worse") if report["lower_is_better"] else ("higher", "better")
    title = (
        f"Mean ranks of {len(report['ranks'])} algorithms over {report['n_blocks']} rows; {better} results are better"
    )
    left_out = f"Left out (single run): {', '.join(report['left_out'])}." if report["left_out"] else ""
    sections = [
        (title, report["ranks"], left_out),
        ("Friedman test: do the algorithms differ?", report["friedman"], ""),
        (f"Post hoc: every algorithm against {report['control']}", report["posthoc"], _explain_compare_posthoc(report)),
    ]
    blocks = f"over {report['n_blocks']} data sets or blocks"
    every = f"{report['control']} against every other algorithm"
    contrast = f"Contrast estimation: results of the row minus those of the column; positive: the row is {side}"
    optional = {
        "paired": (f"{every}, {blocks}", _PAIRED),
        "paired_pairs": (f"The chosen pair, {blocks}", _PAIRED),
        "unpaired": (f"Independent runs: {every}, all pairs of runs", "" if "pairs" in report else _UNPAIRED),
        "pairs": ("Independent runs: the chosen pair, all pairs of runs", _UNPAIRED),
        "contrast": (contrast, ""),
    }
    sections += [(title, report[key], note) for key, (title, note) in optional.items() if key in report]
    parts = []
    for title, rows, note in sections:
        if style == "md":
            title = escape_markdown(title)
            note = escape_markdown(note)
        heading = _TITLES[style].format(title)
        parts += [csv_comment_cell(heading) if style == "csv" else heading, table(rows, style, headings=_HEADINGS)]
        parts += [_NOTES[style].format(note), ""] if note and style in _NOTES else [""]
    return "\n".join(parts[:-1])


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


def _explain_compare_posthoc(report: dict[str, Any]) -> str:
    alpha = report["alpha"]
    note = (
        f"p (Hommel) is the adjusted p-value, significant if at most {alpha:g}. alpha/i is the threshold for the "
        f"unadjusted p that some papers print as APV, not a p-value (alpha = {alpha:g}, i = 1 for the largest p)."
    )
    p = report["friedman"][-1]["p_value"]  # corrected for ties, where there are any
    if p > alpha:
        note += f" The Friedman test is not significant (p = {p:.3g}): these comparisons should not be interpreted."
    return note
