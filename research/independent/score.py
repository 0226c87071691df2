"""Score `pqswarm identify` on records of `generator.py`: events, causes, probabilities, clearing times, self-check.

    python score.py --seeds 1000 --records 20 --out scores          # the one run that counts
    python score.py --seeds 0 --records 1                           # does it work at all?

Definitions, written on 2026-11-18 before any record was scored. They are not to be changed after a look at results;
only the adapter (`answer_of` and what it calls) follows the product's JSON.

**Condition.** Each record is analyzed on its own with the nominal voltage of its channels given (``--no-nominal``:
not given); no site file, no other option. Records that are refused, or fail, count as event wrong and cause
"refused".

**Event right**: one of the acceptable main events of the truth is among the rows, and no row is false.
  * Category: sag (dip, undervoltage), swell (overvoltage), interruption, rapid voltage change, transient, flicker,
    frequency, dc offset, compared after a translation of synonyms (`category_of`). A sag to below 0.1 pu may be
    called an interruption of those phases (IEEE 1159).
  * Phases: all phases that are certain by the truth are named, none that is impossible. A/L1/R naming is translated.
    Of a transient the worst phase must be named. Records of one channel: not compared.
  * Magnitude: sags, swells and interruptions within 0.03 pu or 5 %, whichever is larger, of the range of values that
    Urms(1/2) can have (16 positions of its half-cycle grid), in pu of the declared nominal voltage. Rapid voltage
    changes: within 0.015 pu of the range between the steady and the largest change. Transients, flicker, frequency,
    DC: not compared.
  * Start: within 10 ms of the inception on the waveform; for slow events and for stages, of an interval given by the
    truth.
  * A row is false if it is an RMS row (sag, swell, interruption, rapid voltage change) of a category that the
    noise-free voltage does not have, or begins more than a cycle and 10 ms before the event. Further true rows are
    welcome; other rows (harmonics, unbalance, transient, ...) do not count against a record with a true event.
  * Where nothing is to be reported: no RMS row, and no other row than those the truth allows. Where reporting and not
    reporting are both right (changes of 1.5 to 3 %, thresholds within 0.008 pu), either is accepted.
  * Recorder faults: the voltage itself did not change, so every RMS row is false.

**Cause** of the main incident (the first): *right* if it is physically true; *unknown* if the product names none, or
has no incident; *wrong* otherwise. "switching" without a thing that is switched counts as unknown where something was
switched, else as wrong. *Wrong at 80 %*: wrong with a stated probability of 0.8 or more. *Named where visible*: right
among the records whose cause the truth calls visible. Wrong causes of further incidents of the same record are
counted beside (*also wrong*), not in the totals.

**Calibration**: stated probability of all named causes of main incidents against the share that is right, in the
cells 0-60, 60-70, 70-80, 80-90, 90-100 % (lower end included).

**Clearing times**: for each true end of fault current in the record, the nearest stated clearing: explicit clearing
times of the incident if there are any, else the ends of its fault stages that are not followed by another fault
stage. Without one within 100 ms it is missed. Signed error, median and 95th percentile of its absolute value; the
same for the end of the matched row where the truth has an end.

**Status**: stated operating times (in an object with the name of the status channel, or in a sentence "NAME ... at
0.123 s") against the true ones.

**Self-check**: the caveat that the truth demands is found by words (`CAVEATS`) in caveats, notes, evidence, causes,
sentences or reasons of channels. *False alarm*: the words for frozen, clipped, swapped or fuse in a record that has
no such thing.

**Error of a share**: Wilson's 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import generator
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

RMS = {"sag", "swell", "interruption", "rapid voltage change"}
CELLS = [0.0, 0.6, 0.7, 0.8, 0.9, 1.0001]
SWITCHINGS = {
    "capacitor switching",
    "load switching",
    "transformer energising",
    "motor start",
    "energising",
    "network switching",
    "generation trip",
    "load rejection",
    "tap changer",
}

CAVEATS = {
    "frozen": r"froz|freez|stuck|\bheld\b|holds? (one|the same|its)|repeat\w* (one|the same|a|sample|value)|same value"
    r"|equal consecutive|stands? still|constant value|do(es)? not change",
    "lost": r"\blost\b|dropped|skipped|\bgap|discontinu|samples? (are|is) missing|missing samples"
    r"|jump of (time|phase|the angle)|angle jumps",
    "missing": r"missing|\bnan\b|not a number|\bgap|unknown samples|without (a )?value",
    "clipped": r"clip|full.?scale|limits? of (the|its)|range of (the|its)|over.?range|saturat\w+ (input|converter|adc)",
    "swapped": r"swap|exchang|interchang|a-c-b|rotat\w+ (revers|chang)|permut",
    "clock": r"\bclock|time base|sampling rate (may|is wrong|seems|differs)|(?<!low-)(?<!medium-)(?<!high-)frequency",
    "dc": r"\bdc\b|direct (voltage|component)|offset|drift",
    "flat": r"spare|not connected|disconnected|\bflat\b|\bdead\b|no signal|without (a )?signal|constant",
    "vt fuse": r"\bfuse|voltage transformer|\bvt\b|measuring circuit",
}
ALARMS = {name: CAVEATS[name] for name in ("frozen", "clipped", "swapped")} | {
    "vt fuse": r"(\bvt\b|voltage.transformer)[^|]{0,30}fuse|fuse[^|]{0,30}(\bvt\b|voltage.transformer)"
}


# -------------------------------------------------------------------------------------- the adapter: JSON to an answer


@dataclass
class Row:
    category: str
    phases: set[frozenset[str]]
    magnitude: float | None  # pu; of a rapid voltage change: the change
    start: float
    end: float | None


@dataclass
class Incident:
    cause: str
    probability: float | None
    clearings: list[float]


@dataclass
class Answer:
    rows: list[Row] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    text: str = ""
    operations: dict[str, list[float]] = field(default_factory=dict)
    failure: str = ""


def answer_of(data: dict[str, Any], truth: dict[str, Any]) -> Answer:
    """Everything that depends on the keys of the product's JSON; other names of a key are tried in order."""

    def get(item: dict[str, Any], *names: str, default: Any = None) -> Any:
        return next((item[name] for name in names if item.get(name) is not None), default)

    answer = Answer()
    for event in get(data, "events", "rows", default=[]):
        category = category_of(str(get(event, "type", "kind", "category", default="")))
        magnitude, volts = get(event, "magnitude", "value"), get(event, "volts")
        if category == "rapid voltage change":
            if magnitude is not None and str(get(event, "unit", default="")).startswith("%"):
                magnitude /= 100
        elif category in RMS and volts is not None:
            magnitude = volts / truth["nominal_volts"]
        phases = get(event, "phases", "channels", default=[])
        phases = re.split(r"[ ,]+", phases) if isinstance(phases, str) else phases
        if not any(letters_of(p) for p in phases):
            phases = get(event, "channels", default=[])
        start = get(event, "start", "start_s", default=0.0)
        answer.rows.append(
            Row(category, {letters_of(p) for p in phases}, magnitude, float(start), get(event, "end", "end_s"))
        )
    for incident in get(data, "incidents", default=[]):
        probability = get(incident, "probability", "cause_probability")
        if probability is not None and probability > 1:
            probability /= 100
        cause = get(incident, "cause", "name", default="unknown")
        cause = get(cause, "name", "cause", default="unknown") if isinstance(cause, dict) else cause
        answer.incidents.append(Incident(cause_of(str(cause)), probability, list(clearings_of(incident))))
    answer.text = " | ".join(strings_of({k: v for k, v in data.items() if k not in ("path", "source")}))
    answer.operations = {item["name"]: operations_of(data, item["name"], answer.text) for item in truth["status"]}
    return answer


