"""Valid files of every kind, the starting point of all damage.

Recordings and tables are written here each time. Texts of the user, and what only the package can write, such as data
sets, models and studies, lie in ``corpus/seeds``: ``python -m tests.fuzz.seeds`` writes the latter again, for a new
version of these formats.
"""

import base64
import contextlib
import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.identify import invented
from tests.recordings import builders, vendor_files
from tests.reference import pqdif

from pqswarm.measure.incidents.stages import Incident, IncidentStage
from pqswarm.recordings.files import find_partner

CORPUS = Path(__file__).with_name("corpus")
SAMPLES = "a,b,c,class\n" + "".join(f"{i % 7},{i * i % 5}.5,{i % 3}e-2,{'xyz'[i % 3]}\n" for i in range(12))


def make_seeds(samples=None):
    """Lists of cases by target; recordings from a folder replace the small ones, which is slower."""
    pairs = builders.comtrade_seeds()
    packed = [pqdif.example(packed=packed)[0] for packed in (False, True)]
    three = [{"case.cff": builders.cff(*pairs[i], kind)} for i, kind in ((0, "ASCII"), (1, "BINARY"), (3, "FLOAT32"))]
    three.append({"case.cff": builders.cff(pairs[1][0], base64.encodebytes(pairs[1][1]), "BINARY BASE64")})
    seeds = {
        "comtrade": [*({"case.cfg": config, "case.dat": data} for config, data in pairs), *three],
        "csv": [
            {"case.csv": text.encode("utf-8")} for text in (*builders.csv_seeds(), vendor_files.tektronix_blocks())
        ],
        "npz": [{"case.npz": builders.zipped(members)} for members in builders.npz_seeds()],
        "pqdif": [{"case.pqd": content} for content in packed],
        "sel": vendor_files.sel_seeds(),
        "mat": [{"case.mat": content} for content in vendor_files.mat_seeds()],
        "zip": [
            {"case.zip": builders.zipped({"a/x.cfg": pairs[10][0], "a/x.dat": pairs[10][1], "README.txt": b"hello"})},
            {"case.zip": builders.zipped({"x.cev": vendor_files.cev(), "y.csv": builders.csv_seeds()[0].encode()})},
        ],
        "samples": [{"case.csv": SAMPLES.encode()}],
        "archive": [{"archive.sqlite": archive_seed()}],
    }
    for folder in sorted(CORPUS.glob("seeds/*/*")):
        seeds.setdefault(folder.parent.name, []).append(read_case(folder))
    return seeds if samples is None else seeds | read_samples(Path(samples))


def archive_seed():
    """A small archive with a correction, a note and a site."""
    from pqswarm.identify import Archive
    from pqswarm.identify.archive.database import seal_rows
    from pqswarm.identify.archive.files import SeenFile

    incident = Incident("fault", 0.8, ("because",), (IncidentStage(0, 1, "x"),), (0, 1), 0, 1)
    found = replace(invented.analysis(invented.event(), invented.event("swell", 1.2)), incidents=(incident,))
    with tempfile.TemporaryDirectory() as name:
        with Archive(name) as archive:
            file = SeenFile(Path("/data/a.cfg"), "1:1", 64 * "a")
            archive.files.register([file])
            archive.files.claim(file.content)
            archive.finish(file, [found])
            archive.correct(1, 0, "sag_with_harmonics", "Eve")
            archive.add_note(1, "a tree", "Eve")
            archive.set_site("North", "nominal_frequency = 50", "Eve")
            for table in ("contents", "corrections", "notes", "stations"):  # the same bytes each time
                archive.database.connection.execute(f"UPDATE {table} SET at = '2026-06-30T12:00:00+00:00'")
                seal_rows(archive.database.connection, table, "1")
        shrink(Path(name, "archive.sqlite"))
        return Path(name, "archive.sqlite").read_bytes()


def read_samples(folder):
    """Cases of recordings in a folder, by target."""
    targets = {".cfg": "comtrade", ".cff": "comtrade", ".pqd": "pqdif", ".csv": "csv", ".npz": "npz"}
    targets |= {".cev": "sel", ".eve": "sel", ".mat": "mat", ".zip": "zip"}
    cases = {}
    for path in sorted(folder.rglob("*")):
        target = targets.get(path.suffix.lower())
        files = {f"case{path.suffix.lower()}": path.read_bytes()} if target else {}
        partner = find_partner(path, ".dat") if "case.cfg" in files else None
        if partner is not None:
            files["case.dat"] = partner.read_bytes()
        if target and ("case.cfg" not in files or partner is not None):
            cases.setdefault(target, []).append(files)
    return cases


def read_case(folder):
    """The files of a case in a folder, without its note and outputs."""
    paths = [path for path in sorted(Path(folder).iterdir()) if path.stem not in ("finding", "out")]
    return {path.name: path.read_bytes() for path in paths}


def write_case(files, folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (Path(folder) / name).write_bytes(content)


def main():
    """Write the files that only the package can write."""
    from pqswarm.datasets import Samples, make_dataset
    from pqswarm.events import get_preset
    from pqswarm.identify import train
    from pqswarm.study import load_plan, run_study

    two = get_preset("field").with_classes(["sag", "swell"])
    folder = CORPUS / "seeds"
    made = {
        "dataset/two-classes": make_dataset(3, [float("inf")], 0, two),
        "samples/array": Samples.of([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0], [1.0, 1.0]], ["a", "b", "a", "b"]),
        "model/two-classes": train(two, events_per_class=10, subset=["rms.minimum", "rms.maximum"]),
    }
    for name, thing in made.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        thing.save(folder / name / "case.npz")
    with tempfile.TemporaryDirectory() as name:
        run_study(load_plan(folder / "plan/small/case.toml"), name)
        store = Path(name, "study.sqlite")
        shrink(store)
        write_case({"study.sqlite": store.read_bytes()}, folder / "store/small")


def shrink(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM"):
            database.execute(statement)


if __name__ == "__main__":
    main()
