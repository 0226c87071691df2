"""An archive of 100,000 recordings and 1,000,000 events: how long each view takes, and the memory of the server.

Some recordings are generated, analyzed and written as by `pqswarm identify --archive`; their rows are copied with other
times, stations and contents until the archive has the wanted size. Every view is timed in this process, and over HTTP.

    python research/archive.py --folder /tmp/large --recordings 100000 --analyzed 3000
"""

import argparse
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import time
import urllib.request
from datetime import datetime, timedelta
from math import sqrt
from pathlib import Path

import numpy as np

from pqswarm.identify import Archive, ArchiveQueries, EventFilter, default_model, find_recordings
from pqswarm.identify.archive.analyzer import identify_many
from pqswarm.identify.archive.database import insert
from pqswarm.recordings import write_comtrade
from pqswarm.recordings.samples import Disturbance, SampleRecording

STATIONS = 37
EVENTS = 10
"""Events of a copied recording, on average."""
LEVELS = {"sag": (0.2, 0.88), "interruption": (0.02, 0.05), "swell": (1.12, 1.3)}


def write_recordings(folder: Path, count: int) -> None:
    """Write recordings of a fault, a swell or nothing each: 0.8 s of six channels at 6.4 kHz."""
    random = np.random.default_rng(7)
    for number in range(count):
        kind = ("sag", "sag", "sag", "interruption", "swell", "none")[random.integers(6)]
        phases = ("A", "B", "C", "AB", "BC", "ABC")[random.integers(6)]
        length, level = float(random.uniform(0.05, 0.3)), float(random.uniform(*LEVELS.get(kind, (0, 1))))
        seen = [] if kind == "none" else [Disturbance(kind, phases, 0.2, length, level)]
        start = datetime(2017, 1, 1) + timedelta(seconds=float(random.uniform(0, 10 * 365 * 86_400)))
        path = folder / f"Station {number % STATIONS:02d}" / f"W{number:05d}.cfg"
        options = {"volts": 20e3 / sqrt(3), "start": start, "source": path.name, "station": path.parent.name}
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_comtrade(SampleRecording(seen, 0.8, 6400.0, seed=number, currents=True, **options), path, "BINARY")


def analyze(folder: Path, archive: Archive, jobs: int) -> tuple[float, float, int]:
    """Analyze the recordings; return wall time, CPU time of all processes [s] and their number."""
    paths, _ = find_recordings([folder])
    before, began = cpu_seconds(), time.perf_counter()
    for _ in identify_many(paths, {"model": default_model(), "reading": {}, "site": None}, archive=archive, jobs=jobs):
        pass
    return time.perf_counter() - began, cpu_seconds() - before, len(paths)


def cpu_seconds() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def copy_rows(archive: Archive, wanted: int) -> None:
    """Copy recordings with other contents, times and stations until there are as many as wanted."""
    random = np.random.default_rng(3)
    database = sqlite3.connect(archive.folder / "archive.sqlite", isolation_level=None)
    database.row_factory = sqlite3.Row
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA cache_size = -400000")

    def read(query: str) -> list[dict]:
        return [dict(row) for row in database.execute(query)]

    def by_recording(query: str) -> dict[int, list[dict]]:
        groups = {}
        for row in read(query):
            groups.setdefault(row["recording"], []).append(row)
        return groups

    have = database.execute("SELECT count(*) FROM recordings").fetchone()[0]
    recordings = read("SELECT * FROM recordings WHERE n_events > 0")
    heads = dict(tuple(row) for row in database.execute("SELECT recording, record FROM recording_records"))
    texts = dict(tuple(row) for row in database.execute("SELECT number, record FROM event_records"))
    events = by_recording("SELECT * FROM events")
    incidents = by_recording("SELECT * FROM incidents")
    (number,) = database.execute("SELECT max(number) FROM events").fetchone()
    (revision,) = database.execute("SELECT last FROM revisions").fetchone()
    (top,) = database.execute("SELECT max(id) FROM recordings").fetchone()
    database.execute("BEGIN")
    for copied in range(have, wanted):
        old = recordings[int(random.integers(len(recordings)))]
        content = f"{copied:064x}"[::-1]
        station = 1 + int(random.integers(STATIONS))
        top += 1
        revision += 1
        shift = int(random.uniform(-3e14, 3e14))
        n = max(1, int(random.poisson(EVENTS)))
        offsets = np.sort(random.integers(0, 3600_000_000, n)).tolist()
        recording = old | {
            "id": top,
            "content": content,
            "name": f"/archive/{station}/{copied}.cfg",
            "station": station,
            "start": old["start"] + shift,
            "n_events": n,
            "revision": revision,
        }
        insert(database, "recordings", recording)
        insert(database, "recording_records", {"recording": top, "record": heads[old["id"]]})
        database.execute("INSERT INTO contents VALUES (?, 'done', '', '', '2026-01-01T00:00:00+00:00', 1)", (content,))
        for position, offset in enumerate(offsets):
            event = events[old["id"]][int(random.integers(len(events[old["id"]])))]
            number += 1
            copy = event | {
                "number": number,
                "key": f"{content[:24]}-{position}",
                "recording": top,
                "position": position,
                "start": event["start"] + shift + offset,
            }
            insert(database, "events", copy)
            insert(database, "event_records", {"number": number, "record": texts[event["number"]]})
        for incident in incidents.get(old["id"], ()):
            insert(database, "incidents", incident | {"recording": top})
    database.execute("UPDATE revisions SET last = ?", (revision,))
    database.execute("COMMIT")
    database.close()


