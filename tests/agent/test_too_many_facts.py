"""An agent whose facts are more than a node may tell in the time goes on measuring; they are told again later."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.agents.models import Agent, FactSnapshot
from apps.core.limits import counters
from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agent.states import ended, printed
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
SHELL = shutil.which("sh") or "/bin/sh"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    """A service that keeps a hundred bytes of facts of a node in an hour: less than any node tells."""
    counters.forget_all()
    one = LiveServer(tmp_path / "log", RATE_OF_FACT_BYTES="100/3600")
    one.start()
    yield one
    one.stop()


def test_an_agent_that_tells_too_much_goes_on_measuring(
    idle_agent: AgentProgram, node: Node, server: LiveServer
) -> None:
    tools.allow(idle_agent.folder, {"sh": SHELL})
    tools.configure(idle_agent.folder, options={"sh": ["*"]})
    idle_agent.start()
    for number in range(3):
        job = ended(factories.job(node, "sh", "-c", f"echo {number}"))
        assert (job.fault, printed(job).get("stdout")) == ("", f"{number}\n")
    wait_for(lambda: "are not kept (fact-bytes)" in server.log.read_text())
    agent = Agent.objects.get(node=node)
    assert agent.facts is None and not FactSnapshot.objects.filter(node=node).exists()
    assert agent.version != ""
    assert "refuses" not in idle_agent.log.read_text()
