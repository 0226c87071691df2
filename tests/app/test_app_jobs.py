"""Work in threads: visitors take turns, and work that hangs does not keep the server."""

import asyncio
import threading

from tests.waiting import PATIENCE

from pqswarm.app.jobs import Job, Jobs


def run_jobs(act):
    async def run():
        jobs = Jobs()
        try:
            return await asyncio.wait_for(act(jobs), PATIENCE)
        finally:
            jobs.close()

    return asyncio.run(run())


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
        return ended, jobs.join()

    assert run_jobs(run) == (False, True)
