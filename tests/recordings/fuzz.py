"""Damaged files against the readers: ``python -m tests.recordings.fuzz --count 20000``.

Each case is a small good file that is mutated, truncated or lied about. It passes if the reader returns recordings or
raises RecordingError, within a second of processor time and with at most 256 MB more memory than at the start. Then it
is opened and read in odd stretches, every other time with compiled code for text, in small chunks: the stretches are
those of the whole, or the file is refused for the same reason; a file that is cut after it was opened is refused.
"""

import argparse
import json
import random
import re
import resource
import struct
import sys
import tempfile
import time
import warnings
import zipfile
import zlib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
from tests.recordings import builders
from tests.reference import pqdif

from pqswarm.recordings import RecordingError, open_recordings, read_all, rows

READERS = ("comtrade", "pqdif", "csv", "npz")
INTEGERS = (0, 1, 2, 3, -1, -2, 16, 64, 255, 256, 32767, -32768, 65535, 10**6, 2**24, 2**30, 2**31 - 1, -(2**31))
FLOATS = (0.0, -1.0, 1e-320, 1e308, -1e308, 1e-9, 1e9, 1e15, float("nan"), float("inf"), -float("inf"), 0.5)
PLAIN_WORDS = """
0 1 -1 2 99999 -32768 32768 2147483647 4294967295 99999999999999999999 1e308 -1e308 1e-320 nan inf -inf
, ; . : - / % kV V s ms A 1e 0x10 1_0 None '' " 1,5 1.5.5 31/02/2020 99:99:99 24:00:60 00/00/0000
BINARY BINARY32 FLOAT32 ASCII 1991 1999 2013 0D 1A 99999A 9999999D -1A Time time [ ] ( )
"""
WORDS = (*PLAIN_WORDS.split(), "", "9" * 400, "\0", "\x1b[31m", "../../etc/passwd", "é", "母", " " * 50)
SECONDS = 1.0


