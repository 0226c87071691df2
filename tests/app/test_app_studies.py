"""The studies section over HTTP: answers are those of the library."""

import json
from types import SimpleNamespace

import pytest
from tests.app import requests
from tests.app.requests import get

from pqswarm.app import studies as routes
from pqswarm.report.document import compose
from pqswarm.report.html import html_report
from pqswarm.report.summary import summarize
from pqswarm.study import Store
from pqswarm.study.progress import StageProgress


def ask(app, path, method="GET", body=None):
    status, content = requests.ask(app, path, method, body)
    return status, json.loads(content)


@pytest.fixture(scope="module")
def rows(app, studies):
    return {row["name"]: row for row in get(app, "/api/studies")["studies"]}


def test_no_answer_reveals_a_path(app, rows):
    assert rows["text"]["error"]
    unread = [ask(app, f"/api/studies/{row['id']}/report")[1] for row in rows.values() if row["error"]]
    assert str(app.folder.parent) not in json.dumps([list(rows.values()), unread])


@pytest.fixture(scope="module")
def summary(small_study):
    with Store(small_study) as store:
        return summarize(store).only


def test_all_studies_are_listed_and_what_cannot_be_read_says_why(rows):
    assert set(rows) == {"good", "below/other", "killed", "newer", "damaged", "text"}
    assert rows["good"]["state"] == "finished"
    assert (rows["good"]["fraction"], rows["good"]["runs_done"], rows["good"]["runs_total"]) == (1.0, 2, 2)
    assert {name: rows[name]["state"] for name in ("newer", "damaged", "text")} == dict.fromkeys(
        ("newer", "damaged", "text"), "unreadable"
    )
    assert "schema 99" in rows["newer"]["error"]
    assert "damaged" in rows["damaged"]["error"]
    assert rows["text"]["error"]


def test_the_best_so_far(rows, summary):
    best = {one["classifier"]: one for one in rows["good"]["best"]}
    for found in summary.classifiers:
        runs = [record for group in found.groups.values() for record in group]
        assert best[found.name]["error"] == pytest.approx(100 * min(record.error for record in runs))


def test_the_report_is_rendered_once_and_shown_in_a_frame_of_the_workbench_only(app, rows, summary):
    path = f"/api/studies/{rows['good']['id']}/report"
    status, first = ask(app, path, "POST")
    assert (status, first["latest"]) == (200, True)
    assert ask(app, path, "POST")[1] == first
    connection = requests.connect(app)
    connection.request("GET", path, headers=requests.access(app))
    answer = connection.getresponse()
    assert answer.read().decode() == html_report(compose(summary))
    connection.close()
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox allow-scripts allow-downloads; default-src 'none';")
    assert "frame-ancestors 'self'" in policy
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"


@pytest.mark.parametrize("second", ["0123456789abcdef", "", None])
def test_what_cannot_be_compared(app, rows, second):
    study = rows["good"]["id"]
    status, answer = ask(app, f"/api/studies/{study}/report?with={study if second is None else second}", "POST")
    assert status == (400 if second is None else 404)
    assert answer["error"].endswith(".")


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("name", ["newer", "damaged", "text"])
def test_what_cannot_be_read_is_an_answer_not_a_failure(app, rows, name, method):
    status, answer = ask(app, f"/api/studies/{rows[name]['id']}/report", method)
    assert status == 400, answer
    assert "study.sqlite" in answer["error"]


def test_two_studies_side_by_side(app, rows):
    first, second = rows["good"]["id"], rows["below/other"]["id"]
    page = requests.ask(app, f"/api/studies/{first}/report?with={second}")[1].decode()
    assert "</svg>good and below/other</h1>" in page


@pytest.mark.parametrize("is_running", [True, False])
def test_while_a_study_runs_only_its_progress_makes_a_new_report(is_running):
    def state(searches, stamp):
        stages = (StageProgress("data", 1, 1), StageProgress("searches", searches, 9))
        status = SimpleNamespace(state="running" if is_running else "stopped", stages=stages)
        study = SimpleNamespace(folder=SimpleNamespace(stamp=stamp))
        found = routes.read_study_state(study, SimpleNamespace(read_status=lambda: status))
        return found.version, found.is_running

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routes, "store_stamp", lambda folder: folder.stamp)
        first, later, more = state(3, 1), state(3, 2), state(4, 2)
    assert first[1] is is_running
    assert (first == later) is is_running
    assert (later == more) is not is_running


def test_an_unknown_page_cannot_watch(app):
    assert ask(app, "/api/studies/watch", "PUT", json.dumps({"watch": True})) == (200, {"watching": False})


def test_nothing_is_written_into_the_folder(app, rows):
    for name in ("good", "newer", "damaged", "text"):
        assert [path.name for path in (app.folder / name).iterdir()] == ["study.sqlite"]
    files = [app.folder / "killed" / name for name in ("study.sqlite", "study.sqlite-wal")]
    before = [path.read_bytes() for path in files]
    assert before[1]
    requests.ask(app, f"/api/studies/{rows['killed']['id']}/report")
    assert [path.read_bytes() for path in files] == before
