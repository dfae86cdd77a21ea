"""Files that jobs give back: what is taken from agents, who may fetch them, and where they are shown."""

import base64
import time
import zlib
from typing import Any

import pytest
from django.test import Client as Browser
from django.urls import reverse

from apps.agents import bounds
from apps.agents.endpoint import protocol
from apps.agents.endpoint.exchange import Problem
from apps.agents.models import Job, JobFile
from tests import factories as people
from tests.agents import factories
from tests.agents.live import Client, LiveServer


def pack(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content)).decode()


def entry(name: str = "result.json", content: bytes = b"{}", **more: Any) -> dict[str, Any]:
    return {"name": name, "content": pack(content), "size": len(content), "truncated": False, **more}


def finished(**more: Any) -> dict[str, Any]:
    now = time.time()
    return {
        "event": "finished",
        "started_at": now - 1,
        "ended_at": now,
        "stdout": pack(b""),
        "stderr": pack(b""),
        **more,
    }


@pytest.mark.django_db(transaction=True)
def test_it_keeps_the_files_that_were_asked_for_and_no_others(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.RUNNING, collect=["result.json", "log"])
    entries = [entry(), entry("other"), entry("log", b"abc", size=9, truncated=True)]
    body = finished(collected=entries, telemetry=pack(b'{"v": 1}'))
    client = Client(server.port, token)
    for _twice in range(2):
        assert client.call(f"jobs/{job.pk}/events", body) == (
            200,
            {"job": str(job.pk), "event": "finished", "state": "ended"},
        )
    kept = {file.name: (zlib.decompress(file.content_z), file.size, file.truncated) for file in job.collected.all()}
    assert kept == {"result.json": (b"{}", 2, False), "log": (b"abc", 9, True)}
    assert zlib.decompress(Job.objects.get().output.telemetry_z) == b'{"v": 1}'


@pytest.mark.django_db(transaction=True)
def test_it_keeps_the_files_of_a_job_that_was_given_up(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.LOST, collect=["result.json"])
    body = finished(collected=[entry(), entry("other")])
    for _twice in range(2):
        assert Client(server.port, token).call(f"jobs/{job.pk}/events", body) == (
            200,
            {"job": str(job.pk), "event": "finished", "state": "lost"},
        )
    assert [file.name for file in job.collected.all()] == ["result.json"]


@pytest.mark.django_db(transaction=True)
def test_it_hands_out_files_variables_and_what_to_give_back(server: LiveServer) -> None:
    agent, token = factories.agent()
    factories.job(agent.node, files=[("in", "x\n")], collect=["out"], environment=[("OMP_NUM_THREADS", "2")])
    _status, answer = Client(server.port, token).call("poll", {})
    (job,) = answer["jobs"]
    assert (job["files"], job["collect"]) == ([["in", "x\n"]], ["out"])
    assert job["environment"] == [["OMP_NUM_THREADS", "2"]]


@pytest.mark.parametrize(
    "entries",
    [
        {"name": "x"},
        ["x"],
        [entry("a/b")],
        [entry("..")],
        [entry("")],
        [entry("x" * 101)],
        [entry(), entry()],
        [entry(size=-1)],
        [entry(size=True)],
        [entry(size="2")],
        [{**entry(), "content": None}],
        [{**entry(), "content": "%"}],
        [{**entry(), "content": base64.b64encode(b"no zlib").decode()}],
        [{**entry(), "content": base64.b64encode(zlib.compress(b"x") + b"y").decode()}],
        [entry(f"f{number}") for number in range(bounds.MOST_FILES + 1)],
    ],
)
def test_it_refuses_files_that_are_none(entries: Any) -> None:
    with pytest.raises(Problem) as refused:
        protocol.report_of(finished(collected=entries))
    assert (refused.value.status, refused.value.code) == (400, "bad-field")
    assert "collected" in str(refused.value)


def test_it_refuses_more_than_it_can_bear() -> None:
    half = bytes(bounds.MOST_OUTPUT_BYTES // 2)
    files = protocol.report_of(finished(collected=[entry("a", half), entry("b", half), entry("c", b"x")])).collected
    assert [(file.size, file.truncated) for file in files] == [(len(half), False), (len(half), False), (1, True)]
    assert zlib.decompress(files[2].content_z) == b""
    with pytest.raises(Problem) as refused:
        protocol.report_of(finished(telemetry=pack(bytes(bounds.MOST_TELEMETRY_BYTES + 1))))
    assert refused.value.status == 413


@pytest.fixture
def file(db: None) -> JobFile:
    cast = people.cast()
    job = factories.job(factories.node(cast.team), state=Job.State.ENDED, collect=["result.json"])
    return JobFile.objects.create(job=job, name="result.json", content_z=zlib.compress(b"{}\n"), size=3)


def addresses(file: JobFile) -> tuple[str, str]:
    page = reverse("agents:job_file", args=[file.job_id, file.name])
    return page, f"/api/v1/jobs/{file.job_id}/files/{file.name}/"


def person(name: str) -> Any:
    return people.User.objects.get(username=name)


def test_a_stranger_gets_no_file(client: Browser, file: JobFile) -> None:
    page, rest = addresses(file)
    assert client.get(page).status_code == 302
    assert client.get(rest).status_code in (401, 403)


def test_another_team_finds_no_file(client: Browser, file: JobFile) -> None:
    page, rest = addresses(file)
    assert client.get(rest, **people.bearer(person("charlie"))).status_code == 404
    client.force_login(person("charlie"))
    assert client.get(page).status_code == 404


def test_a_viewer_fetches_a_file_byte_for_byte(client: Browser, file: JobFile) -> None:
    page, rest = addresses(file)
    client.force_login(person("bob"))
    for answer in (client.get(page), client.get(rest, **people.bearer(person("bob")))):
        assert answer.status_code == 200
        assert b"".join(answer.streaming_content) == b"{}\n"
        assert answer.headers["Content-Disposition"].startswith("attachment")
    assert client.get(page.replace("result", "nothing")).status_code == 404


def test_rest_tells_of_a_jobs_files(client: Browser, file: JobFile) -> None:
    path = f"/api/v1/jobs/{file.job_id}/"
    told = client.get(path, **people.bearer(person("bob"))).json()
    assert told["collected"] == [{"name": "result.json", "size": 3, "truncated": False, "cut_on_way": False}]
    assert (told["collect"], told["files"], told["environment"]) == (["result.json"], [], [])
    assert client.post(path, **people.bearer(person("alice"))).status_code == 405
