"""Settings that cannot be put back as their job ends are put back later; until then their node is set aside."""

import os
import signal
from collections.abc import Callable

import pytest

from apps.agents.models import Agent, Job
from apps.bench import settings as bench
from apps.bench.toolkit import Output, Reading
from apps.testbeds.models import Node
from tests.agent import namespaces
from tests.agent.namespaces import Namespace, ask, held, journals, namespace, program, server_process, stop
from tests.agent.program import AgentProgram, processes_with
from tests.agent.states import ended, printed, reached
from tests.agents.live import wait_for
from tests.bench.settings.test_settings import TOOL
from workers.agent.settings import restoration

__all__ = ["namespace", "program", "server_process"]

pytestmark = namespaces.MARKS
PATIENCE_S = restoration.MOST_WAIT_S + 10.0


def kill_holder(_program: AgentProgram, job: Job) -> None:
    (holder,) = processes_with(str(job.pk))
    os.kill(holder, signal.SIGKILL)


def kill_agent(program: AgentProgram, _job: Job) -> None:
    program.stop(signal.SIGKILL)
    program.start()


# Whatever ends a job that holds settings.
ENDS: dict[str, Callable[[AgentProgram, Job], None]] = {
    "stop": lambda _program, _job: stop(),
    "holder": kill_holder,
    "agent": kill_agent,
}


def rename(namespace: Namespace, name: str, to: str) -> None:
    namespace.inside("ip", "link", "set", name, "down")
    namespace.inside("ip", "link", "set", name, "name", to)
    namespace.inside("ip", "link", "set", to, "up")


def troubles() -> dict[str, str]:
    return {trouble["code"]: trouble["detail"] for trouble in Agent.objects.get().troubles}


def flags_of(job: Job) -> list[str]:
    """Return the flags that a result has for the job that held its settings."""
    streams = {"stdout": "", "stderr": "", **printed(job)}
    output = Output(
        *("client", bench.STAGE, "a", tuple(job.argv), streams["stdout"].encode(), streams["stderr"].encode()),
        *(job.exit_code,),
        signal=job.signal,
    )
    return [flag.name for flag in bench.judge(Reading(()), [output], {}, TOOL).flags]


@pytest.mark.parametrize("end", ENDS)
def test_what_cannot_be_put_back_sets_its_node_aside_until_it_can(
    program: AgentProgram, namespace: Namespace, node: Node, end: str
) -> None:
    job = held(node, mtu="1400", qdisc="pfifo limit 7")
    rename(namespace, "data", "away")
    try:
        ENDS[end](program, job)
        words = wait_for(lambda: troubles().get(restoration.TROUBLE))
        assert "mtu was 1500 before" in words
        assert "qdisc was default before" in words
        assert Agent.objects.get().set_aside_at
        early = ended(ask(node, run_ref=53, net__ipv4__tcp_rmem="4096 65536 777777"))
        assert (early.fault, early.fault_detail) == ("node-trouble", f"{restoration.TROUBLE}: {words}")
        assert restoration.TROUBLE in program.call("status", "--dir", str(program.folder)).stdout
        assert len(journals(program)) == 1
    finally:
        rename(namespace, "away", "data")
    wait_for(lambda: not journals(program), PATIENCE_S)
    assert (namespace.mtu(), namespace.qdisc()) == (1500, "noqueue")
    wait_for(lambda: not troubles() and not Agent.objects.get().set_aside_at, PATIENCE_S)
    job = ended(job)
    if end == "agent":
        assert job.fault == "agent-restarted"
    else:
        assert "settings-remain" in flags_of(job)
    later = reached(ask(node, run_ref=54, mtu="1400"), Job.State.READY)
    assert namespace.mtu() == 1400
    stop(54)
    assert ended(later).exit_code == 0
    assert namespace.mtu() == 1500
