"""A proxy that delays and repeats what passes: old polls are told apart from a restart, and nothing is lost."""

import json
import time
from collections.abc import Iterator

import pytest

from apps.agents.models import Agent, Job
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram
from tests.agent.relays import MessageProxy
from tests.agent.states import ended, reached
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for
from workers.agent.instance import REPEATS, Instance

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def proxy(server: LiveServer) -> Iterator[MessageProxy]:
    made = MessageProxy(server.port)
    yield made
    made.close()


@pytest.fixture
def behind(idle_agent: AgentProgram, proxy: MessageProxy) -> AgentProgram:
    path = idle_agent.folder / "agent.json"
    settings = json.loads(path.read_text())
    settings["server"] = f"http://127.0.0.1:{proxy.port}"
    path.write_text(json.dumps(settings))
    idle_agent.start()
    return idle_agent


def test_old_polls_repeated_lose_no_job(behind: AgentProgram, proxy: MessageProxy, node: Node) -> None:
    wait_for(lambda: proxy.polls)
    job = reached(factories.job(node, "nap", "5", time_limit_s=60), Job.State.RUNNING)
    wait_for(lambda: str(job.pk).encode() in proxy.polls[-1])
    before = [poll for poll in proxy.polls if str(job.pk).encode() not in poll]
    assert before, "a poll from before the job was taken"
    for poll in before:
        assert proxy.repeat(poll) == {"jobs": [], "stop": [], "repeated": True}
    job = ended(job)
    assert (job.state, job.exit_code, job.fault) == (Job.State.ENDED, 0, "")


def test_an_old_poll_is_no_sign_of_life(behind: AgentProgram, proxy: MessageProxy) -> None:
    wait_for(lambda: proxy.polls and Agent.objects.get().last_seen_at)
    behind.stop()
    time.sleep(3)
    last = Agent.objects.get().last_seen_at
    assert proxy.repeat(proxy.polls[-1])["jobs"] == []
    time.sleep(3)
    assert Agent.objects.get().last_seen_at == last


def test_a_poll_of_a_process_that_was_replaced_is_answered_harmlessly(
    behind: AgentProgram, proxy: MessageProxy, node: Node
) -> None:
    wait_for(lambda: proxy.polls)
    old = proxy.polls[-1]
    behind.stop()
    behind.start()
    job = reached(factories.job(node, "nap", "3", time_limit_s=60), Job.State.RUNNING)
    assert proxy.repeat(old)["code"] == "unknown-instance"
    assert ended(job).fault == ""


def test_polls_that_come_late_lose_nothing(behind: AgentProgram, proxy: MessageProxy, node: Node) -> None:
    proxy.delay_s = 1.0
    for number in range(3):
        job = ended(factories.job(node, "say", str(number)))
        assert (job.exit_code, job.fault) == (3, "")


def test_a_process_whose_number_another_goes_on_with_takes_a_new_one(tmp_path: object) -> None:
    one = Instance(tmp_path)
    key = one.key
    assert [one.next_poll(), one.next_poll()] == [1, 2]
    assert [one.note_repeated() for _number in range(REPEATS)] == [False] * (REPEATS - 1) + [True]
    assert one.key != key
    assert one.next_poll() == 1