def category_of(text: str) -> str:
    text = text.lower().replace("_", " ")
    for pattern, name in (
        (r"interruption", "interruption"),
        (r"\bsag|\bdip|undervoltage", "sag"),
        (r"swell|overvoltage", "swell"),
        (r"rapid|voltage change|\brvc\b", "rapid voltage change"),
        (r"transient|impuls|oscillat", "transient"),
        (r"interharmonic", "interharmonics"),
        (r"harmonic", "harmonics"),
        (r"flicker|fluctuat", "flicker"),
        (r"frequency|\bhz\b", "frequency"),
        (r"\bdc\b|offset", "dc offset"),
        (r"unbalance", "unbalance"),
        (r"notch", "notching"),
        (r"phase.*jump|angle jump", "phase jump"),
    ):
        if re.search(pattern, text):
            return name
    return text


def cause_of(text: str) -> str:
    text = text.lower().replace("_", " ").strip()
    if text in ("", "none", "unknown", "not determined", "undetermined", "unclear", "cause unknown", "null"):
        return "unknown"
    for pattern, name in (
        (r"^(earth |ground |remote |distant )?fault|short circuit|reclos", "fault"),
        (r"\bfuse|voltage transformer|\bvt\b", "vt fuse"),
        (r"recorder|recording|instrument|measurement|measuring|\bmeter", "recorder"),
        (r"neutral", "broken neutral"),
        (r"lightning|surge|impuls", "lightning"),
        (r"ferro", "ferroresonance"),
        (r"transformer|inrush", "transformer energising"),
        (r"motor", "motor start"),
        (r"capacitor", "capacitor switching"),
        (r"load rejection", "load rejection"),
        (r"tap", "tap changer"),
        (r"generat|inverter|source", "generation trip"),
        (r"furnace|arc", "arc furnace"),
        (r"frequency", "frequency"),
        (r"ripple|audio", "ripple control"),
        (r"network switching|line switching", "network switching"),
        (r"load", "load switching"),
        (r"energis|energiz", "energising"),
        (r"fault", "fault"),
        (r"^switching", "switching"),
    ):
        if re.search(pattern, text):
            return name
    return text


