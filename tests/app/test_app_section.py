"""State that requests share: open files, names of folders, cached answers, followed studies, work in threads."""

import asyncio
import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from tests.app.recordings import write_pair
from tests.app.requests import ONE
from tests.waiting import PATIENCE, Clock, wait_until

from pqswarm.app import studies as followed_studies
from pqswarm.app.jobs import AnswerCache, Job, JobCancelled, Jobs
from pqswarm.app.recordings import section as recordings
from pqswarm.app.recordings.queue import RecordingInFile, analyze_queued_file
from pqswarm.app.recordings.section import RecordingsSection
from pqswarm.app.studies import FollowedStudies
from pqswarm.app.workbench import FolderNames, Workbench, WorkbenchPage
from pqswarm.recordings import RecordingError, read


def known_files(section):
    """The files that a visitor sees, by name."""
    section.files.update(ONE)
    return {file.name: RecordingInFile(file, 0) for file in section.files.visible_to(ONE)}


def make_workbench(tmp_path):
    home = tmp_path / "grid"
    home.mkdir()
    return Workbench(home, tmp_path / "state", home.with_name("grid.archive"), 1_000_000)


def test_texts_lose_the_names_of_folders_and_nothing_else():
    below_root, short = FolderNames([Path("/"), Path("/data")]), FolderNames([Path("/d")])
    assert below_root.hide("/data/day/sag.cfg: // as in http://www.w3.org/2000/svg") == (
        "day/sag.cfg: // as in http://www.w3.org/2000/svg"
    )
    assert short.hide("ab/d/cd '/d/x.cfg'") == "ab/d/cd 'x.cfg'"
    assert FolderNames([Path("/"), Path()]).hide("/a/./b") == "/a/./b"


def test_files_that_come_to_the_folder_are_noticed(tmp_path):
    section = RecordingsSection(make_workbench(tmp_path))

    def has_changed():
        section.files.look_again()
        return section.files.update("")

    for name in ("a.cfg", "b.cfg"):
        write_pair(section.workbench.folder / name, station=name)
        wait_until(has_changed)
    assert not has_changed()


@pytest.mark.parametrize(("plain", "link"), [("leak.dat", "Leak.dat"), ("leak.daT", "leak.DAT")])
def test_a_link_that_leads_out_is_never_the_partner(tmp_path, plain, link):
    section = RecordingsSection(make_workbench(tmp_path))
    home = section.workbench.folder
    write_pair(tmp_path / "outside.cfg", residual=0.1)
    wanted = read(write_pair(home / "Leak.cfg")).channels[0].samples
    (home / "Leak.dat").rename(home / plain)
    (home / link).symlink_to(tmp_path / "outside.dat")
    for place in known_files(section).values():
        np.testing.assert_array_equal(section.open(Job(), place).source.read().channels[0].samples, wanted)


def test_what_becomes_a_link_that_leads_out_is_not_opened(tmp_path):
    section = RecordingsSection(make_workbench(tmp_path))
    home = section.workbench.folder
    write_pair(tmp_path / "outside.cfg")
    for name in ("a.cfg", "b.cfg"):
        write_pair(home / name, station=name)
    by_name = known_files(section)
    opened = section.open(Job(), by_name["b.cfg"])
    for name in ("a.dat", "b.dat"):
        state = (home / name).stat()
        os.utime(tmp_path / "outside.dat", ns=(state.st_atime_ns, state.st_mtime_ns))
        (home / name).unlink()
        (home / name).symlink_to(tmp_path / "outside.dat")
    with pytest.raises(RecordingError, match="leads out of the folder"):
        section.open(Job(), by_name["a.cfg"])
    (found,) = analyze_queued_file(section.workbench, section.archive, by_name["a.cfg"].file, lambda *_: None).results
    assert "leads out of the folder" in found.reason
    with pytest.raises(RecordingError, match="has changed since it was opened"):
        opened.source.read()
    assert section.files.find(by_name["a.cfg"].file.id, ONE) is None


def test_what_went_while_it_was_analysed_is_analysed_when_it_comes_again(tmp_path):
    section = RecordingsSection(make_workbench(tmp_path))
    queue, home = section.queue, section.workbench.folder
    section.workbench.pages["0" * 32] = WorkbenchPage("0" * 32, ONE)
    write_pair(home / "a.cfg")
    section.files.update(ONE)
    (home / "a.cfg").unlink()

    async def analyze():
        queue.wake()
        async with asyncio.timeout(PATIENCE):
            while queue.is_busy:
                await asyncio.sleep(0.01)

    asyncio.run(analyze())
    assert queue.failed
    write_pair(home / "b.cfg")
    section.files.look_again()
    section.files.update(ONE)
    assert [one.name for one in queue.waiting(ONE)] == ["b.cfg"]


def test_waiting_for_a_file_that_opens_slowly_ends_with_the_job(tmp_path, monkeypatch):
    section = RecordingsSection(make_workbench(tmp_path))
    write_pair(section.workbench.folder / "a.cfg")
    (place,) = known_files(section).values()
    opening, end = Event(), Event()

    def open_slowly(*_):
        opening.set()
        assert end.wait(PATIENCE)
        return []

    monkeypatch.setattr(recordings, "open_for_analysis", open_slowly)
    with ThreadPoolExecutor(2) as pool:
        first, job = pool.submit(section.open, Job(), place), Job()
        assert opening.wait(PATIENCE)
        second = pool.submit(section.open, job, place)
        assert len(section.opening) == 1
        job.cancel()
        with pytest.raises(JobCancelled):
            second.result(PATIENCE)
        end.set()
        assert first.exception(PATIENCE) is not None  # the file has no recordings
    del first, second  # their tracebacks hold the lock
    gc.collect()
    assert not section.opening  # locks go with the last thread that needs them


