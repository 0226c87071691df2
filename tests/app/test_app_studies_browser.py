"""The studies section in a real browser: live progress, and the report in its frame."""

import json
import subprocess
import sys

import numpy as np
import pytest
from tests.app.conftest import SMALL_METHODS
from tests.app.requests import running_app
from tests.browser import DESKTOP, PHONE, needs_browser
from tests.study.studies import WITHOUT_PICTURES
from tests.waiting import wait_until

from pqswarm.study import Store, findings

pytestmark = needs_browser

HOSTILE = "<img src=x onerror=window.bad=1>"

# Goes on a step at a time, and pauses after the first step and after the first runs, each until there is a file.
PACED = f"""
import sys, time
from pathlib import Path
from pqswarm.study import scheduler

advance = scheduler.advance
begun = []
ended = []
watched = Path(sys.argv.pop(1))
going_on = Path(sys.argv.pop(1))

def advance_slowly(group, limit):
    while (begun and not watched.exists()) or (ended and not going_on.exists()):
        time.sleep(0.05)
    outcome = advance(group, limit if ended else 0.0)
    begun.append(outcome)
    ended.extend(outcome.finished)
    time.sleep(0.0 if ended else 0.1)
    return outcome

scheduler.advance = advance_slowly
{WITHOUT_PICTURES}"""
PLAN = f"""
title = "{HOSTILE}"
runs = 2
max_evaluations = 300
dataset = {{ file = "data.csv", label = "class" }}
{SMALL_METHODS}"""


