"""A node's kernel settings are changed for a job and put back whatever happens: a real agent in a real namespace."""

import json
import os
import signal
from pathlib import Path

from apps.agents.models import Agent, Job
from apps.testbeds.models import Node
from tests.agent import namespaces
from tests.agent.namespaces import Namespace, ask, held, journals, namespace, program, server_process, stop
from tests.agent.program import AgentProgram, processes_with
from tests.agent.states import ended, printed, reached
from tests.agents import factories
from tests.agents.live import wait_for

__all__ = ["namespace", "program", "server_process"]

pytestmark = namespaces.MARKS
RMEM = "net.ipv4.tcp_rmem"
WANTED = "4096 65536 777777"


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
