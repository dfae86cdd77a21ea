"""A second node is enrolled on a machine where another's agent is: nothing is overwritten unasked."""

import json
import stat

import pytest
from django.utils import timezone

from apps.agents import commands, services
from apps.agents.models import Agent, EnrolmentToken
from apps.testbeds.models import Node, NodeAddress
from tests.agent.program import AgentProgram
from tests.agents import factories
from tests.agents.live import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def paste(agent: AgentProgram, node: Node, *words: str, server: str = "") -> tuple[int, str, bool]:
    """Return the exit status of the node's command in the agent's folder, what it said, if it spent the token."""
    issued = services.issue_enrolment_token(node=node, user=factories.administrator(), now=timezone.now())
    command = ("--server", server or agent.server.url, "--token", issued.text, "--dir", str(agent.folder), *words)
    done = agent.call("enrol", *command)
    token = EnrolmentToken.objects.get(pk=issued.token.pk)
    return done.returncode, done.stderr + done.stdout, token.used_at is not None


def test_another_nodes_identity_is_refused_before_the_token_is_spent(idle_agent: AgentProgram, node: Node) -> None:
    before = (idle_agent.folder / "agent.json").read_text()
    left = factories.node(name="left")
    status, text, is_spent = paste(idle_agent, left, "--node", "left")
    assert (status, is_spent) == (1, False)
    for words in (f"the identity of {node.name}", "the token is still good", "agent-left", "--dir", "--replace"):
        assert words in text
    assert (idle_agent.folder / "agent.json").read_text() == before
    # An older command does not say whose it is; neither is it known to be the same node at another service.
    assert paste(idle_agent, left)[0] == 1
    services.retire_agent(agent=node.agent, now=timezone.now())
    assert paste(idle_agent, node, "--node", node.name, server="http://localhost:9")[0] == 1
    assert (idle_agent.folder / "agent.json").read_text() == before


def test_an_agent_at_work_keeps_its_folder_whatever_is_asked(agent: AgentProgram, node: Node) -> None:
    wait_for(lambda: Agent.objects.filter(last_seen_at__isnull=False).first())
    left = factories.node(name="left")
    for words in (("--node", "left"), ("--node", "left", "--replace")):
        status, text, is_spent = paste(agent, left, *words)
        assert (status, is_spent) == (1, False)
        assert f"The agent of {node.name} already runs in {agent.folder} (process {agent.process.pid})" in text
    (agent.folder / "agent.json").rename(agent.folder / "elsewhere")
    status, text, is_spent = paste(agent, left, "--node", "left")
    assert (status, is_spent, f"The agent of {node.name} already runs" in text) == (1, False, True)
    # Its own node may be enrolled anew beneath it.
    services.retire_agent(agent=node.agent, now=timezone.now())
    status, text, is_spent = paste(agent, node, "--node", node.name)
    assert (status, is_spent) == (0, True), text


def test_an_identity_is_replaced_when_asked_and_kept_aside(idle_agent: AgentProgram, node: Node) -> None:
    path = idle_agent.folder / "agent.json"
    before = path.read_text()
    status, text, is_spent = paste(idle_agent, factories.node(name="left"), "--node", "left", "--replace")
    assert (status, is_spent) == (0, True), text
    kept = idle_agent.folder / "agent.json.1"
    assert str(kept) in text
    assert (kept.read_text(), stat.S_IMODE(kept.stat().st_mode)) == (before, 0o600)
    # What its owner allows on this machine holds on.
    now, then = json.loads(path.read_text()), json.loads(before)
    assert (now["node"], now["programs"]) == ("left", then["programs"])
    paste(idle_agent, factories.node(name="third"), "--node", "third", "--replace")
    assert json.loads((idle_agent.folder / "agent.json.2").read_text())["node"] == "left"


def test_what_was_not_reported_is_not_given_to_another_node(idle_agent: AgentProgram, node: Node) -> None:
    spool = idle_agent.folder / "spool"
    spool.mkdir(exist_ok=True)
    (spool / "1.jsonl").write_text("{}\n")
    status, text, is_spent = paste(idle_agent, factories.node(name="left"), "--node", "left", "--replace")
    assert (status, is_spent) == (1, False)
    assert f"1 job(s) that {node.name} has not reported yet" in text


def test_the_status_names_the_agent_that_runs(agent: AgentProgram, node: Node) -> None:
    wait_for(lambda: Agent.objects.filter(last_seen_at__isnull=False).first())
    done = agent.call("status", "--dir", str(agent.folder))
    assert f"running   yes (process {agent.process.pid})" in done.stdout
    path = agent.folder / "agent.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "node": "left"}))
    done = agent.call("status", "--dir", str(agent.folder))
    assert done.returncode == 3
    assert (
        f"it is the agent of {node.name} that runs here (process {agent.process.pid}), not that of left"
        in done.stdout
    )
    done = agent.call("run", "--dir", str(agent.folder))
    assert f"The agent of {node.name} already runs in {agent.folder}" in done.stderr
    assert "--dir" in done.stderr


def test_the_command_has_a_folder_of_its_own_where_nodes_share_a_machine() -> None:
    node = factories.node(name="left")
    assert "--dir" not in commands.of("http://localhost", "t", node).curl
    NodeAddress.objects.create(node=node, address="192.0.2.1")
    assert "--dir" not in commands.of("http://localhost", "t", node).python
    other = factories.node(node.team, "right")
    NodeAddress.objects.create(node=other, address="192.0.2.1")
    made = commands.of("http://localhost", "t", node).curl
    assert made.count("--dir ~/fathom-agent-left") == 2
    assert "--node left" in made
    alone = factories.node(name="alone")
    NodeAddress.objects.create(node=alone, address="127.0.0.1")
    assert commands.folder_of(alone) == "~/fathom-agent-alone"
    assert "unit --dir ~/fathom-agent-alone > /etc/systemd/system/fathom-agent-alone.service" in commands.unit_of(
        commands.folder_of(alone), alone
    )
