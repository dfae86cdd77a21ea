"""Seeds draw the same faults again, each of those there are, and the runner says what came of them."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults import __main__ as command
from tests.faults import kinds, playing, server_clock, small_disks
from tests.faults.telling import line_of, table_of
from tests.faults.verdict import DOUBLED, Finding


def plan_of(seed: int) -> list[tuple[str, float]]:
    return [(fault.name, fault.at_s) for fault in playing.draw_faults(seed)]


def test_a_seed_draws_the_same_again() -> None:
    assert plan_of(7) == plan_of(7)
    assert plan_of(7) != plan_of(8)


def test_seventy_seeds_draw_every_fault_there_is() -> None:
    plans = [playing.draw_faults(seed) for seed in range(1, 71)]
    assert {fault.name for plan in plans for fault in plan} == set(kinds.registered())
    assert {len(plan) for plan in plans} == set(range(playing.FEWEST, playing.MOST + 1))


def test_every_fault_says_what_it_does() -> None:
    assert all(fault.__doc__ for fault in kinds.registered().values())


@pytest.mark.parametrize(("text", "seeds"), [("1-3", [1, 2, 3]), ("7", [7]), ("3,7,9-10", [3, 7, 9, 10])])
def test_seeds_are_named_by_numbers_and_ranges(text: str, seeds: list[int]) -> None:
    assert command.seeds_of(text) == seeds


@pytest.mark.parametrize("text", ["", "x", "5-1"])
def test_what_names_no_seed_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        command.seeds_of(text)


@pytest.mark.parametrize("findings", [[], [Finding(DOUBLED, "twice")]])
def test_what_is_found_is_told_and_is_the_exit_status(
    findings: list[Finding], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def play(seed: int, faults: list[playing.Played], **_how: object) -> playing.Outcome:
        for fault in faults:
            fault.recovery_s = 3.25
        return playing.Outcome(seed, faults, findings, took_s=40)

    monkeypatch.setattr(playing, "play", play)
    assert command.main(["--seeds", "4", "--only", "kill-web"]) == len(findings)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "seed 4: 1 WRONG in 40 s: kill-web at" if findings else "seed 4: ok in 40 s: kill-web at"
    )
    assert ("    doubled: twice" in lines) == bool(findings)
    (row,) = (line.split() for line in lines if line.startswith("kill-web"))
    assert row == ["kill-web", "1", "0", str(len(findings)), "0", "0", "0", "3.2", "s"]


def test_the_servers_clock_is_moved_or_it_is_said_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if server_clock.COMPILER:
        clock = server_clock.ServerClock(tmp_path)
        clock.set(-7200)
        program = "import time; print(time.time(), time.clock_gettime(time.CLOCK_MONOTONIC))"
        stdout = subprocess.run(
            [sys.executable, "-c", program], env=clock.env, capture_output=True, check=True
        ).stdout
        moved, even = map(float, stdout.split())
        assert abs(time.time() - 7200 - moved) < 600 > abs(time.monotonic() - even)
        assert server_clock.FAULT in kinds.registered()
    monkeypatch.setattr(server_clock, "COMPILER", None)
    monkeypatch.setattr(playing, "play", lambda seed, faults, **_how: playing.Outcome(seed, faults))
    assert server_clock.FAULT not in kinds.registered()
    command.main(["--seeds", "1"])
    assert server_clock.WITHOUT in capsys.readouterr().out


def test_disks_are_full_or_it_is_said_why_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(small_disks, "MAY_MOUNT", True)
    assert set(small_disks.FAULTS) < set(kinds.registered())
    monkeypatch.setattr(small_disks, "MAY_MOUNT", False)
    monkeypatch.setattr(playing, "play", lambda seed, faults, **_how: playing.Outcome(seed, faults))
    assert not set(small_disks.FAULTS) & set(kinds.registered())
    command.main(["--seeds", "1"])
    assert small_disks.WITHOUT in capsys.readouterr().out


def test_a_table_of_nothing_is_a_table() -> None:
    assert "0 seeds" in table_of([])
    assert line_of(playing.Outcome(1, [])) == "seed 1: ok in 0 s: "
