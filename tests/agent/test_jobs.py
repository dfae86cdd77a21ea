"""The agent program carries out jobs: a real process, a real server, real commands."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Job
from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram, processes_with, wait_until_gone
from tests.agent.states import ended, printed, reached
from tests.agent.waiters import EXCUSED, Waiters, waiting
from tests.agents import factories
from tests.agents.live import measured, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_runs_a_command_and_reports_what_came_of_it(agent: AgentProgram, node: Node) -> None:
    before = timezone.now()
    job = ended(factories.job(node, "say", "a b", "$HOME; *"))
    assert printed(job) == {"stdout": "out: a b $HOME; *\n", "stderr": "err: a b $HOME; *\n"}
    assert (job.exit_code, job.signal, job.timed_out, job.fault) == (3, None, False, "")
    assert before < job.started_at < job.ended_at < timezone.now()
    assert abs(job.clock_offset_s) < 0.1
    assert 0 < job.clock_error_s < 0.1
    wait_for(lambda: not agent.spooled())


def test_it_runs_jobs_in_a_folder_of_their_own_as_an_unprivileged_user(agent: AgentProgram, node: Node) -> None:
    job = ended(factories.job(node, "where"))
    lines = printed(job)["stdout"].splitlines()
    assert lines[0].endswith(str(job.pk))
    if os.geteuid() == 0:
        assert lines[1:3] == ["65534", "65534"]
    assert lines[-1] == "made"
    environment = [line for line in lines if "=" in line]
    usual = {"PATH", "LC_ALL", "HOME", "TMPDIR", "PWD", "PYTHONSAFEPATH", "PYTHONNOUSERSITE"}
    assert {line.partition("=")[0] for line in environment} <= usual
    assert f"HOME={lines[0]}" in environment
    wait_for(lambda: not list((agent.folder / "work").iterdir()))


def test_jobs_leave_no_core_dumps(agent: AgentProgram, node: Node) -> None:
    assert printed(ended(factories.job(node, "limits")))["stdout"] == "0\n"


def test_it_runs_jobs_where_its_own_folder_shuts_others_out(idle_agent: AgentProgram, node: Node) -> None:
    hidden = idle_agent.home / "hidden"
    hidden.mkdir(mode=0o700)
    idle_agent.folder = idle_agent.folder.rename(hidden / "agent")
    idle_agent.start()
    job = ended(factories.job(node, "where"))
    lines = printed(job)["stdout"].splitlines()
    assert lines[-1] == "made"
    assert (os.geteuid() != 0) == lines[0].startswith(str(hidden))
    place = Path(lines[0]).parent
    assert place.is_dir()
    idle_agent.stop()
    # Its own folder is the agent's to keep; one in the temp folder would be nobody's.
    assert place.exists() == place.is_relative_to(hidden)


def test_it_says_when_a_background_job_is_ready_and_stops_it(agent: AgentProgram, node: Node) -> None:
    job = factories.job(node, "serve", "61.5", background=True, ready_pattern="^about to listening", run_ref=21)
    job = reached(job, Job.State.READY)
    assert 0.4 < (job.ready_at - job.started_at).total_seconds() < 15
    services.request_stop(run_ref=21, now=timezone.now())
    job = ended(job)
    assert (job.signal, job.exit_code, job.fault) == (15, None, "")
    assert (job.ended_at - job.ready_at).total_seconds() < 15
    wait_until_gone("61.5")


def test_it_finds_a_ready_pattern_in_a_line_without_an_end(agent: AgentProgram, node: Node) -> None:
    job = factories.job(node, "serve", "62.5", background=True, ready_pattern="to listen", run_ref=22)
    assert reached(job, Job.State.READY)
    services.request_stop(run_ref=22, now=timezone.now())
    ended(job)


def test_no_ready_pattern_holds_up_the_agent(agent: AgentProgram, node: Node) -> None:
    # An engine that backtracks is not done with this before the sun is.
    pattern, line = "-?" * 45 + "-" * 59 + "X", "-" * 59
    first = factories.job(node, "copy", line, background=True, ready_pattern=pattern, files=[("input", "")])
    second = ended(factories.job(node, "say"))
    assert (second.exit_code, second.fault) == (3, "")
    first = ended(first)
    assert (first.fault, first.ready_at) == ("", None)
    assert line in printed(first)["stdout"]


def test_it_says_what_is_wrong_with_a_ready_pattern(agent: AgentProgram, node: Node) -> None:
    job = ended(factories.job(node, "nap", "1", background=True, ready_pattern="("))
    assert job.fault == "not-started"
    assert "ready pattern" in job.fault_detail


def test_it_stops_a_job_at_its_time_limit(agent: AgentProgram, node: Node) -> None:
    job = ended(factories.job(node, "nap", "63.5", time_limit_s=0.5))
    assert (job.timed_out, job.signal, job.fault) == (True, 15, "")
    assert 0.4 < (job.ended_at - job.started_at).total_seconds() < 15
    wait_until_gone("63.5")


def test_it_kills_what_does_not_listen_with_all_its_children(agent: AgentProgram, node: Node) -> None:
    job = ended(factories.job(node, "stubborn", "64.5", time_limit_s=0.3))
    assert (job.timed_out, job.signal) == (True, 9)
    # A busy machine may be late, but never as late as the job would have been.
    assert 2.2 < (job.ended_at - job.started_at).total_seconds() < 15
    assert printed(job) == {"stdout": "deaf\n"}
    wait_until_gone("64.5")


def test_it_stops_the_whole_process_group(agent: AgentProgram, node: Node) -> None:
    job = reached(factories.job(node, "family", "65.5", run_ref=23), Job.State.RUNNING)
    wait_for(lambda: len(processes_with("65.5")) == 3)
    services.request_stop(run_ref=23, now=timezone.now())
    ended(job)
    wait_until_gone("65.5")


def test_it_keeps_the_head_of_a_long_output_and_says_so(agent: AgentProgram, node: Node) -> None:
    job = ended(factories.job(node, "flood", output_limit_bytes=1000))
    assert printed(job) == {"stdout": "x" * 1000, "stderr": "end\n"}
    assert (job.output.stdout_bytes, job.output.stderr_bytes, job.output.truncated) == (1_000_000, 4, True)


def test_it_refuses_what_is_not_on_its_list(agent: AgentProgram, node: Node) -> None:
    refused = (["sh", "-c", "true"], ["/bin/true"], ["../say"], [""], ["agent.json"])
    for job in [ended(one) for one in factories.jobs(node, refused)]:
        assert job.fault == "not-allowed", job.argv
        assert job.started_at is None, job.argv
        assert not hasattr(job, "output"), job.argv


def test_it_refuses_a_tool_that_the_node_forbids(idle_agent: AgentProgram, node: Node) -> None:
    tools.allow(idle_agent.folder, {"ping": None, "gone": "/nowhere/gone"})
    idle_agent.start()
    assert ended(factories.job(node, "ping")).fault == "not-allowed"
    assert ended(factories.job(node, "gone")).fault == "not-found"


def test_it_says_why_a_program_cannot_start(idle_agent: AgentProgram, node: Node) -> None:
    broken = idle_agent.home / "broken"
    broken.write_text("#!/nowhere/interpreter\n")
    broken.chmod(0o755)
    tools.allow(idle_agent.folder, {"broken": str(broken)})
    idle_agent.start()
    job = ended(factories.job(node, "broken"))
    assert job.fault == "not-started"
    assert "No such file or directory" in job.fault_detail


def test_a_program_knows_itself_by_its_name(idle_agent: AgentProgram, node: Node) -> None:
    other = idle_agent.home / "other-name"
    other.symlink_to("/bin/cat")
    tools.allow(idle_agent.folder, {"other": str(other)})
    tools.configure(idle_agent.folder, options={"other": ["*"]}, destinations=["no.such.host.invalid"])
    idle_agent.start()
    assert printed(ended(factories.job(node, "ping", "no.such.host.invalid")))["stderr"].startswith("ping: no.such")
    assert f"{other}: " in printed(ended(factories.job(node, "other", "/nowhere")))["stderr"]


@dataclass(frozen=True)
class Late:
    """How late (s) jobs began after a common instant, by the agent, by themselves, and as bare processes did."""

    reported: list[float]
    own: list[float]
    bare: list[float]

    def is_little(self) -> bool:
        """Say whether it is no more than the machine and the way of a job explain."""
        excused = EXCUSED * max(self.bare)
        return max(self.reported) < 0.1 + excused and max(self.own) < 0.2 + excused


def started_late(node: Node, waiters: Waiters) -> Late:
    """Have three jobs begin at a common instant."""
    start = timezone.now() + timezone.timedelta(seconds=1)
    queued = [factories.job(node, "stamp", start_at=start) for _number in range(3)]
    waiters.begin(start, len(queued))
    jobs = [ended(job) for job in queued]
    return Late(
        [(job.started_at - start).total_seconds() for job in jobs],
        [float(printed(job)["stdout"]) - start.timestamp() for job in jobs],
        waiters.late(),
    )


@pytest.mark.quiet
def test_it_starts_jobs_at_their_instant(agent: AgentProgram, node: Node) -> None:
    ended(factories.job(node, "say"))
    with waiting() as waiters:
        late = measured(lambda: started_late(node, waiters), Late.is_little)
    assert min(late.reported + late.own) >= 0
    assert late.is_little(), late


def test_it_does_not_start_what_is_stopped_before_its_instant(agent: AgentProgram, node: Node) -> None:
    start = timezone.now() + timezone.timedelta(seconds=60)
    job = reached(factories.job(node, "say", start_at=start, run_ref=24), Job.State.DELIVERED)
    time.sleep(0.2)
    services.request_stop(run_ref=24, now=timezone.now())
    job = ended(job)
    assert (job.fault, job.started_at) == ("stopped", None)


def test_it_runs_many_jobs_side_by_side(agent: AgentProgram, node: Node) -> None:
    jobs = [factories.job(node, "nap", "4") for _number in range(10)]
    began = time.monotonic()
    done = [ended(job) for job in jobs]
    # One after the other they would take forty.
    assert time.monotonic() - began < 30
    assert {job.exit_code for job in done} == {0}


def test_real_ping_works_for_the_job_user(agent: AgentProgram, node: Node) -> None:
    job: Any = ended(factories.job(node, "ping", "-n", "-c", "2", "-i", "0.2", "127.0.0.1"))
    assert job.exit_code == 0, printed(job)
    assert "2 packets transmitted, 2 received" in printed(job)["stdout"]
