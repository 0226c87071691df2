"""Studies with something changed, and what sections say about them."""

import re
import shutil
from dataclasses import replace

from markupsafe import Markup
from tests.study.studies import change_database

from pqswarm.report.document import compose
from pqswarm.report.summary import summarize
from pqswarm.study import Store
from pqswarm.study.findings import About

STAGE_TWO = "DELETE FROM findings WHERE kind IN ('StageTwo', 'HeldOut', 'OneStandardError')"
NO_SFFS = "DELETE FROM runs WHERE algorithm = 'sffs'"
TITLE = '<script>alert(1)</script> & "quotes" | *stars* _lines_ \\x\nand \x1b[2J\x9b 100 % {braces} $5 #1'
SHOWN = TITLE.replace("\n", " ").replace("\x1b", r"\x1b").replace("\x9b", r"\x9b")  # in one line, steering nothing
TABLES = ("performance", "hommel", "features", "stability", "robust", "unpaired-error", "unpaired-size")
PAPER_TABLES = ("events", "parameters", "friedman", "sffs")  # of all classifiers
IN_PAPER = ("performance", "hommel", "noise", "contrast")  # of one
TABLES += ("sequential-runs", "confusions", "noise", "noise-held-out", "contrast", "held-out", "fronts")
TINY = """
title = "Own names"
runs = 1
max_evaluations = 30
baseline = "my swarm+"
dataset = { events_per_class = 10, snr = [inf] }
held_out = { events_per_class = 2, seed = 1 }
folds = { number = 2 }
classifiers = [
    { name = "a b", kind = "kernel-nb", bandwidth = 0.01, grid_search = false },
    { name = "A-B", kind = "k-nn", n_neighbors = 1, metric = "euclidean", grid_search = false },
]
algorithms = [{ name = "my swarm+", algorithm = "2d-upso", parameters = { swarm_size = 10 } }, { algorithm = "ga" }]
"""


def summary_of(folder):
    with Store(folder) as store:
        return summarize(store).only


def changed(folder, path, *statements):
    """A copy of a study with something done to its database."""
    change_database(shutil.copytree(folder, path), *statements)
    return path


def replanned(folder, path, **changes):
    """A copy of a study whose plan says something else."""
    with Store(folder) as store:
        about = store.find(About)
    changed(folder, path, "DELETE FROM findings WHERE kind = 'About'")
    with Store(path, write=True) as store:
        store.put(replace(about, plan=about.plan | changes))
    return path


def chapter(study, found):
    """What the sections say about one classifier."""
    return compose(replace(study, classifiers=[found])).chapters[0]


def tables(study, found):
    """The tables of one classifier and of the paper, by their names without that of the classifier."""
    document = compose(replace(study, classifiers=[found]))
    parts = (*document.stages, *document.chapters[0].parts)
    shown = [table for part in parts for table in part.content.tables]
    return {table.name.removeprefix(f"{found.slug}-"): table for table in shown}


def answer_for(study, found, **changes):
    """The answer for a classifier of which something is changed."""
    return " ".join(chapter(study, replace(found, **changes)).answer)


def pictures_of(page):
    """The pictures of a report, by the names of its drawings and by their widths."""
    drawings = re.findall(
        r'data-name="([^"]*)">[^\n]*?<div class="frame"[^>]*>(.*?)</div><p class="note">', page, re.DOTALL
    )
    shown = r'<div class="(wide|narrow)">(.*?)</div>'
    return {name: {k: Markup(text) for k, text in re.findall(shown, frame, re.DOTALL)} for name, frame in drawings}


def says(text, *facts):
    """Whether one sentence of a text holds all facts: names, numbers and the words that give the direction."""
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)
    return any(all(re.search(rf"(?<![\w.]){re.escape(fact)}(?!\w)", one) for fact in facts) for one in sentences)
