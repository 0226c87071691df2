"""``pqswarm compare``: test which of several algorithms is better."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pqswarm.cli.options import Overwrite, check_writable
from pqswarm.errors import PqswarmError, unknown_name

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
    mean_ranks = dict(zip(ranks.names, ranks.mean_ranks.tolist(), strict=True))

    def best_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(rows, key=lambda row: mean_ranks[row["algorithm"]])

    found: dict[str, Any] = {
        "n_blocks": ranks.n_blocks,
        "lower_is_better": not higher_is_better,
        "ranks": best_first(ranks.rows()),
        "friedman": ranks.tests(),
        "control": comparison.control,
        "alpha": comparison.alpha,
        "posthoc": best_first(comparison.rows()),
    }
    if contrast:
        found["contrast"] = contrast_estimation(given.values, given.names).rows()
    if style == "json":
        text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    else:
        text = _tables(style, found)
    if out is None:
        typer.echo(text)
        return
    if out.exists() and out.samefile(results):
        raise PqswarmError(f"{out} holds the results: give --out another name.")
    check_writable(out, overwrite)
    out.write_text(text + "\n", encoding="utf-8")
    typer.echo(f"wrote {out}")


def _tables(style: str, found: dict[str, Any]) -> str:
    from pqswarm.statistics import table

    better, side = ("lower", "worse") if found["lower_is_better"] else ("higher", "better")
    title = f"Mean ranks of {len(found['ranks'])} algorithms over {found['n_blocks']} rows; {better} results are better"
    sections = [
        (title, found["ranks"], ""),
        ("Friedman test: do the algorithms differ?", found["friedman"], ""),
        (f"Post hoc: each algorithm against {found['control']}", found["posthoc"], _explanation(found)),
    ]
    if "contrast" in found:
        title = f"Contrast estimation: results of the row minus those of the column; positive: the row is {side}"
        sections.append((title, found["contrast"], ""))
    parts = []
    for title, rows, note in sections:
        parts += [_TITLES[style].format(title), table(rows, style, headings=_HEADINGS)]
        parts += [_NOTES[style].format(note), ""] if note and style in _NOTES else [""]
    return "\n".join(parts[:-1])


def _explanation(found: dict[str, Any]) -> str:
    alpha = found["alpha"]
    note = (
        f"p (Hommel) is the adjusted p-value: significant if at most {alpha:g}. alpha/i is not a p-value but the "
        f"threshold for the unadjusted p that some papers print in the column APV (alpha = {alpha:g}, i = 1 for the "
        f"largest p)."
    )
    p = found["friedman"][-1]["p_value"]  # corrected for ties, where there are any
    if p > alpha:
        note += f" The Friedman test is not significant (p = {p:.3g}): these comparisons should not be interpreted."
    return note
