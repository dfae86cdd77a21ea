"""Settings that cut their node off are put back by the agent itself; an outage of the server's alone undoes none."""

import base64
import shutil
import uuid
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from workers.agent import jobs, settings
from workers.agent.clock import Clock
from workers.agent.condition import Condition
from workers.agent.config import Config
from workers.agent.disks import Disk
from workers.agent.identity import Identity
from workers.agent.process import Process
from workers.agent.removal import Clearing
from workers.agent.settings import Switch, silence
from workers.agent.spool import Record, Spool

# What a restart of the server of a minute takes from the last answer to the next one: a poll that was held, the
# minute, one that waits for its answer, a pause.
RESTART_S = 20 + 60 + 35 + 5


def switch(monkeypatch: pytest.MonkeyPatch, silence_s: float, **process: Any) -> tuple[Switch, list[str]]:
    """Return a switch that has looked once or more, and what it did."""
    monkeypatch.setattr(silence, "LOOK_EVERY_S", 0.0)
    did: list[str] = []
    looks = iter([False, False, True])
    fake = SimpleNamespace(
        pid=1, exit_code=0, is_over_within=lambda _s: next(looks), stop=lambda: did.append("stop"), **process
    )
    dead_man = Switch(cast(Process, fake), lambda: silence_s)
    dead_man.run()
    return dead_man, did


def test_who_hears_nothing_for_too_long_puts_back_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    dead_man, did = switch(monkeypatch, 200.4)
    assert did == ["stop"]
    assert dead_man.fault() == (
        "server-unheard",
        "the node heard nothing of its server for 200 s while these settings were in force: they were put back",
    )


def test_a_restart_of_the_server_undoes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dead_man, did = switch(monkeypatch, RESTART_S)
    assert (did, dead_man.fault()) == ([], ("", ""))


def test_what_was_not_put_back_is_not_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    dead_man, _did = switch(monkeypatch, 200.0)
    cast(Any, dead_man)._process.exit_code = 1
    assert "put back" not in dead_man.fault()[1]


def test_the_server_is_heard_by_its_answers_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("workers.agent.condition.time.monotonic", lambda: now[0])
    condition = Condition(tmp_path, Disk())
    now[0] = 150.0
    condition.say("The server is away (timed out); trying again")
    assert condition.silence_s() == 50.0
    condition.note_sign()
    assert condition.silence_s() == 0.0
    now[0] = 160.0
    condition.note_contact()
    assert condition.silence_s() == 0.0


def carried_out(folder: Path, argv: list[str], silence_s: float) -> Record:
    """Return the record of a job of 2 s at most, carried out while the server has been silent for so long."""
    spool = Spool.open(folder / "spool")
    job = {"id": str(uuid.uuid4()), "argv": argv, "time_limit_s": 2.0, "output_limit_bytes": 1000}
    record = spool.accept(job)
    runner = jobs.Runner(
        record,
        spool=spool,
        config=Config("http://127.0.0.1:1", "x", programs={"sleep": shutil.which("sleep")}),
        identity=Identity("job", outlives=True),
        work=folder / "work",
        clock=Clock(),
        sampler=None,
        restoration=settings.Restoration(settings.Journals(folder / "settings")),
        clearing=Clearing(),
        troubles=MagicMock(),
        confinement=MagicMock(),
        silence_s=lambda: silence_s,
        changed=lambda _record: None,
    )
    runner.start()
    runner.join(30)
    return record


def test_the_job_that_holds_settings_ends_with_that_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence, "LOOK_EVERY_S", 0.05)
    monkeypatch.setattr(settings, "prepare", lambda *_args: [shutil.which("sleep"), "60"])
    (tmp_path / "work").mkdir()
    facts = carried_out(tmp_path, [settings.PROGRAM, "a"], silence.MOST_SILENCE_S + 1).facts
    assert (facts["fault"], facts["timed_out"]) == (silence.UNHEARD, False)
    assert "heard nothing of its server for 181 s" in facts["fault_detail"]
    printed = zlib.decompress(base64.b64decode(facts["stderr"])).decode()
    assert printed == f"{settings.PROGRAM}: {facts['fault_detail']}\n"
    # What sets nothing goes on, and is told when the server is back.
    for argv, silence_s in ((["sleep", "60"], silence.MOST_SILENCE_S + 1), ([settings.PROGRAM, "a"], RESTART_S)):
        facts = carried_out(tmp_path, argv, silence_s).facts
        assert (facts["fault"], facts["timed_out"]) == ("", True), facts
