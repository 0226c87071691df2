"""A file that is sent although it is in the folder already."""

from tests.app.recordings import write_pair
from tests.app.requests import get, recording, upload, wait_analyzed
from tests.waiting import wait_until


def test_a_file_of_the_folder_is_no_second_recording(writable):
    path = write_pair(writable.folder / "known.cfg", residual=0.47)  # no other test has these samples
    known = wait_until(lambda: recording(writable, "known.cfg"))
    wait_analyzed(writable)
    total = get(writable, "/api/events")["total"]
    upload(writable, "copy.cfg", path.read_bytes())
    _, answer = upload(writable, "copy.dat", path.with_suffix(".dat").read_bytes())
    assert (answer["recording"], answer["name"], answer["is_known"]) == (known["id"], "known.cfg", True)
    assert get(writable, "/api/events")["total"] == total
    assert "copy.cfg" not in [one["name"] for one in get(writable, "/api/recordings")["recordings"]]
