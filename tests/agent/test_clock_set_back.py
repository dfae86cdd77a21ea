"""A clock that is set while a job runs: no time is before the job's start, whoever carries the job on."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workers.agent import condition, leftovers, main, spool, steady

JOB = {"id": "0b9d3c4e-0000-4000-8000-000000000001", "argv": ["say"]}
# By so much is the clock set (s).
STEPS = (-86_400.0, -3600.0, -2.0, 0.0, 3600.0)
# The agent alone: what else the workers are takes ten times as long to be loaded.
_EARLIER = "import json; from agent import steady; print(json.dumps([steady.now(), steady.mark()]))"
_WORKERS = Path(steady.__file__).parents[1]


def begun_by_another(folder: Path, *, marked: bool = True, boot: str = "") -> tuple[spool.Spool, float]:
    """Return a spool with a job that an earlier process began, and when that was by its clock."""
    argv = [sys.executable, "-c", _EARLIER]
    process = subprocess.run(argv, cwd=_WORKERS, capture_output=True, text=True, check=True)
    started_at, mark = json.loads(process.stdout)
    kept = spool.Spool(folder / "spool")
    record = kept.accept(JOB)
    kept.note(record, started_at=started_at)
    if marked:
        kept.note(record, mark={**mark, "boot": boot or mark["boot"]})
    return spool.Spool.open(folder / "spool"), started_at


def set_clock(monkeypatch: pytest.MonkeyPatch, by_s: float) -> None:
    """Have this process be one that began after the clock was set."""
    monkeypatch.setattr(steady, "_BASE", time.time() - time.monotonic() + by_s)


@pytest.mark.parametrize("by_s", STEPS)
def test_a_job_that_was_cut_off_ends_by_the_clock_that_it_began_by(
    by_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, started_at = begun_by_another(tmp_path)
    set_clock(monkeypatch, by_s)
    (record,) = kept
    leftovers.close_left_over(record, kept, tmp_path)
    assert 0 <= record.facts["ended_at"] - started_at < 60


@pytest.mark.parametrize("by_s", STEPS)
@pytest.mark.parametrize("known", [{"marked": False}, {"boot": "another start of the machine"}], ids=str)
def test_where_that_clock_is_gone_no_job_ends_before_it_began(
    known: dict[str, str], by_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, started_at = begun_by_another(tmp_path, **known)
    set_clock(monkeypatch, by_s)
    (record,) = kept
    leftovers.close_left_over(record, kept, tmp_path)
    assert max(0, by_s) <= record.facts["ended_at"] - started_at < max(0, by_s) + 60


@pytest.mark.parametrize("mark", [None, 7, {}, {"base": "x", "boot": "y"}, {"base": True}, ["base"]], ids=str)
def test_a_mark_that_is_none_is_none(mark: object) -> None:
    assert abs(steady.now_by(mark) - steady.now()) < 5


def test_an_answer_that_is_still_to_come_is_no_sign_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"server": "http://127.0.0.1:1", "node": "n", "token": "t", "programs": {}}
    (tmp_path / "agent.json").write_text(json.dumps(config))
    monkeypatch.setattr(condition, "read", lambda _folder: {"contact": time.time() + 3600})
    assert main.status(tmp_path, argparse.Namespace()) == 3
    assert "clock was set back" in capsys.readouterr().out
