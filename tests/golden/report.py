"""The golden text of a report: what each section says about the smoke study, without its tables.

``python -m tests.golden.report FOLDER`` writes it anew from the folder of a smoke study: read the difference.
"""

import re
import sys
from pathlib import Path

from pqswarm.report.document import compose
from pqswarm.report.summary import summarize
from pqswarm.study import Store

FILE = Path(__file__).with_name("report.txt")


def report_text(folder):
    """All sentences, captions and notes about one classifier and about the study, under their headings."""
    with Store(folder) as store:
        document = compose(summarize(store))
    chapter = document.chapters[0]
    lines = ["# Overview", *document.overview.answer, *_lines(document.overview), "", "# Answer", *chapter.answer]
    for part in (*document.stages, *chapter.parts, *document.parts):
        lines += ["", f"# {part.heading}", *_lines(part.content)]
    text = "\n".join(line for line in lines if not line.startswith("pqswarm "))  # of the machine
    return re.sub(r"\d+(\.\d+)? seconds", "N seconds", text) + "\n"


def _lines(content):
    figures = [text for drawing in content.drawings for text in (drawing.title, drawing.note)]
    tables = [text for table in content.tables for text in (table.title, table.note) if text]
    heads = [" | ".join(table.heading(key) for key in table.keys) for table in content.tables]
    return [*content.words, *content.points, *figures, *tables, *heads]


if __name__ == "__main__":
    FILE.write_text(report_text(sys.argv[1]), encoding="utf-8")
