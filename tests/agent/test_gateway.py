"""A gateway between an agent and its service breaks what is long, and answers in its place: nothing gets lost."""

import base64
import enum
import functools
import json
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.agents.models import Agent, Job
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram
from tests.agent.relays import MessageProxy
from tests.agent.states import ended, reached
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for

pytestmark = pytest.mark.django_db(transaction=True)

# What the gateway takes of a body (bytes).
MOST = 2**20
# So many requests in a row that it answers itself show what comes of such answers.
SEVERAL = 3


class Mood(enum.Enum):
    """How a gateway treats its clients; the longest bodies it breaks in every mood."""

    PASSES = "passes"
    # Both are JSON that could be the service's, and one even a refusal for good.
    TOO_MANY = '429 {"code": "unknown-job", "detail": "slow down"}'
    ALL_WELL = "200 {}"


class Gateway(MessageProxy):
    """Breaks connections with long bodies, and may answer in the service's place."""

    def __init__(self, port: int) -> None:
        self.mood = Mood.PASSES
        # How many requests it broke, and to how many reports it answered itself.
        self.broken = self.answered = 0
        super().__init__(port)

    def turn(self, mood: Mood) -> None:
        """Be so from now on."""
        self.mood, self.answered = mood, 0

    def _pass_on(self, client: socket.socket, server: socket.socket, request: bytes) -> bool:
        if len(request) > MOST:
            self.broken += 1
            return False
        if self.mood is Mood.PASSES:
            return super()._pass_on(client, server, request)
        self.answered += b"/events " in request.partition(b"\r\n")[0]
        status, _blank, body = self.mood.value.partition(" ")
        client.sendall(f"HTTP/1.1 {status} So\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        return True


@pytest.fixture
def gateway(server: LiveServer) -> Iterator[Gateway]:
    relay = Gateway(server.port)
    yield relay
    relay.close()


@pytest.fixture
def behind(idle_agent: AgentProgram, gateway: Gateway) -> AgentProgram:
    path = idle_agent.folder / "agent.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "server": f"http://127.0.0.1:{gateway.port}"}))
    idle_agent.start()
    return idle_agent


def spooled(agent: AgentProgram) -> dict[str, bool]:
    """Return the ids of the jobs on the spool, and whether each has ended."""
    return {path.stem: b'"settled"' in path.read_bytes() for path in agent.spooled()}


def whole(path: Path) -> bytes:
    """Return what the record of a job says that it printed."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines() if line]
    (outcome,) = [line["outcome"] for line in lines if "outcome" in line]
    return zlib.decompress(base64.b64decode(outcome["stdout"]))


def test_results_get_through_a_gateway_that_breaks_and_answers_them(
    behind: AgentProgram, gateway: Gateway, node: Node
) -> None:
    # One is longer than the gateway takes: it breaks the connection and says nothing. Those after it pass it.
    long_one = reached(factories.job(node, "hail", time_limit_s=60), Job.State.RUNNING)
    wait_for(lambda: gateway.broken >= 2)
    later = [factories.job(node, "say", str(number)) for number in range(3)]
    assert [(ended(job).exit_code, ended(job).fault) for job in later] == [(3, "")] * 3
    assert spooled(behind) == {str(long_one.pk): True}
    wait_for(lambda: "report-stuck" in {trouble["code"] for trouble in Agent.objects.get().troubles})
    wait_for(lambda: Agent.objects.get().unsent_since)
    # Then it answers everything itself: the service's answers alone count.
    short = reached(factories.job(node, "nap", "1.5", time_limit_s=60), Job.State.RUNNING)
    for mood in (Mood.TOO_MANY, Mood.ALL_WELL):
        gateway.turn(mood)
        wait_for(lambda: spooled(behind).get(str(short.pk)))
        wait_for(lambda: gateway.answered >= SEVERAL)
        assert set(spooled(behind)) >= {str(short.pk)}
        assert not (behind.folder / "refused").exists()
        assert Job.objects.get(pk=short.pk).state == Job.State.RUNNING
        words = f"not the server, but something in its place answered: {mood.value[:3]}"
        wait_for(functools.partial(behind.said, words))
    # What it lets pass again arrives, the long one as its head and its tail.
    gateway.turn(Mood.PASSES)
    assert (ended(short).exit_code, ended(short).output.cut_on_way) == (0, False)
    long_one = ended(long_one, 120)
    assert (long_one.exit_code, long_one.fault) == (0, "")
    assert (long_one.output.cut_on_way, long_one.output.truncated) == (True, True)
    wait_for(lambda: not spooled(behind))
    arrived = zlib.decompress(long_one.output.stdout_z)
    head, line, tail = arrived.partition(b"[fathom-agent: ")
    assert line
    assert head.startswith(b"first\n")
    assert tail.endswith(b"\nlast\n")
    # It was not shorter than it had to be, the length of what it printed is known, and all of it is on the node.
    assert len(arrived) > MOST / 4
    assert long_one.output.stdout_bytes == 3_000_000 + len(b"first\n\nlast\n")
    everything = whole(behind.folder / "cut" / f"{long_one.pk}.jsonl")
    assert len(everything) == long_one.output.stdout_bytes
    assert everything.startswith(head[:1000])
    assert everything.endswith(tail[-1000:])
    assert not (behind.folder / "refused").exists()
    wait_for(lambda: Agent.objects.get().unsent_since is None)
    wait_for(lambda: not Agent.objects.get().troubles)
