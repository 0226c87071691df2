"""A watched folder whose files hold an event per word."""

import json
from math import nan

from tests.identify.invented import event, verdict

from pqswarm.identify import Failure
from pqswarm.identify.folder.journal import Journal
from pqswarm.identify.folder.receivers import JsonLines
from pqswarm.identify.folder.watch import JOURNAL, Watcher
from pqswarm.measure.event import KINDS


def found_in(path):
    """The verdict on a file: an event for each of its words."""
    events = [event(word if word in KINDS else "flicker", nan, 0.1, 0.5 * i) for i, word in enumerate(words(path))]
    return verdict(*events, path=path.name)


def words(path):
    return path.read_text().split()


class Analyser:
    def __init__(self):
        self.asked = []

    def __call__(self, path):
        self.asked.append(path.name)
        if "broken" in path.read_text():
            return [Failure(str(path), "", "is broken.")]
        return [found_in(path)]


class Place:
    """A folder, its journal and what was judged in it."""

    def __init__(self, folder):
        self.folder, self.analyse, self.said = folder, Analyser(), []
        self.lines = folder / "events.jsonl"

    def look(self, *receivers, settle=0.0, times=1):
        with Journal(self.folder / JOURNAL) as journal:
            chosen = receivers or (JsonLines(self.lines),)
            watcher = Watcher(self.folder, journal, self.analyse, chosen, settle=settle, say=self.said.append)
            waiting = [watcher.look() for _ in range(times)]
            return waiting[-1]

    def files(self):
        with Journal(self.folder / JOURNAL, read_only=True) as journal:
            return {name: record.state for name, record in journal.files().items()}

    def keys(self):
        return [json.loads(line)["key"] for line in self.lines.read_text().splitlines()]