def letters_of(text: str) -> frozenset[str]:
    """Phases in a name such as A, L1, UL12, "U L3", VBC: a set of letters."""
    name = str(text).upper().replace("L", " ")
    name = re.sub(r"^\s*[UVI](?=[\sABCRST123])", " ", name)
    found = {{"1": "A", "2": "B", "3": "C", "R": "A", "S": "B", "T": "C"}.get(c, c) for c in name}
    return frozenset(found & set("ABC"))


def clearings_of(incident: dict[str, Any]) -> Iterator[float]:
    for key in ("clearings", "clearing_times"):  # clearing_s is a duration
        value = incident.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield float(value)
            return
        if isinstance(value, list) and value and all(isinstance(x, (int, float)) for x in value):
            yield from map(float, value)
            return
    stages = incident.get("stages") or []
    fault = [bool(re.search(r"fault|evolv|\blow\b|sag|dip", str(stage.get("name", "")).lower())) for stage in stages]
    for k, stage in enumerate(stages):
        if fault[k] and not (k + 1 < len(stages) and fault[k + 1]) and stage.get("end") is not None:
            yield float(stage["end"])


def operations_of(data: Any, name: str, text: str) -> list[float]:
    """Stated operating times of a status channel."""
    out: list[float] = []

    def walk(item: Any) -> None:
        if isinstance(item, dict):
            if str(item.get("name", item.get("channel", ""))) == name:
                out.extend(
                    float(item[key])
                    for key in ("on", "time", "start", "operated", "at", "on_s")
                    if isinstance(item.get(key), (int, float))
                )
            for value in item.values():
                walk(value)
        elif isinstance(item, list):
            for value in item:
                walk(value)

    walk(data)
    out.extend(float(x) for x in re.findall(re.escape(name) + r"[^|]{0,30}? at ([0-9.]+[0-9]) s", text))
    out.extend(float(x) / 1000 for x in re.findall(re.escape(name) + r"[^|]{0,30}? at ([0-9.]+[0-9]) ms", text))
    return out


