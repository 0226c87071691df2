"""The report as Markdown, LaTeX and CSV."""

import csv
import io
import re

import pytest
from tests.articles import CLASSES, compile_article, needs_latex
from tests.report.studies import IN_PAPER, PAPER_TABLES, TABLES, tables

from pqswarm.errors import PqswarmError
from pqswarm.report import write_comparison, write_report
from pqswarm.report.document import Chapter, Document, Passage, compose
from pqswarm.report.section import BEST, FORMAT, Content, Drawing, Table
from pqswarm.report.study_report import markdown_report
from pqswarm.statistics.tables import escape_markdown
from pqswarm.study import Store

N_NUMBERED = 2 * (len(TABLES) - len(IN_PAPER)) + 1  # the others have the paper's numbers


def test_markdown(hostile, tmp_path, study):
    text = write_report(hostile, "md", tmp_path / "report.md").read_text(encoding="utf-8")
    assert "](figures/overview.svg)" in text
    lines = text.splitlines()
    assert lines[0].startswith(r"# \<script\>alert(1)\</script\> \& ")
    assert r"and \\x1b\[2J\\x9b 100 %" in lines[0]
    assert all(letter.isprintable() for line in lines for letter in line)
    document = compose(study)
    stages, others = ([part.heading for part in parts] for parts in (document.stages, document.parts))
    assert [line for line in lines if line.startswith("## ")] == [
        f"## {one}" for one in (*stages, "k-NN", "NB", *others)
    ]
    assert lines.count("### Which algorithm finds the best subsets?") == 2
    assert sum("Accuracy of the best subsets against noise](figures/k-nn-noise.svg)" in line for line in lines) == 1
    figures = [int(number) for number in re.findall(r"^Figure (\d+)\. ", text, re.MULTILINE)]
    assert figures == list(range(1, len(figures) + 1))
    assert re.findall(r"^\*\*Table (\d+)\. ", text, re.MULTILINE) == [str(i + 1) for i in range(N_NUMBERED)]
    assert "    runs = 3" in lines
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(blocks) == 2 * len(TABLES) + len(PAPER_TABLES) + 1  # and the paper's claims
    for block in blocks:
        head, rule, *body = block.splitlines()
        assert body
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in (head, rule, *body)} == {head.count("|")}
        assert re.fullmatch(r"\|(---:?\|)+", rule)
    assert "*-0.12*" in text
    assert all(escape_markdown(table.caption) in text for table in tables(study, study.classifiers[1]).values())


def test_words_of_markdown_are_text_whatever_names_they_hold():
    hostile = "<script>alert(1)</script> [x](javascript:alert(2)) `a` \x1b[2j"
    named = Table("hostile", hostile, [{hostile: hostile}], note=hostile)
    drawing = Drawing("hostile", hostile, hostile, lambda: None)
    content = Content([hostile], [hostile], [drawing], [named], answer=[hostile])
    part = Passage(hostile, content)
    chapter = Chapter("NB", hostile, (hostile,), (part,))
    text = markdown_report(Document("A title", content, hostile, "1", (chapter,), (part,)))
    shown = r"&lt;script&gt;alert(1)&lt;/script&gt; \[x\](javascript:alert(2)) \`a\` \\x1b\[2j"
    assert text.count(shown) == text.count("javascript") == 27
    assert "\x1b" not in text
    assert "<" not in text


def test_latex(hostile, tmp_path):
    text = write_report(hostile, "latex", tmp_path / "report.tex").read_text(encoding="utf-8")
    head, _, tables = text.partition("\n\n")
    assert all(line.startswith("% ") for line in head.splitlines())
    open_now = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", tables):
        if kind == "begin":
            open_now.append(name)
        else:
            assert open_now.pop() == name
    assert open_now == []
    captions = text.count(r"\caption{") - text.count("(continued)") - text.count(r"\IfFileExists")
    assert captions == 2 * len(TABLES) + len(PAPER_TABLES) + 1
    assert tables.count(r"\begin{figure") == text.count(r"\IfFileExists{figures/") > 10
    depth = 0
    for mark in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if mark == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert text.isascii()
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    for body in re.findall(r"\\midrule\n(.*?)\\bottomrule", text, re.DOTALL):
        numbers = [len(re.findall(r"(?<!\\)&", line)) for line in body.splitlines()]
        assert len(set(numbers)) == 1
    assert not re.search(r"(?<!\\)[%#]", re.sub(r"(?m)^%.*|\{%$", "", text))
    assert r"mean\_deviation" in text
    assert r"\underline{$-$0.12}" in text
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels))


