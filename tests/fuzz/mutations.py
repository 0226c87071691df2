"""Damage to bytes, text and JSON, regardless of their meaning, and damage that follows the layout of a file.

A case is what lies in a folder: a dictionary of names and contents. Where the layout is followed, surrounding lengths
and checksums are corrected.
"""

import contextlib
import hashlib
import io
import json
import re
import sqlite3
import struct
import tempfile
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
from tests.recordings import builders, vendor_files
from tests.reference import pqdif

from pqswarm.identify.archive.database import row_seal, seal_rows

INTEGERS = (0, 1, 2, 3, -1, -2, 16, 64, 255, 256, 32767, -32768, 65535, 10**6, 2**24, 2**30, 2**31 - 1, -(2**31))
FLOATS = (0.0, -1.0, 1e-320, 1e308, -1e308, 1e-9, 1e9, 1e15, float("nan"), float("inf"), -float("inf"), 0.5)
PLAIN_WORDS = """
0 1 -1 2 99999 -32768 32768 2147483647 4294967295 99999999999999999999 1e308 -1e308 1e-320 nan inf -inf 1e-9 0.1 0.5
5 16.7 50 60 400 1000 1e6 1e9 , ; . : - / % kV V mV pu s ms us A 1e 0x10 1_0 None '' " 1,5 1.5.5 31/02/2020 99:99:99
24:00:60 00/00/0000 01/01/0001 31/12/9999 23:59:59.999999 BINARY BINARY32 FLOAT32 ASCII 1991 1999 2013 0D 1A 99999A
9999999D -1A Time time [ ] ( ) { } = [[ ]] # true false
"""
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(1)</script>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "{{ 7 * 7 }}",
    "=cmd|'/c calc'!A1",
    "@SUM(1)",
    "$\\frac{1}{0}$",
    "\x1b[31m",
    "\x1b]0;title\x07",
    "line\r\nforged line",
    "\u2028\u202e\u200b",
    "\x85\x9b31m",
    "\0",
    "../../etc/passwd",
    "é",
    "母",
    "😀",
)
"""Text that means something to a terminal, a browser, a spreadsheet or a template."""

WORDS = (*PLAIN_WORDS.split(), *HOSTILE, "", "9" * 400, "9" * 5000, " " * 50, " " * 3000, "a" * 3000, "[" * 2000)
RUNS = b"   \t\ta0-,;:.=[\n\0\xff"
SPANS = (1, 2, 4, 8, 28, 100)


def choose_word(rng):
    kind = rng.random()
    if kind < 0.7:
        return rng.choice(WORDS)
    return str(rng.randrange(-1000, 10**6)) if kind < 0.85 else f"{rng.uniform(-1, 1) * 10 ** rng.randrange(-12, 12):g}"