def strings_of(item: Any) -> Iterator[str]:
    if isinstance(item, str):
        yield item
    elif isinstance(item, dict):
        for value in item.values():
            yield from strings_of(value)
    elif isinstance(item, (list, tuple)):
        for value in item:
            yield from strings_of(value)


def analyze(path: Path, nominal: float | None, command: str | None) -> dict[str, Any]:
    """The product's JSON for a record: by its Python interface, or (`command`) by its command line. Raises on
    refusal."""
    if command is None:
        from pqswarm.identify import identify_file

        found = next(iter(identify_file(path, nominal_voltage=nominal)))
        if not hasattr(found, "as_dict"):
            raise ValueError(str(found))
        return json.loads(json.dumps(found.as_dict(), default=str))
    words = [
        *command.split(),
        "identify",
        str(path),
        "--json",
        *([] if nominal is None else ["--nominal", f"{nominal:.6g}"]),
    ]
    data = json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)
    if not data.get("recordings"):
        raise ValueError(str(data.get("failures")))
    return data["recordings"][0]


# ---------------------------------------------------------------------------------------------------------- judgements


def matches(row: Row, event: dict[str, Any], truth: dict[str, Any]) -> str:
    """Empty if the row is that event, else what differs first."""
    category = event["category"]
    same = row.category == category
    if category == "sag" and row.category == "interruption" and event["magnitude"][0] < 0.1 + generator.MARGIN:
        same = True
    if not same:
        return "category"
    if len(truth["channels"]) > 1:
        certain, possible = ({letters_of(p) for p in event[key]} for key in ("phases", "phases_possible"))
        if not certain <= row.phases or not row.phases <= possible:
            return "phases"
    if event["magnitude"] is not None:
        low, high = event["magnitude"]
        if row.magnitude is None:
            return "magnitude"
        tolerance = 0.015 if category == "rapid voltage change" else max(0.03, 0.05 * high)
        value = row.magnitude
        if category == "rapid voltage change" and abs(value) > 0.5:
            value -= 1
        if not low - tolerance <= value <= high + tolerance:
            return "magnitude"
    if event["starts"] and not any(low - 0.010 <= row.start <= high + 0.010 for low, high in event["starts"]):
        return "start"
    return ""


def judge_event(answer: Answer, truth: dict[str, Any]) -> tuple[bool, str, Row | None]:
    """Right or not, why not, and the matched row."""
    if answer.failure:
        return False, "refused", None
    allowed = set(truth["rms_allowed"])
    if any(e["category"] == "sag" and e["magnitude"][0] < 0.1 + generator.MARGIN for e in truth["events"]):
        allowed.add("interruption")
    earliest = (
        -math.inf
        if truth["start"] is None
        else min([truth["start"], *(e["starts"][0][0] for e in truth["events"] if e["starts"])])
    )
    earliest -= 0.010 + 1 / truth["true_frequency"]
    for row in answer.rows:
        if row.category in RMS and (row.category not in allowed or row.start < earliest):
            return False, f"false {row.category}", None
    rms = [row for row in answer.rows if row.category in RMS]
    others = [row for row in answer.rows if row.category not in RMS and row.category not in truth["other_allowed"]]
    reasons: list[str] = []
    for event in truth["events"]:
        for row in answer.rows:
            difference = matches(row, event, truth)
            if not difference:
                return True, "", row
            if difference != "category":
                reasons.append(difference)
    if truth["none_allowed"] and not rms:
        return (False, f"false {others[0].category}", None) if others else (True, "", None)
    if truth["none_allowed"] and not truth["events"]:  # only allowed RMS rows (such as a change that is there)
        return (False, f"false {others[0].category}", None) if others else (True, "", None)
    return False, reasons[0] if reasons else "not found", None