def mutate_bytes(content, rng):
    """One attack on bytes."""
    data = bytearray(content)
    size = len(data)
    kind = rng.randrange(9)
    at = rng.randrange(max(1, size))
    if kind == 0:
        for _ in range(rng.choice((1, 1, 2, 5, 30))):
            data[rng.randrange(size)] ^= 1 << rng.randrange(8)
    elif kind == 1:
        for _ in range(rng.choice((1, 3, 20))):
            data[rng.randrange(size)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    elif kind == 2:
        del data[at:]
    elif kind == 3:
        del data[at : at + rng.choice((1, 2, 4, 28, 100))]
    elif kind == 4:
        data[at:at] = data[at : at + rng.choice((1, 4, 28, 64, 500))]
    elif kind == 5:
        data[at:at] = rng.randbytes(rng.choice((1, 3, 4, 64)))
    elif kind == 6:
        value = rng.choice((*INTEGERS, size, size - at, -size, rng.randrange(size + 1)))
        at = at if rng.random() < 0.3 else at // 4 * 4
        data[at : at + 4] = struct.pack("<i", value)
    elif kind == 7:
        at = at // 4 * 4
        data[at : at + 8] = struct.pack("<d", rng.choice(FLOATS))
    else:
        other, length = rng.randrange(size), rng.choice((4, 16, 28, 64))
        data[at : at + length], data[other : other + length] = data[other : other + length], data[at : at + length]
    return bytes(data)


def mutate_text(content, rng):
    """One attack on a text: numbers, fields and lines."""
    kind = rng.randrange(7)
    lines = content.split(b"\n")
    at = rng.randrange(len(lines)) if rng.random() < 0.4 else rng.randrange(min(len(lines), 24))
    word = rng.choice((*WORDS, str(rng.randrange(-1000, 10**6)))).encode("utf-8")
    if kind == 0:
        found = list(re.finditer(rb"[-+]?\d+(?:\.\d+)?", lines[at]))
        if found:
            spot = rng.choice(found)
            lines[at] = lines[at][: spot.start()] + word + lines[at][spot.end() :]
    elif kind in (1, 2):
        sep = rng.choice((b",", b";", b"\t"))
        fields = lines[at].split(sep)
        i, j = rng.randrange(len(fields)), rng.randrange(len(fields))
        if kind == 1:
            fields[i], fields[j] = fields[j], fields[i]
        elif rng.random() < 0.5:
            fields[i] = word
        else:
            del fields[i]
        lines[at] = sep.join(fields)
    elif kind == 3:
        del lines[at]
    elif kind == 4:
        lines[at:at] = [lines[at]] * rng.choice((1, 2, 50))
    elif kind == 5:
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines.insert(at, word)
    return b"\n".join(lines)


def mutate(content, rng, text=False):
    """One to four attacks."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if content:
            content = mutate_text(content, rng) if text and rng.random() < 0.7 else mutate_bytes(content, rng)
    return content


def comtrade_case(folder, rng, seeds):
    config, data = rng.choice(seeds)
    text_data = data[:1] == b"1" and b"," in data[:4]
    which = rng.random()
    if which < 0.7:
        config = mutate(config, rng, text=True)
    if which > 0.5:
        data = mutate(data, rng, text=text_data)
    if rng.random() < 0.15:
        path = folder / "case.cff"
        content = builders.cff(config, data, "ASCII" if text_data else "BINARY")
        path.write_bytes(mutate(content, rng) if rng.random() < 0.5 else content)
        return path
    path = folder / "case.cfg"
    path.write_bytes(config)
    path.with_suffix(".dat").write_bytes(data)
    return path


def pqdif_case(folder, rng, seeds):
    packed = rng.random() < 0.5
    records = list(seeds[packed])
    path = folder / "case.pqd"
    if rng.random() < 0.75:  # damage inside a record, with right sizes and checksums around it
        i = rng.randrange(len(records))
        records[i] = (records[i][0], mutate(records[i][1], rng))
        if rng.random() < 0.1:
            rng.shuffle(records)
        content = pqdif.chain(records, packed=packed)
    else:
        content = mutate(pqdif.chain(records, packed=packed), rng)
    path.write_bytes(content)
    return path


def csv_case(folder, rng, seeds):
    path = folder / "case.csv"
    path.write_bytes(mutate(rng.choice(seeds), rng, text=True))
    return path


def npz_case(folder, rng, seeds):
    members = dict(rng.choice(seeds))
    if rng.random() < 0.7:  # damage inside a member, with a right checksum around it
        name = rng.choice(list(members))
        if rng.random() < 0.5:
            header = members[name][:128]
            members[name] = mutate(header, rng, text=rng.random() < 0.5) + members[name][128:]
        else:
            members[name] = mutate(members[name], rng)
        if rng.random() < 0.1:
            del members[rng.choice(list(members))]
        content = builders.zipped(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
    else:
        content = mutate(builders.zipped(members), rng)
    path = folder / "case.npz"
    path.write_bytes(content)
    return path


CASES = {"comtrade": comtrade_case, "pqdif": pqdif_case, "csv": csv_case, "npz": npz_case}


def sample_seeds(reader, folder):
    """Recordings of others, with which the fuzzing is slower."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    if reader == "comtrade":
        pairs = [(path, path.with_suffix(".dat" if path.suffix == ".cfg" else ".DAT")) for path in paths]
        return [(a.read_bytes(), b.read_bytes()) for a, b in pairs if a.suffix.lower() == ".cfg"]
    if reader == "npz":
        archives = [zipfile.ZipFile(path) for path in paths if path.suffix == ".npz"]
        return [{name: archive.read(name) for name in archive.namelist()} for archive in archives]
    if reader == "csv":
        raise SystemExit("there are no tables among the samples")
    content = next(path for path in paths if path.suffix == ".pqd").read_bytes()
    names = {pqdif.guid(name): name for name in pqdif.GUIDS}
    records, position = [], 0
    while position or not records:
        kind, _, size, following = struct.unpack_from("<16x16siii", content, position)
        body = content[position + 64 : position + 64 + size]
        records.append((names[kind], zlib.decompress(body) if records else body))
        position = following
    return {False: records, True: records}


def seeds_of(reader, samples=None):
    if samples:
        return sample_seeds(reader, Path(samples))
    if reader == "comtrade":
        return builders.comtrade_seeds()
    if reader == "csv":
        return [text.encode("utf-8") for text in builders.csv_seeds()]
    if reader == "npz":
        return builders.npz_seeds()
    return {
        packed: [(kind, pqdif.pack(elements)) for kind, elements in pqdif.example_records(packed=packed)[0]]
        for packed in (False, True)
    }


def check(recordings):
    """What every recording must hold."""
    for recording in recordings:
        assert 0 < recording.n_samples < 10**7
        assert 0 < recording.sampling_rate < 1e9
        for channel in recording.channels:
            assert channel.name.isprintable()
            assert len(channel.name) <= 120
            assert not (abs(channel.samples) > 1e15).any()


def attempt(function, path, reader):
    """Recordings, or none and the reason."""
    try:
        return function(path, format=reader), ""
    except RecordingError as error:
        return (), str(error)


def check_stretches(path, reader, rng):
    """Stretches, and what is refused, are those of the whole."""
    wholes, reason = attempt(read_all, path, reader)
    sources, again = attempt(open_recordings, path, reader)
    assert reason == again
    assert len(sources) == len(wholes)
    for source, whole in zip(sources, wholes, strict=True):
        assert source.n_samples == whole.n_samples
        assert source.sampling_rate == whole.sampling_rate
        assert [channel.name for channel in source.channels] == [channel.name for channel in whole.channels]
        edges = sorted(rng.choices(range(source.n_samples + 1), k=3))
        for first, stop in pairwise([0, *edges, source.n_samples]):
            for part, all_of_it in zip(source.read(first, stop).channels, whole.channels, strict=True):
                np.testing.assert_array_equal(part.samples, all_of_it.samples[first:stop])
    if sources and reader in ("comtrade", "csv") and rng.random() < 0.2:
        data = path.with_suffix(".dat") if path.suffix == ".cfg" else path
        data.write_bytes(data.read_bytes()[:-1])
        try:
            sources[0].read(0, 1)
        except RecordingError:
            return
        raise AssertionError("read from a file that has changed")


def outcome(path, reader, rng=None):
    """What happened, in a word, and the seconds of processor time it took."""
    began = time.process_time()
    try:
        check(read_all(path, format=reader))
        word = "read"
    except RecordingError as error:
        word = "unforeseen" if "unforeseen" in str(error) else "refused"
        if word == "unforeseen":
            word += f" {type(error.__cause__).__name__}: {error.__cause__}"
    except (Exception, RecursionError) as error:  # noqa: BLE001
        word = f"{type(error).__name__}: {error}"
    seconds = time.process_time() - began
    if rng is not None and word in ("read", "refused"):
        compiled, chunk = rows._COMPILED_FROM, rows._CHUNK
        if rng.random() < 0.5:
            rows._COMPILED_FROM, rows._CHUNK = 0, rng.choice((1000, 3001, chunk))
        try:
            check_stretches(path, reader, rng)
        except (Exception, RecursionError) as error:  # noqa: BLE001
            word = f"in stretches {type(error).__name__}: {error}"
        finally:
            rows._COMPILED_FROM, rows._CHUNK = compiled, chunk
    return word, seconds


def run(reader, count, seed=0, first=0, keep=None, samples=None):
    """Run cases, and return the counts of outcomes, the failures and the slowest time [s]."""
    seeds = seeds_of(reader, samples)
    counts, failures, slowest = Counter(), [], 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n in range(first, first + count):
            rng = random.Random(f"{seed}/{reader}/{n}")
            path = CASES[reader](folder, rng, seeds)
            word, seconds = outcome(path, reader, rng)
            slowest = max(slowest, seconds)
            if word not in ("read", "refused") or seconds > SECONDS:
                failures.append(f"case {n}: {word} ({seconds:.2f} s)"[:300])
                if keep:
                    for file in folder.iterdir():
                        (Path(keep) / f"{reader}_{n}{file.suffix}").write_bytes(file.read_bytes())
            counts[word if word in ("read", "refused") else "failed"] += 1
    return counts, failures, slowest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="cases for each reader")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", choices=READERS, action="append")
    parser.add_argument("--memory", type=int, default=256, help="how much memory may be taken [MB]")
    parser.add_argument("--keep", help="folder for the files of failed cases")
    parser.add_argument("--samples", help="folder of recordings of others to damage instead of the small ones")
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory() as name:  # what is imported on first use is not the readers' memory
        compiled, rows._COMPILED_FROM = rows._COMPILED_FROM, 0
        for reader in arguments.reader or READERS:
            for n in range(8):
                outcome(CASES[reader](Path(name), random.Random(n), seeds_of(reader)), reader)
        rows._COMPILED_FROM = compiled
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + arguments.memory * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    bad = False
    for reader in arguments.reader or READERS:
        counts, failures, slowest = run(
            reader, arguments.count, arguments.seed, arguments.first, arguments.keep, arguments.samples
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report = {"reader": reader, **counts, "slowest_s": round(slowest, 3), "peak_rss_mb": round(peak)}
        sys.stdout.write("\n".join([json.dumps(report), *failures[:40], ""]))
        bad = bad or bool(failures)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
