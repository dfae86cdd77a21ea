"""A web process takes few of the database's connections, whoever asks for whatever, and outlives its restart."""

import http.client
import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from apps.core.connections import WEB
from launch import service
from tests.launch import own_web
from tests.launch.askers import Kind
from tests.launch.conftest import Served
from tests.rotation import number_of

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("web-connections")]

# What is asked for of each kind, one after the other, and what a web process may take of the server's connections.
REQUESTS = number_of(1000)
MANY = ("page", "REST", "poll", "anonymous")
MOST_BACKENDS = 20
AT_ONCE = 50
# How often one comes again at most: each time that long was waited for a connection, others were served.
MOST_TIMES = 20
# More at once than a web process has connections.
WRITES = 16


class Watcher:
    """Looks again and again at how many connections the web process has."""

    def __init__(self, postgres: own_web.OwnPostgres) -> None:
        self._postgres = postgres
        self._ended = threading.Event()
        self.seen: list[int] = []
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watcher":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        with psycopg.connect(self._postgres.url, autocommit=True) as asking:
            while not self._ended.wait(0.1):
                found = asking.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [WEB])
                self.seen.append(found.fetchone()[0])


@pytest.fixture
def web(served: Served) -> tuple[own_web.OwnWeb, own_web.OwnPostgres]:
    return served.web, served.postgres


@pytest.fixture
def kinds(served: Served) -> dict[str, Kind]:
    return served.kinds


def statuses(web: own_web.OwnWeb, kind: Kind, requests: int) -> Counter[int]:
    """Ask one after the other, as one client does, and return the statuses."""
    client = http.client.HTTPConnection(service.LOOPBACK, web.port, timeout=30)
    found: Counter[int] = Counter()
    for _request in range(requests):
        client.request(kind.method, kind.path, kind.body or None, kind.headers)
        answer = client.getresponse()
        answer.read()
        found[answer.status] += 1
    client.close()
    return found


def ask(web: own_web.OwnWeb, kind: Kind) -> tuple[int, str | None]:
    """Return the status of one request over a connection of its own, and when to come again."""
    status, headers, _body = web.ask(kind.method, kind.path, kind.body, **kind.headers)
    return status, headers["Retry-After"]


def insist(web: own_web.OwnWeb, kind: Kind) -> tuple[int, str | None]:
    """Return the last answer of one who comes again when asked to, as on a machine too busy for so many at once."""
    for _time in range(MOST_TIMES):
        status, again = ask(web, kind)
        if status not in (429, 503) or again is None:
            break
        time.sleep(int(again))
    return status, again


def test_few_connections_serve_all_requests_and_a_restart_of_the_database_is_outlived(
    web: tuple[own_web.OwnWeb, own_web.OwnPostgres], kinds: dict[str, Kind]
) -> None:
    process, postgres = web
    with Watcher(postgres) as watcher:
        for name in MANY:
            assert statuses(process, kinds[name], REQUESTS) == {200: REQUESTS}, name
        each = [kind for kind in kinds.values() for _time in range(AT_ONCE)]
        with ThreadPoolExecutor(AT_ONCE) as together:
            assert set(together.map(lambda kind: insist(process, kind), each)) == {(200, None)}
    assert watcher.seen
    assert max(watcher.seen) <= MOST_BACKENDS

    with ThreadPoolExecutor(len(kinds)) as together:
        ended = threading.Event()
        answers = [together.submit(_ask_on, process, kind, ended) for kind in kinds.values()]
        time.sleep(0.5)
        postgres.stop()
        time.sleep(2)
        status, headers, body = process.ask("GET", "/health/")
        assert (status, headers["Retry-After"]) == (503, "5")
        assert json.loads(body)["parts"]["database"]["ok"] is False
        assert process.ask("GET", "/health/live/")[0] == 200
        assert process.ask("HEAD", "/health/")[0] == 503
        postgres.start()
        _wait_until_well(process, kinds)
        time.sleep(0.5)
        ended.set()
    during = {name: answer.result() for name, answer in zip(kinds, answers, strict=True)}
    for name, seen in during.items():
        assert set(seen) == {(200, None), (503, "5")}, name
    # Each of its connections is a good one again.
    for name, kind in kinds.items():
        assert statuses(process, kind, AT_ONCE) == {200: AT_ONCE}, name


def test_one_person_whose_writes_wait_leaves_connections_to_others(
    web: tuple[own_web.OwnWeb, own_web.OwnPostgres], kinds: dict[str, Kind]
) -> None:
    process, postgres = web
    own = kinds["REST"].headers | {"Content-Type": "application/json"}
    with ThreadPoolExecutor(WRITES) as together, psycopg.connect(postgres.url) as holding:
        holding.execute("LOCK TABLE testbeds_site IN SHARE MODE")
        write = [
            together.submit(process.ask, "POST", "/api/v1/sites/", json.dumps({"name": f"site {number}"}), **own)
            for number in range(WRITES)
        ]
        time.sleep(2)
        for name in ("anonymous", "poll", "other"):
            assert statuses(process, kinds[name], 5) == {200: 5}, name
        # Those beyond one person's share wait for their turn, and have no connection; the others wait for the lock.
        assert not any(each.done() for each in write)
        holding.rollback()
        answers = [each.result() for each in write]
    assert {status for status, _headers, _body in answers} == {201}


def _ask_on(web: own_web.OwnWeb, kind: Kind, ended: threading.Event) -> Counter[tuple[int, str | None]]:
    seen: Counter[tuple[int, str | None]] = Counter()
    while not ended.is_set():
        seen[ask(web, kind)] += 1
        time.sleep(0.1)
    return seen


def _wait_until_well(web: own_web.OwnWeb, kinds: dict[str, Kind]) -> None:
    """Return when every kind is answered well; within seconds of the database's return, on a busy machine too."""
    deadline = time.monotonic() + 20
    while any(ask(web, kind)[0] != 200 for kind in kinds.values()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
