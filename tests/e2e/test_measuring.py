"""Real campaigns with the real programs on real agents, over REST."""

import itertools
import statistics
import time
from datetime import datetime

import pytest

from tests.e2e.conftest import Stack
from tests.lab.labs import refute

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]


def test_a_window_sweep_with_iperf3_ends_with_a_table(stack: Stack) -> None:
    sweep = {
        "name": "windows",
        "tool": "iperf3-tcp",
        "fixed": {"duration": "1 s", "omit": "0 s"},
        "factors": [{"name": "window", "expression": "64KiB, 256KiB"}],
        "repetitions": 2,
    }
    launched = stack.launch("Loopback windows", sweep)
    ended = stack.wait_until(launched["id"])
    assert ended["state"] == "finished"
    assert ended["progress"]["succeeded"] == 4
    experiment = next(stack.api.every(f"experiments/?campaign={launched['id']}"))
    table = stack.api.get(f"experiments/{experiment['id']}/results/")
    assert [group["n"] for group in table["groups"]] == [2, 2]
    assert all(group["mean"] > 1e8 for group in table["groups"])
    programs = {job["argv"][0] for job in stack.api.every(f"jobs/?node={stack.nodes['local-1']}")}
    # The path is looked at before and after.
    assert {"iperf3", "ping"} <= programs


def test_what_a_tool_refuses_is_told_and_not_tried_again(stack: Stack) -> None:
    wrong = {"name": "unknown", "tool": "iperf3-tcp", "fixed": {"congestion": "nosuchcc", "duration": "1 s"}}
    launched = stack.launch("Refused", {**wrong, "repetitions": 1})
    ended = stack.wait_until(launched["id"])
    assert ended["progress"]["failed"] == 1
    trial = next(stack.api.every(f"trials/?campaign={launched['id']}"))
    assert not trial["reason"]["retryable"]
    assert "nosuchcc" in str(trial["reason"])


def test_a_cancelled_campaign_stops_at_once(stack: Stack) -> None:
    long = {"name": "long", "tool": "ping", "fixed": {"count": "500"}, "repetitions": 2}
    launched = stack.launch("Cancelled", long)
    while not list(stack.api.every(f"runs/?campaign={launched['id']}&state=running")):
        time.sleep(0.1)
    stack.api.post(f"campaigns/{launched['id']}/cancel/")
    stack.wait_until(launched["id"], within_s=10)
    quick = stack.launch("After", {"name": "one", "tool": "ping", "fixed": {"count": "2"}, "repetitions": 1})
    assert stack.wait_until(quick["id"], within_s=15)["progress"]["succeeded"] == 1


def test_the_gap_between_measurements_is_short(stack: Stack) -> None:
    pings = {"name": "gap", "tool": "ping", "fixed": {"count": "2"}, "repetitions": 12}
    launched = stack.launch("Gaps", pings)
    stack.wait_until(launched["id"])
    trials = {trial["id"] for trial in stack.api.every(f"trials/?campaign={launched['id']}")}
    runs = {run["id"] for trial in trials for run in stack.api.every(f"runs/?trial={trial}")}
    jobs = [job for job in stack.api.every(f"jobs/?node={stack.nodes['local-1']}") if job["run_ref"] in runs]
    times = sorted((_seconds(job["started_at"]), _seconds(job["ended_at"])) for job in jobs)
    gaps = [later[0] - earlier[1] for earlier, later in itertools.pairwise(times)]
    assert len(gaps) == 11
    # The figure itself is the benchmark's; here only that nothing waits for the timetable's next second.
    if statistics.median(gaps) >= 0.5:
        refute(f"the gaps were {gaps} s")


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