@needs_latex
@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_latex_fits_a_journal(name, hostile, smoke_study, tmp_path):
    """All tables, by the document that the head of the file shows."""
    for study in (hostile, smoke_study):
        text = write_report(study, "latex", tmp_path / "all-tables.tex").read_text(encoding="utf-8")
        shown = [line.removeprefix("%   ") for line in text.splitlines() if line.startswith("%   ")]
        assert shown[0] == rf"\documentclass[{CLASSES['elsarticle']}]{{elsarticle}}"
        body = shown.index(r"\input{all-tables}")
        preamble = shown[1 : body - 1]
        assert preamble == [r"\usepackage{array,booktabs,graphicx}", r"\extrafloats{500}\maxdeadcycles=1000"]
        assert compile_article(tmp_path, shown[body], name, CLASSES[name]) > 10


def test_tables_are_not_written_behind_a_link_in_the_folder_of_a_study(tmp_path):
    study, own = tmp_path / "study", tmp_path / "own"
    study.mkdir()
    own.mkdir()
    for name in ("report-csv", "beside-own-csv"):
        (study / name).symlink_to(own)
    with pytest.raises(PqswarmError, match="report-csv is a link to another folder: remove it"):
        write_report(study, "csv")
    with pytest.raises(PqswarmError, match="beside-own-csv is a link to another folder"):
        write_comparison([study, own], "csv")


def test_csv_holds_all_digits(smoke_study, study, tmp_path):
    out = write_report(smoke_study, "csv", tmp_path / "csv")
    kinds = ("runs", "stage-two", "held-out", "claims", *PAPER_TABLES)
    assert {path.name for path in out.iterdir()} == {f"{name}.csv" for name in kinds} | {
        f"{found.slug}-{name}.csv" for found in study.classifiers for name in TABLES
    }
    for found in study.classifiers:
        for name, table in tables(study, found).items():
            if name in PAPER_TABLES:
                continue
            rows = list(csv.DictReader(io.StringIO((out / f"{found.slug}-{name}.csv").read_text(encoding="utf-8"))))
            assert len(rows) == len(table.rows)
            for row, expected in zip(rows, table.rows, strict=True):
                for key, value in expected.items():
                    if key in (FORMAT, BEST):
                        assert key not in row
                    elif key.endswith("_interval"):
                        ends = [row[key.replace("_interval", end)] for end in ("_lower", "_upper")]
                        assert ends == ["", ""] if value is None else tuple(map(float, ends)) == value
                    elif isinstance(value, float):
                        assert float(row[key]) == value
                    else:
                        assert row[key] == ("" if value is None else str(value))
    with Store(smoke_study) as store:
        records = {(r.key.classifier, r.key.algorithm, r.key.run): r for r in store.finished()}
    names = {algorithm.title: algorithm.name for algorithm in study.plan.algorithms}
    rows = list(csv.DictReader(io.StringIO((out / "runs.csv").read_text(encoding="utf-8"))))
    assert len(rows) == len(records) == 2 * (6 * 3 + 1)
    for row in rows:
        record = records[row["classifier"], names[row["algorithm"]], int(row["run"])]
        assert float(row["error"]) == record.error
        assert int(row["seed"]) == record.seed
        assert [int(i) for i in row["features"].split()] == record.result.selected.tolist()
        assert row["names"].split("; ") == [study.feature_names[i] for i in record.result.selected]
        assert int(row["size"]) == record.size
