"""Large answers that nobody takes wait in memory for so much of each asker only, and in no thread."""

import asyncio
import threading
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.response import Response

from apps.config.settings import base
from apps.core import endings, request_threads, web
from apps.core.limits.policies import LimitExceededError
from apps.core.limits.untaken import LARGE, Untaken
from tests.core.test_bodies import Answered, scope_of


def test_an_asker_has_a_share_until_the_answers_are_taken() -> None:
    room = Untaken(of_asker=3 * LARGE, of_all=4 * LARGE)
    with endings.called():
        for _time in range(3):
            room.keep(HttpResponse(b"x" * LARGE), "one")
        for asker, size in (("one", LARGE), ("two", 2 * LARGE)):
            with pytest.raises(LimitExceededError):
                room.keep(HttpResponse(b"x" * size), asker)
        room.keep(HttpResponse(b"x" * LARGE), "two")
    with endings.called():
        room.keep(HttpResponse(b"x" * 3 * LARGE), "one")


def test_what_an_answer_was_rendered_from_is_let_go() -> None:
    response = Response(["x" * LARGE])
    response.content = b"x" * LARGE
    Untaken(2 * LARGE, 2 * LARGE).keep(response, "one")
    assert response.data is None


@pytest.mark.django_db
def test_who_takes_nothing_is_refused_more_and_holds_no_thread(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.MIDDLEWARE = base.MIDDLEWARE
    monkeypatch.setattr(request_threads, "of_process", request_threads.RequestThreads())
    monkeypatch.setattr("apps.core.limits.untaken._of_strangers", Untaken(3 * 1024 * 1024, 64 * 1024 * 1024))
    goes_on = asyncio.Event()

    class Stalled(Answered):
        async def __call__(self, message: Any) -> None:
            await super().__call__(message)
            if self.status == 200:
                await goes_on.wait()

    async def ask(answered: Answered) -> None:
        messages = iter([{"type": "http.request"}])

        async def receive() -> Any:
            if message := next(messages, None):
                return message
            await asyncio.Event().wait()

        await web.ReturningConnections(web.PageHandler())(scope_of("GET", "/api/v1/schema/"), receive, answered)

    async def scenario() -> list[Answered]:
        answers = [Stalled() for _number in range(8)]
        tasks = []
        for answered in answers:
            tasks.append(asyncio.create_task(ask(answered)))
            while not answered.status:
                await asyncio.sleep(0.01)
        names = [thread.name for thread in threading.enumerate()]
        assert sum(name.startswith("request") for name in names) <= 2
        goes_on.set()
        await asyncio.wait_for(asyncio.gather(*tasks), 30)
        last = Answered()
        await ask(last)
        return [*answers, last]

    *answers, last = asyncio.run(scenario())
    statuses = [answered.status for answered in answers]
    assert statuses[0] == last.status == 200
    assert statuses[-1] == 429
    assert statuses == sorted(statuses)
