"""A watched folder whose files hold an event per word."""

import json
from math import nan

from tests.identify.invented import analysis, event

from pqswarm._base.text import file_text
from pqswarm.identify import Archive, Failure
from pqswarm.identify.archive.analyzer import AnalyzedFile
from pqswarm.identify.folder.watch import JsonLines, Watcher
from pqswarm.measure.event import EVENT_TYPES


def found_in(path):
    """The analysis on a file: an event for each of its words."""
    events = [
        event(word if word in EVENT_TYPES else "flicker", nan, 0.1, 0.5 * i) for i, word in enumerate(words(path))
    ]
    return analysis(*events, path=path.name)


def words(path):
    return path.read_text().replace("quiet", "").split()


def analyzed(*results):
    return AnalyzedFile(results, analyzer="test")


class Analyzer:
    def __init__(self):
        self.asked = []

    def __call__(self, path):
        self.asked.append(path.name)
        if "broken" in path.read_text():
            return analyzed(Failure(str(path), "", "is broken."))
        return analyzed(found_in(path))


class Place:
    """A folder, its archive and what was analyzed in it."""

    def __init__(self, folder):
        self.folder, self.analyze, self.said = folder / "incoming", Analyzer(), []
        self.folder.mkdir()
        self.home = folder / "archive"
        self.lines = folder / "events.jsonl"

    def put(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def watcher(self, archive, *receivers, settle=0.0):
        chosen = receivers or (JsonLines(self.lines),)
        return Watcher(
            self.folder, archive, lambda path: self.analyze(path), chosen, settle=settle, say=self.said.append
        )

    def look(self, *receivers, settle=0.0, times=1):
        with Archive(self.home) as archive:
            watcher = self.watcher(archive, *receivers, settle=settle)
            return [watcher.look() for _ in range(times)][-1]

    def key(self, receiver):
        return f"{receiver.name} of {self.folder}"

    def pending(self, archive, receiver):
        return archive.deliveries.pending(self.key(receiver), self.folder)

    def files(self):
        with Archive(self.home, read_only=True) as archive:
            found = archive.files.all(self.folder).values()
            return {file_text(one.path).removeprefix(f"{self.folder}/"): one.state for one in found}

    def told(self):
        return [json.loads(line) for line in self.lines.read_text().splitlines()]

    def keys(self):
        return [one["key"] for one in self.told()]
