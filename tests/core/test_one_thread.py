"""A request for a page or a file goes its way in one thread: each change of the thread costs as much as a query."""

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.db.backends.signals import connection_created
from django.utils.module_loading import import_string

from apps.config.settings import base
from apps.core import web
from tests.core.test_bodies import Answered, scope_of

SCRIPT = base.BASE_DIR / "static" / "js" / "charts" / "draw.js"
SCRIPT_ADDRESS = "/static/js/charts/draw.js"
# To tell that it has begun, to answer, and to close the answer.
CHANGES = 3


class Loop(asyncio.SelectorEventLoop):
    """A loop that counts how often another thread hands something over."""

    def __init__(self) -> None:
        super().__init__()
        self.handed_over = 0

    def call_soon_threadsafe(self, *arguments: Any, **options: Any) -> asyncio.Handle:
        """Take something from another thread."""
        self.handed_over += 1
        return super().call_soon_threadsafe(*arguments, **options)


@pytest.fixture(autouse=True)
def _before_the_views(settings: Any) -> None:
    """Have before the views what stands there in the service."""
    settings.MIDDLEWARE = base.MIDDLEWARE


class SlowReader(Answered):
    """Notes whether the request holds a connection to the database while its answer is taken."""

    def __init__(self) -> None:
        super().__init__()
        self.holds: list[bool] = []

    async def __call__(self, message: Any) -> None:
        """Take a message."""
        self.holds.append(await sync_to_async(lambda: connection.connection is not None)())
        await super().__call__(message)


def ask(
    method: str, path: str, *headers: tuple[bytes, bytes], answered: Answered | None = None
) -> tuple[Answered, int]:
    """Return the answer to a request, and how often it came from one thread to another."""
    answered, waiting = answered or Answered(), asyncio.Event()
    messages = iter([{"type": "http.request"}])

    async def receive() -> Any:
        if message := next(messages, None):
            return message
        await waiting.wait()

    async def answer() -> None:
        pages = web.ReturningConnections(web.PageHandler())
        await asyncio.wait_for(pages(scope_of(method, path, *headers), receive, answered), 30)

    with asyncio.Runner(loop_factory=Loop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, Loop)
        runner.run(answer())
        return answered, loop.handed_over


@pytest.mark.parametrize("name", base.MIDDLEWARE)
def test_nothing_before_the_views_is_asynchronous_alone(name: str) -> None:
    assert getattr(import_string(name), "sync_capable", True)


@pytest.mark.parametrize(("path", "status"), [("/static/nothing.js", 404), ("/nothing/", 404)])
def test_a_page_is_answered_in_one_go(path: str, status: int, db: None) -> None:
    answered, changes = ask("GET", path)
    assert answered.status == status
    assert changes == CHANGES


def test_that_the_process_lives_is_said_without_another_thread() -> None:
    answered, changes = ask("GET", "/health/live/")
    assert (answered.status, changes) == (200, 0)


def test_a_file_comes_as_it_is() -> None:
    found, _changes = ask("GET", SCRIPT_ADDRESS)
    assert (found.status, found.body) == (200, SCRIPT.read_bytes())
    assert found.headers[b"Content-Length"] == str(SCRIPT.stat().st_size).encode()
    assert b"Content-Security-Policy" in found.headers
    head, _changes = ask("HEAD", SCRIPT_ADDRESS)
    assert (head.status, head.body) == (200, b"")
    again, _changes = ask("GET", SCRIPT_ADDRESS, (b"if-none-match", found.headers[b"ETag"]))
    assert (again.status, again.body) == (304, b"")


def test_whom_nobody_asks_who_they_are_is_answered_in_one_go_too() -> None:
    answered, changes = ask("GET", "/", (b"host", b"elsewhere.example.org"))
    assert (answered.status, changes) == (400, CHANGES)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/api/v1/schema/", "/health/", "/nothing/", "/", "/archive/", SCRIPT_ADDRESS])
def test_whoever_takes_an_answer_slowly_keeps_no_connection_to_the_database(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a web process has it.
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)
    reader, opened = SlowReader(), list[Any]()

    def note(**created: Any) -> None:
        opened.append(created["connection"])

    connection_created.connect(note)
    # The session is looked up.
    ask("GET", path, (b"cookie", b"sessionid=" + 32 * b"a"), answered=reader)
    assert reader.status < 500
    assert reader.holds
    assert opened or path == SCRIPT_ADDRESS
    assert not any(reader.holds)
