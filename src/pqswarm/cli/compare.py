"""``pqswarm compare``: test which of several algorithms is better."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqswarm.cli.options import Overwrite, check_writable
from pqswarm.errors import PqswarmError, unknown_name

if TYPE_CHECKING:
    from pqswarm.statistics import ContrastResult, FriedmanResult, PosthocResult

__all__ = ["compare"]

FORMATS = ("text", "csv", "md", "latex", "json")

_HEADINGS = {
    "mean_rank": "mean rank",
    "rank_sum": "rank sum",
    "degrees_of_freedom": "df",
    "p_value": "p",
    "rank_difference": "rank difference",
    "p_hommel": "p (Hommel)",
    "alpha_over_i": "alpha/i",
}
# Names in a title are as the user wrote them: LaTeX sees them in a comment, Markdown in a heading.
_TITLES = {"text": "{}", "csv": "# {}", "md": "### {}\n", "latex": "% {}"}
_NOTES = {"text": "{}", "md": "\n{}", "latex": "% {}"}


def complete_format(incomplete: str) -> list[str]:
    """Formats that begin with what was typed."""
    return [name for name in FORMATS if name.startswith(incomplete)]


def compare(
    results: Annotated[Path, typer.Argument(help="CSV file: a column per algorithm, a row per run or data set.")],
    higher_is_better: Annotated[
        bool, typer.Option("--higher-is-better", help="The results are accuracies, not error rates.")
    ] = False,
    control: Annotated[
        str | None, typer.Option(help="Algorithm to compare the others with.", show_default="the best one")
    ] = None,
    style: Annotated[
        str, typer.Option("--format", "-f", help="text, csv, md, latex or json.", autocompletion=complete_format)
    ] = "text",
    contrast: Annotated[
        bool, typer.Option("--contrast", help="Also estimate the difference of each pair of algorithms.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write.", show_default="standard output")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Rank algorithms by their results and test whether they differ: Friedman, Hommel, contrast estimation.

    Example: pqswarm compare errors.csv --contrast --format latex --out tables.tex
    """
    if style not in FORMATS:
        raise unknown_name("format", style, FORMATS)
    from pqswarm.statistics import contrast_estimation, friedman, posthoc, read_results

    given = read_results(results)
    ranks = friedman(given.values, names=given.names, lower_is_better=not higher_is_better)
    comparison = posthoc(ranks, control)
    estimate = contrast_estimation(given.values, given.names) if contrast else None
    if style == "json":
        text = _json(higher_is_better, ranks, comparison, estimate)
    else:
        text = _tables(style, higher_is_better, ranks, comparison, estimate)
    if out is None:
        typer.echo(text)
        return
    if out.exists() and out.samefile(results):
        raise PqswarmError(f"{out} holds the results: give --out another name.")
    check_writable(out, overwrite)
    out.write_text(text + "\n", encoding="utf-8")
    typer.echo(f"wrote {out}")


def _best_first(ranks: "FriedmanResult", rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    mean = dict(zip(ranks.names, ranks.mean_ranks.tolist(), strict=True))
    return sorted(rows, key=lambda row: mean[row["algorithm"]])


def _json(
    higher_is_better: bool, ranks: "FriedmanResult", comparison: "PosthocResult", estimate: "ContrastResult | None"
) -> str:
    import json

    content: dict[str, Any] = {
        "n_blocks": ranks.n_blocks,
        "lower_is_better": not higher_is_better,
        "ranks": _best_first(ranks, ranks.rows()),
        "friedman": ranks.tests(),
        "control": comparison.control,
        "alpha": comparison.alpha,
        "posthoc": _best_first(ranks, comparison.rows()),
    }
    if estimate is not None:
        content["contrast"] = estimate.rows()
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def _tables(
    style: str,
    higher_is_better: bool,
    ranks: "FriedmanResult",
    comparison: "PosthocResult",
    estimate: "ContrastResult | None",
) -> str:
    from pqswarm.statistics import table

    better = "higher" if higher_is_better else "lower"
    title = f"Mean ranks of {len(ranks.names)} algorithms over {ranks.n_blocks} rows; {better} results are better"
    against, note = f"Post hoc: each algorithm against {comparison.control}", _explanation(ranks, comparison)
    sections = [
        (title, _best_first(ranks, ranks.rows()), ""),
        ("Friedman test: do the algorithms differ?", ranks.tests(), ""),
        (against, _best_first(ranks, comparison.rows()), note),
    ]
    if estimate is not None:
        side = "better" if higher_is_better else "worse"
        title = f"Contrast estimation: results of the row minus those of the column; positive: the row is {side}"
        sections.append((title, estimate.rows(), ""))
    parts = []
    for title, rows, note in sections:
        parts += [_TITLES[style].format(title), table(rows, style, headings=_HEADINGS)]
        parts += [_NOTES[style].format(note), ""] if note and style in _NOTES else [""]
    return "\n".join(parts[:-1])


def _explanation(ranks: "FriedmanResult", comparison: "PosthocResult") -> str:
    alpha = comparison.alpha
    note = (
        f"p (Hommel) is the adjusted p-value: significant if at most {alpha:g}. alpha/i is not a p-value but the "
        f"threshold for the unadjusted p that some papers print in the column APV (alpha = {alpha:g}, i = 1 for the "
        f"largest p)."
    )
    p = ranks.p_value if ranks.p_value_corrected is None else ranks.p_value_corrected
    if p > alpha:
        note += f" The Friedman test is not significant (p = {p:.3g}): these comparisons should not be interpreted."
    return note
