r"""Tables as LaTeX that fit the columns or the page of a two-column journal (packages booktabs and array).

Widths are estimated from the letters of Computer Modern, which is wider than Times. A table that fits neither is set
smaller, its sentences and headings are wrapped, and at last it is divided; none is scaled.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import ceil

from pqswarm._base.text import printable

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': "''",
    "–": "--",  # noqa: RUF001 (as in print)
    "—": "---",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "\u200b": r"\allowbreak{}",
} | {character: f"\\{character}" for character in "&%$#_{}"}
_ESCAPED |= {character: f"{{{character}}}" for character in "[]*"}  # a command before them would take them as options
_MATHEMATICS = {
    "−": "-",  # noqa: RUF001 (as in print)
    "×": r"\times ",  # noqa: RUF001
    "±": r"\pm ",
    "·": r"\cdot ",
    "°": r"^{\circ}",
    "∞": r"\infty ",
    "≤": r"\leq ",
    "≥": r"\geq ",
    "≈": r"\approx ",
    "→": r"\to ",
    "√": r"\surd ",
    "π": r"\pi ",
    "µ": r"\mu ",
    "μ": r"\mu ",
    "α": r"\alpha ",  # noqa: RUF001
    "β": r"\beta ",
    "γ": r"\gamma ",  # noqa: RUF001
    "δ": r"\delta ",
    "Δ": r"\Delta ",
    "Σ": r"\Sigma ",
    "θ": r"\theta ",
    "Θ": r"\Theta ",
    "λ": r"\lambda ",
    "ξ": r"\xi ",
    "Ξ": r"\Xi ",
    "ρ": r"\rho ",  # noqa: RUF001
    "σ": r"\sigma ",  # noqa: RUF001
    "τ": r"\tau ",
    "φ": r"\phi ",
    "χ": r"\chi ",
    "ω": r"\omega ",
}
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_RAISE = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_IN_MATHEMATICS = {*_MATHEMATICS, *"⁻⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉"}
_RAISED_LETTERS = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED_LETTERS = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
_POWER = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?)e([+-])0*(\d+)(?![\w.])")
_MINUS = re.compile(r"(?<![\w.)-])-(?=[\d∞.])")
_LIGATURE = re.compile(r"-(?=-)")
_LONG_WORD = re.compile(r"[^\s\u200b]{21,}")
_PIECES = re.compile(r"[^_/=.,:;()-]{0,19}[_/=.,:;()-]|.{1,20}")

# Widths in parts of the font's size, each at least that of Computer Modern.
_WIDTHS = dict.fromkeys("ijl.,:;!'|`", 0.28) | dict.fromkeys(" fIrst()[]{}-_J", 0.4)
_WIDTHS |= dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ&=+<>~w−×±∞≤≥≈→", 0.79)  # noqa: RUF001
_WIDTHS |= dict.fromkeys("mMW%@#—…", 1.03) | dict.fromkeys("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", 0.4) | {"\u200b": 0.0}
_USUAL_WIDTH = 0.56
_BOLD = 1.15
_SIZES = {r"\footnotesize": 8 * 1.063, r"\scriptsize": 7 * 1.138}  # pt; small letters are relatively wider
_COLUMN = 222.0  # pt: of the narrowest of IEEEtran, elsarticle (5p, 3p) and article
_PAGE = 468.0
_LINES = 54  # that fit on a page, of 9.5 pt
_GAPS = {r"\footnotesize": 4, r"\scriptsize": 3}  # pt: half the space between two columns
_NARROW = 6.0  # in parts of the font's size: texts up to this width are not wrapped
# Sizes, room and the lines that a cell may have, best first.
_LAYOUTS = (
    (r"\footnotesize", _COLUMN, 3),
    (r"\footnotesize", _PAGE, 6),
    (r"\scriptsize", _PAGE, 6),
    (r"\footnotesize", _PAGE, 30),
)


def latex_text(text: str) -> str:
    r"""Return text as LaTeX: nothing in it is a command, and numbers and symbols are set as mathematics.

    Examples
    --------
    >>> print(latex_text("50 % of A_1: χ² = -3, p = 1.4e-37, δ₁₁"))
    50 \% of A\_1: $\chi ^{2}$ = $-$3, p = 1.4$\times$10$^{-37}$, $\delta _{11}$
    """
    parts = []
    for is_mathematics, letters in groupby(_symbols(text), key=_IN_MATHEMATICS.__contains__):
        part = "".join(letters)
        if is_mathematics:
            part = _RAISED_LETTERS.sub(lambda found: f"^{{{found[0].translate(_RAISED)}}}", part)
            part = _LOWERED_LETTERS.sub(lambda found: f"_{{{found[0].translate(_LOWERED)}}}", part)
            symbols = "".join(_MATHEMATICS.get(letter, letter) for letter in part)
            parts.append(f"${symbols.strip()}$")
        else:
            parts.append("".join(_ESCAPED.get(letter, letter) for letter in part))
    return "".join(parts)


def _symbols(text: str) -> str:
    """Text with powers of ten and minus signs as in print, and places to break long words."""
    text = _POWER.sub(_symbols_of_power, _LIGATURE.sub("-\u200b", printable(text)))
    return _LONG_WORD.sub(lambda found: "\u200b".join(_PIECES.findall(found[0])), _MINUS.sub("−", text))  # noqa: RUF001


def _symbols_of_power(found: re.Match[str]) -> str:
    exponent = found[2].replace("+", "") + found[3]
    return f"{found[1]}×10{exponent.translate(_RAISE)}"  # noqa: RUF001


def _text_width(text: str) -> float:
    """The width of a text in parts of the font's size."""
    return sum(_WIDTHS.get(letter, _USUAL_WIDTH if letter.isascii() else 1.0) for letter in _symbols(text))


