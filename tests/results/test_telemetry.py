"""What nodes said around a run's jobs is kept, also of failed runs, and shown to those who may see them."""

import json
import uuid
import zlib
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.agents.models import Job, JobOutput
from apps.bench.toolkit import Plan
from apps.campaigns.models import Campaign, Run
from apps.results import services, timings
from apps.results.models import Result, StageTiming
from apps.testbeds.models import Node
from tests import factories as people
from tests import rewriting
from tests.bench.telemetry import recorded
from tests.bench.tools import recordings
from tests.workers.factories import job_of, listen, measure, report, start
from workers import carry_out

INSTANT = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
RAW = recorded.raw("iperf3_loopback_window_16k")


def keep(run: Run, role: str = "client", raw: Any = RAW) -> Job:
    """Have an agent's telemetry kept of a run's job."""
    job = job_of(run, role)
    rewriting.update(
        JobOutput.objects.filter(job=job), telemetry_z=zlib.compress(json.dumps(raw, ensure_ascii=False).encode())
    )
    return job


@pytest.fixture
def run(measured: Campaign) -> Run:
    """Return a successful run whose client's agent told of it."""
    found = Run.objects.filter(trial__campaign=measured, state="succeeded").first()
    assert found is not None
    keep(found)
    return found


def addresses(run: Run) -> list[str]:
    job = job_of(run, "client")
    return [reverse("results:job_telemetry", args=[job.pk]), f"/api/v1/runs/{run.pk}/telemetry/"]


def test_telemetry_of_too_many_values_is_left_out(run: Run) -> None:
    assert services.telemetry_of(job_of(run, "client")) == RAW
    job = keep(run, raw=RAW | {"own": [{}] * services.MOST_VALUES_OF_TELEMETRY})
    job.refresh_from_db()
    assert services.telemetry_of(job) == {}


