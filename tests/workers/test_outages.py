"""Settings that an agent put back as it did not hear the server: what had ended by then was measured under them."""

import dataclasses
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.agents.models import Job
from apps.bench import settings
from apps.bench.toolkit import Output
from apps.campaigns.models import Run
from apps.results import impossible_times
from apps.testbeds import services as inventory
from apps.testbeds.models import Node
from tests.bench.test_context import PING as LOOK
from tests.workers.factories import SILENT, report, start, window_sweep
from workers import carry_out

KEY = "net.ipv4.tcp_congestion_control"
APPLIED = b'applied {"net.ipv4.tcp_congestion_control": {"earlier": "cubic", "applied": "bbr"}}\nrestored\n'
HELD = Output("client", settings.STAGE, "kisti01", (settings.PROGRAM,), APPLIED, b"", 0)
UNHEARD = {"fault": "server-unheard", "fault_detail": "heard nothing for 181 s"}
# After the tool's end (s).
PUT_BACK_S, BACK_S = 20.0, 40.0


def job(run: Run, stage: str, role: str = "client") -> Job:
    """Return the first job of a stage that has not ended."""
    number = [item["name"] for item in run.plan["stages"]].index(stage)
    return Job.objects.filter(run_ref=run.pk, stage=number, role=role, state__in=Job.OPEN_STATES).first()


def times(began: datetime, ended: datetime) -> dict[str, Any]:
    return {"started_at": began, "ended_at": ended}


def begun(cast: SimpleNamespace, pair: list[Node], **values: Any) -> Run:
    """Return a run whose client measures under a setting, with a look around before and after."""
    inventory.grant_setting(node=pair[0], user=cast.alice, pattern=KEY)
    fixed = {"duration": "2 s", f"setting.client.{KEY}": "bbr"}
    run = start(cast, pair, factors=[], fixed=fixed, context=True, repetitions=1, **values)
    report(job(run, settings.STAGE), Job.State.READY)
    carry_out.advance(run.pk)
    run.refresh_from_db()
    for _probe in range(2):
        report(job(run, "around-before"), Job.State.ENDED, dataclasses.replace(SILENT, stdout=b""))
    carry_out.advance(run.pk)
    report(job(run, "serve", "server"), Job.State.READY)
    carry_out.advance(run.pk)
    report(job(run, "measure"), Job.State.RUNNING)
    return run


def put_back(run: Run, tool_ended: datetime, held: Output = HELD) -> None:
    ended_at = tool_ended + timedelta(seconds=PUT_BACK_S)
    report(job(run, settings.STAGE), Job.State.ENDED, held, **UNHEARD, **times(timezone.now(), ended_at))


def end(run: Run, tool_ended: datetime) -> Run:
    """Stop what is left of a run after the server is back, and return how it ended."""
    carry_out.advance(run.pk)
    back = tool_ended + timedelta(seconds=BACK_S)
    report(job(run, "serve", "server"), Job.State.ENDED, SILENT, **times(timezone.now(), back))
    for left in Job.objects.filter(run_ref=run.pk, state__in=Job.OPEN_STATES):
        report(left, Job.State.ENDED, dataclasses.replace(SILENT, stdout=LOOK), **times(back, back))
    carry_out.advance(run.pk)
    run.refresh_from_db()
    return run


@pytest.mark.parametrize("first", ["tool", "settings"])
def test_what_had_ended_before_settings_were_put_back_counts(
    cast: SimpleNamespace, pair: list[Node], first: str
) -> None:
    run, ended = begun(cast, pair), timezone.now()
    measured = job(run, "measure")
    if first == "settings":
        # Whatever order the reports come in.
        put_back(run, ended)
        carry_out.advance(run.pk)
    report(measured, Job.State.ENDED, window_sweep(), **times(ended, ended))
    if first == "tool":
        carry_out.advance(run.pk)
        # The look around afterwards begins before it is heard what became of the settings.
        for look in Job.objects.filter(run_ref=run.pk, state=Job.State.QUEUED):
            report(look, Job.State.RUNNING, started_at=ended + timedelta(seconds=BACK_S))
        put_back(run, ended)
    run = end(run, ended)
    assert run.state == "succeeded", run.reason
    flags = {flag["name"]: flag["severity"] for flag in run.result.flags}
    assert "setting-lost" not in flags
    assert "invalid" not in flags.values()
    assert run.result.observed["settings"]["kisti01"][KEY]["applied"] == "bbr"
    # A look around under other settings says nothing of what was measured.
    assert not run.result.observed.get("context", {}).get("after")


@pytest.mark.parametrize(
    ("late_s", "tool", "held"),
    [
        (PUT_BACK_S + 5.0, {}, {}),
        # Nearer than the clocks and the putting back can be told apart.
        (PUT_BACK_S - 1.0, {}, {}),
        (0.0, {"exit_code": 1}, {}),
        (0.0, {"timed_out": True}, {}),
        (0.0, {}, {"exit_code": 1}),
        (0.0, {}, {"exit_code": None, "signal": 9}),
    ],
)
def test_what_was_still_at_work_or_did_not_end_well_is_measured_again(
    cast: SimpleNamespace, pair: list[Node], late_s: float, tool: dict[str, Any], held: dict[str, Any]
) -> None:
    run, ended = begun(cast, pair), timezone.now()
    tool_times = times(ended, ended + timedelta(seconds=late_s))
    report(job(run, "measure"), Job.State.ENDED, window_sweep(), **{**tool_times, **tool})
    put_back(run, ended, dataclasses.replace(HELD, **held))
    run = end(run, ended)
    assert (run.state, run.reason["code"]) == ("failed", "server-unheard")


def test_a_tool_that_had_more_to_do_is_measured_again(cast: SimpleNamespace, pair: list[Node]) -> None:
    run, ended = begun(cast, pair), timezone.now()
    stages = [dict(stage) for stage in run.plan["stages"]]
    run.plan = {**run.plan, "stages": [*stages[:-1], {**stages[-2], "name": "measure-more"}, stages[-1]]}
    run.save()
    put_back(run, ended)
    report(job(run, "measure"), Job.State.ENDED, window_sweep(), **times(ended, ended))
    run = end(run, ended)
    assert (run.state, run.reason["code"]) == ("failed", "server-unheard")


def test_times_that_say_nothing_let_nothing_count(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, ended = begun(cast, pair), timezone.now()
    report(job(run, "measure"), Job.State.ENDED, window_sweep(), **times(ended, ended))
    put_back(run, ended)
    monkeypatch.setattr(impossible_times, "steps_during", lambda _run: ["3600"])
    run = end(run, ended)
    assert (run.state, run.reason["code"]) == ("failed", "server-unheard")