def judge_cause(incident: Incident | None, truth: dict[str, Any]) -> str:
    if incident is None or incident.cause == "unknown":
        return "unknown"
    if incident.cause in truth["causes"]:
        return "right"
    if incident.cause == "switching" and SWITCHINGS & set(truth["causes"]):
        return "unknown"
    return "wrong"


def score(truth: dict[str, Any], answer: Answer) -> dict[str, Any]:
    event, why, row = judge_event(answer, truth)
    main = answer.incidents[0] if answer.incidents else None
    cause = "refused" if answer.failure else judge_cause(main, truth)
    stated = main.probability if main else None
    out: dict[str, Any] = {
        "kind": truth["kind"],
        "file": truth["file"],
        "event": event,
        "why": why or answer.failure[:80],
        "cause": cause,
        "named": main.cause if main else "",
        "probability": stated,
        "visible": truth["cause_visible"],
        "also_wrong": sum(judge_cause(other, truth) == "wrong" for other in answer.incidents[1:]),
        "rows": [
            [r.category, sorted("".join(sorted(p)) for p in r.phases), r.magnitude, r.start, r.end] for r in answer.rows
        ],
    }
    text = answer.text.lower()
    out["caveat"] = None if truth["caveat"] is None else bool(re.search(CAVEATS[truth["caveat"]], text))
    out["alarms"] = [name for name, words in ALARMS.items() if name != truth["caveat"] and re.search(words, text)]
    stated_clearings = [t for incident in answer.incidents for t in incident.clearings]
    out["clearing_errors"] = []
    for moment in truth["clearing_s"]:
        nearest = min(stated_clearings, key=lambda t: abs(t - moment), default=math.inf)
        out["clearing_errors"].append(nearest - moment if abs(nearest - moment) <= 0.1 else None)
    out["end_error"] = row.end - truth["end"] if row and row.end is not None and truth["end"] is not None else None
    out["status_errors"] = []
    for item in truth["status"]:
        nearest = min(answer.operations.get(item["name"], []), key=lambda t: abs(t - item["on"]), default=math.inf)
        out["status_errors"].append(nearest - item["on"] if abs(nearest - item["on"]) <= 0.1 else None)
    return out


# -------------------------------------------------------------------------------------------------------------- tables


def wilson(right: int, n: int) -> str:
    if not n:
        return "-"
    z, p = 1.96, right / n
    middle, half = (
        (p + z * z / (2 * n)) / (1 + z * z / n),
        z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n),
    )
    return f"{right} of {n} ({100 * p:.1f} %, {100 * max(0, middle - half):.0f} to {100 * min(1, middle + half):.0f})"


def spread(errors: list[float | None]) -> str:
    known = [e for e in errors if e is not None]
    if not known:
        return f"none of {len(errors)} stated"
    middle, far = 1e3 * np.median(known), 1e3 * np.quantile(np.abs(known), 0.95)
    return f"{len(known)} of {len(errors)} stated; median {middle:+.1f} ms, 95 % of |error| {far:.1f} ms"


