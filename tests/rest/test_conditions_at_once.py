"""Many conditional writes of one person at once, to a real web process: each is made, or asked to come again."""

import http.client
import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts import services
from apps.testbeds.models import Site
from tests import factories
from tests.agents.live import LiveServer

pytestmark = pytest.mark.django_db(transaction=True)
# More than a person may have under way at once (two thirds of the connections), so that some wait for their turn.
AT_ONCE = 12


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    one = LiveServer(tmp_path_factory.mktemp("writes") / "log", WEB_CONNECTIONS="6")
    one.start()
    yield one
    one.stop()


def test_more_of_them_than_one_may_have_at_once_are_all_written(server: LiveServer) -> None:
    cast = factories.cast()
    site = Site.objects.create(team=cast.team, name="Daejeon")
    _token, text = services.issue_token(user=cast.oscar, name="script", now=timezone.now())
    headers = {"Authorization": f"Bearer {text}", "Content-Type": "application/json", "If-Match": "*"}

    def write(number: int) -> int:
        one = http.client.HTTPConnection(server.host, server.port, timeout=60)
        try:
            body: dict[str, Any] = {"name": f"Daejeon {number}"}
            one.request("PATCH", f"/api/v1/sites/{site.pk}/", json.dumps(body), headers)
            answer = one.getresponse()
            answer.read()
            return answer.status
        finally:
            one.close()

    with ThreadPoolExecutor(AT_ONCE) as threads:
        told = Counter(threads.map(write, range(8 * AT_ONCE)))
    assert told.keys() <= {200, 429}, (told, server.log.read_text()[-3000:])
    assert told[200] >= AT_ONCE
    assert "Traceback" not in server.log.read_text()
    site.refresh_from_db()
    assert site.name.startswith("Daejeon ")
