"""What agents repeat, or send though nobody can read it, costs the service little, whatever it would unpack to."""

import pytest

from apps.agents.compression import unpack
from apps.agents.endpoint.refusals import Refusals
from apps.agents.endpoint.room import Problem
from apps.agents.models import Job, JobOutput
from tests.agents import factories
from tests.agents.live import LiveServer
from tests.agents.test_protocol import ask, finished, packed

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_an_ended_job_is_told_again_is_not_unpacked(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.RUNNING)
    client, address = ask(server, token), f"jobs/{job.pk}/events"
    assert client.call(address, finished())[0] == 200
    # Unpacked it would be refused (413); it says nothing new, and is acknowledged as ever.
    again = client.call(address, finished(telemetry=packed(bytes(9 * 2**20))))
    assert again == (200, {"job": str(job.pk), "event": "finished", "state": "ended"})
    assert unpack(JobOutput.objects.get(job=job).stdout_z) == b"hello\n"


def test_a_lost_job_is_told_once_what_it_printed(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.LOST)
    client, address = ask(server, token), f"jobs/{job.pk}/events"
    too_much = finished(telemetry=packed(bytes(9 * 2**20)))
    assert client.call(address, too_much)[0] == 413
    assert client.call(address, finished())[1]["state"] == "lost"
    assert client.call(address, too_much)[1]["state"] == "lost"
    assert unpack(JobOutput.objects.get(job=job).stdout_z) == b"hello\n"


@pytest.mark.parametrize("lacking", [("stdout",), ("stderr",), ("stdout", "stderr")])
@pytest.mark.parametrize("more", ["stdout", "stderr", "telemetry", "collected"])
def test_a_lost_job_is_told_nothing_that_is_not_kept(server: LiveServer, lacking: tuple[str, ...], more: str) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.LOST)
    client, address = ask(server, token), f"jobs/{job.pk}/events"
    # Unpacked it would be refused.
    unreadable = [{"name": "a", "content": "no pack", "size": 1}] if more == "collected" else "no pack"
    report = finished() | {more: unreadable}
    for name in lacking:
        report.pop(name, None)
    assert client.call(address, report) == (200, {"job": str(job.pk), "event": "finished", "state": "lost"})
    assert not JobOutput.objects.filter(job=job).exists()


def test_who_sends_only_what_is_refused_is_not_looked_at_for_a_while(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.RUNNING)
    client, address = ask(server, token), f"jobs/{job.pk}/events"
    too_much = finished(telemetry=packed(bytes(9 * 2**20)))
    answers = [client.call(address, too_much)[0] for _time in range(8)]
    # Other tests of the same process may have sent the like.
    assert answers == sorted(answers) and set(answers) == {413, 503} and answers.count(413) <= 6
    other, others_token = factories.agent()
    others_job = factories.job(other.node, state=Job.State.RUNNING)
    assert ask(server, others_token).call(f"jobs/{others_job.pk}/events", finished())[0] == 200
    # What is small is read, and ends the job.
    assert client.call(address, finished())[0] == 200


def test_refusals_are_forgotten_in_time() -> None:
    now = [0.0]
    refusals = Refusals(most=2, window_s=60.0, clock=lambda: now[0])

    def refused(team: int) -> int:
        with pytest.raises(Problem) as problem, refusals.counted(team):
            raise Problem(400, "x", "x")
        return problem.value.status

    assert [refused(1), refused(1), refused(1), refused(2)] == [400, 400, 503, 400]
    now[0] = 61.0
    assert refused(1) == 400
