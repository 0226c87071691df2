"""The tools of ``make torture`` work: faults are injected where they should be, and every fault is reported."""

import os
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

ROOT = Path(__file__).parents[2]
# Each write is tried in its own process, forked from one without threads.
PROGRAM = """
    import os, sqlite3, sys
    from pathlib import Path
    from pqswarm._base.files import write_atomically
    from pqswarm.errors import PqswarmError
    from tests.torture.faults import Faults

    folder = Path(sys.argv[1])

    def write():
        write_atomically(folder / "file", b"new" * 20_000)
        database = sqlite3.connect(folder / "base.sqlite", isolation_level=None)
        database.execute("INSERT INTO t VALUES (2)")
        database.close()

    for kill in (False, True):
        for at in range(1, 100):
            (folder / "file").write_bytes(b"old")
            child = os.fork()
            if not child:
                faults = Faults(folder, at, kill)
                faults.install()
                try:
                    write()
                except PqswarmError as error:
                    os._exit(2 if "No space left" in str(error) else 9)
                except sqlite3.OperationalError as error:
                    os._exit(3 if "full" in str(error) or "unable to open" in str(error) else 9)
                os._exit(0 if faults.count < at else 4)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            content = (folder / "file").read_bytes()
            assert content in (b"old", b"new" * 20_000), content[:10]
            print(kill, at, code, len(content), sorted(path.name for path in folder.iterdir()), flush=True)
            if code == 0:
                break
"""


def test_each_write_can_fail_and_can_be_the_last(tmp_path):
    with closing(sqlite3.connect(tmp_path / "base.sqlite")) as database:
        database.execute("CREATE TABLE t (x)")
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), tmp_path],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    lines = [line.split(maxsplit=4) for line in run.stdout.splitlines()]
    codes = {kind: [int(code) for is_kill, _, code, *_ in lines if is_kill == kind] for kind in ("False", "True")}
    # The folder, the part, its content, its sync, its name; then the journal of SQLite, and pages.
    assert codes["False"][:5] == [2, 2, 2, 2, 2]
    assert len(codes["False"]) > 9
    assert set(codes["False"][5:-1]) == {3}
    assert codes["True"] == [*[-9] * (len(codes["False"]) - 1), 0]
    with closing(sqlite3.connect(tmp_path / "base.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM t WHERE x = 2").fetchone() == (2,)  # the two that succeeded
    assert {path.name for path in tmp_path.iterdir()} == {"base.sqlite", "file"}
