"""What the requests of the room of recordings share."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.app.asking import ONE, OTHER

from pqswarm.app.access import Door
from pqswarm.app.folder_names import FolderNames
from pqswarm.app.jobs import Cancelled, Job
from pqswarm.app.recordings.entries import RecordingInFile
from pqswarm.app.recordings.files import RecordingFile, upload_folder_name
from pqswarm.app.recordings.section import recordings_room
from pqswarm.app.recordings.store import FileFindings, RecordingFindings, StoredEvent
from pqswarm.app.recordings.upload_routes import UploadHandler
from pqswarm.app.recordings.uploads import Upload
from pqswarm.app.server import make_application
from pqswarm.app.workbench import Workbench
from pqswarm.identify.training.corrections import Correction


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


def test_what_is_said_of_an_upload_stays_with_its_visitor(room):
    own = room.files.uploads_of(ONE) / "copy.cfg"
    assert ONE not in str(own)
    shared = Correction(
        str(room.workbench.folder / "sag.cfg"), "0" * 64, "sag.cfg", "sag", 0.2, ("UA",), "sag", "sag",
        "sag_with_harmonics", "Eve", "2026-06-30T12:00:00+00:00",
    )  # fmt: skip
    copied = replace(shared, path=str(own), source="copy.cfg", label="sag_with_transient", by="Ann")
    for one in (shared, copied):
        room.corrections.file.add(one)
    assert copied.event == shared.event

    def labels(visitor):
        return [one.label for one in room.corrections.seen_by(upload_folder_name(visitor))]

    assert labels(ONE) == ["sag_with_harmonics", "sag_with_transient"]
    assert labels(OTHER) == ["sag_with_harmonics"]
    folder, upload = (place_of(room, path, visitor) for path, visitor in ((shared.path, ""), (str(own), ONE)))
    said = [room.correction(one, stored_event(shared), room.corrections.read()) for one in (folder, upload)]
    assert [one["by"] for one in said] == ["Eve", "Ann"]
    room.corrections.file.add(replace(copied, label=""))
    assert room.correction(upload, stored_event(shared), room.corrections.read())["by"] == "Eve"


def place_of(room, path, visitor):
    file = RecordingFile(path, "", Path(path), "1:1", 1, visitor)
    found = RecordingFindings(Path(path).name)
    room.judging._findings[path] = FileFindings("1:1", "0" * 64, (found,))
    return RecordingInFile(file, 0)


def stored_event(correction):
    row = {"kind": correction.kind}
    return StoredEvent(row, correction.start, 0.3, None, (0.0, 0.0), "", correction.channels)


def test_texts_lose_the_folders_and_nothing_else():
    below_root, short = FolderNames([Path("/"), Path("/data")]), FolderNames([Path("/d")])
    assert below_root.hide("/data/day/sag.cfg: // as in http://www.w3.org/2000/svg") == (
        "day/sag.cfg: // as in http://www.w3.org/2000/svg"
    )
    assert short.hide("ab/d/cd '/d/x.cfg'") == "ab/d/cd 'x.cfg'"
    assert FolderNames([Path("/"), Path()]).hide("/a/./b") == "/a/./b"


def test_waiting_for_a_file_that_opens_slowly_ends_with_the_job(room):
    file, job = RecordingFile("0" * 16, "a.cfg", Path("a.cfg"), "1:1", 1), Job()
    with room._alone(Job(), file), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(room.open, job, RecordingInFile(file, 0))
        job.cancel()
        with pytest.raises(Cancelled):
            waiting.result(10)


def test_locks_go_with_who_waits(room):
    with room._alone(Job(), RecordingFile("0" * 16, "a.cfg", Path("a.cfg"), "1:1", 1)):
        assert len(room._locks) == 1
    assert len(room._locks) == 0


def test_a_removed_upload_is_forgotten(room):
    place = place_of(room, "x.cfg", ONE)
    room.judging.verdicts.put(place.key, object(), 1)
    room._opened.put(place.key, object(), 1)
    room.judging._wanted[place.file.id] = place.file
    room.close(place.file)
    asyncio.run(room.judging.forget(place.file))
    assert place.key not in room.judging.verdicts
    assert place.key not in room._opened
    assert room.judging.findings(place.file) is None
    assert not room.judging._wanted


def test_an_upload_that_breaks_off_while_it_is_finished(tmp_path):
    handler = UploadHandler.__new__(UploadHandler)
    handler.initialize()
    handler._upload = upload = Upload(tmp_path, ONE, "a.csv", 1, 1000)

    async def finish(function):
        handler.on_connection_close()
        function()
        raise Cancelled

    handler.call = finish
    with pytest.raises(Cancelled):
        asyncio.run(handler.put(""))
    assert [path.read_bytes() for path in upload.home.iterdir()] == [b""]
    assert not list((tmp_path / ".parts").iterdir())