@pytest.mark.parametrize(("sign", "bytes_of_each"), [("x", 1), ("\N{HIGH BRIGHTNESS SYMBOL}", 4)])
def test_telemetry_of_a_run_is_held_within_one_bound(
    sign: str, bytes_of_each: int, run: Run, cast: SimpleNamespace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = RAW | {"own": sign * 100_000}
    for role in ("client", "server"):
        keep(run, role, long)
    length = bytes_of_each * 100_000
    for room, is_read in (
        (3 * length, [True, True]),
        (length * 3 // 2, [True, False]),
        (length // 2, [False, False]),
    ):
        monkeypatch.setattr(services, "MOST_BYTES_OF_TELEMETRY", room)
        assert [bool(each) for each in services.telemetries_of(services.jobs_of(run))] == is_read
        jobs = client.get(addresses(run)[1], **people.bearer(cast.bob)).json()["jobs"]
        assert len(jobs) == sum(is_read)
        outputs = services._outputs_of(services.jobs_of(run), Plan.from_json(run.plan), ())
        assert [bool(output.telemetry) for output in outputs] == is_read


def test_a_stranger_sees_nothing(client: Client, run: Run) -> None:
    page, rest = addresses(run)
    assert client.get(page).status_code == 302
    assert client.get(rest).status_code in (401, 403)


def test_another_team_finds_nothing(client: Client, run: Run, cast: SimpleNamespace) -> None:
    client.force_login(cast.charlie)
    page, rest = addresses(run)
    assert client.get(page).status_code == 404
    assert client.get(rest, **people.bearer(cast.charlie)).status_code == 404


def test_a_viewer_reads_it_over_rest(client: Client, run: Run, cast: SimpleNamespace) -> None:
    told = client.get(addresses(run)[1], **people.bearer(cast.bob)).json()
    (job,) = told["jobs"]
    assert (told["run"], told["stages"], job["role"], job["node"]) == (run.pk, [], "client", "kisti01")
    assert job["telemetry"] == RAW
    figures = {figure["name"]: (figure["value"], figure["unit"]) for figure in job["figures"]}
    assert figures["send_window_max"] == (16384, "B")
    assert client.post(addresses(run)[1], **people.bearer(cast.alice)).status_code == 405


def test_a_viewer_sees_charts_and_the_table_under_them(client: Client, run: Run, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    charts = client.get(addresses(run)[0]).json()["charts"]
    labels = {chart["metric"]["name"]: chart["metric"]["label"] for chart in charts}
    assert labels["kernel_tcp_limits"] == "What TCP waited for"
    limits = next(chart for chart in charts if chart["metric"]["name"] == "kernel_tcp_limits")
    assert {line["label"] for line in limits["series"]} == {"receiver's window", "send buffer", "congestion window"}
    page = client.get(reverse("results:trial", args=[run.trial_id])).content.decode()
    assert addresses(run)[0] in page
    assert "TCP waited for the receiver&#x27;s window" in page
    assert page.index("data-series-charts") < page.index("TCP waited for the receiver")


def test_a_page_without_telemetry_says_nothing_of_it(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    page = client.get(reverse("results:trial", args=[measured.trials.first().pk])).content.decode()
    assert "meanwhile" not in page


def test_a_failed_run_keeps_and_shows_it(client: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    measure(run, recordings.load("iperf3-tcp", "err_refused.txt"))
    keep(run)
    assert carry_out.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    client.force_login(cast.bob)
    page = client.get(reverse("results:trial", args=[run.trial_id])).content.decode()
    assert addresses(run)[0] in page
    assert client.get(addresses(run)[0]).json()["charts"]


def test_the_result_says_what_limited_tcp(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    measure(run)
    keep(run)
    assert carry_out.advance(run.pk)
    result = Result.objects.get()
    assert result.observed["tcp"]["receiver_window_limited"] == pytest.approx(0.569, abs=0.001)
    assert result.series.filter(metric="kernel_tcp_limits").count() == 3


def test_structures_are_not_shown_as_settings(client: Client, cast: SimpleNamespace, run: Run) -> None:
    rewriting.update(Result.objects.filter(run=run), observed={"tcp": {"busy": 1}, "clients": [1], "mss": 8948})
    client.force_login(cast.bob)
    page = client.get(reverse("results:trial", args=[run.trial_id])).content.decode()
    assert "&#x27;busy&#x27;" not in page
    assert "mss" in page


def test_the_page_asks_no_more_of_the_database_for_more_jobs(client: Client, cast: SimpleNamespace, run: Run) -> None:
    client.force_login(cast.bob)
    address = reverse("results:trial", args=[run.trial_id])
    client.get(address)
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    job = job_of(run, "client")
    output = job.output
    for _number in range(5):
        job.pk = output.job_id = uuid.uuid4()
        job._state.adding = output._state.adding = True
        job.save(force_insert=True)
        output.save(force_insert=True)
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) == len(few)


def planned(run: Run, role: str, *, stage: int, after_s: float, lasted_s: float | None) -> None:
    """Have a job of a run been planned for one instant, started after a while and lasted for some time."""
    begun = INSTANT + timedelta(seconds=after_s)
    rewriting.update(
        Job.objects.filter(run_ref=run.pk, role=role),
        stage=stage,
        start_at=INSTANT,
        created_at=INSTANT - timedelta(seconds=1),
        started_at=begun,
        ended_at=begun + timedelta(seconds=lasted_s) if lasted_s is not None else None,
        clock_error_s=0.002 if role == "client" else 0.001,
    )


def test_starts_of_a_stage_are_compared(client: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    planned(run, "client", stage=1, after_s=0.010, lasted_s=10)
    planned(run, "server", stage=1, after_s=0.030, lasted_s=10)
    plan = Plan.from_json(run.plan).as_json()
    plan["stages"][1]["together"] = True
    rewriting.update(Run.objects, plan=plan)
    run.refresh_from_db()
    for _twice in range(2):
        timings.record_timings(run=run)
    timing = StageTiming.objects.get()
    assert (timing.stage, timing.name, timing.commands, timing.started) == (1, "measure", 2, 2)
    assert timing.skew_s == pytest.approx(0.020, abs=0.005)
    assert timing.late_s == pytest.approx(0.030, abs=0.005)
    assert timing.overlap == pytest.approx(9.98 / 10.02, abs=0.002)
    assert timing.clock_error_s == 0.002
    jobs = list(Job.objects.all())
    assert services.start_skew_s(jobs) == pytest.approx(0.030, abs=0.005)
    told = client.get(f"/api/v1/runs/{run.pk}/telemetry/", **people.bearer(cast.bob)).json()
    assert told["stages"][0]["skew_s"] == timing.skew_s
    client.force_login(cast.bob)
    page = client.get(reverse("results:trial", args=[run.trial_id])).content.decode()
    assert "2 commands with a common start" in page
    assert "99.6 %" in page or "99.5 %" in page


def test_a_command_that_never_started_leaves_no_overlap(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    planned(run, "client", stage=1, after_s=0.010, lasted_s=10)
    planned(run, "server", stage=1, after_s=0.030, lasted_s=None)
    rewriting.update(Job.objects.filter(role="server"), started_at=None)
    plan = Plan.from_json(run.plan).as_json()
    plan["stages"][1]["together"] = True
    rewriting.update(Run.objects, plan=plan)
    run.refresh_from_db()
    timings.record_timings(run=run)
    timing = StageTiming.objects.get()
    assert (timing.started, timing.overlap, timing.skew_s) == (1, None, 0.0)


def test_a_run_without_a_common_start_has_no_timings(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    listen(run)
    report(job_of(run, "client"), Job.State.RUNNING)
    assert timings.record_timings(run=run) == []
    assert not StageTiming.objects.exists()
