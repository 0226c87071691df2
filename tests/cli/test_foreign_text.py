"""Text from outside steers nothing: no terminal, page, spreadsheet, document or program that reads what is written."""

import csv
import json
import sys
import tomllib
import unicodedata
from io import BytesIO, TextIOWrapper

import numpy as np
import pytest

from pqswarm._base.text import disarm, file_text, printable
from pqswarm.cli.terminal import escape_unencodable
from pqswarm.identify import find_recordings
from pqswarm.recordings import Channel, Recording, read, write_comtrade
from pqswarm.report.section import Table
from pqswarm.statistics import table

STEERING = "\x1b[31m\a\r\nforged: line\u202eevil\u2028\u2029\x9b"
HOSTILE = f"=cmd <script>alert(1)</script> $\\frac{{ | & % ` ]]> '\" {STEERING}"


def assert_steers_nothing(text):
    """Assert that a text holds no control characters, no marks of direction, no ends of lines but its own."""
    bad = {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n"}
    assert not bad, f"{bad} in {text[:200]!r}"
    assert not any(line.startswith("forged") for line in text.split("\n"))


def assert_no_formula(lines):
    for row in csv.reader(lines):
        assert not any(cell.startswith(("=", "@", "\t", "\r")) for cell in row), row


@pytest.fixture
def hostile_folder(tmp_path):
    """A folder with a recording that has a sag and hostile names, and hostile files that cannot be read."""
    folder = tmp_path / "in"
    folder.mkdir()
    time = np.arange(3200) / 3200
    wave = 325 * np.where((time > 0.4) & (time < 0.6), 0.5, 1.0) * np.sin(2 * np.pi * 50 * time)
    channels = tuple(Channel(f"NAME {phase}", "V", phase, wave) for phase in "AB")
    path = write_comtrade(Recording(channels, 3200.0, 50.0, station="STATION"), folder / f"=a{STEERING}.cfg")
    hostile = HOSTILE.replace("\r\n", "").encode()  # a line of the file is one field after another
    path.write_bytes(path.read_bytes().replace(b"NAME", hostile).replace(b"STATION", hostile))
    (folder / f"=b{STEERING}.csv").write_text("no table")
    return folder


def test_recordings_are_cleaned_where_they_come_in(hostile_folder):
    recording = read(next(hostile_folder.glob("*.cfg")))
    for text in (recording.source, recording.format, recording.station, *recording.notes):
        assert_steers_nothing(text)
        assert "\n" not in text
    assert all(channel.name.isprintable() and len(channel.name) <= 120 for channel in recording.channels)


def test_what_identify_writes(hostile_folder, tmp_path, pqswarm):
    names = {option: tmp_path / f"out{option}" for option in (".csv", ".html")}
    files = ("--csv", names[".csv"], "--html", names[".html"])
    done = pqswarm("identify", hostile_folder, *files, "--pdf", tmp_path / "out.pdf")
    assert done.returncode == 1  # one file is no recording
    assert "sag" in done.stdout
    assert_steers_nothing(done.stdout)
    assert_steers_nothing(done.stderr)
    written = names[".csv"].read_text(encoding="utf-8")
    assert_steers_nothing(written)
    assert_no_formula(written.splitlines())
    page = names[".html"].read_text(encoding="utf-8")
    assert_steers_nothing(page)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert (tmp_path / "out.pdf").read_bytes().startswith(b"%PDF-")


def test_json_is_strict(hostile_folder, pqswarm):
    def refuse(constant):
        raise AssertionError(constant)

    found = json.loads(pqswarm("identify", hostile_folder, "--json").stdout, parse_constant=refuse)
    assert len(found["recordings"]) == len(found["failures"]) == 1

    def texts(value):
        if isinstance(value, dict):
            return [*value, *(text for one in value.values() for text in texts(one))]
        return [text for one in value for text in texts(one)] if isinstance(value, list) else [value]

    for text in texts(found):
        if isinstance(text, str):
            assert_steers_nothing(text)


def test_watching_and_the_archive(hostile_folder, pqswarm, tmp_path):
    archive, table = tmp_path / "archive", tmp_path / "events.csv"
    watch = ("watch", hostile_folder, "--once", "--settle", 0, "--archive", archive)
    query = ("archive", "query", archive, "SELECT * FROM events JOIN recordings ON recordings.id = recording")
    for line in (watch, query, ("archive", "check", archive), ("archive", "export", archive, "--out", table)):
        done = pqswarm(*line)
        assert done.returncode == 0, done.stderr
        assert_steers_nothing(done.stdout)
        assert_steers_nothing(done.stderr)
    assert_no_formula(table.read_text(encoding="utf-8").splitlines())


def test_site_file_and_messages(hostile_folder, pqswarm):
    good, _, bad = sorted(hostile_folder.iterdir())
    template = pqswarm("site-file", good).stdout
    assert_steers_nothing(template)
    assert len(tomllib.loads(template)["channels"]) == 2
    for arguments in (("site-file", bad), ("identify", f"{STEERING}.csv"), ("identify", good, "--model", bad)):
        done = pqswarm(*arguments)
        assert done.returncode in (1, 2)
        assert_steers_nothing(done.stderr)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((f"{'x' * 300}.csv",), "cannot be read"),
        ((f"{'x' * 300}.dat",), "cannot be read"),
        (("nowhere.csv", "--csv", f"{'x' * 300}.csv"), "too long"),
        (("nowhere.csv", "--reference", "1e-308"), "--reference: must be a voltage"),
        (("nowhere.csv", "--nominal", "1e-300 kV"), "--nominal: must be a voltage"),
    ],
)
def test_odd_names_and_numbers(arguments, reason, pqswarm):
    done = pqswarm("identify", *arguments)
    assert reason in done.stderr
    assert done.returncode in (1, 2)


