"""A node's kernel settings are changed for a job and put back whatever happens: a real agent in a real namespace."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Agent, Job, Listener
from apps.bench import settings as bench
from apps.testbeds.models import Node, NodeAddress
from tests import interfaces
from tests.agent import tools
from tests.agent.program import AgentProgram, processes_with
from tests.agent.states import ended, printed, reached
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.lab,
    pytest.mark.xdist_group("settings"),
    pytest.mark.skipif(
        os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("tc"),
        reason="setting the kernel's settings needs root and iproute2",
    ),
]
HERE, THERE = "10.98.7.1", "10.98.7.2"
RMEM = "net.ipv4.tcp_rmem"
WANTED = "4096 65536 777777"


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=20).stdout


class Namespace:
    """A network namespace joined to this machine by one cable, whose settings are its own."""

    def __init__(self) -> None:
        self.name = f"fathom-settings-{os.getpid()}"
        self.cable = f"fs{os.getpid() % 10**6}"
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.cable, "type", "veth", "peer", "name", "data", "netns", self.name)
        run("ip", "address", "add", f"{HERE}/30", "dev", self.cable)
        run("ip", "link", "set", self.cable, "up", "mtu", "9000")
        self.inside("ip", "address", "add", f"{THERE}/30", "dev", "data")
        self.inside("ip", "link", "set", "data", "up", "mtu", "1500")
        self.inside("ip", "link", "set", "lo", "up")

    @property
    def prefix(self) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.name)

    def inside(self, *words: str) -> str:
        return run(*self.prefix, *words)

    def sysctl(self, key: str) -> str:
        return " ".join(self.inside("cat", "/proc/sys/" + key.replace(".", "/")).split())

    def mtu(self) -> int:
        return int(json.loads(self.inside("ip", "-j", "link", "show", "dev", "data"))[0]["mtu"])

    def qdisc(self) -> str:
        return self.inside("tc", "qdisc", "show", "dev", "data").split()[1]

    def remove(self) -> None:
        run("ip", "netns", "delete", self.name)


@pytest.fixture(scope="module")
def namespace() -> Iterator[Namespace]:
    with interfaces.held():
        made = Namespace()
    yield made
    with interfaces.held():
        made.remove()


@pytest.fixture(scope="module")
def server_process(
    namespace: Namespace, django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveServer]:
    """The server of these tests listens where the namespace's cable ends."""
    server = LiveServer(tmp_path_factory.mktemp("settings") / "log", HERE)
    yield server
    server.stop()
    # It notes that it listens also after the last test's rows are gone.
    with django_db_blocker.unblock():
        Listener.objects.all().delete()


@pytest.fixture
def program(home: Path, namespace: Namespace, node: Node, server: LiveServer) -> Iterator[AgentProgram]:
    """An agent at work in the namespace, which lets jobs change TCP's settings, the MTU and the queue discipline."""
    NodeAddress.objects.create(node=node, address=THERE)
    made = AgentProgram(home, server, namespace.prefix)
    made.enrol(node)
    tools.install(home, made.folder)
    path = made.folder / "agent.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "settings": ["net.ipv4.tcp_*", "mtu", "qdisc"]}))
    made.start()
    yield made
    if made.process is not None:
        made.stop()
    print(made.log.read_text())


def ask(node: Node, run_ref: int = 51, **settings: str) -> Job:
    """Queue what a plan asks of an agent: the stage of apps.bench.settings, with _ for the dots of the keys."""
    wanted = {key.replace("__", "."): value for key, value in settings.items()}
    (command,) = bench.stage({"client": [wanted]}).commands
    return factories.job(
        node, *command.argv, background=True, ready_pattern=command.ready_pattern, files=command.files,
        time_limit_s=command.time_limit_s, run_ref=run_ref,
    )  # fmt: skip


def held(node: Node, **settings: str) -> Job:
    return reached(ask(node, **settings), Job.State.READY)


def journals(program: AgentProgram) -> list[Path]:
    return list((program.folder / "settings").glob("*"))


def stop(run_ref: int = 51) -> None:
    services.request_stop(run_ref=run_ref, now=timezone.now())


