"""Numbers and times of plain text, from bytes; anything unusual is left to Python."""

import numpy as np

from pqswarm._kernels.compiling import njit

_POWERS = np.array([float(f"1e{n}") for n in range(23)])  # exact
_EXACT = np.uint64(2**53)


@njit(cache=True, nogil=True)
def parse_text_rows(chunk, begins, ends, delimiter, decimal, columns, table, is_odd):
    """Parse the fields of `columns` (ascending) of each row; missing or empty ones are left unchanged.

    `is_odd` marks the rows that are left to Python. A number is a mantissa below 2**53 times or divided by a power of
    ten up to 22: one rounding, as in strtod.
    """
    spaced = delimiter == 32
    for row in range(begins.size):
        at = begins[row]
        end = ends[row]
        field = 0
        is_odd[row] = False
        if spaced:
            while at < end and (chunk[at] == 32 or chunk[at] == 9):
                at += 1
        for j in range(columns.size):
            # on to the field
            while field < columns[j] and at < end:
                c = chunk[at]
                if c == 34 or c == 0 or c >= 128 or (spaced and c < 32 and c != 9):
                    is_odd[row] = True
                    break
                at += 1
                if c == delimiter or (spaced and c == 9):
                    field += 1
                    if spaced:
                        while at < end and (chunk[at] == 32 or chunk[at] == 9):
                            at += 1
            if is_odd[row] or at >= end:
                break
            begin = at
            while at < end and (chunk[at] == 32 or chunk[at] == 9) and chunk[at] != delimiter and not spaced:
                at += 1
            if at >= end or chunk[at] == delimiter:
                continue  # an empty field
            negative = chunk[at] == 45
            if negative or chunk[at] == 43:
                at += 1
            mantissa = np.uint64(0)
            digits = significant = scale = 0
            after = False
            while at < end:
                c = chunk[at]
                if 48 <= c <= 57:
                    digits += 1
                    if significant or c != 48:
                        significant += 1
                    if significant <= 18:
                        mantissa = mantissa * np.uint64(10) + np.uint64(c - 48)
                        if after:
                            scale -= 1
                    elif not after:
                        scale += 1
                elif c == decimal and not after:
                    after = True
                else:
                    break
                at += 1
            if digits and at < end and (chunk[at] == 69 or chunk[at] == 101):
                at += 1
                down = at < end and chunk[at] == 45
                if at < end and (down or chunk[at] == 43):
                    at += 1
                power = length = 0
                while at < end and 48 <= chunk[at] <= 57:
                    if length < 4:
                        power = 10 * power + (chunk[at] - 48)
                    length += 1
                    at += 1
                if length == 0 or length > 3:
                    digits = 0
                scale += -power if down else power
            while at < end and (chunk[at] == 32 or chunk[at] == 9) and chunk[at] != delimiter and not spaced:
                at += 1
            closed = at >= end or chunk[at] == delimiter or (spaced and chunk[at] == 9)
            if digits == 0 or not closed or at - begin >= 100:
                is_odd[row] = True
                break
            if significant > 18 or mantissa > _EXACT or scale > 22 or scale < -22:
                is_odd[row] = True  # it needs more care to be rounded correctly
                break
            value = float(mantissa)
            value = value / _POWERS[-scale] if scale < 0 else value * _POWERS[scale]
            table[row, j] = -value if negative else value


@njit(cache=True, nogil=True)
def parse_text_seconds(chunk, begins, ends, delimiter, column, minute, start, result):
    """Fill in the seconds of times that start with a known minute, up to the first that does not; return its row."""
    if delimiter == 32:
        return 0
    for row in range(begins.size):
        at = begins[row]
        end = ends[row]
        field = 0
        while field < column and at < end:
            c = chunk[at]
            if c == 34 or c == 0 or c >= 128:
                return row
            at += 1
            if c == delimiter:
                field += 1
        while at < end and chunk[at] == 32:
            at += 1
        if end - at < minute.size + 2 or chunk[at + minute.size] != 58:
            return row
        for i in range(minute.size):
            if chunk[at + i] != minute[i]:
                return row
        at += minute.size + 1
        seconds = digits = 0
        while at < end and 48 <= chunk[at] <= 57:
            seconds = 10 * seconds + (chunk[at] - 48)
            digits += 1
            at += 1
        if digits == 0 or digits > 2 or seconds > 59:
            return row
        micros = digits = 0
        if at < end and chunk[at] != delimiter and (chunk[at] == 46 or chunk[at] == 44):
            at += 1
            while at < end and 48 <= chunk[at] <= 57:
                if digits < 6:
                    micros = 10 * micros + (chunk[at] - 48)
                digits += 1
                at += 1
            if digits == 0 or digits > 12:
                return row
        micros *= 10 ** (6 - min(digits, 6))
        while at < end and chunk[at] == 32:
            at += 1
        if at < end and chunk[at] != delimiter:
            return row
        result[row] = (start + seconds * 1_000_000 + micros) / 1_000_000
    return begins.size
