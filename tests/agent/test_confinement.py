"""What a job's program can touch on its node: tried by the job itself, on a real agent, whatever it is told."""

import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from apps.agents.models import Agent
from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram, processes_with, wait_until_gone
from tests.agent.states import ended, printed
from tests.agents import factories
from tests.agents.live import wait_for
from workers.agent.sandbox import kernel

pytestmark = pytest.mark.django_db(transaction=True)

needs_landlock = pytest.mark.skipif(kernel.landlock_version() == 0, reason="this kernel has no Landlock")


def answer_of(node: Node, text: str) -> str:
    """Return what a shell script prints, its errors among it."""
    job = ended(factories.job(node, "sh", "-c", f"exec 2>&1; {text}"))
    assert not job.fault, job.fault_detail
    return printed(job).get("stdout", "")


@needs_landlock
def test_a_job_can_write_in_its_own_folder_alone(shell: AgentProgram, node: Node) -> None:
    open_to_all = shell.home / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    secret = shell.home / "accounts"
    secret.write_text("secret of others")
    secret.chmod(0o666)
    shell.start()
    said = answer_of(
        node,
        f"echo own > own; cat own; cat {secret}; echo more >> {secret}; echo x > {open_to_all}/x; ls {shell.folder}; "
        f"cat {shell.folder}/agent.json; echo y > /dev/shm/fathom-y; echo z > /tmp/fathom-z; cp /bin/true t; ./t; "
        "head -c 4 /etc/os-release >/dev/null && echo etc",
    )
    assert "own\n" in said
    assert said.endswith("etc\n")
    assert "secret of others" not in said
    assert "fth_agent_" not in said
    assert said.lower().count("permission denied") >= 6, said
    assert secret.read_text() == "secret of others"
    assert not list(open_to_all.iterdir())
    assert not Path("/tmp/fathom-z").exists()


@needs_landlock
def test_a_job_can_write_where_the_owner_says(shell: AgentProgram, node: Node) -> None:
    scratch = shell.home / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    tools.configure(shell.folder, paths=[str(scratch)])
    shell.start()
    assert answer_of(
        node, f"echo here > {scratch}/file; cat {scratch}/file; mkdir {scratch}/d; rm -r {scratch}/d"
    ) == ("here\n")


def test_an_owner_can_do_without_the_sandbox_and_the_server_is_told(shell: AgentProgram, node: Node) -> None:
    open_to_all = shell.home / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    tools.configure(shell.folder, sandbox=False)
    shell.start()
    assert answer_of(node, f"echo out > {open_to_all}/x; grep NoNewPrivs /proc/self/status") == "NoNewPrivs:\t0\n"
    assert (open_to_all / "x").exists()
    confinement = wait_for(lambda: facts_of(node))["confinement"]
    assert (confinement["landlock"], confinement["no_new_privileges"], confinement["own_shared_memory"]) == (
        0,
        False,
        False,
    )


def facts_of(node: Node) -> dict[str, Any]:
    """Return the facts that the node's agent has told, {} as long as it has not."""
    agent = Agent.objects.select_related("facts").get(node=node)
    return agent.facts.facts if agent.facts else {}


def test_a_job_can_gain_no_rights(shell: AgentProgram, node: Node) -> None:
    """A copy of id(1) that belongs to root and is setuid stays what the job is."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a program of root's")
    program = shell.home / "tools" / "setuid-id"
    shutil.copy(shutil.which("id") or "/usr/bin/id", program)
    program.chmod(0o4755)
    assert program.stat().st_mode & stat.S_ISUID
    tools.allow(shell.folder, {"setuid-id": str(program)})
    shell.start()
    assert answer_of(node, f"grep NoNewPrivs /proc/self/status; {program} -u") == "NoNewPrivs:\t1\n65534\n"


def test_the_agent_itself_is_not_confined_by_its_jobs(shell: AgentProgram, node: Node) -> None:
    shell.start()
    for _number in range(3):
        answer_of(node, "true")
    assert shell.process is not None
    status = Path(f"/proc/{shell.process.pid}/status").read_text()
    assert "NoNewPrivs:\t0" in status
    # A program of later is found where no job may look.
    assert (shell.folder / "spool").is_dir()


def test_daemons_do_not_outlive_the_normal_end_of_their_job(shell: AgentProgram, node: Node) -> None:
    shell.start()
    mark = "71.25"
    # It leaves the session, the folder, the environment and its parent.
    said = answer_of(
        node, f"(cd / && exec env -i setsid sh -c '(sleep {mark} &) ; sleep {mark}') >/dev/null & sleep 0.3"
    )
    assert said == ""
    assert not processes_with(mark)


def test_what_hides_ends_when_no_job_is_left_that_could_own_it(shell: AgentProgram, node: Node) -> None:
    shell.start()
    mark = "72.25"
    longer = factories.job(node, "sh", "-c", "sleep 3")
    wait_for(lambda: type(longer).objects.get(pk=longer.pk).started_at)
    answer_of(node, f"(cd / && exec env -i setsid sh -c '(sleep {mark} &) ; sleep {mark}') >/dev/null & sleep 0.3")
    assert ended(longer).exit_code == 0
    wait_until_gone(mark)


def test_a_job_that_ends_does_not_touch_those_beside_it(shell: AgentProgram, node: Node) -> None:
    shell.start()
    beside = [factories.job(node, "sh", "-c", "sleep 2; echo whole") for _number in range(4)]
    for _number in range(8):
        answer_of(node, "true")
    assert [printed(ended(job))["stdout"] for job in beside] == ["whole\n"] * 4


def test_the_agent_reports_what_is_in_force(shell: AgentProgram, node: Node) -> None:
    tools.configure(shell.folder, paths=["/scratch"], destinations=["10.0.0.0/8"], options={"mtr": ["-F file"]})
    tools.configure(shell.folder, variables=["OMP_STACKSIZE"])
    shell.start()
    confinement = wait_for(lambda: facts_of(node))["confinement"]
    assert confinement["landlock"] == kernel.landlock_version()
    assert confinement["no_new_privileges"]
    assert confinement["orphans"]
    assert confinement["paths"] == ["/scratch"]
    assert confinement["destinations"] == ["10.0.0.0/8"]
    assert confinement["variables"] == ["OMP_STACKSIZE"]
    assert json.dumps(confinement["options"]) == '{"mtr": ["-F file"]}'