def test_an_empty_name_is_not_the_folder_here():
    paths, (failure,) = find_recordings(["", "nowhere.csv"])
    assert [path.name for path in paths] == ["nowhere.csv"]
    assert str(failure) == "'': is not the name of a file or folder."


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_streams_of_any_encoding(encoding, monkeypatch):
    written = BytesIO()
    stream = TextIOWrapper(written, encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    escape_unencodable()
    text = "Spannung \u00fc \u4e2d\u6587 \U0001f600"
    stream.write(json.dumps(text, ensure_ascii=False))
    stream.flush()
    assert json.loads(written.getvalue().decode(encoding)) == text
    assert rb"\u4e2d" in written.getvalue()


def test_letters_of_all_scripts_stay():
    for text in ("Spannung \u00fc", "\u4e2d\u6587\u3000\u7535\u538b", "U\u00a01", "\u0448\u0438\u043d\u0430"):
        assert printable(text) == file_text(text) == text
    assert printable(file_text("st\udce9\n.csv")) == r"st\xe9\n.csv"
    assert disarm("\n=1") == "'\n=1"
    assert disarm("\uff1d1+1") == "'\uff1d1+1"


def test_names_in_comments_of_csv_are_no_cells(tmp_path, pqswarm):
    (tmp_path / "results.csv").write_text('"a;=1+1,""=2",b\n1,2\n3,4\n5,7\n')
    written = pqswarm("compare", tmp_path / "results.csv", "--format", "csv").stdout
    assert "Post hoc: every algorithm against a" in written
    assert_no_formula(written.splitlines())
    assert '"# Post hoc: every algorithm against a;=1+1,""=2"' in written
    assert "# Friedman test: do the algorithms differ?" in written.splitlines()


def test_tables_of_all_styles():
    rows = [{"algorithm": HOSTILE, "=rank": -1.5}, {"algorithm": "+1", "=rank": -2.0}]
    for style in ("text", "csv", "md", "latex"):
        assert_steers_nothing(table(rows, style))
    lines = list(csv.reader(table(rows, "csv").split("\n")))
    assert [line[0][:2] for line in lines] == ["al", "'=", "'+"]
    assert [line[1] for line in lines] == ["'=rank", "-1.5", "-2.0"]  # numbers stay numbers
    body = table(rows, "md").split("\n")[2:]
    assert len(body) == 2
    assert "<script" not in body[0]
    own = Table("names", "\ue000", [{"name": f"\ue000{HOSTILE}", "J": 0.5}], lowest=("J",)).latex()
    assert own.count(r"\textbf{") == 1


def test_comparison(tmp_path, pqswarm):
    name = "=<img src=x onerror=alert(1)>|`"
    lines = [f'"{name}",@B', *(f"{0.1 + 0.01 * n},{0.3 - 0.01 * n}" for n in range(8))]
    (tmp_path / "results.csv").write_text("\n".join(lines))
    for style in ("csv", "md"):
        out = pqswarm("compare", tmp_path / "results.csv", "--format", style).stdout
        assert_steers_nothing(out)
        if style == "csv":
            assert_no_formula(line for line in out.splitlines() if not line.startswith("#"))
        else:
            assert "<img" not in out
