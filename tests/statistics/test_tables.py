"""Tables of results in four styles."""

import csv

import pytest

from pqswarm.errors import PqswarmError
from pqswarm.statistics import table

ROWS = [
    {"name": "a_b|c", "p_value": 1.23456789e-27, "runs": 40, "good": True, "note": None},
    {"name": "2D", "p_value": 0.25, "runs": 7, "good": False, "note": "x"},
]


def test_text():
    assert table(ROWS, headings={"p_value": "p"}, digits=3).splitlines() == [
        "name          p  runs  good  note",
        "a_b|c  1.23e-27    40  yes",
        "2D         0.25     7  no    x",
    ]


def test_csv_has_keys_and_all_digits():
    text = table([{"a,b": 1 / 3, 'say "c"': True}], "csv", headings={"a,b": "never"}, digits=2)
    assert list(csv.reader(text.splitlines())) == [["a,b", 'say "c"'], [repr(1 / 3), "True"]]


def test_markdown():
    assert table(ROWS, "md").splitlines() == [
        "| name   |  p_value | runs | good | note |",
        "|---|---:|---:|---|---|",
        "| a_b\\|c | 1.23e-27 |   40 | yes  |      |",
        "| 2D     |     0.25 |    7 | no   | x    |",
    ]


def test_latex_is_a_table_with_caption_and_label():
    text = table(
        [{"name": "A_1", "p_value": 1.2e-9, "rank": -1.5}], "latex", caption="50 %", label="ranks", note="n & m"
    )
    assert text.splitlines() == [
        r"\begin{table}",
        r"\centering\sloppy",
        r"\caption{50 \%}",
        r"\label{tab:ranks}",
        r"\smallskip\footnotesize\setlength{\tabcolsep}{4pt}",
        r"\begin{tabular}{@{}lrr@{}}",
        r"\toprule",
        r"name & p\_value & rank \\",
        r"\midrule",
        r"A\_1 & 1.2$\times$10$^{-9}$ & $-$1.5 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip{\footnotesize\raggedright n \& m\par}",
        r"\end{table}",
    ]


@pytest.mark.parametrize("style", ["text", "csv", "md", "latex"])
def test_no_rows(style):
    assert isinstance(table([], style), str)


def test_unknown_style():
    with pytest.raises(PqswarmError, match="unknown style of a table 'latx': did you mean 'latex'"):
        table(ROWS, "latx")
