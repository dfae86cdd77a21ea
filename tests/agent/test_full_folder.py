"""Enrolling where the disk takes too little: the token stays good, what was there stays, and one line says why."""

import itertools
import resource
from pathlib import Path

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import EnrolmentToken
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram
from tests.agents import factories
from tests.agents.live import LiveServer
from tests.rotation import part_of
from workers.agent import config

pytestmark = pytest.mark.django_db(transaction=True)


def enrol_with(agent: AgentProgram, node: Node, most: int, *words: str) -> tuple[int, str, bool]:
    """Return the status of an enrolment where no file takes more than `most` bytes, what it said, if it spent."""
    issued = services.issue_enrolment_token(node=node, user=factories.administrator(), now=timezone.now())
    words = ("enrol", "--server", agent.server.url, "--token", issued.text, "--dir", str(agent.folder), *words)
    # As a full disk does it, and for everybody: a file is made, and takes nothing.
    done = agent.call(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    return done.returncode, done.stderr, EnrolmentToken.objects.get(pk=issued.token.pk).used_at is not None


def things_in(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, but for its lock."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and "lock" not in path.name}


@pytest.mark.parametrize("most", part_of([0, 1, 100, 600, config.TOKEN_BYTES], parts=2))
def test_a_token_is_not_spent_where_its_fruit_finds_no_room(home: Path, server: LiveServer, most: int) -> None:
    agent = AgentProgram(home, server)
    status, said, is_spent = enrol_with(agent, factories.node(), most)
    assert (status, is_spent) == (1, False)
    assert (
        said == f"fathom-agent: The folder {agent.folder} cannot be written: File too large. Choose one with --dir.\n"
    )
    assert things_in(agent.folder) == {}


@pytest.mark.parametrize(
    ("is_replaced", "most"), part_of(itertools.product([True, False], [0, 100, 600, config.TOKEN_BYTES]), parts=3)
)
def test_a_former_identity_stays_whole(idle_agent: AgentProgram, node: Node, is_replaced: bool, most: int) -> None:
    before = things_in(idle_agent.folder)
    other, words = (factories.node(), ("--replace",)) if is_replaced else (node, ("--node", node.name))
    status, said, is_spent = enrol_with(idle_agent, other, most, *words)
    assert (status, is_spent) == (1, False)
    assert "Traceback" not in said
    assert said.count("\n") == 1
    assert things_in(idle_agent.folder) == before


def test_a_copy_is_not_left_where_the_server_refuses(idle_agent: AgentProgram) -> None:
    before = things_in(idle_agent.folder)
    words = ("--server", idle_agent.server.url, "--token", "nonsense", "--dir", str(idle_agent.folder), "--replace")
    done = idle_agent.call("enrol", *words)
    assert done.stderr == "fathom-agent: This enrolment token is unknown: copy it again, whole.\n"
    assert things_in(idle_agent.folder) == before


def test_room_that_was_held_is_given_back(home: Path, server: LiveServer) -> None:
    agent = AgentProgram(home, server)
    agent.enrol(factories.node())
    path = agent.folder / config.FILE
    assert path.stat().st_size < config.TOKEN_BYTES
    assert path.read_text().endswith("}\n")
    assert [name for name in things_in(agent.folder) if name.startswith(config.FILE)] == [config.FILE]


@pytest.mark.parametrize(("name", "commands"), [(config.FILE, ("run", "status", "unit")), ("spool", ("run",))])
def test_no_command_ends_in_a_traceback(idle_agent: AgentProgram, name: str, commands: tuple[str, ...]) -> None:
    path = idle_agent.folder / name
    path.unlink(missing_ok=True)
    if name == config.FILE:
        path.mkdir()
    else:
        path.touch()
    for command in commands:
        done = idle_agent.call(command, "--dir", str(idle_agent.folder))
        assert done.returncode == 1
        assert done.stderr.startswith("fathom-agent: ")
        assert done.stderr.count("\n") == 1
