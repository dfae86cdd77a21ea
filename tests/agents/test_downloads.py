"""Downloads from the real server process, whose handler is asynchronous."""

import hashlib
import http.client
import os
import zlib

import pytest

from apps.agents import program
from apps.agents.models import Job, JobOutput
from tests import factories as people
from tests.agents import factories
from tests.agents.live import LiveServer

pytestmark = pytest.mark.django_db(transaction=True)


def fetch(server: LiveServer, path: str, token: str = "") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
    response = connection.getresponse()
    return response.status, response.read()


def test_an_output_is_streamed_byte_for_byte(server: LiveServer) -> None:
    cast = people.cast()
    job = factories.job(factories.node(cast.team), state=Job.State.ENDED)
    text = os.urandom(300_000)
    JobOutput.objects.create(job=job, stdout_z=zlib.compress(text), stderr_z=zlib.compress(b""))
    path = f"/api/v1/jobs/{job.pk}/output/stdout/"
    assert fetch(server, path, people.token(cast.bob)) == (200, text)
    assert fetch(server, path, people.token(cast.charlie))[0] == 404
    assert "must consume" not in server.log.read_text()


def test_the_program_is_served_to_nodes(server: LiveServer) -> None:
    status, data = fetch(server, "/agents/fathom-agent.pyz")
    assert status == 200
    assert hashlib.sha256(data).hexdigest() == program.current().sha256
