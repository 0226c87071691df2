"""The studies section over HTTP: answers are those of the library."""

import json
from urllib.parse import quote

import numpy as np
import pytest
from tests.app import requests
from tests.app.requests import get

from pqswarm.report.document import compose
from pqswarm.report.summary import summarize
from pqswarm.study import Store


def ask(app, path, method="GET", body=None):
    status, content = requests.ask(app, path, method, body)
    return status, json.loads(content)


@pytest.fixture(scope="module")
def rows(app, studies):
    return {row["name"]: row for row in get(app, "/api/studies")["studies"]}


def test_no_answer_reveals_a_path(app, rows):
    assert rows["text"]["error"]
    answers = json.dumps(
        [list(rows.values()), *(ask(app, f"/api/studies/{row['id']}/charts")[1] for row in rows.values())]
    )
    assert str(app.folder.parent) not in answers


@pytest.fixture(scope="module")
def summary(smoke_study):
    with Store(smoke_study) as store:
        return summarize(store)


def test_all_studies_are_listed_and_what_cannot_be_read_says_why(rows):
    assert set(rows) == {"good", "below/other", "killed", "newer", "damaged", "text"}
    assert rows["good"]["state"] == "finished"
    assert (rows["good"]["share"], rows["good"]["runs_done"], rows["good"]["runs_total"]) == (1.0, 38, 38)
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


def test_charts_show_what_the_library_says(app, rows, summary):
    study, found = rows["good"]["id"], summary.classifiers[1]
    charts = get(app, f"/api/studies/{study}/charts?classifier={quote(found.name)}")
    budget = summary.plan.max_evaluations
    for line in charts["convergence"]:
        ends = [record.result.error_after([budget])[0] for record in found.groups[line["title"]]]
        last = next(point for point in reversed(line["points"]) if point[0] <= budget or len(ends) == 1)
        if len(ends) > 1:
            assert last[1:] == pytest.approx(100 * np.percentile(ends, [50, 25, 75]))
    assert {line["title"] for line in charts["convergence"]} == set(found.groups)
    assert charts["all_features"] == pytest.approx(100 * found.all_features)
    errors = {(p["title"], p["run"]): p["error"] for p in charts["points"]}
    assert errors == {
        (title, record.key.run): pytest.approx(100 * record.error)
        for title, group in found.groups.items()
        for record in group
    }
    sizes, front = zip(*charts["front"], strict=True)
    assert list(sizes) == sorted(set(sizes))
    assert list(front) == sorted(set(front), reverse=True)
    assert min(front) == pytest.approx(min(errors.values()), abs=1e-9)
    shares = charts["features"]["shares"][found.reference]
    assert shares == pytest.approx(found.masks(found.reference).mean(axis=0), abs=1e-6)
    assert len(charts["features"]["meanings"]) == len(charts["features"]["names"]) == 99


def test_a_run(app, rows, summary):
    study, found = rows["good"]["id"], summary.classifiers[0]
    record = found.runs["GA"][2]
    run = get(app, f"/api/studies/{study}/run?classifier={found.name}&algorithm=ga&run=2")
    names = [summary.feature_names[i] for i in record.result.selected]
    assert [one["name"] for one in run["features"]] == names
    assert (run["seed"], run["size"], run["evaluations"]) == (str(record.seed), record.size, 120)
    assert all(one["meaning"] for one in run["features"])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/run?classifier=NB&algorithm=ga&run=99", 404),
        ("/run?classifier=NB&algorithm=none&run=0", 404),
        ("/run?classifier=NB&algorithm=ga&run=x", 400),
        ("/run?classifier=NB&algorithm=ga&run=-1", 404),
        ("/charts?classifier=%3Cscript%3E", 404),
        ("/tables?with=0123456789abcdef", 404),
    ],
)
def test_what_is_not_there(app, rows, path, status):
    answer, found = ask(app, f"/api/studies/{rows['good']['id']}{path}")
    assert answer == status
    assert found["error"].endswith(".")


@pytest.mark.parametrize("path", ["", "/charts?classifier=NB", "/tables", "/report"])
@pytest.mark.parametrize("name", ["newer", "damaged", "text"])
def test_what_cannot_be_read_is_an_answer_not_a_failure(app, rows, name, path):
    status, found = ask(app, f"/api/studies/{rows[name]['id']}{path}")
    assert status == 400, found
    assert "study.sqlite" in found["error"]


def test_tables_are_those_of_the_report(app, rows, summary):
    found = get(app, f"/api/studies/{rows['good']['id']}/tables")
    parts = [*(part for chapter in found["chapters"] for part in chapter["parts"]), *found["parts"]]
    sent = {table["name"]: table for part in [found["opening"], *parts] for table in part["tables"]}
    document = compose(summary)
    assert list(sent) == [table.name for table in document.tables]
    for table in document.tables:
        assert sent[table.name]["csv"] == table.csv()
        assert [[cell[0] for cell in row] for row in sent[table.name]["rows"]] == [
            [table.text(row, key) for key in table.keys] for row in table.rows
        ]


def test_two_studies_side_by_side(app, rows):
    first, second = rows["good"]["id"], rows["below/other"]["id"]
    found = get(app, f"/api/studies/{first}/tables?with={second}")
    assert "good" in found["title"]
    assert found["opening"]["tables"]
    assert ask(app, f"/api/studies/{first}/tables?with={first}")[0] == 400


def test_an_unknown_page_cannot_watch(app):
    assert ask(app, "/api/studies/watch", "PUT", json.dumps({"watch": True})) == (200, {"watching": False})


def test_nothing_is_written_into_the_folder(app, rows):
    for name in ("good", "newer", "damaged", "text"):
        assert [path.name for path in (app.folder / name).iterdir()] == ["study.sqlite"]
    files = [app.folder / "killed" / name for name in ("study.sqlite", "study.sqlite-wal")]
    before = [path.read_bytes() for path in files]
    assert before[1]
    get(app, f"/api/studies/{rows['killed']['id']}/charts?classifier=NB")
    assert [path.read_bytes() for path in files] == before
