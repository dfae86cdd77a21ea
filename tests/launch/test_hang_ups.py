"""Readers who hang up at any moment cost a web process nothing: its connections are whole, others are answered."""

import contextlib
import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

import psycopg
import pytest

from launch import service
from tests.launch import own_web
from tests.launch.conftest import Served
from tests.launch.watching import wait_for
from tests.rotation import number_of

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("web-connections")]

WEB = "fathom web"
# So many clients of each kind hang up, so many at a time, after up to so long (s): some before they are heard.
CLIENTS, AT_ONCE, LONGEST_S = number_of(20, parts=2), 40, 0.4
# What is to be given back is back within this, on a machine that does much else (s).
SETTLED_WITHIN_S = 60.0
# How often one comes again at most: each time that long was waited for a connection, others had it.
MOST_TIMES = 20
# What all readers who are known are looked up in.
PEOPLE = "accounts_user"
Running = tuple[own_web.OwnWeb, own_web.OwnPostgres]


@pytest.fixture
def web(served: Served) -> Running:
    return served.web, served.postgres


@pytest.fixture
def pages(served: Served) -> list[bytes]:
    """Return requests of as many people as there are connections."""
    return served.pages


@pytest.fixture
def requests(served: Served) -> dict[str, bytes]:
    """Return what clients send, by kind."""
    return served.requests


def hang_up(port: int, request: bytes, draw: Random) -> None:
    """Send a request, or the first part of one, wait for a moment, maybe take some of the answer, and be gone."""
    whole = draw.random() < 0.8
    with socket.create_connection((service.LOOPBACK, port), timeout=30) as client:
        # The other side may not take all, or be gone itself.
        with contextlib.suppress(OSError):
            client.sendall(request if whole else request[: draw.randrange(1, len(request))])
            time.sleep(draw.choice((0.0, draw.uniform(0, 0.05), draw.uniform(0, LONGEST_S))))
            if draw.random() < 0.3:
                client.settimeout(LONGEST_S)
                client.recv(draw.choice((1, 500, 65_536)))
        if draw.random() < 0.5:
            # A reset instead of an end.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def crowd(web: own_web.OwnWeb, requests: dict[str, bytes], seed: int) -> None:
    """Have many clients of each kind come, in any order, and hang up."""
    draw = Random(seed)
    comers = [request for request in requests.values() for _client in range(CLIENTS)]
    draw.shuffle(comers)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        gone = [pool.submit(hang_up, web.port, request, Random(draw.random())) for request in comers]
        for each in gone:
            each.result()


def sessions(asking: psycopg.Connection, condition: str) -> list[tuple[str, str]]:
    """Return state and query of the web process's sessions at which a condition holds."""
    query = f"SELECT state, left(query, 200) FROM pg_stat_activity WHERE application_name = %s AND {condition}"
    return asking.execute(query, [WEB]).fetchall()


@contextlib.contextmanager
def locked(postgres: own_web.OwnPostgres) -> Iterator[None]:
    """Have nobody who is known be looked up meanwhile."""
    with psycopg.connect(postgres.url) as holder:
        holder.execute(f"LOCK TABLE {PEOPLE} IN ACCESS EXCLUSIVE MODE")
        yield


def answers(web: own_web.OwnWeb, request: bytes) -> int:
    """Return the status of the last answer to one who waits for it, and comes again when asked to."""
    for _time in range(MOST_TIMES):
        with socket.create_connection((service.LOOPBACK, web.port), timeout=60) as client:
            client.sendall(request)
            status = int(client.recv(12).split()[1])
        if status != 503:
            break
        time.sleep(1)
    return status


def assert_whole(running: Running, requests: dict[str, bytes], pages: list[bytes]) -> None:
    """Nothing is held for those who are gone, and as many connections as there were can be used at once."""
    web, postgres = running
    with psycopg.connect(postgres.url, autocommit=True) as asking:
        # What is a second old is none of the moment's own work.
        busy = "state <> 'idle' AND state_change < clock_timestamp() - interval '1 s'"
        wait_for(lambda: not sessions(asking, busy), SETTLED_WITHIN_S)
        assert sessions(asking, busy) == []
        # Who was answered once is known, and waits with no stranger.
        assert [answers(web, page) for page in pages] == [200] * len(pages)
        with ThreadPoolExecutor(len(pages)) as pool:
            with locked(postgres):
                asked = [pool.submit(answers, web, page) for page in pages]
                waiting = "wait_event_type = 'Lock'"
                wait_for(lambda: len(sessions(asking, waiting)) == len(pages), 12)
                assert len(sessions(asking, waiting)) == len(pages)
            assert [answer.result() for answer in asked] == [200] * len(pages)
    for kind in ("page", "campaign", "download", "rest", "rest download", "poll"):
        assert answers(web, requests[kind]) == 200, kind
    assert answers(web, requests["socket"]) == 101


def test_nothing_is_held_for_readers_who_hang_up(
    web: Running, requests: dict[str, bytes], pages: list[bytes]
) -> None:
    process, postgres = web
    assert_whole(web, requests, pages)
    crowd(process, requests, 1)
    assert_whole(web, requests, pages)
    # In the middle of their views, all of which wait for the database.
    with locked(postgres):
        crowd(process, requests, 2)
    assert_whole(web, requests, pages)
