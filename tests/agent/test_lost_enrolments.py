"""An enrolment whose answer is lost on the way: the same command again makes an agent of the node."""

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Agent, EnrolmentToken
from apps.testbeds.models import Node
from launch.demo import agents as demo_agents
from launch.demo import ground
from launch.demo.rest import Rest
from tests.agent.program import AgentProgram
from tests.agent.relays import Line, MessageProxy
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for
from workers.agent import config, proposal

pytestmark = pytest.mark.django_db(transaction=True)
CUTTING = (Line.CUTS_HEADERS, Line.CUTS_BODIES, Line.DROPS_ANSWERS)


@pytest.fixture
def line(server: LiveServer) -> Iterator[MessageProxy]:
    proxy = MessageProxy(server.port)
    yield proxy
    proxy.close()


@pytest.fixture
def program(home: Path, server: LiveServer) -> Iterator[AgentProgram]:
    agent = AgentProgram(home, server)
    yield agent
    if agent.process is not None:
        agent.stop()


def words_of(program: AgentProgram, line: MessageProxy, token: str) -> tuple[str, ...]:
    """Return the command that is pasted, over this line."""
    return "enrol", "--server", f"http://127.0.0.1:{line.port}", "--token", token, "--dir", str(program.folder)


def issue(node: Node) -> str:
    """Return a new enrolment token of a node."""
    return services.issue_enrolment_token(node=node, user=factories.administrator(), now=timezone.now()).text


@pytest.mark.parametrize("how", CUTTING)
def test_the_same_command_again_is_answered(program: AgentProgram, line: MessageProxy, node: Node, how: Line) -> None:
    words = words_of(program, line, issue(node))
    line.line = how
    first = program.call(*words)
    assert first.returncode == 1
    assert "the line ended before the server's answer did" in first.stderr
    assert "Run the same command again" in first.stderr
    # The server had done it: it is the answer that is missing.
    enrolled = Agent.objects.get(node=node)
    line.line = Line.WHOLE
    again = program.call(*words)
    assert again.returncode == 0, again.stderr
    assert (Agent.objects.get(node=node).pk, Agent.objects.get(node=node).digest) == (enrolled.pk, enrolled.digest)
    assert not (program.folder / proposal.FILE).exists()
    program.start()
    wait_for(lambda: Agent.objects.get(node=node).last_seen_at is not None, 30)


@pytest.mark.parametrize("how", CUTTING)
def test_a_line_that_breaks_for_a_moment_is_not_noticed(
    program: AgentProgram, line: MessageProxy, node: Node, how: Line
) -> None:
    def mend() -> None:
        while not line.cut:
            time.sleep(0.001)
        line.line = Line.WHOLE

    line.line = how
    threading.Thread(target=mend, daemon=True).start()
    done = program.call(*words_of(program, line, issue(node)))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("how", CUTTING)
def test_the_demo_asks_again(program: AgentProgram, line: MessageProxy, node: Node, how: Line) -> None:
    tokens, line.line = [issue(node)], how

    class Api:
        def every(self, _path: str) -> Iterator[dict[str, object]]:
            return iter(())

        def post(self, *_given: object, **_named: object) -> dict[str, str]:
            return {"token": tokens.pop()}

        def get(self, _path: str) -> None:
            line.line = Line.WHOLE

    place = ground.Place(node.name, "", "", "")
    server = f"http://127.0.0.1:{line.port}"
    demo_agents._enrol(cast(Rest, Api()), place, node.pk, program.folder, program.zipapp, server)
    assert (line.cut > 0, (program.folder / config.FILE).exists()) == (True, True)


def test_whoever_else_has_the_token_is_refused(
    program: AgentProgram, line: MessageProxy, node: Node, home: Path, server: LiveServer
) -> None:
    token = issue(node)
    line.line = Line.DROPS_ANSWERS
    assert program.call(*words_of(program, line, token)).returncode == 1
    line.line = Line.WHOLE
    (home / "other").mkdir()
    other = AgentProgram(home / "other", server)
    done = other.call(*words_of(other, line, token))
    assert (done.returncode, "has been used" in done.stderr) == (1, True)
    assert not (other.folder / proposal.FILE).exists()
    assert not (other.folder / config.FILE).exists()


@pytest.mark.parametrize("changes", ["heard", "retired", "expired"])
def test_it_is_answered_again_for_a_time_only(
    program: AgentProgram, line: MessageProxy, node: Node, changes: str
) -> None:
    token = issue(node)
    line.line = Line.DROPS_ANSWERS
    assert program.call(*words_of(program, line, token)).returncode == 1
    line.line = Line.WHOLE
    now = timezone.now()
    if changes == "expired":
        EnrolmentToken.objects.update(expires_at=now - timedelta(seconds=1))
    else:
        Agent.objects.update(**{"last_seen_at" if changes == "heard" else "retired_at": now})
    done = program.call(*words_of(program, line, token))
    assert (done.returncode, "has been used" in done.stderr) == (1, True)


def test_what_is_proposed_is_for_one_enrolment_token(home: Path) -> None:
    first = proposal.keep(home, server="https://a", enrolment_token="one")
    assert proposal.keep(home, server="https://a", enrolment_token="one") == first
    assert (home / proposal.FILE).stat().st_mode & 0o777 == 0o600
    assert proposal.keep(home, server="https://b", enrolment_token="one") != first
    assert proposal.keep(home, server="https://b", enrolment_token="two") != first
    for broken in ("", "{", "[]", '{"asked": 1}'):
        (home / proposal.FILE).write_text(broken)
        assert proposal.keep(home, server="https://a", enrolment_token="one") != first


def test_a_server_of_before_gives_the_token_itself(program: AgentProgram, server: LiveServer, node: Node) -> None:
    # It reads the same request, and passes over what it does not know.
    line = _Before(server.port)
    try:
        done = program.call(*words_of(program, line, issue(node)))
    finally:
        line.close()
    assert done.returncode == 0, done.stderr
    assert config.load(program.folder).token.startswith(f"fth_agent_{Agent.objects.get(node=node).prefix}_")


class _Before(MessageProxy):
    """A line to a server that knows nothing of tokens that agents draw."""

    def sent(self, request: bytes) -> bytes:
        """Return a request with the field under a name that the server does not know."""
        return request.replace(b'"own"', b'"0wn"')
