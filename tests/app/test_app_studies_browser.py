"""The room of studies in a real browser: a study that runs in a terminal is followed, looked at closely, compared."""

import json
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.app.serving import running_app
from tests.browser import DESKTOP, PHONE, needs_browser

from pqswarm.study import Store, findings

pytestmark = needs_browser

HOSTILE = "<img src=x onerror=window.bad=1>"
PLAN = """
title = "{title}"
runs = 4
max_evaluations = 8000
reference = "ga"
[dataset]
file = "data.csv"
label = "class"
[folds]
number = 5
[[classifiers]]
name = "k-NN"
kind = "k-nn"
n_neighbors = 3
grid_search = false
[[algorithms]]
algorithm = "ga"
[[algorithms]]
algorithm = "bpso"
"""


def write_plan(folder):
    """A plan of some seconds, with data whose names are those of an enemy."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 30)), rng.integers(0, 3, 120)
    X[:, :4] += y[:, np.newaxis]
    names = [f"{HOSTILE}{i}" for i in range(30)]
    rows = [[*map("{:.4f}".format, row), "abc"[label]] for row, label in zip(X, y, strict=True)]
    folder.mkdir()
    (folder / "data.csv").write_text("\n".join(map(",".join, [[*names, "class"], *rows])) + "\n")
    (folder / "plan.toml").write_text(PLAN.format(title=HOSTILE))
    return folder / "plan.toml"


def until_finished(running):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with Store(running.folder) as store:
            if store.find(findings.Finished) is not None:
                return
        time.sleep(0.3)
    raise AssertionError("the study did not end")


@pytest.fixture(scope="module")
def folder(smoke_study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    for name in ("smoke", "second"):
        (folder / name).mkdir()
        shutil.copy(smoke_study / "study.sqlite", folder / name)
    return folder


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def running(folder, tmp_path_factory):
    """A study that somebody runs in a terminal."""
    plan, out = write_plan(tmp_path_factory.mktemp("plan") / "own"), folder / HOSTILE
    command = [sys.executable, "-m", "pqswarm", "study", str(plan), "--out", str(out), "--jobs", "1"]
    with (folder.parent / "terminal.txt").open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
    process.folder = out
    yield process
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def app(folder, state):
    with running_app(folder, state=state) as process:
        yield process


def room(app, browser, path="", **options):
    """The room, in a browser that knows the token."""
    tab = browser.tab(app.address, **options)
    tab.go(f"{app.home}/#/studies{path}")
    return tab


SHARE = "document.querySelector('.study progress')?.value ?? 0"
ROW = "[...document.querySelectorAll('.table tbody tr[data-key]')].find(row => row.innerText.includes({}))"


def test_a_study_in_a_terminal_is_followed_and_needs_neither_page_nor_server(running, browser, state, folder):
    name = json.dumps(HOSTILE)
    with running_app(folder, state=state) as app:
        tab = room(app, browser)
        tab.until(f"{ROW.format(name)}?.innerText.includes('running')", 60)
        study = tab.evaluate(f"{ROW.format(name)}.dataset.key")
        tab.click(f"tr[data-key='{study}'] th")
        first = tab.until(SHARE, 30)
        tab.evaluate("document.body.dataset.kept = 'here'")
        tab.until(f"({SHARE}) > {first}", 60)
        tab.until("document.querySelector('[data-read=best] strong')?.innerText.includes('%')", 30)
        tab.until("document.querySelectorAll('.point').length > 0", 60)  # a run has ended meanwhile
        assert tab.evaluate("document.body.dataset.kept") == "here"  # the page was not loaded again
        assert tab.evaluate("window.bad === undefined")
        assert tab.text(".study h1") == HOSTILE
        assert tab.problems() == []
        tab.close()
        assert running.poll() is None
        app.kill()
    until_finished(running)
    with running_app(folder, state=state) as again:
        tab = room(again, browser, f"/{study}")
        tab.until("document.querySelector('.study .state')?.innerText === 'finished'", 30)
        tab.until("document.querySelectorAll('.point').length === 8", 30)
        tab.close()


def test_a_run_has_an_address_of_its_own(app, browser):
    tab = room(app, browser)
    tab.until(f"{ROW.format(json.dumps('smoke'))} !== undefined")
    study = tab.evaluate(f"{ROW.format(json.dumps('smoke'))}.dataset.key")
    tab.click(f"tr[data-key='{study}'] th")
    tab.until("document.querySelectorAll('.point').length > 0", 30)
    tab.click(".point[data-id='ga/1']")
    tab.until("document.querySelector('.run h2')?.innerText.startsWith('GA, run ')")
    chosen = tab.text(".run h2")
    assert "run=k-NN%2Fga%2F" in tab.evaluate("location.hash")
    tab.reload()
    tab.until(f"document.querySelector('.run h2')?.innerText === {json.dumps(chosen)}")
    tab.until("document.querySelector('.point.chosen') !== null")
    assert "coefficient" in tab.text(".run .table") or "energy" in tab.text(".run .table")
    # hide a series
    paths = "document.querySelectorAll('.lines path[data-series=GA]').length"
    assert tab.evaluate(paths) == 1
    tab.click(".lines .legend button[data-series=GA]")
    assert tab.evaluate(paths) == 0
    assert tab.evaluate("document.querySelector('.lines .legend button[data-series=GA]').ariaPressed") == "false"
    # point at the lines
    x, y = tab.place(".lines svg.plot")
    tab.mouse("mouseMoved", x - 60, y)
    tab.until("/after \\d+ evaluations[^]*quartiles/.test(document.querySelector('.tip')?.textContent)")
    # what a feature means
    x, y = tab.place(".features rect[data-cell='0,0']")
    tab.mouse("mouseMoved", x, y)
    tab.until("document.querySelector('.tip').textContent.includes('greatest peak downwards')")
    # sort a table of the report
    table = "document.querySelector('.tables figure[data-name=k-nn-performance]')"
    tab.until(f"{table} !== null", 60)
    column = f"[...{table}.querySelectorAll('tbody tr')].map(row => Number(row.cells[2].innerText))"
    tab.click("figure[data-name=k-nn-performance] th:nth-child(3) button")
    values = tab.evaluate(column)
    assert values == sorted(values)
    # compare with another
    tab.evaluate(
        "(() => { const choice = document.querySelector('.actions select');"
        "choice.selectedIndex = [...choice.options].findIndex(option => option.text === 'second');"
        "choice.dispatchEvent(new Event('change')); })()"
    )
    tab.until("document.querySelector('.besides figure') !== null", 30)
    assert "with=" in tab.evaluate("location.hash")
    assert tab.measure()["problems"] == []
    assert tab.problems() == []
    tab.close()


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "light"), (DESKTOP, "dark")])
def test_on_a_phone_and_in_the_dark(app, browser, folder, width, scheme):
    tab = room(app, browser, width=width, scheme=scheme)
    tab.until(f"{ROW.format(json.dumps('smoke'))} !== undefined")
    assert tab.measure()["problems"] == []
    tab.click(f"tr[data-key='{tab.evaluate(ROW.format(json.dumps('smoke')) + '.dataset.key')}'] th")
    tab.until("document.querySelectorAll('.tables figure').length > 5", 60)
    found = tab.measure()
    assert found["problems"] == []
    assert (found["background"] == "rgb(255, 255, 255)") == (scheme == "light")
    tab.close()


def test_names_of_an_enemy_do_nothing(app, running, browser):
    until_finished(running)
    tab = room(app, browser)
    tab.until(f"{ROW.format(json.dumps(HOSTILE))} !== undefined")
    study = tab.evaluate(f"{ROW.format(json.dumps(HOSTILE))}.dataset.key")
    tab.go(f"{app.home}/#/studies/{study}?run=k-NN/ga/0")
    tab.reload()
    tab.until("document.querySelectorAll('.tables figure').length > 2", 60)
    tab.until("document.querySelector('.run .table')?.innerText.includes('onerror')")
    assert "onerror" in tab.text(".features svg")
    assert tab.evaluate("document.querySelector('#room img') === null && window.bad === undefined")
    assert tab.problems() == []
    report = f"{app.home}/api/studies/{study}/report"
    tab.go(report)
    assert tab.evaluate("document.querySelector('img[onerror]') === null && window.bad === undefined")
    assert HOSTILE in tab.text("h1")
    assert tab.evaluate("self.origin") == "null"  # it can ask the server for nothing
    tab.close()
