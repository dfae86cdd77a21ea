"""The program's command line: what it says, and what it says when something is wrong."""

import ctypes
import os
import signal
import stat
from pathlib import Path

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Agent, EnrolmentToken
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for
from tests.ports import free_port
from workers.agent import VERSION

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bare(home: Path, server: LiveServer) -> AgentProgram:
    """A program that is enrolled nowhere."""
    return AgentProgram(home, server)


def test_it_keeps_its_token_where_only_its_owner_can_read_it(idle_agent: AgentProgram) -> None:
    path = idle_agent.folder / "agent.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "fth_agent_" in path.read_text()


def test_it_says_what_to_do_with_a_token_that_is_no_good(bare: AgentProgram) -> None:
    done = bare.call("enrol", "--server", bare.server.url, "--token", "nonsense", "--dir", str(bare.folder))
    assert done.returncode == 1
    assert done.stderr == "fathom-agent: This enrolment token is unknown: copy it again, whole.\n"
    assert not (bare.folder / "agent.json").exists()


@pytest.mark.parametrize("address", ["fathom.example.org", "ftp://x", "http://"])
def test_it_refuses_an_address_that_is_none(bare: AgentProgram, address: str) -> None:
    done = bare.call("enrol", "--server", address, "--token", "x", "--dir", str(bare.folder))
    assert done.returncode == 1
    assert "must look like https://" in done.stderr


def test_it_says_that_the_server_is_away(bare: AgentProgram) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    done = bare.call("enrol", "--server", nowhere, "--token", "x", "--dir", str(bare.folder))
    assert done.returncode == 1
    assert "Connection refused" in done.stderr


def test_it_does_not_spend_a_token_whose_fruit_it_could_not_keep(bare: AgentProgram) -> None:
    issued = services.issue_enrolment_token(node=factories.node(), user=factories.administrator(), now=timezone.now())
    in_the_way = bare.home / "file"
    in_the_way.touch()
    words = ("enrol", "--server", bare.server.url, "--token", issued.text, "--dir", str(in_the_way / "agent"))
    done = bare.call(*words)
    assert done.returncode == 1
    assert "Choose one with --dir" in done.stderr
    assert EnrolmentToken.objects.get().used_at is None


def test_it_does_not_run_before_it_is_enrolled(bare: AgentProgram) -> None:
    for command in ("run", "status"):
        done = bare.call(command, "--dir", str(bare.folder))
        assert done.returncode == 1
        assert "enrol this node first" in done.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "cannot be read"),
        ("[]", "JSON object"),
        ('{"server": "http://x", "token": "t", "colour": 1}', "unknown setting “colour”"),
        ('{"server": "http://x"}', "“token” is missing"),
        ('{"server": "http://x", "token": "t", "user": 7}', "“user” must be a text"),
        ('{"server": "http://x", "token": "t", "programs": {"sh": "sh"}}', "absolute paths"),
        ('{"server": "http://x", "token": "t", "search": "/opt"}', "“search” must be a list"),
    ],
)
def test_it_names_what_is_wrong_with_its_configuration(bare: AgentProgram, text: str, reason: str) -> None:
    bare.folder.mkdir()
    (bare.folder / "agent.json").write_text(text)
    done = bare.call("run", "--dir", str(bare.folder))
    assert done.returncode == 1
    assert reason in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only an agent started as root changes to another user")
@pytest.mark.parametrize(
    ("user", "reason"), [("root", "must not run as root"), ("nobody-at-all", "There is no user")]
)
def test_it_refuses_to_run_jobs_as_root_or_nobody_at_all(idle_agent: AgentProgram, user: str, reason: str) -> None:
    path = idle_agent.folder / "agent.json"
    path.write_text(path.read_text().replace('"nobody"', f'"{user}"'))
    done = idle_agent.call("run", "--dir", str(idle_agent.folder))
    assert done.returncode == 1
    assert reason in done.stderr


def test_two_agents_do_not_share_a_folder(agent: AgentProgram) -> None:
    wait_for(lambda: agent.said("Agent"))
    done = agent.call("run", "--dir", str(agent.folder))
    assert done.returncode == 1
    assert "already runs" in done.stderr


def test_it_tells_how_it_does(agent: AgentProgram, node: Node) -> None:
    wait_for(lambda: Agent.objects.filter(last_seen_at__isnull=False).first())
    # A poll has to have been answered once.
    factories.job(node, "say")
    wait_for((agent.folder / "status.json").exists)
    done = agent.call("status", "--dir", str(agent.folder))
    assert done.returncode == 0, done.stdout
    for text in (agent.server.url, node.name, "running   yes", "ping (", "spool"):
        assert text in done.stdout
    agent.stop()
    done = agent.call("status", "--dir", str(agent.folder))
    assert done.returncode == 3
    assert "running   no" in done.stdout


def test_it_prints_a_systemd_unit_for_where_it_is(bare: AgentProgram) -> None:
    folder = bare.home / "with blank %"
    done = bare.call("unit", "--dir", str(folder))
    assert done.returncode == 0
    assert f'{bare.zipapp} run --dir "{folder}%"' in done.stdout


def test_it_explains_itself(bare: AgentProgram) -> None:
    done = bare.call("--help")
    assert done.returncode == 0
    for command in ("enrol", "run", "status", "unit"):
        assert command in done.stdout
    assert bare.call("--version").stdout == f"{VERSION}\n"


def test_it_stops_whichever_of_its_threads_the_system_gives_the_signal_to(agent: AgentProgram) -> None:
    wait_for(lambda: agent.log.exists() and agent.said("calls"))
    process = agent.process
    threads = [int(path.name) for path in Path(f"/proc/{process.pid}/task").iterdir()]
    other = max(threads)
    assert other != process.pid
    assert ctypes.CDLL(None).tgkill(process.pid, other, signal.SIGTERM) == 0
    assert process.wait(10) == 0
    agent.process = None
