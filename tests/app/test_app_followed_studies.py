"""Studies are followed for all pages, and what took time is computed once, but never old when a study has ended."""

import asyncio
from types import SimpleNamespace

import pytest
from pqswarm.app.answer_cache import AnswerCache

from pqswarm.app.studies import followed as followed_studies
from pqswarm.app.studies import routes as studies
from pqswarm.app.studies.followed import FollowedStudies
from pqswarm.app.workbench import Page


def test_an_answer_of_a_moment_ago_is_enough_only_while_its_subject_is_changing():
    async def ask():
        cache, computed = AnswerCache(), []

        async def work():
            computed.append(len(computed))
            await asyncio.sleep(0.01)
            return computed[-1]

        together = await asyncio.gather(*(cache.get(("a",), 1, work) for _ in range(3)))
        changing = await cache.get(("a",), 2, work, changing=True)
        return together, changing, await cache.get(("a",), 2, work)

    assert asyncio.run(ask()) == ([0, 0, 0], 0, 1)


def test_who_asks_for_what_is_kept_or_for_something_else_does_not_wait():
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
        async with asyncio.timeout(10):
            found = [await cache.get((key,), 1, quick) for key in ("kept", "other")]
        end.set()
        return *found, await waiting

    assert asyncio.run(ask()) == ("quick", "quick", "slow")


@pytest.mark.parametrize(
    ("state", "done", "changing"), [("running", 3, True), ("running", 4, False), ("finished", 4, False)]
)
def test_charts_of_a_moment_ago_are_enough_only_while_runs_are_to_come(monkeypatch, state, done, changing):
    monkeypatch.setattr(studies, "read_runs", lambda follower, classifier: classifier)
    progress = SimpleNamespace(runs_done=done, runs_total=4)
    follower = SimpleNamespace(look=lambda: SimpleNamespace(state=state, progress=progress))
    assert studies._current_runs(follower, "NB") == ("NB", changing)


def test_a_look_that_fails_is_not_the_last(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(followed_studies, "_EVERY", 0.01)
    monkeypatch.setattr(followed_studies, "_AFTER_FAILURE", 0.01)

    async def watch():
        followed, page = FollowedStudies(SimpleNamespace(folder=tmp_path)), Page("0" * 32, "")
        looks = iter([OSError("gone"), ([{"id": "new"}], [], 0.0)])

        def look():
            found = next(looks, ([], [], 0.0))
            if isinstance(found, OSError):
                raise found
            return found

        monkeypatch.setattr(followed, "_look", look)
        followed.watch(page)
        async with asyncio.timeout(10):
            message = await page.messages.get()
        page.close()
        async with asyncio.timeout(10):
            await followed._task
        return message

    assert asyncio.run(watch()) == {"about": "studies", "study": {"id": "new"}}
    assert "The studies could not be looked at." in caplog.text
