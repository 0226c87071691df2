"""Kill watch, identify and app on one archive: ``python -m tests.torture.archive --kills 60``.

The three work on one folder and one archive at once. Again and again one of them is killed (-9) and restarted, and
a recording is added. In the end nothing may be lost or doubled: neither in the archive nor in the delivered lines.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

from pqswarm.identify import Archive, identify_file
from pqswarm.identify.archive.export import check_archive
from tests.app.recordings import write_pair
from tests.app.requests import OpenPage, get, running_app

BEGINNING = 12
"""Recordings that are there from the start."""


class Workers:
    """A watcher, a command that analyses everything again and again, and a server with an open page."""

    def __init__(self, folder):
        self.folder, self.incoming, self.home = folder, folder / "incoming", folder / "archive"
        self.running = {}

    def start(self, name):
        if name == "app":
            stack = ExitStack()
            server = stack.enter_context(
                running_app(self.incoming, "--archive", str(self.home), state=self.folder / "state")
            )
            page = OpenPage(server)
            get(server, "/api/recordings")
            self.running[name] = server, stack, page
            return
        lines = ("--jsonl", self.folder / "events.jsonl", "--interval", "0.2", "--settle", "0.3")
        more = lines if name == "watch" else ()
        command = [sys.executable, "-m", "pqswarm", name, self.incoming, *more, "--archive", self.home]
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen([*map(str, command)], stdout=log, stderr=log)
        self.running[name] = process, None, None

    def kill(self, name):
        process, stack, page = self.running.pop(name)
        was_alive = process.poll() is None
        process.kill()
        if stack is not None:
            with suppress(OSError):
                page.close()
            stack.close()
        process.wait()
        return was_alive


def counted(rows):
    """How often each event is among some rows."""
    columns = ("type", "offset_s", "magnitude", "duration_s")
    return Counter((Path(row["path"]).name, *(row[name] for name in columns)) for row in rows if row["type"] != "none")


def add_recording(incoming, number):
    """Add a recording; its parts appear at once, as when a meter moves them there."""
    made = write_pair(
        incoming.parent / "made" / f"r{number}.cfg", seconds=0.5, sag=(0.2, 0.3), residual=0.3 + number / 300
    )
    for path in (made.with_suffix(".dat"), made):
        path.rename(incoming / path.name)


def run(folder, kills, seed):
    """Kill, then let everything finish; return what is wrong and the number of kills of each."""
    draw = random.Random(seed)
    workers = Workers(folder)
    workers.incoming.mkdir()
    for number in range(BEGINNING):
        add_recording(workers.incoming, number)
    killed = Counter()
    try:
        for name in ("watch", "identify", "app"):
            workers.start(name)
        for number in range(kills):
            time.sleep(draw.uniform(0.1, 2.5))
            name = draw.choice(("watch", "identify", "app"))
            killed[name if workers.kill(name) else f"{name}, after its end"] += 1
            add_recording(workers.incoming, BEGINNING + number)
            workers.start(name)
    finally:
        for name in [*workers.running]:
            workers.kill(name)
    lines = ("--jsonl", folder / "events.jsonl", "--settle", "0.2", "--once")
    last = [sys.executable, "-m", "pqswarm", "watch", workers.incoming, *lines, "--archive", workers.home]
    subprocess.run([*map(str, last)], check=True)
    return find_faults(workers, folder), killed


def find_faults(workers, folder):
    """What was lost or doubled."""
    analyses = [analysis for path in sorted(workers.incoming.glob("*.cfg")) for analysis in identify_file(path)]
    expected = counted([row for analysis in analyses for row in analysis.rows()])
    lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    with Archive(workers.home, read_only=True) as archive:
        rows = list(archive.events.all())
        wrong = [text for is_damage, text in check_archive(archive) if is_damage]
        wrong += [f"claims are left: {archive.files.begun()}"] * bool(archive.files.begun())
        counts = archive.counts()
    for what, found in (("archive", rows), ("lines", lines)):
        listed = counted(found)
        wrong += [f"{what}: lost {expected - listed}"] * bool(expected - listed)
        wrong += [f"{what}: doubled {listed - expected}"] * bool(listed - expected)
    wrong += ["keys differ"] * ({row["key"] for row in rows} != {line["key"] for line in lines})
    wrong += [f"not done: {counts}"] * bool(counts["waiting"] or counts["failed"])
    return wrong


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.torture.archive", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=60, help="number of kills (60)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (0)")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pqswarm-archive-"))
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    began = time.monotonic()
    wrong, killed = run(folder, options.kills, options.seed)
    sys.stdout.write(f"{dict(killed)} in {time.monotonic() - began:.0f} s\n")
    sys.stdout.write("\n".join(wrong) + "\n" if wrong else "nothing was lost or doubled\n")
    if not wrong:
        shutil.rmtree(folder)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
