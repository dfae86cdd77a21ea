"""Files that a job is given and gives back, and what is put in for placeholders; a real agent and real commands."""

import json
import os
import zlib

import pytest

from apps.agents.models import Job
from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agent.states import ended, printed
from tests.agents import factories
from tests.agents.live import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def given_back(job: Job) -> dict[str, bytes]:
    return {file.name: zlib.decompress(file.content_z) for file in job.collected.all()}


def test_it_puts_files_into_the_work_folder_and_gives_others_back(agent: AgentProgram, node: Node) -> None:
    job = ended(
        factories.job(
            node, "copy", files=[("input", "Größe\r\n1 2\n")], collect=["output", "listing", "output", "missing"]
        )
    )
    found = given_back(job)
    assert found.keys() == {"output", "listing"}
    assert found["output"].decode() == "Größe\r\n1 2\n"
    owner = b"nobody" if os.geteuid() == 0 else b""
    assert found["listing"].startswith(b"-rw-------")
    assert owner in found["listing"]
    wait_for(lambda: not list((agent.folder / "work").iterdir()))


def test_it_puts_the_folder_and_programs_in_for_placeholders(agent: AgentProgram, node: Node) -> None:
    agent.stop()
    path = agent.folder / "agent.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "remote_shells": ["say"]}))
    agent.start()
    job = ended(
        factories.job(
            node,
            "copy",
            "-d={work}/x",
            "{program:say}{other}",
            files=[("input", "{work} {program:nap} {x}")],
            collect=["output"],
            environment=[("OMP_NUM_THREADS", "3"), ("RSH", "{program:say}")],
        )
    )
    work, say = str(agent.folder / "work" / str(job.pk)), str(agent.home / "tools" / "say")
    assert printed(job)["stdout"] == f"-d={work}/x {say}{{other}} 3 {say}\n"
    assert given_back(job)["output"].decode() == f"{work} {agent.home / 'tools' / 'nap'} {{x}}"


def test_a_placeholder_gives_no_program_that_is_not_on_the_list(agent: AgentProgram, node: Node) -> None:
    words, content, empty = "{program:sh}", [("input", "{program:sh}")], [("input", "")]
    jobs = {
        "a word": factories.job(node, "say", words),
        "a file": factories.job(node, "copy", files=content),
        "a variable": factories.job(node, "copy", files=empty, environment=[("RSH", words)]),
    }
    for where, asked in jobs.items():
        job = ended(asked)
        refusal = ("not-allowed", "sh is not on the allow-list", None)
        assert (job.fault, job.fault_detail, job.started_at) == refusal, where


def test_a_placeholder_says_when_its_program_is_not_installed(idle_agent: AgentProgram, node: Node) -> None:
    tools.allow(idle_agent.folder, {"gone": "/nowhere/gone"})
    idle_agent.start()
    job = ended(factories.job(node, "say", "{program:gone}"))
    assert (job.fault, job.fault_detail) == ("not-found", "gone is not installed")


def test_it_writes_and_reads_plain_names_only(agent: AgentProgram, node: Node) -> None:
    names = ["../x", "/tmp/x", "a/b", "..", ".", "", "-rf", "a b", "x" * 101]
    written = {name: factories.job(node, "say", files=[(name, "x")]) for name in names}
    jobs = {name: factories.job(node, "say", collect=[name]) for name in names if len(name) <= 100}
    for name, job in written.items():
        assert ended(job).fault == "not-started", name
        assert "no plain name" in ended(job).fault_detail, name
    for name, job in jobs.items():
        assert (ended(job).fault, ended(job).started_at) == ("not-started", None), name


def test_it_says_which_variable_it_refuses(agent: AgentProgram, node: Node) -> None:
    job = ended(factories.job(node, "say", environment=[("LD_PRELOAD", "x.so")]))
    assert (job.fault, job.fault_detail) == ("option-not-allowed", "say LD_PRELOAD")


def test_it_gives_back_only_what_is_the_jobs_own(agent: AgentProgram, node: Node) -> None:
    names = ["link", "pipe", "twin", "folder", "input", "plain"]
    job = ended(factories.job(node, "snatch", files=[("input", "secret")], collect=names))
    assert given_back(job) == {"plain": b"kept\n"}


def test_it_gives_back_no_more_than_the_output_limit_and_says_so(agent: AgentProgram, node: Node) -> None:
    job = ended(factories.job(node, "pour", collect=["first", "second"], output_limit_bytes=4000))
    sizes = {file.name: (len(given_back(job)[file.name]), file.size, file.truncated) for file in job.collected.all()}
    assert sizes == {"first": (3000, 3000, False), "second": (1000, 3000, True)}