def mutate_bytes(content, rng):
    """One damage to at least one byte."""
    data = bytearray(content)
    size = len(data)
    kind = rng.randrange(10)
    at = rng.randrange(size)
    if kind == 0:
        for _ in range(rng.choice((1, 1, 2, 5, 30))):
            data[rng.randrange(size)] ^= 1 << rng.randrange(8)
    elif kind == 1:
        for _ in range(rng.choice((1, 3, 20))):
            data[rng.randrange(size)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    elif kind == 2:
        del data[at:]
    elif kind == 3:
        del data[at : at + rng.choice(SPANS)]
    elif kind == 4:
        data[at:at] = data[at : at + rng.choice((*SPANS, 500))]
    elif kind == 5:
        data[at:at] = rng.randbytes(rng.choice(SPANS))
    elif kind == 6:
        value = rng.choice((*INTEGERS, size, size - at, -size, rng.randrange(size + 1)))
        at = at if rng.random() < 0.3 else at // 4 * 4
        data[at : at + 4] = struct.pack("<i", value)
    elif kind == 7:
        at = at // 4 * 4
        data[at : at + 8] = struct.pack("<d", rng.choice(FLOATS))
    elif kind == 8:  # a long run, on which regular expressions may be slow
        data[at:at] = bytes([rng.choice(RUNS)]) * rng.choice((50, 1000, 20_000))
    else:
        other, length = rng.randrange(size), rng.choice((4, 16, 28, 64))
        data[at : at + length], data[other : other + length] = data[other : other + length], data[at : at + length]
    return bytes(data)


def mutate_text(content, rng):
    """One damage to a text: to a number, a field, a line or a column."""
    kind = rng.randrange(9)
    lines = content.split(b"\n")
    at = rng.randrange(len(lines)) if rng.random() < 0.4 else rng.randrange(min(len(lines), 24))
    word = choose_word(rng).encode("utf-8")
    if kind <= 1:
        found = list(re.finditer(rb"[-+]?\d+(?:\.\d+)?", lines[at]))
        if found:
            spot = rng.choice(found)
            lines[at] = lines[at][: spot.start()] + word + lines[at][spot.end() :]
    elif kind <= 3:
        lines[at] = mutate_field(lines[at], word, rng)
    elif kind == 4:
        del lines[at]
    elif kind == 5:
        lines[at:at] = [lines[at]] * rng.choice((1, 2, 50))
    elif kind == 6:
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 7:  # the same field of all lines, so that a column is empty, constant or text
        sep = rng.choice((b",", b";", b"\t"))
        column = rng.randrange(5)
        for number in range(at, len(lines)):
            fields = lines[number].split(sep)
            if column < len(fields):
                fields[column] = word
                lines[number] = sep.join(fields)
    else:
        lines.insert(at, word)
    return b"\n".join(lines)


def mutate_field(line, word, rng):
    """Swap, replace or remove a field of a line."""
    sep = rng.choice((b",", b";", b"\t", b"=", b":"))
    fields = line.split(sep)
    i, j = rng.randrange(len(fields)), rng.randrange(len(fields))
    kind = rng.random()
    if kind < 0.4:
        fields[i], fields[j] = fields[j], fields[i]
    elif kind < 0.8:
        fields[i] = word
    else:
        del fields[i]
    return sep.join(fields)


def mutate_json(content, rng):
    """Replace, remove, duplicate or swap a value anywhere in JSON; damage the text if it is not JSON."""
    try:
        whole = [json.loads(content)]
    except (ValueError, RecursionError):
        return mutate_text(content, rng) if content else content
    places = []

    def visit(node):
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                visit(node[key])

    visit(whole)
    node, key = rng.choice(places)
    kind = rng.randrange(6)
    if kind <= 2:
        node[key] = choose_value(rng)
    elif kind == 3 and node is not whole:
        del node[key]
    elif kind == 4 and isinstance(node, list):
        node[key:key] = [node[key]] * rng.choice((1, 1, 100))
    else:
        other, place = rng.choice(places)
        node[key] = json.loads(json.dumps(other[place]))
    return json.dumps(whole[0] if whole else None).encode("ascii")


def choose_value(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(INTEGERS)
    if kind == 1:
        return rng.choice(FLOATS)
    if kind == 2:
        return rng.choice((None, True, False, [], {}, [[]], [None], {"": None}, "\ud800", 10**400))
    return choose_word(rng) if kind < 5 else rng.uniform(-1, 1) * 10 ** rng.randrange(-12, 12)


def mutate(content, rng, how=mutate_bytes):
    """One to four damages, some to the raw bytes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if content:
            content = how(content, rng) if rng.random() < 0.8 else mutate_bytes(content, rng)
    return content


CLASSES = {pqdif.guid(name): name for name in pqdif.GUIDS}
ELEMENT = 28  # bytes of an element of a PQDIF collection
PATHS = ["../x.cfg", "/x.dat", "C:\\x.csv", "x.zip", "a/x.cff", "x.csv", "xl/x.xml", "\x1b[2J.csv", "x.mat", "<b>.csv"]
ODD_TYPES = ("<f4", "<f8", ">f8", "<i2", "<u8", "?", "<c16", "<U3", "|S4", "<M8[us]", "<f2")

BOMBS = 0.002
BOMB_BYTES = (10**5, 10**6, 10**7, 6 * 10**7)
"""Probability and size of small files that unpack to something large."""


def mutate_comtrade(files, rng):
    if "case.cff" in files:
        return {"case.cff": mutate_sections(files["case.cff"], rng)}
    config, data = files["case.cfg"], files["case.dat"]
    is_text = b"ASCII" in config.upper()
    which = rng.random()
    if which < 0.7:
        config = mutate(config, rng, mutate_text)
    if which > 0.5:
        data = mutate(data, rng, mutate_text if is_text else mutate_bytes)
    if rng.random() < 0.15:
        return {"case.cff": builders.cff(config, data, "ASCII" if is_text else "BINARY")}
    return {"case.cfg": config, "case.dat": data}


def mutate_sections(content, rng):
    """One part of a combined file, or its header line; its length is sometimes corrected."""
    parts = content.split(b"--- file type:")
    at = rng.randrange(len(parts))
    if rng.random() < 0.4:
        head, line_end, body = parts[at].partition(b"\n")
        parts[at] = mutate(head, rng, rng.choice((mutate_text, mutate_bytes))) + line_end + body
    else:
        parts[at] = mutate(parts[at], rng, mutate_text if rng.random() < 0.7 else mutate_bytes)
    if rng.random() < 0.2:
        rng.shuffle(parts)
    return b"--- file type:".join(parts)


def mutate_pqdif(files, rng):
    content = files["case.pqd"]
    records, packed = split_records(content)
    if len(records) < 2 or rng.random() < 0.2:
        return {"case.pqd": mutate(content, rng)}
    at = rng.randrange(len(records))
    kind, body = records[at]
    records[at] = (kind, mutate(body, rng, mutate_elements))
    if rng.random() < BOMBS:
        records[at] = (kind, body + bytes(rng.choice(BOMB_BYTES)))
    if rng.random() < 0.1:
        rng.shuffle(records)
    elif rng.random() < 0.1:
        records.insert(at, rng.choice(records))
    return {"case.pqd": pqdif.chain(records, packed=packed != (rng.random() < 0.02))}


def split_records(content):
    """The readable records of a PQDIF file, unpacked, and whether they were packed."""
    records, position, packed = [], 0, False
    while len(records) < 50 and 0 <= position <= len(content) - 64:
        kind, _, size, following = struct.unpack_from("<16x16siii", content, position)
        body = content[position + 64 : position + 64 + max(size, 0)]
        with contextlib.suppress(zlib.error):
            body, packed = zlib.decompressobj().decompress(body, 10**6), True
        records.append((CLASSES.get(kind, "settings"), body))
        if following <= position:
            break
        position = following
    return records, packed


def mutate_elements(body, rng):
    """A link, a length, a type or a value in the tree of a record: links may form circles."""
    places = find_elements(body)
    if not places:
        return mutate_bytes(body, rng)
    data, at = bytearray(body), rng.choice(places)
    other = rng.choice(places)
    kind = rng.randrange(7)
    if kind == 0:  # what kind of thing it is
        data[at + 16 + rng.randrange(3)] = rng.choice((0, 1, 2, 3, 10, 20, 21, 22, 30, 40, 41, 42, 43, 50, 60, 255))
    elif kind == 1:  # the value of another one
        data[at + 20 : at + ELEMENT] = data[other + 20 : other + ELEMENT]
    elif kind == 2:  # the name of another one
        data[at : at + 16] = data[other : other + 16]
    elif kind == 3:  # a number or a link
        value = rng.choice((*INTEGERS, 0, at, other, len(body), len(body) - 4))
        struct.pack_into("<i", data, at + 20 + 4 * rng.randrange(2), value)
    elif kind == 4:
        value = rng.choice((0.0, 1e-300, 1e300, float("nan"), float("inf"), -50.0, 0.1, 1e6))
        struct.pack_into("<d", data, at + 20, value)
    else:  # the length, or a value, of what it links to
        link = struct.unpack_from("<i", data, at + 20)[0]
        if 0 <= link <= len(data) - 12:
            if kind == 5:
                struct.pack_into("<i", data, link, rng.choice(INTEGERS))
            else:
                struct.pack_into("<d", data, link + 4, rng.choice((0.0, float("nan"), 1e300, 1e-300, -1.0)))
    return bytes(data)


def find_elements(body, link=0, depth=0):
    if not 0 <= link <= len(body) - 4 or depth > 8:
        return []
    count = struct.unpack_from("<i", body, link)[0]
    if not 0 < count <= (len(body) - link - 4) // ELEMENT:
        return []
    places = []
    for at in range(link + 4, link + 4 + ELEMENT * count, ELEMENT):
        places.append(at)
        if body[at + 16] == 1 and len(places) < 500:
            places += find_elements(body, struct.unpack_from("<i", body, at + 20)[0], depth + 1)
    return places


def mutate_npz(files, rng):
    name, content = next(iter(files.items()))
    members = unzip(content)
    if not members or rng.random() < 0.15:
        return {name: mutate(content, rng)}
    member = rng.choice(list(members))
    members[member] = mutate(members[member], rng, mutate_json if member.endswith(".json") else mutate_array)
    kind = rng.random()
    if kind < 0.05:
        del members[member]
    elif kind < 0.15:  # another name, or that of another member
        members[rng.choice((*members, "time.npy", "f0.npy", "sampling_rate.npy", "<b>.npy", "../x.npy"))] = members[
            member
        ]
    is_ours = "manifest.json" in members
    packing = zipfile.ZIP_STORED if is_ours else rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    return {name: builders.zipped(members, packing)}


def mutate_mat(files, rng):
    """The bytes of the file, or an element of a variable, with the lengths around it corrected."""
    content = files["case.mat"]
    if rng.random() < 0.2:
        return {"case.mat": mutate(content, rng)}
    variables, order = [], "<" if content[126:128] == b"IM" else ">"
    for kind, body in split_elements(content[128:], order):
        with contextlib.suppress(zlib.error):
            kind, body = (
                next(iter(split_elements(zlib.decompress(body), order)), (0, b"")) if kind == 15 else (kind, body)
            )
        variables.append((kind, split_elements(body, order)))
    if variables:
        at = rng.randrange(len(variables))
        kind, elements = variables[at]
        if elements:
            n = rng.randrange(len(elements))
            code = rng.choice((1, 2, 5, 6, 7, 9, 14, 15)) if rng.random() < 0.2 else elements[n][0]
            elements[n] = (code, mutate_bytes(elements[n][1], rng) if elements[n][1] else b"\0")
        if rng.random() < BOMBS:
            elements.append((9, bytes(rng.choice(BOMB_BYTES))))
    whole = [(kind, b"".join(vendor_files.mat_element(*one, order) for one in parts)) for kind, parts in variables]
    whole = [vendor_files.mat_element(*one, order) for one in whole]
    if rng.random() < 0.5:
        whole = [vendor_files.mat_element(15, zlib.compress(one), order) for one in whole]
    return {"case.mat": content[:128] + b"".join(whole)}


def split_elements(data, order):
    """Types and contents of the elements of a MATLAB file, as far as they can be read."""
    elements, at = [], 0
    while at + 8 <= len(data) and len(elements) < 50:
        kind, size = struct.unpack_from(f"{order}II", data, at)
        begin, after = (at + 8, at + 8 + size + (0 if kind == 15 else -size % 8)) if kind < 2**16 else (at + 4, at + 8)
        kind, size = (kind, size) if kind < 2**16 else (kind & 0xFFFF, kind >> 16)
        elements.append((kind, data[begin : begin + size]))
        at = after
    return elements


def mutate_zip(files, rng):
    """The bytes of the archive, or a member, its name, or one more; sometimes an archive in an archive."""
    content = files["case.zip"]
    members = unzip(content)
    if not members or rng.random() < 0.2:
        return {"case.zip": mutate(content, rng)}
    name = rng.choice(list(members))
    members[name] = mutate(members[name], rng, rng.choice((mutate_text, mutate_bytes)))
    if rng.random() < 0.3:
        members[rng.choice(PATHS)] = members.pop(name)
    if rng.random() < 0.1:
        members[rng.choice(("inner.zip", "inner.csv", "x.npz"))] = content
    if rng.random() < BOMBS:
        members["bomb.csv"] = bytes(rng.choice(BOMB_BYTES))
    return {
        "case.zip": builders.zipped(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)))
    }


def unzip(content):
    """The members of an archive; none if it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {info.filename: archive.read(info) for info in archive.infolist() if info.file_size < 10**6}
    except (zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError, NotImplementedError, RuntimeError):
        return {}


def mutate_array(content, rng):
    """Damage the header or the data of an array, or replace it by another valid array."""
    end = content.find(b"\n") + 1
    kind = rng.random()
    if kind < 0.35 or not end:
        return mutate(content[:end], rng, mutate_text) + content[end:]
    if kind < 0.55:
        return content[:end] + mutate(content[end:], rng)
    buffer = io.BytesIO()
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            array = np.load(io.BytesIO(content), allow_pickle=False)
            np.save(buffer, change_array(array, rng), allow_pickle=False)
    except Exception:  # noqa: BLE001 (NumPy may raise anything on a damaged header)
        return mutate_bytes(content, rng)
    return buffer.getvalue()


def change_array(array, rng):
    """Other values, or another type or shape."""
    if rng.random() < BOMBS:
        width = array.shape[-1] if array.ndim else 1
        return np.resize(array, (*array.shape[:-1], rng.choice(BOMB_BYTES) * width // max(array.nbytes, 1)))
    kind = rng.randrange(6)
    if kind == 0:
        return array.astype(rng.choice(ODD_TYPES))
    if kind == 1:
        return array[rng.choice((np.s_[:0], np.s_[:1], np.s_[:7], np.s_[::-1]))] if array.ndim else array.reshape(1)
    if kind == 2:
        return rng.choice((array[np.newaxis], array.T, array.ravel(), np.asfortranarray(array)))
    changed = array.copy()
    if not changed.size:
        return changed
    if changed.dtype.kind == "U":
        changed = changed.astype(f"U{max(changed.itemsize // 4, 30)}")
        words = ("", "\ud800", "<script>alert(1)</script>", "\x1b[2J", "a\nb", "\u2028", "kV", "A", "9" * 30)
        changed.flat[rng.randrange(changed.size)] = rng.choice(words)
        return changed
    values = (0, 1, -1, 2, 50, 1e-300, 1e300, np.nan, np.inf, -np.inf, 1e15, 1e-3)
    value = np.array([rng.choice(values)]).astype(changed.dtype)[0]
    if kind == 3:
        changed[...] = value
    elif kind == 4:
        changed.flat[rng.randrange(changed.size) :: rng.choice((1, 2, 10, changed.size))] = value
    else:
        changed = changed * value
    return changed


def mutate_lines(files, rng):
    return {name: mutate(content, rng, mutate_text) for name, content in files.items()}


def mutate_samples(files, rng):
    return mutate_npz(files, rng) if "case.npz" in files else mutate_lines(files, rng)


def mutate_store(files, rng):
    """Bytes of the database, or values with a matching digest."""
    name, content = next(iter(files.items()))
    if rng.random() < 0.3:
        return {name: mutate(content, rng)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            with contextlib.closing(sqlite3.connect(path)) as database, database:
                change_row(database, rng)
        except (sqlite3.Error, ValueError, TypeError, OverflowError, UnicodeError):
            return {name: mutate(content, rng)}
        return {name: path.read_bytes()}


def change_row(database, rng):
    """Another value in a row of a table."""
    names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    full = [name for name in names if list(database.execute(f"SELECT 1 FROM {name} LIMIT 1"))]
    table = rng.choice([name for name in full if name != "sqlite_sequence"])
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    rows = list(database.execute(f"SELECT * FROM {table}"))
    row = rng.choice(rows)
    at = rng.randrange(len(columns) - 1)
    value = row[at]
    is_json = isinstance(value, str) and value[:1] in ("{", "[")
    if is_json:
        value = mutate_json(value.encode(), rng).decode("utf-8", "replace")
    else:
        value = rng.choice((None, "", 0, -1, 1e308, -1.5, "x", "\x1b[2J", "<b>", 2**62, b"\xff"))
    changed = [*row[:at], value, *row[at + 1 : -1]]
    changed.append(hashlib.sha256(json.dumps(changed).encode()).hexdigest() if columns[-1] == "digest" else row[-1])
    where = " AND ".join(f"{key} IS ?" for key in columns[:3])
    database.execute(f"DELETE FROM {table} WHERE {where}", row[:3])
    if rng.random() < 0.9:
        database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(changed))})", changed)
        if columns[-1] == "seal":
            database.create_function("row_seal", -1, row_seal)
            seal_rows(database, table, " AND ".join(f"{key} IS ?" for key in columns[:3]), changed[:3])


MUTATORS = {
    "comtrade": mutate_comtrade,
    "pqdif": mutate_pqdif,
    "mat": mutate_mat,
    "zip": mutate_zip,
    "samples": mutate_samples,
    **dict.fromkeys(("csv", "sel", "site", "plan", "preset"), mutate_lines),
    **dict.fromkeys(("npz", "dataset", "model"), mutate_npz),
    **dict.fromkeys(("archive", "store"), mutate_store),
}
"""Mutators by target."""
