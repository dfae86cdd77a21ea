"""A server process and, for each test, an enrolled agent in a folder that other users can pass through."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agents import factories
from tests.agents.conftest import server, server_process
from tests.agents.live import LiveServer

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
def agent(idle_agent: AgentProgram) -> AgentProgram:
    """An agent at work."""
    idle_agent.start()
    return idle_agent
