"""The public table of analyses is what the program says, where the recordings are available."""

import csv
import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("PQSWARM_RECORDINGS", ROOT.parent / "shared" / "recordings"))
TABLE = ROOT / "docs" / "analyses.csv"


def read_script():
    spec = importlib.util.spec_from_file_location("analyses", ROOT / "research" / "analyses.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_table_has_a_column_for_causes():
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == read_script().COLUMNS
    assert any(row["cause"] for row in rows)
    assert all(0 <= float(row["probability"]) <= 1 for row in rows if row["cause"])


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no recordings of others in {FOLDER}")
def test_the_table_is_what_the_program_says():
    script = read_script()
    assert script.table_text(script.table_rows(FOLDER)) == TABLE.read_text(encoding="utf-8")