def test_a_recent_answer_is_enough_only_while_its_subject_is_changing(monkeypatch):
    clock = Clock(monkeypatch, "app.jobs")

    async def ask():
        cache, computed = AnswerCache(), []

        async def work():
            computed.append(len(computed))
            await asyncio.sleep(0)
            clock.sleep(0.01)
            return computed[-1]

        together = await asyncio.gather(*(cache.get(("a",), 1, work) for _ in range(3)))
        clock.sleep(0.029)
        changing = await cache.get(("a",), 2, work, changing=True)
        clock.sleep(0.002)
        later = await cache.get(("a",), 3, work, changing=True)
        return together, changing, later, await cache.get(("a",), 2, work)

    assert asyncio.run(ask()) == ([0, 0, 0], 0, 1, 2)


def test_a_slow_answer_does_not_delay_others():
    async def ask():
        cache, end = AnswerCache(), asyncio.Event()

        async def quick():
            return "quick"

        async def slow():
            await end.wait()
            return "slow"

        await cache.get(("kept",), 1, quick)
        waiting = asyncio.create_task(cache.get(("slow",), 1, slow))
        await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            found = [await cache.get((key,), 1, quick) for key in ("kept", "other")]
        end.set()
        return *found, await waiting

    assert asyncio.run(ask()) == ("quick", "quick", "slow")


def test_polling_continues_after_a_failure(tmp_path, monkeypatch, caplog):
    workbench = make_workbench(tmp_path)
    (workbench.folder / "study").mkdir()
    (workbench.folder / "study" / "study.sqlite").write_text("not a database")
    polls = iter([OSError("gone")])
    stamp = followed_studies.store_stamp

    def fail_once(folder):
        for error in polls:
            raise error
        return stamp(folder)

    monkeypatch.setattr(followed_studies, "store_stamp", fail_once)

    async def watch():
        followed, page = FollowedStudies(workbench, interval=0.01, after_failure=0.01), WorkbenchPage("0" * 32, "")
        followed.watch(page)
        async with asyncio.timeout(PATIENCE):
            return await page.messages.get()

    message = asyncio.run(watch())
    assert (message["about"], message["study"]["name"], message["study"]["state"]) == ("studies", "study", "unreadable")
    assert "Polling the studies failed." in caplog.text


def run_jobs(act):
    async def run():
        jobs = Jobs()
        try:
            return await asyncio.wait_for(act(jobs), PATIENCE)
        finally:
            jobs.close()

    return asyncio.run(run())


def test_many_visitors_of_one_address_are_one_sender():
    async def flood(jobs):
        gate = threading.Event()
        waiting = [
            asyncio.ensure_future(jobs.run(Job(), gate.wait, PATIENCE, owner=str(i), sender="eve")) for i in range(160)
        ]
        await asyncio.sleep(0.01)
        found = jobs.is_busy_for("new", "eve"), jobs.is_busy_for("new", "bob")
        gate.set()
        await asyncio.gather(*waiting)
        return *found, jobs.is_busy_for("new", "eve")

    assert run_jobs(flood) == (True, False, False)


def test_visitors_take_turns_and_short_work_has_its_own_thread():
    async def flood(jobs):
        gate, order = threading.Event(), []

        def long():
            gate.wait(PATIENCE)

        await jobs.run(Job(), order.append, "short", owner="bob")
        waiting = [asyncio.ensure_future(jobs.run(Job(), long, owner="eve")) for _ in range(60)]
        while len(jobs._waiting.get("eve", ())) != 58:
            await asyncio.sleep(0.001)
        assert jobs.is_busy_for("eve")
        assert not jobs.is_busy_for("bob")
        jobs._seconds["list.append"] = 0.0  # also on a slow machine
        await jobs.run(Job(), order.append, "while both other threads are occupied", owner="bob")
        last = [asyncio.ensure_future(jobs.run(Job(), lambda: order.append("bob"), owner="bob"))]
        last += [asyncio.ensure_future(jobs.run(Job(), lambda: order.append("eve"), owner="eve"))]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*waiting, *last)
        return order

    assert run_jobs(flood) == ["short", "while both other threads are occupied", "bob", "eve"]


def test_work_that_hangs_does_not_keep_the_server(monkeypatch):
    monkeypatch.setattr("pqswarm.app.jobs._GRACE", 0.05)
    gate, started = threading.Event(), threading.Event()

    def hang():
        started.set()
        gate.wait(PATIENCE)

    async def run(jobs):
        hanging = asyncio.ensure_future(jobs.run(Job(), hang, pool="studies"))
        while not started.is_set():
            await asyncio.sleep(0.001)
        jobs.close()
        hanging.cancel()
        ended = jobs.join()
        gate.set()
        monkeypatch.setattr("pqswarm.app.jobs._GRACE", PATIENCE)
        return ended, jobs.join()

    assert run_jobs(run) == (False, True)