def test_it_sets_verifies_and_puts_back(program: AgentProgram, namespace: Namespace, node: Node) -> None:
    before = namespace.sysctl(RMEM)
    mine = Path("/proc/sys/net/ipv4/tcp_rmem").read_text()
    congestion = namespace.sysctl("net.ipv4.tcp_congestion_control")
    job = held(
        node,
        net__ipv4__tcp_rmem=WANTED,
        net__ipv4__tcp_congestion_control="reno",
        mtu="4000",
        qdisc="tbf rate 1gbit burst 64kb latency 50ms",
    )
    assert (namespace.sysctl(RMEM), namespace.mtu(), namespace.qdisc()) == (WANTED, 4000, "tbf")
    assert namespace.sysctl("net.ipv4.tcp_congestion_control") == "reno"
    assert Path("/proc/sys/net/ipv4/tcp_rmem").read_text() == mine
    assert [path.suffix for path in journals(program)] == [".json"]
    assert journals(program)[0].stat().st_mode & 0o077 == 0
    stop()
    job = ended(job)
    assert (namespace.sysctl(RMEM), namespace.mtu(), namespace.qdisc()) == (before, 1500, "noqueue")
    assert namespace.sysctl("net.ipv4.tcp_congestion_control") == congestion
    assert (job.exit_code, job.fault, journals(program)) == (0, "", [])
    said, restored = printed(job)["stdout"].splitlines()
    assert restored == "restored"
    assert json.loads(said.removeprefix("applied "))[RMEM] == {"earlier": before, "applied": WANTED}


def test_killing_the_agent_leaves_the_node_as_it_was(program: AgentProgram, namespace: Namespace, node: Node) -> None:
    before = namespace.sysctl(RMEM)
    job = held(node, net__ipv4__tcp_rmem=WANTED, mtu="2000")
    client = reached(factories.job(node, "nap", "91.5", run_ref=51), Job.State.RUNNING)
    assert namespace.sysctl(RMEM) == WANTED
    program.stop(signal.SIGKILL)
    # Whoever held the settings outlives the agent for as long as it takes to put them back.
    wait_for(lambda: namespace.sysctl(RMEM) == before and namespace.mtu() == 1500, 20)
    wait_for(lambda: not processes_with(str(job.pk)), 20)
    program.start()
    assert ended(job).fault == "agent-restarted"
    assert ended(client).fault == "agent-restarted"
    assert (namespace.sysctl(RMEM), namespace.mtu()) == (before, 1500)
    wait_for(lambda: not journals(program))


def test_killing_all_of_it_leaves_the_node_as_it_was_after_a_restart(
    program: AgentProgram, namespace: Namespace, node: Node
) -> None:
    before = namespace.sysctl(RMEM)
    job = held(node, net__ipv4__tcp_rmem=WANTED, qdisc="pfifo limit 7")
    (holder,) = processes_with(str(job.pk))
    # Stopped it cannot act on the agent's death, as if both had been killed at one moment.
    os.kill(holder, signal.SIGSTOP)
    program.stop(signal.SIGKILL)
    os.kill(holder, signal.SIGKILL)
    wait_for(lambda: not processes_with(str(job.pk)))
    assert (namespace.sysctl(RMEM), namespace.qdisc()) == (WANTED, "pfifo")
    later = factories.job(node, "say", run_ref=52)
    program.start()
    assert ended(later).exit_code == 3
    assert (namespace.sysctl(RMEM), namespace.qdisc(), journals(program)) == (before, "noqueue", [])
    log = program.log.read_text()
    assert log.index("are put back") < log.index(str(later.pk))
    assert ended(job).fault == "agent-restarted"


def test_killing_who_holds_them_puts_them_back_at_once(
    program: AgentProgram, namespace: Namespace, node: Node
) -> None:
    before = namespace.sysctl(RMEM)
    job = held(node, net__ipv4__tcp_rmem=WANTED)
    (holder,) = processes_with(str(job.pk))
    os.kill(holder, signal.SIGKILL)
    job = ended(job)
    assert (job.signal, job.fault) == (9, "")
    wait_for(lambda: namespace.sysctl(RMEM) == before)
    wait_for(lambda: not journals(program))


