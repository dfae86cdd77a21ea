"""What an agent reports is kept up to its job's own limit, whatever it sends."""

import pytest

from apps.agents.compression import unpack
from apps.agents.models import Job
from tests.agents import factories
from tests.agents.live import LiveServer
from tests.agents.test_protocol import ask, finished, packed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("state", [Job.State.RUNNING, Job.State.LOST])
@pytest.mark.parametrize("over", ["", "stdout", "stderr", "collected"])
def test_of_each_output_no_more_is_kept_than_the_jobs_own_limit(server: LiveServer, over: str, state: str) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=state, output_limit_bytes=1000, collect=["a", "b", "c"])
    contents = dict.fromkeys(("stdout", "stderr"), b"x" * 1000)
    contents |= {over: b"y" * 2**20} if over in contents else {}
    files = {"a": b"1" * 600, "b": b"2" * (2**20 if over == "collected" else 400), "c": b""}
    entries = [{"name": name, "content": packed(raw), "size": len(raw)} for name, raw in files.items()]
    report = finished(collected=entries, **{name: packed(raw) for name, raw in contents.items()})
    assert ask(server, token).call(f"jobs/{job.pk}/events", report)[0] == 200
    job.refresh_from_db()
    output = job.output
    assert (unpack(output.stdout_z), unpack(output.stderr_z)) == tuple(raw[:1000] for raw in contents.values())
    assert (output.truncated, output.cut_on_way) == (over in contents, False)
    kept = {file.name: (unpack(file.content_z), file.size, file.truncated) for file in job.collected.all()}
    assert kept == {
        "a": (files["a"], 600, False),
        "b": (files["b"][:400], len(files["b"]), over == "collected"),
        "c": (b"", 0, False),
    }


def test_it_refuses_telemetry_that_unpacks_without_end(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.RUNNING)
    status, answer = ask(server, token).call(f"jobs/{job.pk}/events", finished(telemetry=packed(bytes(9 * 2**20))))
    assert (status, answer["code"]) == (413, "too-large")
    job.refresh_from_db()
    assert job.state == Job.State.RUNNING