def _word_width(text: str) -> float:
    """The width of the longest word."""
    return max((_text_width(word) for word in re.split(r"[\s\u200b]+", _symbols(text))), default=0.0)


def _wrap_text(text: str, width: float) -> list[str]:
    """The lines of a text that is wrapped to a width, in parts of the font's size."""
    lines: list[str] = []
    filled = width
    for word in text.split():
        needed = _text_width(f" {word}")
        if lines and filled + needed <= width:
            lines[-1] += f" {word}"
            filled += needed
        else:
            lines.append(word)
            filled = needed
    return lines or [""]


@dataclass(frozen=True)
class _Layout:
    """How columns are set: font size, room [pt], widths [pt] if headings are wrapped, and columns of wrapped texts."""

    columns: Sequence[int]
    size: str
    room: float
    widths: Mapping[int, float]
    texts: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class LatexTable:
    """A table to be set in LaTeX.

    Attributes
    ----------
    head : sequence of str
        Headings, as plain text.
    body : sequence of sequence of str
        Rows of cells, as plain text.
    numeric : sequence of bool
        Columns to align at the right.
    caption, label, note : str
        Text above the table, name for references without ``tab:``, and text below the table; each may be empty.
    marks : mapping of (int, int) to str
        Commands for cells by row and column, such as ``"textbf"``.
    """

    head: Sequence[str]
    body: Sequence[Sequence[str]]
    numeric: Sequence[bool]
    caption: str = ""
    label: str = ""
    note: str = ""
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def latex(self) -> str:
        """Return one or, if it has too many rows or columns, several environments ``table`` or ``table*``."""
        parts = [(layout, rows) for layout in self._layouts() for rows in self._pages(layout)]
        return "\n\n".join(self._environment(*part, number, len(parts)) for number, part in enumerate(parts, start=1))

    def _layouts(self) -> list[_Layout]:
        """In a column, across the page, smaller, or in parts that repeat the first columns."""
        columns = list(range(len(self.head)))
        for size, room, lines in _LAYOUTS:
            layout = self._fit(columns, size, room)
            if layout is not None and max((self._lines(layout, row) for row in self.body), default=0) <= lines:
                return [layout]
        n_names = max(1, [*self.numeric, True].index(True))
        names = columns[: n_names if n_names <= 2 else 1]
        others = columns[len(names) :]
        for n_parts in range(2, len(others) + 1):
            bounds = [len(others) * part // n_parts for part in range(n_parts + 1)]
            groups = [[*names, *others[start:end]] for start, end in pairwise(bounds)]
            layouts = [layout for group in groups if (layout := self._fit(group, r"\footnotesize", _PAGE)) is not None]
            if len(layouts) == n_parts:
                return layouts
        half = _PAGE / 2 - _GAPS[r"\scriptsize"]
        return [
            _Layout([0, one], r"\scriptsize", _PAGE, {0: half, one: half}, frozenset((0, one))) for one in columns[1:]
        ]

    def _fit(self, columns: Sequence[int], size: str, room: float) -> _Layout | None:
        """The widths at which the columns fit into the room, if there are any."""
        points = _SIZES[size]
        usable = room - 2 * _GAPS[size] * (len(columns) - 1)
        cells = {
            one: points * max((self._cell_width(row, one) for row in range(len(self.body))), default=0.0)
            for one in columns
        }
        natural = {one: max(cells[one], points * _text_width(self.head[one])) for one in columns}
        if sum(natural.values()) <= usable:
            return _Layout(columns, size, room, {})
        texts = [one for one in columns if not self.numeric[one] and cells[one] > points * _NARROW]
        least = {one: max(points * _word_width(self.head[one]), cells[one]) for one in columns}
        for one in texts:
            longest = max(_word_width(row[one]) for row in self.body)
            least[one] = points * max(_word_width(self.head[one]), _BOLD * longest)
        spare = usable - sum(least.values())
        if spare < 0:
            return None
        wishes = {one: max(cells[one], natural[one] / 2, least[one]) - least[one] for one in columns}
        fraction = min(1.0, spare / (sum(wishes.values()) or 1.0))
        widths = {one: least[one] + fraction * wishes[one] for one in columns}
        return _Layout(columns, size, room, widths, frozenset(texts))

    def _cell_width(self, row: int, column: int) -> float:
        """The width of a cell in parts of the font's size."""
        return _text_width(self.body[row][column]) * (_BOLD if (row, column) in self.marks else 1.0)

    def _lines(self, layout: _Layout, row: Sequence[str]) -> int:
        """The lines of a row."""
        points = _SIZES[layout.size]
        words = {one: _symbols(row[one]).replace("\u200b", " ") for one in layout.texts}
        return max((len(_wrap_text(words[one], layout.widths[one] / points)) for one in words), default=1)

    def _pages(self, layout: _Layout) -> Iterator[range]:
        """The rows of each part, about equally many lines that fit on a page."""
        around = sum(ceil(10 * _text_width(text) / layout.room) for text in (self.caption, self.note))
        ends = [0]
        for row in self.body:
            ends.append(ends[-1] + self._lines(layout, row))
        n_parts = ceil(max(1, ends[-1]) / max(10, _LINES - 3 - around - self._head_lines(layout)))
        target = ends[-1] / n_parts
        starts = [next(i for i, end in enumerate(ends) if end >= part * target - 1e-9) for part in range(n_parts + 1)]
        return (range(start, end) for start, end in pairwise(starts))

    def _head_lines(self, layout: _Layout) -> int:
        points = _SIZES[layout.size]
        return max((len(_wrap_text(self.head[one], layout.widths[one] / points)) for one in layout.widths), default=1)

    def _environment(self, layout: _Layout, rows: range, part: int, n_parts: int) -> str:
        name = "table" if layout.room == _COLUMN else "table*"
        columns = "".join(self._column_type(layout, one) for one in layout.columns)
        body = [" & ".join(self._cell(row, one) for one in layout.columns) + r" \\" for row in rows]
        again = " (continued)" if part > 1 else ""
        lines = [
            rf"\begin{{{name}}}",
            r"\centering\sloppy",
            r"\addtocounter{table}{-1}" if self.caption and again else "",
            rf"\caption{{{latex_text(self.caption + again)}}}" if self.caption else "",
            rf"\label{{tab:{self.label}}}" if self.label and not again else "",
            rf"\smallskip{layout.size}\setlength{{\tabcolsep}}{{{_GAPS[layout.size]}pt}}",
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            r"\toprule",
            " & ".join(self._heading(layout, one) for one in layout.columns) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\par\smallskip{{\footnotesize\raggedright {latex_text(self.note)}\par}}"
            if self.note and part == n_parts
            else "",
            rf"\end{{{name}}}",
        ]
        return "\n".join(filter(None, lines))

    def _column_type(self, layout: _Layout, column: int) -> str:
        if column in layout.texts:
            return rf">{{\raggedright\arraybackslash}}p{{{layout.widths[column] / layout.room:.3f}\linewidth}}"
        return "r" if self.numeric[column] else "l"

    def _heading(self, layout: _Layout, column: int) -> str:
        """A heading, with several lines if the column is narrow."""
        text = self.head[column]
        is_wrapped = column in layout.widths and column not in layout.texts
        lines = _wrap_text(text, layout.widths[column] / _SIZES[layout.size]) if is_wrapped else [text]
        latex = [latex_text(line) for line in lines]
        if len(latex) == 1:
            return latex[0]
        side = "r" if self.numeric[column] else "l"
        return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}" + r"\\".join(latex) + r"\end{tabular}"

    def _cell(self, row: int, column: int) -> str:
        text = latex_text(self.body[row][column])
        return rf"\{self.marks[row, column]}{{{text}}}" if (row, column) in self.marks else text