def report(results: list[dict[str, Any]]) -> str:
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in results:
        kinds[one["kind"]].append(one)

    def counts(group: list[dict[str, Any]]) -> list[int]:
        causes = Counter(r["cause"] for r in group)
        sure = sum(r["cause"] == "wrong" and (r["probability"] or 0) >= 0.8 for r in group)
        return [
            len(group),
            sum(r["event"] for r in group),
            causes["right"],
            causes["unknown"],
            causes["wrong"],
            sure,
            causes["refused"],
            sum(r["also_wrong"] for r in group),
        ]

    lines = [
        "| kind | n | event right | cause right | unknown | wrong | wrong at 80 % | refused | also wrong | caveat "
        "| reasons, wrong causes |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for name, group in kinds.items():
        caveats = [r["caveat"] for r in group if r["caveat"] is not None]
        why = Counter(r["why"] for r in group if not r["event"]) + Counter(
            f"{r['named']}" for r in group if r["cause"] == "wrong"
        )
        lines.append(
            f"| {name} | "
            + " | ".join(map(str, counts(group)))
            + f" | {f'{sum(caveats)}/{len(caveats)}' if caveats else ''} | "
            + ", ".join(f"{k} x{n}" for k, n in why.most_common(4))
            + " |"
        )
    lines.append("| **all** | " + " | ".join(map(str, counts(results))) + " | | |")
    n = len(results)
    causes = Counter(r["cause"] for r in results)
    visible = [r for r in results if r["visible"]]
    caveats = [r["caveat"] for r in results if r["caveat"] is not None]
    lines += [
        "",
        f"event right: {wilson(sum(r['event'] for r in results), n)}",
        f"cause right or unknown: {wilson(causes['right'] + causes['unknown'], n)}",
        f"cause wrong: {wilson(causes['wrong'], n)}",
        f"wrong at 80 % or more: {wilson(counts(results)[5], n)}",
        f"named where visible: {wilson(sum(r['cause'] == 'right' for r in visible), len(visible))}",
        f"self-check: {wilson(sum(caveats), len(caveats))}",
        f"false alarms: {wilson(sum(bool(r['alarms']) for r in results), n)} "
        f"{dict(Counter(a for r in results for a in r['alarms']))}",
        "",
        "| stated | n | mean stated | right |",
        "|---|---:|---:|---:|",
    ]
    named = [r for r in results if r["cause"] in ("right", "wrong") and r["probability"] is not None]
    for low, high in pairwise(CELLS):
        cell = [r for r in named if low <= r["probability"] < high]
        mean = f"{100 * np.mean([r['probability'] for r in cell]):.1f} %" if cell else "-"
        share = wilson(sum(r["cause"] == "right" for r in cell), len(cell))
        lines.append(f"| {100 * low:.0f}-{100 * min(high, 1):.0f} % | {len(cell)} | {mean} | {share} |")
    lines += [
        "",
        "clearing times: " + spread([e for r in results for e in r["clearing_errors"]]),
        "end of the row: " + spread([r["end_error"] for r in results if r["end_error"] is not None]),
        "status: " + spread([e for r in results for e in r["status_errors"]]),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0", help="separated by commas")
    parser.add_argument("--records", type=int, default=1, help="of each kind and seed")
    parser.add_argument("--kinds", help="names, separated by commas")
    parser.add_argument("--no-nominal", action="store_true", help="do not tell the nominal voltage")
    parser.add_argument("--command", help="use this command line instead of the Python interface")
    parser.add_argument("--keep", type=Path, help="keep the recordings in this folder")
    parser.add_argument("--out", type=Path, help="folder for report.md and results.jsonl")
    options = parser.parse_args()
    names = options.kinds.split(",") if options.kinds else list(generator.KINDS)
    results, started = [], time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "truth.jsonl").open("w") as file:
            for seed in map(int, options.seeds.split(",")):
                for name in names:
                    for number in range(options.records):
                        truth = generator.make(name, seed, number, folder)
                        file.write(json.dumps(truth) + "\n")
                        try:
                            data = analyze(
                                folder / truth["file"],
                                None if options.no_nominal else truth["nominal_volts"],
                                options.command,
                            )
                            answer = answer_of(data, truth)
                        except Exception as error:  # noqa: BLE001 - a failure of the product is a result
                            answer = Answer(failure=f"{type(error).__name__}: {error}")
                        results.append(score(truth, answer))
                        if not options.keep:
                            for path in folder.glob(f"{Path(truth['file']).stem}.*"):
                                path.unlink()
    text = report(results)
    print(text)
    print(f"\n{len(results)} records, {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "report.md").write_text(text + "\n")
        with (options.out / "results.jsonl").open("w") as file:
            file.writelines(json.dumps(one) + "\n" for one in results)


if __name__ == "__main__":
    main()
