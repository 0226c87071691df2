"""The public table of analyses is what the program says, where the recordings are available."""

import csv
import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("PQSWARM_RECORDINGS", ROOT.parent / "shared" / "recordings"))
TABLE = ROOT / "docs" / "results" / "analyses.csv"

pytestmark = pytest.mark.skipif(not (ROOT / "research").is_dir(), reason="a source archive has no research")


@pytest.fixture
def script(monkeypatch):
    """The script, as if it was run: its folder comes first among those of modules."""
    monkeypatch.syspath_prepend(ROOT / "research")
    monkeypatch.delitem(sys.modules, "corpus", raising=False)
    spec = importlib.util.spec_from_file_location("analyses", ROOT / "research" / "analyses.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_table_has_a_column_for_causes(script):
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == script.COLUMNS
    assert any(row["cause"] for row in rows)
    assert all(0 <= float(row["probability"]) <= 1 for row in rows if row["cause"])


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no recordings of others in {FOLDER}")
def test_the_table_is_what_the_program_says(script):
    assert script.table_text(script.table_rows(FOLDER)) == TABLE.read_text(encoding="utf-8")
