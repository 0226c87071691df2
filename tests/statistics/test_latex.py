"""Tables as LaTeX: nothing in them is a command, and they fit the columns of a journal."""

import re

import numpy as np
import pytest

from pqswarm.statistics.latex import LatexTable, latex_text
from tests.articles import CLASSES, compile_article, needs_latex

HOSTILE = (
    r"\input{/etc/passwd}",
    "}{$^_&%#~",
    "[2pt]",
    "*",
    "--set 'a' \"b\" `c` ?` !`",
    "a|b<c>d",
    "\x1b[2J",
    "x" * 70,
    "module.of.a.package:ClassWithAVeryLongName_and_underscores/and/slashes",
    "1.5e-17 ± 0.2, χ² ≤ 4 µs → ∞ – “so” … 3 × 10 °",  # noqa: RUF001
)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        (r"\x", r"\textbackslash{}x"),
        ("{a}", r"\{a\}"),
        ("-0.5 to -1", "$-$0.5 to $-$1"),
        ("2D-UPSO, 3-5", "2D-UPSO, 3-5"),
        ("1.4e-37 and 2e+05", r"1.4$\times$10$^{-37}$ and 2$\times$10$^{5}$"),
        ("χ²", r"$\chi ^{2}$"),
        ("--a", r"-\allowbreak{}-a"),
        ("---", r"-\allowbreak{}-\allowbreak{}-"),
        ("$-1", r"\$$-$1"),
        ("[x] *", "{[}x{]} {*}"),
        ("\n", r"\textbackslash{}n"),
    ],
)
def test_text(text, latex):
    assert latex_text(text) == latex


def random_table(seed):
    generator = np.random.default_rng(seed)
    n_rows, n_columns = generator.integers(1, 70), generator.integers(1, 26)
    words = ["error", "of", "features", "significantly", "2D-UPSO", "k-NN", "12.5 %", "(p = 0.03)", "MMWW", *HOSTILE]
    numeric = generator.random(n_columns) < 0.6
    lengths = np.where(generator.random(n_columns) < 0.3, generator.integers(1, 40, n_columns), 1)

    def text(column):
        if numeric[column]:
            return f"{generator.normal() * 10.0 ** generator.integers(-9, 4):.4g}"
        return " ".join(generator.choice(words, generator.integers(0, lengths[column] + 1)))

    body = [[text(column) for column in range(n_columns)] for _ in range(n_rows)]
    head = [" ".join(generator.choice(words[:8], generator.integers(1, 6))) for _ in range(n_columns)]
    marks = {
        (row, column): "textbf" for row in range(n_rows) for column in range(n_columns) if generator.random() < 0.1
    }
    caption, note = (" ".join(generator.choice(words, generator.integers(1, size))) for size in (20, 60))
    return LatexTable(head, body, numeric.tolist(), caption, f"t{seed}", note, marks)


@pytest.mark.parametrize("seed", range(12))
def test_all_cells_are_there_once_and_names_in_each_part(seed):
    given = random_table(seed)
    text = given.latex()
    parts = re.findall(r"\\begin\{(table\*?)\}\n(.*?)\\end\{\1\}", text, re.DOTALL)
    assert len(re.findall(r"\\label\{", text)) == 1
    assert text.count(r"\addtocounter{table}{-1}") == len(parts) - 1
    cells = []
    for _, part in parts:
        body = part.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
        rows = [line.removesuffix(r" \\").split(" & ") for line in body.splitlines()]
        assert len({len(row) for row in rows}) == 1
        cells += [cell for row in rows for cell in row]
    plain = [re.sub(r"^\\textbf\{(.*)\}$", r"\1", cell) for cell in cells]
    for row in given.body:
        for cell in row:
            assert latex_text(cell) in plain
    assert not re.search(r"(?<!\\)[%#]", text)


def test_width_decides_the_environment():
    def environment(n_columns, text="0.123"):
        head = [f"c{i}" for i in range(n_columns)]
        return LatexTable(head, [[text] * n_columns] * 3, [True] * n_columns).latex()

    assert environment(6).startswith(r"\begin{table}")
    assert environment(12).startswith(r"\begin{table*}")
    assert r"\scriptsize" in environment(17)
    assert environment(40).count(r"\begin{table*}") > 1


def test_sentences_are_wrapped_and_long_tables_divided():
    sentence = "The mean error of the first algorithm is lower than that of all others, and so on and so forth."
    text = LatexTable(["name", "what"], [["a", 4 * sentence], ["b", sentence]], [False, False]).latex()
    assert re.search(r"l>\{\\raggedright\\arraybackslash\}p\{0\.\d+\\linewidth\}", text)
    tall = LatexTable(["n"], [[str(i)] for i in range(120)], [True], caption="Numbers", label="n").latex()
    assert tall.count(r"\begin{table}") == 3
    assert tall.count("(continued)") == 2


@needs_latex
@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_hostile_tables_fit_a_journal(name, tmp_path):
    body = "\n\\clearpage\n".join(random_table(seed).latex() for seed in range(12))
    assert compile_article(tmp_path, body, name, CLASSES[name]) >= 10
