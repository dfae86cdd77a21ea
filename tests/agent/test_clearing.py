"""Work folders go before anything else is measured, also those that a killed agent left behind."""

import json
import os
import signal
import subprocess
import threading
import uuid
from pathlib import Path

import pytest

from apps.agents.models import Agent, Job
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram
from tests.agent.states import ended, reached
from tests.agents import factories
from tests.agents.live import wait_for
from workers.agent import removal
from workers.agent.spool import Spool

live = pytest.mark.django_db(transaction=True)


def fill(folder: Path, files: int = 3) -> Path:
    folder.mkdir(parents=True)
    for number in range(files):
        (folder / f"file{number}").write_text("x")
    return folder


def test_a_sweep_takes_only_what_has_a_jobs_name_and_follows_no_link(tmp_path: Path) -> None:
    work, elsewhere = tmp_path / "work", fill(tmp_path / "elsewhere")
    left = fill(work / str(uuid.uuid4()) / "deep").parent
    (left / "way out").symlink_to(elsewhere)
    kept = fill(work / str(uuid.uuid4()))
    others = fill(work / "not-ours")
    (work / str(uuid.uuid4())).symlink_to(elsewhere)
    swept = removal.Clearing()
    swept.sweep(work, spared=(kept.name,))
    assert swept.wait(30)
    assert sorted(work.iterdir()) == sorted([kept, others])
    assert len(list(elsewhere.iterdir())) == 3
    assert len(list(kept.iterdir())) == 3
    assert not swept.left()


def test_what_cannot_be_removed_is_told_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path / str(uuid.uuid4()))
    removing = removal.Clearing()
    real = os.unlink

    def refuse(path: object, *args: object, **options: object) -> None:
        if "file1" in str(path):
            raise PermissionError(1, "Operation not permitted")
        real(path, *args, **options)

    monkeypatch.setattr(os, "unlink", refuse)
    removing.remove(folder)
    assert removing.wait(30, folder)
    assert "Operation not permitted" in removing.left()[folder]
    monkeypatch.setattr(os, "unlink", real)
    monkeypatch.setattr(removing, "_again_at", 0.0)
    removing.left()
    assert removing.wait(30)
    assert not folder.exists()
    assert not removing.left()


def test_who_waits_for_a_large_folder_is_told_when_it_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    monkeypatch.setattr(removal, "_removed", lambda _folder: go.wait(30) and "")
    removing = removal.Clearing()
    folder = tmp_path / str(uuid.uuid4())
    removing.remove(folder)
    assert not removing.wait(0.05, folder)
    assert removing.under_way() == [folder]
    go.set()
    assert removing.wait(30, folder)


def test_an_outcome_is_told_only_once_it_is_settled_and_outlives_the_agent(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    record = spool.accept({"id": "a"})
    spool.set_outcome(record, {"ended_at": 5.0, "exit_code": 3})
    assert not record.is_finished
    (found,) = Spool.open(tmp_path / "spool")
    assert not found.is_finished
    spool.settle(record, fault="node-trouble")
    for one in (record, *Spool.open(tmp_path / "spool")):
        assert one.is_finished
        assert (one.facts["exit_code"], one.facts["fault"]) == (3, "node-trouble")
        assert "outcome" not in one.facts


@live
def test_the_end_is_reported_when_the_folder_is_gone(agent: AgentProgram, node: Node) -> None:
    job = ended(factories.job(node, "where"))
    assert not (agent.folder / "work" / str(job.pk)).exists()
    assert job.exit_code == 0


@live
def test_an_agent_that_died_before_it_removed_the_folder_gives_the_result(
    idle_agent: AgentProgram, node: Node
) -> None:
    # As it is left by an agent that is killed between a job's end and the end of the removal.
    idle_agent.start()
    job = reached(factories.job(node, "nap", "82.5", time_limit_s=200), Job.State.RUNNING)
    idle_agent.stop(signal.SIGKILL)
    (spooled,) = idle_agent.spooled()
    started = job.started_at.timestamp()
    outcome = {"ended_at": started + 1.0, "exit_code": 3, "signal": None, "timed_out": False, "fault": ""}
    with spooled.open("a") as file:
        file.write("\n" + json.dumps({"outcome": {**outcome, "clock": None}}))
    folder = idle_agent.folder / "work" / str(job.pk)
    (folder / "deep").mkdir(parents=True, exist_ok=True)
    stray = fill(idle_agent.folder / "work" / str(uuid.uuid4()), 2000)
    idle_agent.start()
    job = ended(job)
    assert (job.exit_code, job.fault) == (3, "")
    wait_for(lambda: not folder.exists() and not stray.exists())


@live
def test_a_large_leftover_delays_no_poll_but_the_next_trial(idle_agent: AgentProgram, node: Node, home: Path) -> None:
    # So many files that their removal takes a while, as that of a large data set does.
    stray = idle_agent.folder / "work" / str(uuid.uuid4())
    first = fill(stray / "part", 700)
    for number in range(59):
        subprocess.run(["cp", "-r", str(first), f"{first}{number}"], check=True)
    idle_agent.start()
    wait_for(lambda: Agent.objects.filter(instance__isnull=False).exists())
    job = ended(factories.job(node, "say"), 90)
    assert (job.exit_code, job.fault) == (3, "")
    assert not stray.exists(), "the job began while the folder was still being removed"
    wait_for(lambda: not Agent.objects.get().troubles)
    assert Agent.objects.get().set_aside_at is None
