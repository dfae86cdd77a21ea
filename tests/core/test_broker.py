"""Every connection to the broker over TCP is kept alive by questions, whoever opens it."""

import json
import os
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.test import Client

from apps.agents import wake
from apps.core import broker, outage, signs

ROOT = Path(__file__).resolve().parents[2]
TCP = "redis://localhost:6379/0"


def test_over_tcp_a_server_whose_machine_is_gone_is_noticed(settings: Any) -> None:
    settings.REDIS_URL = TCP
    for client in (broker.client(timeout_s=1.5), broker.listening_client()):
        kept = client.connection_pool.connection_kwargs
        assert kept["socket_keepalive"] is True
        assert kept["socket_keepalive_options"]
        client.connection_pool.make_connection()
    assert broker.client(timeout_s=1.5).connection_pool.connection_kwargs["socket_timeout"] == 1.5


def test_a_unix_socket_needs_no_questions(settings: Any) -> None:
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    with pytest.raises(redis.ConnectionError):
        broker.client(timeout_s=1).ping()


def test_celery_the_pages_and_the_cache_keep_theirs_alive() -> None:
    script = (
        "import json; from apps.config.settings import base;"
        "found = [base.CELERY_BROKER_TRANSPORT_OPTIONS, base.CACHES['default']['OPTIONS'],"
        " base.CHANNEL_LAYERS['default']['CONFIG']['hosts'][0]];"
        "print(json.dumps([each['socket_keepalive'] for each in found]))"
    )
    environment = {**os.environ, "REDIS_URL": TCP}
    asked = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(asked.stdout) == [True, True, True]


# What a request may come to on its way: a message is sent, and asked for; how far an archive is is noted, and read.
ASKING = """
import json, time, django; django.setup()
from types import SimpleNamespace
from django.core.cache import cache
from apps.agents import wake
from apps.archive.incoming import progress
from apps.campaigns import live
from apps.core import outage, queue
incoming = SimpleNamespace(pk=1, is_working=True)
queue._publish(queue.JOB_CHANGED, (1,))
while outage.broker_watch.away_since is None:
    pass
queue._publish(queue.RENDER, ())
queue._length(queue.SHORT)
started = time.monotonic()
for _turn in range(50):
    progress.sign(incoming, 1, 2)
    progress.with_progress(incoming)
    wake._publish("1")
    live._send(1, {})
    live.swap("waits", [])
    queue._publish(queue.RENDER, ())
assert time.monotonic() - started < 20
print(json.dumps(cache._cache.get_client().connection_pool.connection_kwargs["socket_timeout"]))
"""


def test_nobody_waits_long_for_a_broker_that_hangs(tmp_path: Path) -> None:
    """Over TCP and a Unix socket: who meets it first gives up, whoever comes then does not ask."""
    with socket.socket(socket.AF_UNIX) as local, socket.create_server(("127.0.0.1", 0)) as over_tcp:
        local.bind(str(tmp_path / "redis.sock"))
        local.listen()
        urls = (f"unix://{tmp_path}/redis.sock?db=0", f"redis://127.0.0.1:{over_tcp.getsockname()[1]}/0")
        askers = [
            subprocess.Popen(
                [sys.executable, "-c", ASKING],
                cwd=ROOT,
                env={**os.environ, "REDIS_URL": url, "DJANGO_SETTINGS_MODULE": "apps.config.settings.base"},
                stdout=subprocess.PIPE,
                text=True,
            )
            for url in urls
        ]
        for asker in askers:
            printed, _nothing = asker.communicate(timeout=60)
            assert (asker.returncode, json.loads(printed)) == (0, 3.0)


def test_nobody_else_opens_a_connection_by_hand() -> None:
    sources = [path for folder in ("apps", "workers") for path in (ROOT / folder).rglob("*.py")]
    by_hand = {str(path.relative_to(ROOT)) for path in sources if "from_url(settings.REDIS_URL" in path.read_text()}
    assert by_hand == {"apps/core/broker.py"}


