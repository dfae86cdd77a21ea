"""Rules of retention: what would go is shown first; then it is packed or dropped, samples never."""

import json
import random
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection
from django.db.models import F
from django.test import Client
from django.utils import timezone

from apps.agents import compression
from apps.agents.models import JobOutput
from apps.archive.models import RetentionRule
from apps.archive.retention import queries, services
from apps.campaigns.models import Campaign, Run
from apps.results import charts, packed_arrays
from apps.results import services as results
from apps.results.models import Result, Sample, Series
from apps.testbeds.models import Node
from tests import factories as people
from tests import rewriting
from tests.campaigns import factories as make


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a turn end by itself also on a busy machine."""
    monkeypatch.setattr(services, "TURN_S", 3600.0)


def old(campaign: Campaign, days: int = 100) -> None:
    ended = timezone.now() - timedelta(days=days)
    rewriting.update(Run.objects.filter(trial__campaign=campaign), ended_at=ended, created_at=ended)


def rule(cast: SimpleNamespace, kind: str, action: str, days: int = 90) -> RetentionRule:
    made = services.set_rule(team=cast.team, user=cast.alice, kind=kind, days=days, action=action)
    assert made is not None
    return made


def printed() -> list[dict[str, bytes]]:
    jobs = [job for run in Run.objects.all() for job in results.jobs_of(run)]
    return [results.printed_by(job) for job in sorted(jobs, key=lambda job: job.pk)]


def series() -> list[tuple[str, str, list[float], list[float]]]:
    rows = Series.objects.order_by("result", "metric", "stream")
    return [(row.metric, row.stream, row.times, row.values) for row in rows]


@pytest.mark.parametrize("length", [0, 1, 7, 1000])
def test_arrays_are_packed_without_any_loss(length: int) -> None:
    numbers = random.Random(length)
    times = [number * 0.1 for number in range(length)]
    values = [numbers.choice((numbers.gauss(9e8, 1e7), 0.0, -0.0, 1e-300, float("inf"))) for _number in range(length)]
    packed = packed_arrays.pack_arrays(times, values)
    assert packed_arrays.unpack_arrays(packed) == (times, values)
    assert length < 1000 or len(packed) < 12 * length


@pytest.mark.parametrize("data", [b"", b"x", b"line\n" * 50_000], ids=["empty", "short", "long"])
def test_raw_output_is_packed_byte_for_byte_and_given_back_in_parts(data: bytes) -> None:

    stored = zlib.compress(data, 1)
    for kept in (stored, compression.pack(stored), compression.pack(compression.pack(stored))):
        assert compression.unpack(kept) == data
        parts = list(compression.unpack_in_parts(kept, 1000))
        assert b"".join(parts) == data
        assert max(map(len, parts), default=0) <= 1000
    assert len(compression.pack(stored)) <= len(stored)


def test_packing_leaves_everything_as_it_reads(measured: Campaign, cast: SimpleNamespace) -> None:
    before, drawn = (series(), printed()), charts.series_of(Result.objects.order_by("pk")[0])
    old(measured)
    rules = [rule(cast, "series", "pack"), rule(cast, "output", "pack")]
    assert services.carry_out(now=timezone.now()) is False
    assert (series(), printed()) == before
    assert charts.series_of(Result.objects.order_by("pk")[0]) == drawn
    assert not Series.objects.filter(packed_z=None).exists()
    for done in rules:
        done.refresh_from_db()
        assert done.runs_done == 4
        assert done.bytes_freed > 0


def test_dropping_takes_what_is_old_enough_and_never_a_sample(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    samples = list(Sample.objects.order_by("pk").values())
    old(measured)
    young = Run.objects.order_by("pk").last()
    rewriting.update(Run.objects.filter(pk=young.pk), ended_at=timezone.now() - timedelta(days=89))
    rule(cast, "series", "drop")
    rule(cast, "output", "drop")
    services.carry_out(now=timezone.now())
    assert set(Series.objects.values_list("result__run", flat=True)) == {young.pk}
    assert set(JobOutput.objects.values_list("job__run_ref", flat=True)) == {young.pk}
    assert list(Sample.objects.order_by("pk").values()) == samples
    dropped = Result.objects.filter(series_dropped_at__isnull=False, output_dropped_at__isnull=False)
    assert dropped.count() == 3
    client.force_login(cast.bob)
    page = client.get(f"/results/trials/{dropped[0].trial_id}/").content.decode()
    assert "no longer kept" in page


def test_what_was_seen_to_is_not_looked_at_again_unless_more_is_asked_for(
    measured: Campaign, cast: SimpleNamespace
) -> None:
    old(measured)
    rule(cast, "series", "pack")
    services.carry_out(now=timezone.now())
    services.carry_out(now=timezone.now())
    assert rule(cast, "series", "pack", days=30).runs_done == 4
    services.carry_out(now=timezone.now())
    assert RetentionRule.objects.get().runs_done == 4
    rule(cast, "series", "drop")
    services.carry_out(now=timezone.now())
    assert not Series.objects.exists()


def test_runs_that_ended_at_the_same_moment_are_all_seen_to(
    measured: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    old(measured)
    monkeypatch.setattr(services, "BATCH", 1)
    monkeypatch.setattr(services, "LOOK", 3)
    rule(cast, "series", "drop")
    monkeypatch.setattr(services, "TURN_S", -1.0)
    assert services.carry_out(now=timezone.now()) is True
    monkeypatch.setattr(services, "TURN_S", 3600.0)
    assert services.carry_out(now=timezone.now()) is False
    assert not Series.objects.exists()


def test_other_teams_are_not_touched(measured: Campaign, cast: SimpleNamespace) -> None:
    old(measured)
    services.set_rule(team=cast.other_team, user=cast.charlie, kind="series", days=1, action="drop")
    services.carry_out(now=timezone.now())
    assert Series.objects.exists()


def test_the_page_shows_what_would_go_before_it_keeps_a_rule(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    old(measured)
    client.force_login(cast.alice)
    wish = {"series_days": "90", "series_action": "drop", "output_days": "", "output_action": "pack"}
    shown = client.post("/retention/grid/", wish)
    assert "4 runs" in shown.content.decode()
    assert not RetentionRule.objects.exists()
    assert (
        client.post("/retention/grid/", {**wish, "series_days": "5", "seen": shown.context["seen"]}).status_code
        == 200
    )
    assert not RetentionRule.objects.exists()
    assert client.post("/retention/grid/", {**wish, "seen": shown.context["seen"]}).status_code == 302
    kept = RetentionRule.objects.get()
    assert (kept.kind, kept.days, kept.action, kept.changed_by) == ("series", 90, "drop", cast.alice)
    assert "/retention/grid/" in client.get("/accounts/teams/grid/").content.decode()
    assert client.post("/retention/grid/", {**wish, "series_days": "0"}).status_code == 422


def test_only_a_manager_changes_rules_and_strangers_see_none(client: Client, cast: SimpleNamespace) -> None:
    for user, reading, writing in ((cast.charlie, 404, 404), (cast.bob, 200, 403), (cast.oscar, 200, 403)):
        client.force_login(user)
        headers = people.bearer(user)
        for address in ("/retention/grid/", "/api/v1/teams/grid/retention/"):
            assert client.get(address, **headers).status_code == reading
        assert client.post("/retention/grid/", {}).status_code == writing
        body = [{"kind": "series", "days": 9}]
        for method, rest in ((client.put, ""), (client.post, "preview/")):
            answer = method(f"/api/v1/teams/grid/retention/{rest}", body, content_type="application/json", **headers)
            assert answer.status_code == writing
    with pytest.raises(PermissionDenied):
        services.set_rule(team=cast.team, user=cast.oscar, kind="series", days=9)
    with pytest.raises(ValidationError):
        services.set_rule(team=cast.team, user=cast.alice, kind="samples", days=9)


def test_rest_shows_keeps_and_ends_rules(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    old(measured)
    headers, address = people.bearer(cast.alice), "/api/v1/teams/grid/retention/"
    body = [{"kind": "output", "days": 90, "action": "drop"}]
    [would] = client.post(f"{address}preview/", body, content_type="application/json", **headers).json()
    assert (would["runs"], would["things"]) == (4, JobOutput.objects.count())
    assert would["bytes"] > 0
    [kept] = client.put(address, body, content_type="application/json", **headers).json()
    assert (kept["kind"], kept["days"], kept["action"]) == ("output", 90, "drop")
    assert client.put(address, [], content_type="application/json", **headers).json() == []
    wrong = client.put(address, [{"kind": "samples", "days": 0}], content_type="application/json", **headers)
    assert wrong.status_code == 400


def end_one_an_hour(cast: SimpleNamespace, pair: list[Node], count: int) -> datetime:
    """Make runs of which one ended in each of the last hours, stored as it ended; return the time now."""
    trial = make.launched(cast, *pair, factors=[], repetitions=1).trials.get()
    now = timezone.now()
    known = {"experiment": trial.experiment, "state": "failed"}
    hours = range(1, count + 1)
    Run.objects.bulk_create(
        Run(trial=trial, **known, attempt=hour, ended_at=now - timedelta(hours=hour)) for hour in hours
    )
    Run.objects.update(created_at=F("ended_at"))
    return now


def test_what_is_due_is_found_by_its_index(cast: SimpleNamespace, pair: list[Node]) -> None:
    now = end_one_an_hour(cast, pair, 5000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE campaigns_run")
    seen_to = rule(cast, "series", "pack")
    seen_to.done_at, seen_to.done_run = now - timedelta(days=92), 0
    due = queries.due_runs(seen_to, queries.BY_END, now)
    assert due.count() == 48
    plan = json.loads(due.explain(format="json"))[0]["Plan"]
    [scan] = [node for node in nodes_of(plan) if node.get("Index Name") == "runs_by_end"]
    # Neither what was seen to nor what is too young is looked at.
    assert scan["Index Cond"].count("ended_at") == 2


def test_what_came_later_with_an_earlier_end_is_found_by_its_index(cast: SimpleNamespace, pair: list[Node]) -> None:
    now = end_one_an_hour(cast, pair, 5000)
    Run.objects.filter(attempt__gt=4990).update(created_at=now - timedelta(hours=2))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE campaigns_run")
    seen_to = rule(cast, "series", "pack")
    seen_to.done_at, seen_to.arrival_at = now - timedelta(days=92), now - timedelta(days=1)
    due = queries.due_runs(seen_to, queries.BY_ARRIVAL, now)
    assert due.count() == 10
    plan = json.loads(due.explain(format="json"))[0]["Plan"]
    assert [node for node in nodes_of(plan) if node.get("Index Name") == "runs_by_arrival"]


def seen_to() -> tuple[int, int]:
    """Return how many runs the rule has seen to, and of how many something is stored."""
    return RetentionRule.objects.get().runs_done, Series.objects.values("result__run").distinct().count()


def test_what_comes_later_with_an_earlier_end_is_seen_to_once(measured: Campaign, cast: SimpleNamespace) -> None:
    now = timezone.now()
    old(measured, days=200)
    late = Run.objects.filter(pk__in=[run.pk for run in Run.objects.order_by("pk")[2:]])
    # Nobody sees it yet when the rule begins.
    rewriting.update(late, ended_at=None)
    rule(cast, "series", "drop")
    services.carry_out(now=now)
    assert seen_to() == (2, 2)
    rewriting.update(late, ended_at=now - timedelta(days=300), created_at=now)
    for minutes, expected in ((59, (2, 2)), (61, (4, 0)), (122, (4, 0)), (183, (4, 0))):
        services.carry_out(now=now + timedelta(minutes=minutes))
        assert seen_to() == expected


def test_what_came_with_an_end_that_is_not_due_yet_is_seen_to_once_it_is(
    measured: Campaign, cast: SimpleNamespace
) -> None:
    now = timezone.now()
    old(measured, days=200)
    late = Run.objects.order_by("pk").last()
    rewriting.update(Run.objects.filter(pk=late.pk), ended_at=now - timedelta(days=80), created_at=now)
    rule(cast, "series", "drop")
    for days, expected in ((0, (3, 1)), (5, (3, 1)), (11, (4, 0)), (12, (4, 0))):
        services.carry_out(now=now + timedelta(days=days))
        assert seen_to() == expected


def test_what_came_while_more_days_are_asked_for_is_not_forgotten(measured: Campaign, cast: SimpleNamespace) -> None:
    now = timezone.now()
    old(measured, days=200)
    late = Run.objects.order_by("pk").last()
    rewriting.update(Run.objects.filter(pk=late.pk), ended_at=now)
    rule(cast, "series", "drop", days=90)
    services.carry_out(now=now)
    rule(cast, "series", "drop", days=400)
    # It ended before what the rule had seen to while it kept less.
    rewriting.update(Run.objects.filter(pk=late.pk), ended_at=now - timedelta(days=250), created_at=now)
    services.carry_out(now=now + timedelta(days=1))
    assert Series.objects.exists()
    services.carry_out(now=now + timedelta(days=151))
    assert not Series.objects.exists()


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", []):
        yield from nodes_of(inner)
