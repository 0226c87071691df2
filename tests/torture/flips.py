"""Flip single bits in each kind of file: ``python -m tests.torture.flips --flips 300``.

Each flip must be told, when the file is read or by ``pqswarm archive check``, or be without effect. Exits with code 1
if a flip was silent or raised an error that is not pqswarm's own.
"""

import argparse
import json
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, is_dataclass
from pathlib import Path

import numpy as np

from pqswarm.datasets import load_dataset, make_dataset
from pqswarm.errors import PqswarmError
from pqswarm.identify import Archive, ArchiveQueries, EventFilter, default_model, load_model
from pqswarm.identify.archive.export import check_archive
from pqswarm.study import Store
from pqswarm.study.findings import AllFeatures, HeldOut
from tests.identify.invented import add
from tests.identify.test_archive_queries import drawn_verdict
from tests.selector.problems import WINE, quick
from tests.study.samples import checkpoint, record

HELD_OUT = HeldOut("k-NN", {f"subset {i}": (i / 7,) for i in range(50)})


def plain(value):
    """Records, arrays and mappings as values that can be compared."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if is_dataclass(value):
        return plain(vars(value))
    if isinstance(value, dict):
        return [(repr(key), plain(entry)) for key, entry in value.items()]
    return [plain(entry) for entry in value] if isinstance(value, list | tuple) else repr(value)


@dataclass(frozen=True)
class FileKind:
    """A kind of file: how it is made, how all of it is read, and what its own check finds."""

    name: str

    def damages(self, folder):
        return []

    def is_same(self, found, expected):
        return found == expected


class ArchiveFile(FileKind):
    def make(self, folder):
        random = np.random.default_rng(5)
        with Archive(folder) as archive:
            for number in range(25):
                add(archive, drawn_verdict(random, number), f"{number}.cfg", f"{number:064x}"[::-1])
            archive.add_note(1, "A note about it.", "Eve", 0.1, 0.4)
            archive.add_note(2, "Another.", "Ann")
            events = archive.database.rows("SELECT recording, position FROM events LIMIT 6")
            for i, (recording, position) in enumerate(events):
                archive.correct(recording, position, ("swell", "not an event")[i % 2], "Eve", "seen")
                archive.correct(recording, position, "lightning", "Ann", what="cause")
            archive.set_site("Station 1", "nominal_voltage = { line_to_line = 20000.0 }", "Eve")
            archive.deliveries.delivered("lines", 3, 99)
            archive.deliveries.refuse("lines", 4, "it answered 400", 1)

    def read(self, folder):
        chosen = EventFilter(hidden=True)
        with Archive(folder, read_only=True) as archive:
            queries = ArchiveQueries(archive)
            found = [archive.counts(), archive.correction_log(), archive.stations(), archive.recordings(limit=500)]
            found += [queries.page(chosen, order, limit=500) for order in ("newest", "worst", "oldest")]
            found += [queries.months(chosen), queries.hours(chosen), queries.sarfi(chosen), queries.scatter(chosen)]
            found += [queries.facets(), archive.deliveries.refused(), archive.deliveries.progress("lines")]
            found += [repr(archive.class_corrections()), repr(archive.sites()), repr(archive.files.all())]
            for (number,) in archive.database.rows("SELECT id FROM recordings ORDER BY id"):
                found += [repr(archive.analysis(number)), archive.notes(number), archive.kept(number)]
                found.append(queries.others(number, 1e5))
            return json.dumps(found)

    def damages(self, folder):
        with Archive(folder, read_only=True) as archive:
            return [text for is_damage, text in check_archive(archive) if is_damage]


class StudyFile(FileKind):
    def make(self, folder):
        with Store(folder, write=True) as store:
            store.put(AllFeatures("NB", 1 / 3), HELD_OUT)
            for run in range(20):
                store.finish(record(run))
            store.save_checkpoints([checkpoint(run) for run in range(20, 22)])

    def read(self, folder):
        with Store(folder) as store:
            findings = [store.find(AllFeatures, "NB"), store.find(HeldOut, "k-NN")]
            states = {repr(key): plain(one.state) for key, one in store.checkpoints().items()}
            ended = [status for status in store.statuses() if status.finished]
            return plain([findings, store.finished(), ended]), states

    def is_same(self, found, expected):
        """Whether no result differs; a damaged checkpoint is left out, and its run starts again."""
        return found[0] == expected[0] and found[1].items() <= expected[1].items()


class ModelFile(FileKind):
    def make(self, folder):
        default_model().save(folder / "model.npz")

    def read(self, folder):
        model = load_model(folder / "model.npz")
        return repr(model), [array.tobytes() for table in model.tables for array in vars(table).values()]


class DatasetFile(FileKind):
    def make(self, folder):
        make_dataset(events_per_class=2, snr=np.inf).save(folder / "data.npz")

    def read(self, folder):
        return plain(load_dataset(folder / "data.npz"))


class SelectorFile(FileKind):
    def make(self, folder):
        quick(storage=folder / "search.npz", max_evaluations=60).fit(*WINE)

    def read(self, folder):
        found = quick(storage=folder / "search.npz", max_evaluations=60).fit(*WINE)
        return found.support_.tobytes()


KINDS = (
    ArchiveFile("archive"),
    StudyFile("study"),
    ModelFile("model"),
    DatasetFile("data set"),
    SelectorFile("storage of a selector"),
)


def flip_bits(kind, flips, seed=0):
    """Flip a bit at a time; return how many flips were told when read, told by the check, without effect, silent."""
    counts = Counter()
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "good"
        folder.mkdir()
        kind.make(folder)
        (file,) = (path for path in folder.iterdir() if path.suffix in (".sqlite", ".npz"))
        good = file.read_bytes()
        expected = kind.read(folder)
        assert not kind.damages(folder)
        random = np.random.default_rng(seed)
        for _ in range(flips):
            content = bytearray(good)
            content[random.integers(len(content))] ^= 1 << int(random.integers(8))
            copy = Path(root) / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            copy.mkdir()
            (copy / file.name).write_bytes(content)
            counts[_outcome(kind, copy, expected)] += 1
    return counts


def _outcome(kind, folder, expected):
    try:
        found = kind.read(folder)
    except PqswarmError:
        return "told when read"
    except Exception as error:  # noqa: BLE001 (this is what is looked for)
        return f"foreign error {type(error).__name__}"
    try:
        is_told = bool(kind.damages(folder))
    except PqswarmError:
        is_told = True
    if is_told:
        return "told by check"
    return "without effect" if kind.is_same(found, expected) else "silent"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=300, help="flips in each kind of file")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("error")
    bad = 0
    for kind in KINDS:
        counts = flip_bits(kind, given.flips, given.seed)
        bad += sum(n for what, n in counts.items() if what == "silent" or what.startswith("foreign"))
        line = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
        sys.stdout.write(f"{kind.name}: {line}\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
