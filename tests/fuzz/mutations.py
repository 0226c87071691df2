"""Damage to bytes, text and JSON, regardless of their meaning."""

import json
import re
import struct

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
    """An odd word, usually a number."""
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
    """An odd JSON value."""
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