def write_plan(folder):
    """A plan with data whose names are those of an attacker."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 12)), rng.integers(0, 3, 60)
    X[:, :4] += y[:, np.newaxis]
    names = [f"{HOSTILE}{i}" for i in range(12)]
    rows = [[*map("{:.4f}".format, row), "abc"[label]] for row, label in zip(X, y, strict=True)]
    folder.mkdir()
    (folder / "data.csv").write_text("\n".join(map(",".join, [[*names, "class"], *rows])) + "\n")
    (folder / "plan.toml").write_text(PLAN)
    return folder / "plan.toml"


def until_finished(running):
    def is_finished():
        with Store(running.folder) as store:
            return store.find(findings.Finished) is not None

    wait_until(is_finished, "the study has finished", 300, 0.3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def running(folder, tmp_path_factory):
    """A study that runs in a terminal; the pictures of its report take longer than the study."""
    plan, out = write_plan(tmp_path_factory.mktemp("plan") / "own"), folder / HOSTILE
    watched = folder.parent / "watched"
    going_on = folder.parent / "going-on"
    command = [sys.executable, "-c", PACED, watched, going_on, "study", plan, "--out", out, "--jobs", "1"]
    with (folder.parent / "terminal.txt").open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
    process.folder = out
    process.watched = watched
    process.going_on = going_on
    yield process
    process.kill()
    process.wait()


def section(app, browser, path="", **options):
    """The section, in a browser that knows the token."""
    tab = browser.tab(app.address, **options)
    tab.evaluate(f"location.hash = '#/studies{path}'")
    return tab


FRACTION = "document.querySelector('.study progress')?.value ?? 0"
REPORT = "document.querySelectorAll('.study iframe:not(.coming)').length"
NOTE = "document.querySelector('.study [role=status]').innerText"
ROW = "[...document.querySelectorAll('.table tbody tr[data-key]')].find(row => row.cells[0].innerText === {})"


def test_a_study_in_a_terminal_is_followed_and_needs_neither_page_nor_server(running, browser, state, folder):
    name = json.dumps(HOSTILE)
    with running_app(folder, state=state) as app:
        tab = section(app, browser)
        tab.until(f"{ROW.format(name)}?.innerText.includes('running')")
        study = tab.evaluate(f"{ROW.format(name)}.dataset.key")
        tab.click(f"tr[data-key='{study}'] th")
        first = tab.until(FRACTION)
        tab.evaluate("document.body.dataset.kept = 'here'")
        running.watched.touch()
        tab.until(f"({FRACTION}) > {first}")
        tab.until("document.querySelector('[data-read=best] strong')?.innerText.includes('%')")
        tab.until(f"{NOTE}.startsWith('No report yet: ')")  # not every algorithm has finished a run
        assert tab.evaluate(REPORT) == 0
        assert tab.evaluate("document.body.dataset.kept") == "here"  # the page was not reloaded
        assert tab.evaluate("window.bad === undefined")
        assert tab.text(".study h1") == HOSTILE
        assert tab.problems() == []
        tab.close()
        assert running.poll() is None
        app.kill()
    running.going_on.touch()
    until_finished(running)
    with running_app(folder, state=state) as again:
        tab = section(again, browser, f"/{study}")
        tab.until("document.querySelector('.study .state')?.innerText === 'finished'")
        tab.until(REPORT)
        check_hostile_names(again, tab, study)
        tab.close()


def test_another_report_opens_where_the_reader_was(app, studies, browser):
    tab = section(app, browser)
    tab.until(f"{ROW.format(json.dumps('good'))} !== undefined")
    study = tab.evaluate(f"{ROW.format(json.dumps('good'))}.dataset.key")
    tab.evaluate("window.places = []; window.addEventListener('message', event => places.push(event.data))")
    tab.click(f"tr[data-key='{study}'] th")
    tab.until(REPORT)
    x, y = tab.place(".study .report")
    tab.point(x, y)
    tab.wheel(x, y, 3000)
    tab.until("places.length > 0")
    tab.until("new Promise(rest => setTimeout(count => rest(count === places.length), 500, places.length))")
    tab.evaluate("window.before = places.at(-1); places.length = 0; window.first = document.querySelector('iframe')")
    assert tab.evaluate("before.id") != ""
    tab.evaluate("pq.app.sections.get('studies').view().version = ''")  # as if the server had another
    tab.evaluate("pq.app.sections.get('studies').message({about: 'again'})")
    tab.until(f"!first.isConnected && {REPORT} === 1")
    tab.until("places.length > 0 && Math.abs(places.at(-1).top - before.top) < 2 && places.at(-1).id === before.id")
    # the comparison with another
    tab.evaluate(
        "(() => { const choice = document.querySelector('.actions select');"
        "choice.selectedIndex = [...choice.options].findIndex(option => option.text === 'below/other');"
        "choice.dispatchEvent(new Event('change')); window.first = document.querySelector('iframe'); })()"
    )
    tab.until(f"location.hash.includes('with=') && !first.isConnected && {REPORT} === 1")
    assert tab.measure()["problems"] == []
    assert tab.problems() == []
    tab.close()


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "light"), (DESKTOP, "dark")])
def test_on_a_phone_and_in_the_dark(app, studies, browser, width, scheme):
    tab = section(app, browser, width=width, scheme=scheme)
    tab.until(f"{ROW.format(json.dumps('good'))} !== undefined")
    assert tab.measure()["problems"] == []
    tab.click(f"tr[data-key='{tab.evaluate(ROW.format(json.dumps('good')) + '.dataset.key')}'] th")
    tab.until(REPORT)
    found = tab.measure()
    assert found["problems"] == []
    assert (found["background"] == "rgb(255, 255, 255)") == (scheme == "light")
    tab.close()


def check_hostile_names(app, tab, study):
    """Names of an attacker are text everywhere."""
    assert tab.evaluate("document.querySelector('#section img') === null && window.bad === undefined")
    assert tab.problems() == []
    tab.go(app.home + tab.evaluate(f"pq.app.withTicket('/api/studies/{study}/report')"))
    assert "onerror" in tab.text("main")
    assert tab.evaluate("document.querySelector('img[onerror]') === null && window.bad === undefined")
    assert HOSTILE in tab.text("h1")
    assert tab.evaluate("self.origin") == "null"  # it cannot send requests to the server
