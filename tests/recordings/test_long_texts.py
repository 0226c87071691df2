"""Files made to take time or memory: what they hold is met once, and no more is kept than is shown."""

import time
import tracemalloc
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from tests.recordings import builders
from tests.reference import pqdif

from pqswarm.recordings import RecordingError, read
from pqswarm.recordings.comtrade.configuration import Configuration
from pqswarm.recordings.comtrade.reader import _status_finder
from pqswarm.recordings.text import decode

SECONDS = 2.0  # of the processor; what is met again and again takes ten times that


def lines_of(**changes):
    return builders.cfg(**changes).replace(b"\r\n", b"\n")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("blanks.cff", b"--- file type: CFG" + b" " * 2500 + b"x\n", "no data section"),
        ("letters.cff", b"--- file type: " + b"A" * 15_000 + b"!\n", "no data section"),
        ("dashes.cff", b"-" * 500_000, "no data section"),
        ("high.csv", b"\xe0" * 50_000, "fewer than two lines"),
        ("rates.cfg", lines_of(rates=["4800,1"] * 10_001), "more than 10000 sampling rates"),
        ("lines.cfg", b"a,b,1999\n1,1A,0D\n" + b"\n" * 1_200_000, "more than 1100000 lines"),
        ("counts.cfg", lines_of().replace(b"3A", b"3A" * 20_000), "more than 20000 characters"),
        ("commas.cfg", lines_of().replace(b"Ua", b"," * 30_000), "more than 20000 characters"),
    ],
)
def test_time_is_linear_in_the_length_of_text(name, content, reason, tmp_path):
    (tmp_path / name).write_bytes(content)
    (tmp_path / name).with_suffix(".dat").write_bytes(b"1,0,1,2,3\n")
    begin = time.process_time()
    with pytest.raises(RecordingError, match=reason):
        read(tmp_path / name)
    assert time.process_time() - begin < SECONDS


def test_words_of_high_bytes_are_recognised():
    assert decode("Spannung f\u00fcr \u00dcbung".encode("latin-1"))[1] == "latin-1"
    assert decode("\u0448\u0438\u043d\u0430 \u043f\u0435\u0440\u0432\u0430\u044f".encode("cp1251"))[1] == "cp1251"


def test_sections_are_found_however_they_are_written(tmp_path):
    config, data = builders.comtrade_seeds()[0]
    for head in (b"--- file type: %s ---", b"--\tFILE TYPE %s\t--", b"---file type:%s: 77---"):
        parts = [head % b"CFG", config, head % b"DAT ASCII", data]
        (tmp_path / "case.cff").write_bytes(b"\r\n".join(parts))
        assert len(read(tmp_path / "case.cff").channels) == 3


def test_many_status_channels_are_not_read_row_by_row():
    calls = []

    def states(first, stop):
        calls.append((first, stop))
        return np.zeros((stop - first, 2), np.int8)

    config = Configuration(1999, [], n_status=4_000_000, status=[("a", 0), ("b", 0)])
    assert len(_status_finder(config, SimpleNamespace(status=states), range(100))()) == 2
    assert calls == [(0, 100)]


def peak_of(path):
    """Most memory that was taken to read a file, or to refuse it [byte]."""
    tracemalloc.start()
    try:
        with suppress(RecordingError):
            read(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("times", [1, 30])
def test_a_packed_record_is_unpacked_to_a_limit(times, tmp_path):
    records = [pqdif.container(), *[("observation", b"\0" * (60_000_000 // times))] * times]
    path = tmp_path / "bomb.pqd"
    path.write_bytes(pqdif.chain(records))
    assert path.stat().st_size < 100_000
    with pytest.raises(RecordingError, match="over the limit"):
        read(path)
    assert peak_of(path) < 40e6
