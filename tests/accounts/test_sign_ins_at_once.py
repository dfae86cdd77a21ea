"""Whoever tries passwords, from however many addresses, keeps no page from people who are signed in."""

import http.client
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.test import Client

from apps.core.limits import counters
from tests import factories
from tests.agents.live import LiveServer

pytestmark = pytest.mark.django_db(transaction=True)
LOGIN = "/accounts/login/"
GUESSERS, ADDRESSES = 24, 4
CONNECTIONS = 6


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    counters.forget_all()
    one = LiveServer(
        tmp_path_factory.mktemp("sign-ins") / "log",
        DJANGO_SETTINGS_MODULE="apps.config.settings.production",
        SECRET_KEY=settings.SECRET_KEY,
        WEB_CONNECTIONS=str(CONNECTIONS),
    )
    one.start()
    yield one
    one.stop()
    counters.forget_all()


def guess(server: LiveServer, number: int) -> int:
    """Return the answer to a wrong password of a name of its own."""
    source = (f"127.0.0.{40 + number % ADDRESSES}", 0)
    with closing(http.client.HTTPConnection(server.host, server.port, timeout=60, source_address=source)) as one:
        one.request("GET", LOGIN)
        page = one.getresponse()
        text = page.read().decode()
        if page.status != 200:
            return page.status
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', text)
        assert token
        body = urlencode({"csrfmiddlewaretoken": token[1], "username": f"n{number}{time.time()}", "password": "x"})
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": str(page.headers["Set-Cookie"]).partition(";")[0],
        }
        one.request("POST", LOGIN, body, headers)
        return one.getresponse().status


def test_pages_of_who_is_signed_in_go_on(server: LiveServer) -> None:
    cast = factories.cast()
    browser = Client()
    browser.force_login(cast.oscar)
    headers = {"Cookie": f"sessionid={browser.cookies['sessionid'].value}"}
    is_over = threading.Event()
    told: Counter[object] = Counter()

    def keep_guessing(number: int) -> None:
        while not is_over.is_set():
            told[guess(server, number)] += 1

    def look() -> int:
        with closing(http.client.HTTPConnection(server.host, server.port, timeout=60)) as one:
            one.request("GET", "/accounts/profile/", headers=headers)
            return one.getresponse().status

    assert look() == 200
    threads = [threading.Thread(target=keep_guessing, args=(number,), daemon=True) for number in range(GUESSERS)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    seen = Counter(look() for _time in range(20))
    is_over.set()
    for thread in threads:
        thread.join(60)
    assert seen == {200: 20}, (seen, told)
    assert told.keys() <= {200, 429, 503}, told
    assert "couldn't get a connection" not in server.log.read_text()
    assert "Traceback" not in server.log.read_text(), server.log.read_text()[-3000:]
