"""What the requests of the room of recordings share."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pqswarm.app.folder_names import FolderNames
from pqswarm.app.recordings_room import recordings_room
from pqswarm.app.security import Door
from pqswarm.app.server import make_application
from pqswarm.app.workbench import Workbench


def make_workbench(tmp_path, folder=None):
    home = tmp_path / "grid" if folder is None else folder
    home.mkdir(exist_ok=True)
    return Workbench(home, tmp_path / "state", home.with_name("grid.corrections.jsonl"), 1_000_000)


@pytest.fixture
def room(tmp_path):
    workbench = make_workbench(tmp_path)
    make_application(workbench, Door("127.0.0.1", 1))
    return recordings_room(workbench)


def test_the_first_requests_share_one_room(room):
    assert len(room.workbench.arrivals) == 1
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(recordings_room, [room.workbench] * 8)) == {room}
    assert len(room.workbench.arrivals) == 1


def test_texts_lose_the_folders_and_nothing_else():
    below_root, short = FolderNames([Path("/"), Path("/data")]), FolderNames([Path("/d")])
    assert below_root.hide("/data/day/sag.cfg: // as in http://www.w3.org/2000/svg") == (
        "day/sag.cfg: // as in http://www.w3.org/2000/svg"
    )
    assert short.hide("ab/d/cd '/d/x.cfg'") == "ab/d/cd 'x.cfg'"
    assert FolderNames([Path("/"), Path()]).hide("/a/./b") == "/a/./b"
