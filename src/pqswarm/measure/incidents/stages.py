"""Stages of an incident: steady levels of all phases, one after another."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.incidents.record import Stage
from pqswarm.measure.incidents.trace import Trace
from pqswarm.measure.thresholds import Thresholds

_STEADY = 0.04  # tuned
"""Maximum change of a phase between values of Urms(1/2) in a stage [pu]."""
_OTHER = 0.08  # tuned
"""Minimum difference of a phase between stages [pu]."""
_LEAST = 3
"""Values of Urms(1/2) of a stage."""
_Run = tuple[int, int, FloatArray]
"""First value of a stage, the one after its last, and the levels of the phases."""


def find_stages(trace: Trace, thresholds: Thresholds) -> tuple[Stage, ...]:
    """Find the stages of an incident, from its start until the voltages are back; slow recoveries are one stage."""
    here = trace.time >= trace.start
    time = trace.time[here]
    rows = trace.urms[:, here]
    if time.size < _LEAST or not trace.labels:
        return ()
    runs = _merge_alike(_add_brief(_steady_runs(rows), rows, trace.before), rows)
    runs = runs or [(0, time.size, np.median(rows, axis=1))]
    bounds = [0, *(first for first, _, _ in runs[1:]), time.size]
    stages: list[Stage] = []
    for (first, stop), (_, _, levels) in zip(pairwise(bounds), runs, strict=True):
        stages.append(_stage(trace, time, first, stop, levels, thresholds, stages))
    return tuple(_trim_stages(stages))


def _steady_runs(rows: FloatArray) -> list[tuple[int, int]]:
    """First value and the one after the last of each stretch in which no phase moves."""
    moves = np.abs(np.diff(rows, axis=1)).max(axis=0, initial=0.0) > _STEADY
    edges = np.flatnonzero(moves) + 1
    bounds = [0, *edges.tolist(), rows.shape[1]]
    return [(a, b) for a, b in pairwise(bounds) if b - a >= _LEAST]


def _add_brief(runs: Sequence[tuple[int, int]], rows: FloatArray, before: FloatArray) -> list[_Run]:
    """Runs with their levels, and between them what leaves the levels on both sides too briefly to be steady."""
    found: list[_Run] = []
    last = 0
    past = before
    for first, stop in runs:
        levels = np.median(rows[:, first:stop], axis=1)
        between = rows[:, last:first]
        low = np.minimum(past, levels)
        high = np.maximum(past, levels)
        beyond = np.maximum(low[:, None] - between, between - high[:, None])
        if beyond.size and beyond.max() > _OTHER:
            found.append((last, first, between[:, beyond.max(axis=0).argmax()]))
        found.append((first, stop, levels))
        last = stop
        past = levels
    return found


def _merge_alike(runs: Sequence[_Run], rows: FloatArray) -> list[_Run]:
    """Runs whose levels differ; those alike are one."""
    kept: list[_Run] = []
    for first, stop, levels in runs:
        if kept and np.max(np.abs(levels - kept[-1][2])) < _OTHER:
            kept[-1] = (kept[-1][0], stop, np.median(rows[:, kept[-1][0] : stop], axis=1))
        else:
            kept.append((first, stop, levels))
    return kept


def _stage(
    trace: Trace,
    time: FloatArray,
    first: int,
    stop: int,
    levels: FloatArray,
    thresholds: Thresholds,
    earlier: Sequence[Stage],
) -> Stage:
    """The stage of some values with these levels, named by what the phases do."""
    end = trace.time[-1] + trace.cycle / 2 if stop == time.size else float(time[stop])
    start = trace.start if first == 0 else float(time[first])
    named = dict(zip(trace.labels, (round(float(one), 4) for one in levels), strict=True))
    return Stage(start, float(end), name_stage(named, thresholds, earlier), named)


def name_stage(levels: dict[str, float], thresholds: Thresholds, earlier: Sequence[Stage]) -> str:
    """Name a stage by its levels [pu] and by what came before it."""
    low = [name for name, level in levels.items() if level < thresholds.sag]
    high = [name for name, level in levels.items() if level > thresholds.swell]
    out = [name for name, level in levels.items() if level < thresholds.interruption]
    if len(out) == len(levels):
        return "interruption"
    if low or high:
        words = [f"low on {' '.join(low)}"] if low else []
        words += [f"high on {' '.join(high)}"] if high else []
        return ", ".join(words)
    return "restored" if any(one.name != "within limits" for one in earlier) else "within limits"


def _trim_stages(stages: Sequence[Stage]) -> list[Stage]:
    """Stages, with neighbours of the same name and similar levels joined."""
    kept: list[Stage] = []
    for one in stages:
        if kept and kept[-1].name == one.name == "restored":
            kept[-1] = Stage(kept[-1].start, one.end, one.name, one.levels)
        else:
            kept.append(one)
    return kept
