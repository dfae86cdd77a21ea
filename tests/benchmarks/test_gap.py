"""Gaps, ours and those of a shell loop."""

import subprocess

import pytest

from benchmarks import gap


def test_a_gap_lasts_from_an_end_to_the_next_start() -> None:
    assert gap.gaps_of([(0.0, 1.0), (1.25, 2.0), (2.5, 3.0)]) == [0.25, 0.5]


def test_the_95th_percentile_lies_between_values() -> None:
    assert gap.p95([float(value) for value in range(101)]) == pytest.approx(95)


def test_a_shell_loop_is_timed_command_by_command() -> None:
    times = gap.loop([["sleep", "0.2"], ["sleep", "0.1"]])
    assert len(times) == 2
    assert times[0][1] - times[0][0] >= 0.2
    assert times[0][1] <= times[1][0] < times[1][1]


def test_a_server_that_cannot_listen_is_told() -> None:
    with pytest.raises(RuntimeError, match="iperf3 -s -B"):
        gap.loop([["iperf3", "-c", "192.0.2.1"]])


def test_an_iperf3_loop_leaves_no_server_behind() -> None:
    gap.loop([["iperf3", "-c", "127.0.7.7", "-p", "5977", "-t", "1"]])
    left = subprocess.run(["pgrep", "-f", "127.0.7.7 -p 5977"], check=False)
    assert left.returncode == 1
