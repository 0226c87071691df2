"""Steady quantities against EN 50160; compliance is never claimed from less than a week."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm.identify.show.page.listing import NEARLY
from pqswarm.identify.show.words import count_text
from pqswarm.measure.steady.series import INTERVAL

if TYPE_CHECKING:
    from pqswarm._base.typing import FloatArray
    from pqswarm.identify.show.page.listing import ListedRecording

__all__ = ["HARMONIC_LIMITS", "MET", "NOT_MET", "SHORT", "WEEK", "check_en50160"]

WEEK = 1008
"""Intervals of ten minutes in a week."""

MET, NOT_MET, SHORT = "met", "not met", "not enough data"
"""Possible results."""

HARMONIC_LIMITS: Mapping[int, float] = {
    5: 6.0,
    7: 5.0,
    11: 3.5,
    13: 3.0,
    17: 2.0,
    19: 1.5,
    23: 1.5,
    25: 1.5,
    3: 5.0,
    9: 1.5,
    15: 0.5,
    21: 0.5,
    2: 2.0,
    4: 1.0,
    **dict.fromkeys(range(6, 25, 2), 0.5),
}
"""Limits of single harmonics of low and medium voltage [%] (EN 50160:2010, Table 1)."""

_ALLOWED = 0.05
"""Fraction of a week's values that may exceed a limit."""


@dataclass(frozen=True)
class _Values:
    """The ten-minute values of a quantity on the worst channel of a site."""

    name: str
    values: "FloatArray"


def check_en50160(recordings: "Sequence[ListedRecording]") -> list[dict[str, Any]]:
    """Compare the ten-minute values of each site with EN 50160: a row for each site and requirement.

    Values of all recordings of a site are combined. The worst channel is the one with the highest 95 % value.
    """
    sites: dict[str, list[dict[str, Any]]] = {}
    for recording in recordings:
        rows = _en50160_ten_minutes(recording)
        if rows:
            sites.setdefault(recording.site, []).extend(rows)
    return [{"site": site, **row} for site, rows in sites.items() for row in _check_site(rows)]


def _check_site(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        _check(rows, "supply voltage, deviation from nominal", "deviation", 10.0, "%"),
        _check(rows, "supply voltage within +10 / -15 %, always", "beyond", 0.0, "%", always=True),
        _check(rows, "unbalance", "unbalance", 2.0, "%"),
        _check(rows, "THD", "thd", 8.0, "%"),
        _check_harmonics(rows),
        _check_flicker(rows),
        _check(rows, "frequency, deviation from nominal", "frequency_deviation", 1.0, "%", asked="a year"),
    ]


def _en50160_ten_minutes(recording: "ListedRecording") -> list[dict[str, Any]]:
    """The whole intervals of a recording, with deviations from nominal [%]."""
    verdict = recording.verdict
    nominal = {one.channel: one.volts for one in verdict.references if one.source.startswith(("nominal", "given"))}
    rows = []
    for row in recording.ten_minutes:
        if row["end"] - row["start"] < NEARLY * INTERVAL:
            continue
        level = 100 * row["rms"] / nominal.get(row["channel"], float("nan"))
        rows.append(
            {
                **row,
                "deviation": abs(level - 100),
                "beyond": max(level - 110, 85 - level, 0.0) if isfinite(level) else float("nan"),
                "frequency_deviation": abs(100 * row["frequency"] / verdict.nominal_frequency - 100),
            }
        )
    return rows


def _channels(rows: Sequence[Mapping[str, Any]], key: str) -> "dict[str, FloatArray]":
    """The known values of each channel."""
    values: dict[str, list[float]] = {}
    for row in rows:
        if isfinite(row.get(key, float("nan"))):
            values.setdefault(row["channel"], []).append(row[key])
    return {name: np.array(known) for name, known in values.items()}


def _en50160_worst_channel(rows: Sequence[Mapping[str, Any]], key: str) -> _Values:
    values = _channels(rows, key)
    if not values:
        return _Values("", np.empty(0))
    name = max(values, key=lambda one: float(np.percentile(values[one], 95)))
    return _Values(name, values[name])


def _check(
    rows: Sequence[Mapping[str, Any]],
    title: str,
    key: str,
    limit: float,
    unit: str,
    *,
    always: bool = False,
    intervals: int = WEEK,
    asked: str = "a week",
) -> dict[str, Any]:
    """One requirement: 95 % of a week's values of the worst channel, or all values of all, within the limit."""
    worst = _en50160_worst_channel(rows, key)
    every = _channels(rows, key)
    values = np.concatenate(list(every.values())) if always and every else worst.values
    known_intervals = min((one.size for one in every.values()), default=0) if always else values.size
    beyond = int((values > limit).sum())
    if always and beyond:
        verdict = NOT_MET
    elif known_intervals < intervals or asked != "a week":
        verdict = f"{SHORT} ({asked} is required)"
    else:
        verdict = MET if beyond <= (0.0 if always else _ALLOWED * values.size) else NOT_MET
    if not values.size:
        known = "the nominal voltage is unknown" if rows and key in ("deviation", "beyond") else "no values"
    else:
        known = f"{beyond} of {count_text(values.size, 'value')} beyond"
        if always:
            guilty = [name for name, one in every.items() if (one > limit).any()]
            known += f" ({', '.join(guilty)})" if guilty else ""
        else:
            sizes = [f"{float(size):.3g} {unit}".rstrip() for size in (np.percentile(values, 95), values.max())]
            known = f"95 % value {sizes[0]}, maximum {sizes[1]} ({worst.name}); {known}"
    fraction = "all" if always else "95 %" if asked == "a week" else "99.5 %"
    level = "within limits" if always else f"at most {limit:g} {unit}".rstrip()
    return {"requirement": title, "asked": f"{fraction} of the values {level}", "found": known, "verdict": verdict}


def _check_flicker(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Plt, which takes two hours, and the maximum of Pst."""
    found = _check(rows, "long-term flicker Plt", "plt", 1.0, "", intervals=WEEK // 12)
    short = _en50160_worst_channel(rows, "pst").values
    if short.size:
        found["found"] += f"; maximum Pst {short.max():.2f}"
    return found


def _check_harmonics(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All single harmonics in one row: the one closest to its limit, or exceeding it most."""
    checked: list[tuple[float, dict[str, Any]]] = []
    for order, limit in sorted(HARMONIC_LIMITS.items()):
        values = _en50160_worst_channel(rows, f"h{order}").values
        share = float(np.percentile(values, 95)) / limit if values.size else -inf
        checked.append((share, _check(rows, f"harmonics, worst: order {order}", f"h{order}", limit, "%")))
    if all(share == -inf for share, _ in checked):
        return {
            **checked[0][1],
            "requirement": "harmonics of orders 2 to 25",
            "asked": "95 % of the values within limits",
        }
    verdicts = [row["verdict"] for share, row in checked if share > -inf]
    worst = max(checked, key=lambda one: one[0])[1]
    return {**worst, "verdict": NOT_MET if NOT_MET in verdicts else worst["verdict"]}