FILTERS = {
    "everything": EventFilter(),
    "a year": EventFilter(start="2020", end="2021"),
    "a station": EventFilter(stations=(5,)),
    "sags due to faults": EventFilter(types=("sag",), causes=("fault",)),
    "severe": EventFilter(severity=1.0),
    "a text": EventFilter(text="station 07 swell"),
    "a text that is nowhere": EventFilter(text="nowhere"),
}
QUERIES = {
    "from=2020&to=2021": "a year",
    "station=5": "a station",
    "type=sag&cause=fault": "sags due to faults",
    "text=station+07+swell": "a text",
}


def time_queries(folder: Path) -> None:
    with Archive(folder, read_only=True) as archive:
        queries = ArchiveQueries(archive)
        show("read all events, once", lambda: queries.table(), times=1)
        show("first page after that", lambda: queries.page(EventFilter()), times=1)
        (recording,) = archive.database.rows("SELECT id FROM recordings WHERE start IS NOT NULL LIMIT 1 OFFSET 50")[0]
        for name, chosen in FILTERS.items():
            for order in ("newest", "worst"):
                show(f"list, {order} first, {name}", lambda c=chosen, o=order: queries.page(c, o))
            for what in ("months", "hours", "sarfi", "scatter"):
                show(f"{what}, {name}", lambda c=chosen, w=what: getattr(queries, w)(c))
        last = queries.page(EventFilter())["next"]
        show("second page", lambda: queries.page(EventFilter(), after=last))
        show("others at that time", lambda: queries.others(recording))
        show("list of recordings", lambda: archive.recordings())
        show("recordings by text", lambda: archive.recordings(text="77.cfg"))
        show("stations", lambda: archive.stations())
        show("what can be selected", lambda: queries.facets())
    print(f"memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def show(what: str, function, times: int = 3) -> None:
    spent = []
    for _ in range(times):
        began, cpu = time.perf_counter(), time.process_time()
        function()
        spent.append((time.process_time() - cpu, time.perf_counter() - began))
    cpu, wall = sorted(spent)[len(spent) // 2]
    print(f"{what:45} {1000 * cpu:7.0f} ms CPU {1000 * wall:7.0f} ms", flush=True)


def time_server(folder: Path, recordings: Path) -> None:
    command = [sys.executable, "-m", "pqswarm", "app", str(recordings), "--archive", str(folder), "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
        home, token = re.match(r"(http://[^/]+)/\?token=(\S+)", address).groups()

        def get(path: str) -> int:
            headers = {"Accept-Encoding": "gzip", "X-Token": token}
            request = urllib.request.Request(f"{home}{path}", headers=headers)  # noqa: S310
            with urllib.request.urlopen(request) as answer:  # noqa: S310
                return len(answer.read())

        def timed(path: str) -> None:
            began = time.perf_counter()
            size = get(path)
            print(f"GET {path:55} {1000 * (time.perf_counter() - began):7.0f} ms {size / 1000:8.1f} kB", flush=True)

        for path in ("/api/recordings", "/api/recordings", "/api/events", "/api/archive", "/api/stations"):
            timed(path)
        for query in QUERIES:
            for route in ("events", "months", "hours", "sarfi", "scatter"):
                timed(f"/api/{route}?{query}")
        status = Path(f"/proc/{process.pid}/status").read_text()
        peak = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024
        print(f"memory of the server: {peak:.0f} MB")
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--recordings", type=int, default=100_000)
    parser.add_argument("--analyzed", type=int, default=3000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    recordings, folder = given.folder / "recordings", given.folder / "archive"
    write_recordings(recordings, given.analyzed)
    with Archive(folder) as archive:
        wall, cpu, count = analyze(recordings, archive, given.jobs)
        print(f"{count} files: {wall:.0f} s, {cpu:.0f} s CPU, {cpu / count:.3f} s CPU per file")
        copy_rows(archive, given.recordings)
        print(json.dumps(archive.counts()), f"{(folder / 'archive.sqlite').stat().st_size / 1e9:.2f} GB")
    time_queries(folder)
    time_server(folder, recordings)


if __name__ == "__main__":
    main()
