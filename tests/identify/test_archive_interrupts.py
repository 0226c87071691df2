"""Ctrl-C while SQLite works on an archive: it is not damage, and not a query that took too long."""

import subprocess
import sys

import pytest
from tests.identify.invented import add, analysis, event

# A function of SQL, or the look at the clock, is where Python gets to know of the signal.
INTERRUPTED = """
import os, signal, sys, time
from pqswarm._base.interrupts import note_interrupts
from pqswarm.identify import Archive
from pqswarm.identify.archive import database
from pqswarm.identify.archive.export import export_query
from pqswarm.study import Store

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

def press():
    if not os.fork():
        time.sleep(0.3)
        os.kill(os.getppid(), signal.SIGINT)
        os._exit(0)

def sealing(*row):
    os.kill(os.getpid(), signal.SIGINT)
    return ""

note_interrupts()
folder, how = sys.argv[1:]
try:
    if how == "seal":
        database.row_seal = sealing
    if how == "study":
        with Store(folder, write=True):
            pass
        with Store(folder) as store:
            press()
            store.database.select(ENDLESS)
    with Archive(folder, read_only=True) as archive:
        if how == "query":
            press()
            list(export_query(archive, ENDLESS, 60.0))
        if how == "rows":
            press()
            archive.database.rows(ENDLESS)
        archive.analysis(1)
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize("how", ["seal", "query", "rows", "study"])
def test_ctrl_c_is_told_as_such(empty, tmp_path, how):
    add(empty, analysis(event()), "a.cfg")
    command = [sys.executable, "-c", INTERRUPTED, tmp_path if how == "study" else empty.folder, how]
    run = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=300)
    assert run.stdout == "stopped\n", run.stderr