def test_whoever_asks_on_a_requests_way_asks_by_one_door() -> None:
    """One call after another of a broker that hangs would make each request wait for all of them."""
    sources = [path for folder in ("apps", "workers") for path in (ROOT / folder).rglob("*.py")]
    askers = {str(path.relative_to(ROOT)) for path in sources if "broker.client(" in path.read_text()}
    # What the watch itself looks with, and limits, which know by themselves that nobody answers.
    assert askers - {"apps/core/signs.py", "apps/core/limits/counters.py"} == {
        str(path.relative_to(ROOT))
        for path in sources
        if "ask_broker(lambda: _client()" in path.read_text() and path.name != "outage.py"
    }


class SlowBroker(socketserver.ThreadingUnixStreamServer):
    """Answers each question after `delay_s`, as an idle broker would."""

    daemon_threads = True

    def __init__(self, path: Path, delay_s: float) -> None:
        super().__init__(str(path), _SlowAnswers)
        self.delay_s = delay_s


class _SlowAnswers(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server: Any = self.server
        while line := self.rfile.readline():
            words = []
            for _word in range(int(line[1:])):
                words.append(self.rfile.read(int(self.rfile.readline()[1:]) + 2)[:-2])
            time.sleep(server.delay_s)
            try:
                self.wfile.write(b":0\r\n" if words[0] == b"PUBLISH" else b"+OK\r\n")
            except OSError:
                return


@pytest.fixture
def slow(tmp_path: Path, settings: Any, request: pytest.FixtureRequest) -> Iterator[float]:
    delay_s: float = request.param
    with SlowBroker(tmp_path / "slow.sock", delay_s) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        settings.REDIS_URL = f"unix://{tmp_path}/slow.sock"
        for module in (signs, wake):
            module._client.cache_clear()
        yield delay_s
        server.shutdown()
        thread.join()
    settings.REDIS_URL = request.getfixturevalue("broker_before")
    for module in (signs, wake):
        module._client.cache_clear()
    # The watch has to meet the one of before again.
    until = time.monotonic() + 20
    while outage.broker_watch.away_since is not None and time.monotonic() < until:
        time.sleep(0.05)


@pytest.fixture
def broker_before(settings: Any) -> str:
    return str(settings.REDIS_URL)


@pytest.mark.parametrize("slow", [2.5, 0.6], indirect=True)
def test_one_request_has_one_budget_of_time_for_the_broker(broker_before: str, slow: float) -> None:
    """Of one that is silent for longer than a small question may take, and of one that is only slow."""
    begun = time.monotonic()
    with outage.broker_budget():
        for number in range(10):
            wake._publish(str(number))
    # A new connection asks two questions of its own.
    assert time.monotonic() - begun < (2.0 if slow > 1 else 1.0 + 6 * slow)
    # Another has its own budget.
    if slow < 1:
        with outage.broker_budget():
            outage.ask_broker(lambda: wake._client().publish("x", "y"))


@pytest.mark.parametrize("slow", [30.0], indirect=True)
@pytest.mark.django_db
def test_health_is_told_soon_while_the_broker_is_silent(broker_before: str, slow: float, client: Client) -> None:
    # The first request of a process has much to load.
    client.get("/health/live/")
    for _look in range(2):
        begun = time.monotonic()
        told = client.get("/health/").json()
        assert time.monotonic() - begun < 3.5
        assert told["parts"]["broker"]["what"] == "It does not answer: work goes on when it is back."


@pytest.mark.parametrize("slow", [0.6], indirect=True)
def test_who_has_no_budget_is_not_limited(broker_before: str, slow: float) -> None:
    """As a worker: what it tells is not left out for a while before."""
    for _number in range(3):
        assert outage.ask_broker(lambda: wake._client().publish("x", "y")) == 0
