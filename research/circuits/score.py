"""Score `pqswarm identify` on a folder of generate.py.

python score.py FOLDER [--pqswarm PATH] [--nominal given|none] [--jobs N] [--out results.csv] [--stored answers.json]
"""

import argparse
import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

RMS = {"sag", "swell", "interruption", "frequency"}
RECORDER = re.compile(r"frozen|freez|held|lost|missing|clipp|full scale|exchang|swap|clock|drift", re.I)
ALIAS = {
    "frequency deviation": "frequency",
    "frequency change": "frequency",
    "rapid_voltage_change": "rapid voltage change",
    "dc offset": "DC offset",
}


def ask(command, files, nominal, jobs):
    call = [*command, "identify", *map(str, files), "--json", "-j", str(jobs)] + (
        ["--nominal", str(nominal)] if nominal else []
    )
    done = subprocess.run(call, capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        print(done.stderr[-2000:], file=sys.stderr)
        raise


def answers(folder, truth, o):
    groups = {}
    for stem, t in truth.items():
        groups.setdefault(t["nominal"] if o.nominal == "given" else None, []).append(folder / f"{stem}.cfg")
    got, failed = {}, {}
    for nominal, files in groups.items():
        for k in range(0, len(files), o.chunk):
            reply = ask(o.pqswarm.split(), files[k : k + o.chunk], nominal, o.jobs)
            for r in reply["recordings"]:
                got.setdefault(Path(r["path"]).stem, r)
            for f in reply["failures"]:
                failed[str(f)] = f
    return got, failed


def score_record(stem, t, r):
    row = {
        "record": stem,
        "kind": t["kind"],
        "true_cause": t["true_cause"],
        "visible": t["visible"],
        "accept_events": "|".join(t["events"]),
        "none_ok": t["none_ok"],
    }
    if r is None:
        return row | {
            "answered": False,
            "event_right": False,
            "cause": "",
            "cause_right_or_unknown": False,
            "named_right": False if t["visible"] else None,
            "wrong_80": False,
            "incidents": 0,
        }
    types = [ALIAS.get(e["type"], e["type"]) for e in r["events"]]
    ok = set(t["events"])
    if not types:
        event = t["none_ok"]
    elif not ok:
        event = False
    else:
        event = bool(ok & set(types)) and not [x for x in types if x in RMS and x not in ok]
    inc = r["incidents"][0] if r["incidents"] else {"cause": "unknown", "probability": None}
    cause, p = inc["cause"] or "unknown", inc.get("probability")
    good = {t["true_cause"], t["cause"], *t["also"]}
    named = cause != "unknown"
    right = cause in good
    row |= {
        "answered": True,
        "events": "|".join(types),
        "event_right": event,
        "cause": cause,
        "probability": p,
        "rule": inc.get("rule", ""),
        "incidents": len(r["incidents"]),
        "cause_right_or_unknown": right or not named,
        "named": named,
        "right_if_named": right if named else None,
        "named_right": (cause == t["true_cause"]) if t["visible"] else None,
        "wrong_80": named and not right and (p or 0) >= 0.8,
        "other_wrong_80": any(
            x["cause"] not in (*good, "unknown", "") and (x["probability"] or 0) >= 0.8 for x in r["incidents"][1:]
        ),
        "expected_caveat": t["caveat"],
    }
    words = " ".join(map(str, [*r.get("caveats", []), *r.get("remarks", [])]))
    row["caveat_given"] = bool(RECORDER.search(words))
    row["caveat_right"] = None if t["caveat"] is None else row["caveat_given"] == t["caveat"]
    if t["phases"] and t["currents"] and cause == "fault" and t["true_cause"] == "fault":
        row["phases"], row["true_phases"] = inc.get("phases", ""), t["phases"]
        row["phases_right"] = set(str(inc.get("phases", ""))) & set("ABC") == set(t["phases"]) & set("ABC")
    if t["clear"] is not None and t["true_cause"] == "fault":
        row["true_clear"] = t["clear"]
        if cause == "fault" and inc.get("clearing_s"):
            row["clear"] = inc["start"] + inc["clearing_s"]
            row["clear_error_ms"] = round(1e3 * (row["clear"] - t["clear"]), 3)
    return row


def share(rows, key):
    x = [bool(r[key]) for r in rows if r.get(key) is not None]
    return (f"{100 * np.mean(x):5.1f} %" if x else "    -  "), len(x), sum(x)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("folder", type=Path)
    a.add_argument("--pqswarm", default="pqswarm", help="the command, may hold arguments")
    a.add_argument("--nominal", choices=["given", "none"], default="given")
    a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--chunk", type=int, default=40)
    a.add_argument("--out", type=Path, default=Path("results.csv"))
    a.add_argument("--stored", type=Path, help="answers (JSON): read if it exists, else written")
    o = a.parse_args()
    truth = json.loads((o.folder / "truth.json").read_text())
    if o.stored and o.stored.exists():
        got, failed = json.loads(o.stored.read_text())
    else:
        got, failed = answers(o.folder, truth, o)
        if o.stored:
            o.stored.write_text(json.dumps([got, failed]))
    rows = [score_record(s, t, got.get(s)) for s, t in truth.items()]
    keys = list(dict.fromkeys(k for r in rows for k in r))
    with o.out.open("w", newline="") as f:
        w = csv.DictWriter(f, keys)
        w.writeheader()
        w.writerows(rows)

    print(
        f"{len(rows)} records, {len({r['kind'] for r in rows})} kinds, not answered {sum(not r['answered'] for r in rows)}, nominal {o.nominal}"  # noqa: E501
    )
    for key, text in [
        ("event_right", "event right"),
        ("cause_right_or_unknown", "cause right or honestly unknown"),
        ("named_right", "named and right where visible"),
        ("wrong_80", "wrong cause at >= 80 %"),
        ("other_wrong_80", "another incident wrong at >= 80 %"),
        ("phases_right", "faulted phases right (currents)"),
        ("caveat_right", "recorder caveat right"),
    ]:
        s, n, k = share(rows, key)
        print(f"  {text:40s} {s}  ({k} of {n})")
    due = [r for r in rows if r.get("expected_caveat") is True]
    print(
        f"  {'  caveat given where due':40s} {share(due, 'caveat_given')[0]}  ({share(due, 'caveat_given')[2]} of {len(due)})"  # noqa: E501
    )
    print(f"  incidents per record {np.mean([r['incidents'] for r in rows]):.2f}")
    print("\nstated probability   stated   right      n")
    for lo, hi in ((0, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.0001)):
        x = [r for r in rows if r.get("named") and r["probability"] is not None and lo <= r["probability"] < hi]
        if x:
            print(
                f"  {100 * lo:3.0f} to {min(100 * hi, 100):3.0f} %        {100 * np.mean([r['probability'] for r in x]):5.1f}   {100 * np.mean([r['right_if_named'] for r in x]):5.1f}   {len(x):4d}"  # noqa: E501
            )
        else:
            print(f"  {100 * lo:3.0f} to {min(100 * hi, 100):3.0f} %            -       -      0")
    e = np.array([abs(r["clear_error_ms"]) for r in rows if r.get("clear_error_ms") is not None])
    n = sum(r.get("true_clear") is not None for r in rows)
    if len(e):
        print(
            f"\nclearing time, {len(e)} of {n} faults: median error {np.median(e):.2f} ms, 95 % within {np.percentile(e, 95):.2f} ms"  # noqa: E501
        )
    print(
        f"\n{'kind':30s} {'n':>3s} {'event':>6s} {'cause':>6s} {'named':>8s} {'wrong80':>7s} {'caveat':>7s} {'clear95':>8s}  said"  # noqa: E501
    )
    for kind in dict.fromkeys(r["kind"] for r in rows):
        x = [r for r in rows if r["kind"] == kind]
        vis = [r for r in x if r["visible"]]
        e = [abs(r["clear_error_ms"]) for r in x if r.get("clear_error_ms") is not None]
        said = {}
        for r in x:
            said[r["cause"] or "refused"] = said.get(r["cause"] or "refused", 0) + 1
        cav = [r for r in x if r.get("caveat_right") is not None]
        print(
            f"{kind:30s} {len(x):3d} {sum(bool(r['event_right']) for r in x):6d} {sum(bool(r['cause_right_or_unknown']) for r in x):6d} {sum(bool(r['named_right']) for r in vis):4d}/{len(vis):<3d} {sum(bool(r['wrong_80']) for r in x):7d} "  # noqa: E501
            f"{str(sum(r['caveat_right'] for r in cav)) + '/' + str(len(cav)) if cav else '-':>7s} {f'{np.percentile(e, 95):.1f}' if e else '-':>8s}  "  # noqa: E501
            + ", ".join(f"{c} {k}" for c, k in sorted(said.items(), key=lambda q: -q[1]))
        )
    for f in failed:
        print("failed:", f)


if __name__ == "__main__":
    main()