def test_killing_the_measurement_alone_keeps_them_until_the_run_is_stopped(
    program: AgentProgram, namespace: Namespace, node: Node
) -> None:
    before = namespace.sysctl(RMEM)
    job = held(node, net__ipv4__tcp_rmem=WANTED)
    client = reached(factories.job(node, "nap", "92.5", run_ref=51), Job.State.RUNNING)
    for pid in processes_with("92.5"):
        os.kill(pid, signal.SIGKILL)
    assert ended(client).signal == 9
    assert namespace.sysctl(RMEM) == WANTED
    stop()
    ended(job)
    assert namespace.sysctl(RMEM) == before


def test_ending_the_agent_puts_them_back(program: AgentProgram, namespace: Namespace, node: Node) -> None:
    before = namespace.sysctl(RMEM)
    job = held(node, net__ipv4__tcp_rmem=WANTED)
    assert program.stop() == 0
    assert (namespace.sysctl(RMEM), journals(program)) == (before, [])
    assert ended(job).fault == "agent-restarted"


def test_a_setting_that_the_node_does_not_allow_is_refused(
    program: AgentProgram, namespace: Namespace, node: Node
) -> None:
    before = namespace.sysctl(RMEM)
    job = ended(ask(node, net__ipv4__tcp_rmem=WANTED, net__core__rmem_max="1048576"))
    assert (job.fault, job.fault_detail) == ("setting-not-allowed", "net.core.rmem_max")
    assert (namespace.sysctl(RMEM), journals(program)) == (before, [])


def test_a_value_that_the_kernel_refuses_changes_nothing(
    program: AgentProgram, namespace: Namespace, node: Node
) -> None:
    before = namespace.sysctl(RMEM)
    job = ended(ask(node, net__ipv4__tcp_rmem=WANTED, net__ipv4__tcp_congestion_control="nosuch"))
    assert (job.exit_code, job.ready_at) == (1, None)
    assert "net.ipv4.tcp_congestion_control: No such file" in printed(job)["stderr"]
    assert (namespace.sysctl(RMEM), journals(program)) == (before, [])


def test_a_queue_discipline_of_somebody_else_is_left_alone(
    program: AgentProgram, namespace: Namespace, node: Node
) -> None:
    namespace.inside("tc", "qdisc", "add", "dev", "data", "root", "handle", "5:", "pfifo", "limit", "9")
    job = ended(ask(node, qdisc="tbf rate 1gbit burst 64kb latency 50ms"))
    assert job.exit_code == 1
    assert "could not be put back" in printed(job)["stderr"]
    assert (namespace.qdisc(), journals(program)) == ("pfifo", [])
    namespace.inside("tc", "qdisc", "delete", "dev", "data", "root")


def test_two_jobs_do_not_set_the_same(program: AgentProgram, namespace: Namespace, node: Node) -> None:
    before = namespace.sysctl(RMEM)
    first = held(node, net__ipv4__tcp_rmem=WANTED)
    second = ended(ask(node, run_ref=53, net__ipv4__tcp_rmem="4096 65536 888888"))
    assert second.fault == "not-started"
    assert str(first.pk) in second.fault_detail
    stop()
    ended(first)
    assert namespace.sysctl(RMEM) == before


def test_it_takes_nothing_but_settings(program: AgentProgram, node: Node) -> None:
    asked = [
        factories.job(node, "fathom-settings", *names, files=files)
        for names, files in [
            ((), ()),
            (("missing",), ()),
            (("a", "b"), (("a", "{}"),)),
            (("a",), (("a", "{"),)),
            (("a",), (("a", '{"settings": ["mtu"]}'),)),
            (("a",), (("a", '{"settings": {"mtu": "$(reboot)"}}'),)),
            (("a",), (("a", '{"settings": {"mtu": "1000"}}'),)),
            (("a",), (("a", '{"settings": {"net.ipv4.tcp_../../kernel/hostname": "x"}}'),)),
        ]
    ]
    for job in map(ended, asked):
        assert (job.fault, job.started_at) == ("not-started", None), job.files
    assert not journals(program)


def test_the_server_knows_what_a_node_lets_be_set(program: AgentProgram, node: Node) -> None:
    wait_for(lambda: Agent.objects.filter(facts__isnull=False).exists(), 30)
    assert Agent.objects.get().facts.facts["settings"] == ["mtu", "net.ipv4.tcp_*", "qdisc"]
