"""A server process and, for each test, an enrolled agent in a folder that other users can pass through."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from apps.accounts.models import Team
from apps.agents.models import Agent
from apps.testbeds.models import Node, NodeAddress
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agents import factories
from tests.agents.conftest import server, server_process
from tests.agents.live import LiveServer, wait_for

Crew = Callable[..., list[Node]]

__all__ = ["server", "server_process"]


@pytest.fixture
def home() -> Iterator[Path]:
    # pytest's own folders shut other users out, and jobs run as one.
    folder = Path(tempfile.mkdtemp(prefix="fathom-agent-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def node(server: LiveServer) -> Node:
    return factories.node()


@pytest.fixture
def idle_agent(home: Path, server: LiveServer, node: Node) -> Iterator[AgentProgram]:
    """An enrolled agent that has not been started."""
    program = AgentProgram(home, server)
    program.enrol(node)
    tools.install(home, program.folder)
    yield program
    if program.process is not None:
        program.stop()
    if program.log.exists():
        print(program.log.read_text())


@pytest.fixture
def crew(home: Path, server: LiveServer) -> Iterator[Crew]:
    """Return agents at work on nodes of their own, as many as are asked for: `crew(team, 3)`."""
    programs: list[AgentProgram] = []

    def gather(team: Team, count: int, address: str = "127.0.0.1") -> list[Node]:
        nodes = [factories.node(team) for _number in range(count)]
        for node in nodes:
            folder = home / node.name
            folder.mkdir()
            folder.chmod(0o755)
            NodeAddress.objects.update_or_create(
                node=node, position=0, defaults={"address": address, "confirmed_at": timezone.now()}
            )
            programs.append(AgentProgram(folder, server))
            programs[-1].enrol(node)
            tools.install(folder, programs[-1].folder)
            programs[-1].start()
        wait_for(lambda: Agent.objects.filter(node__in=nodes, last_seen_at__isnull=False).count() == count, 60)
        return nodes

    yield gather
    for program in programs:
        if program.process is not None:
            program.stop()
        print(program.log.read_text())


@pytest.fixture
def agent(idle_agent: AgentProgram) -> AgentProgram:
    """An agent at work."""
    idle_agent.start()
    return idle_agent


@pytest.fixture
def shell(idle_agent: AgentProgram) -> AgentProgram:
    """An agent whose owner allows a shell anything, so that only the sandbox is left to stop it."""
    tools.allow(idle_agent.folder, {"sh": tools.SHELL})
    tools.configure(idle_agent.folder, options={"sh": ["*"]})
    return idle_agent
