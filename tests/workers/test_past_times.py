"""No time that a clock wrote which was a year ahead keeps anything waiting for a year once the clock is right."""

import ast
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models
from django.utils import timezone

from apps.agents import troubles
from apps.agents.models import Job
from apps.campaigns.waits.reasons import REASONS, reason
from apps.core import broker, clock, clock_steps, signs
from apps.core.limits import counters
from apps.core.templatetags import fathom
from launch.home import ROOT
from tests.workers import test_clock_ahead
from workers import past_times

YEAR = timedelta(days=365)
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
COMPARED = {"lt", "lte", "gt", "gte", "range"}

# Times that are compared, and need no correction, each with the reason.
BOUNDED = {
    # Dates that people choose, or that are told when they are given.
    "due_at": "the date of a schedule",
    "expires_at": "told when the token is made",
    "start_at": "chosen by people, or seconds ahead of a job: apps.agents.services.losses passes over those",
    "until": "how long a team is spared; whoever declined may take it back",
    # Looked at as lying ahead where they are read.
    "asked_at": "clock.is_ahead",
    "asking_since": "clock.is_ahead",
    "heard_until": "apps.agents.queries.even_since, and each heartbeat writes it",
    "last_seen_at": "apps.agents.services.heartbeats puts it to now",
    "listening_since": "written anew after each step",
    "last_at": "apps.core.isolation, SetAside.is_waiting",
    "hour": "counted up to this hour only",
    # Follows from others, which are corrected.
    "fenced_until": "apps.campaigns.services.fences follows `may_run_until`",
    "may_run_until": "workers.past_times, as far as the time limit",
    # Compared with each other, or with periods that people choose: nothing waits for them.
    "confirmed_at": "with `refused_at`",
    "refused_at": "with `confirmed_at`",
    "ended_at": "what is kept, and figures; nothing waits",
    "expanded_at": "with the planning of the same experiment",
    "finished_at": "periods of reports and comparisons",
    "invalid_at": "with the making of an edition; nothing waits",
    "judged_at": "periods of reports",
    "of": "with the same of today, for being another; what else is called so is no time",
}

# Times that nobody compares and no page says "since" of, and stay as their clock wrote them, each with the reason.
RECORDS = {
    **dict.fromkeys(("admitted_at", "left_at", "replaced_at", "retired_at", "used_at"), "what agents did"),
    **dict.fromkeys(("archived_at", "revoked_at", "withdrawn_at", "decided_at"), "what people did"),
    **dict.fromkeys(("analysed_at", "deleting_at", "arrival_at", "begun_at", "done_at"), "that it was done"),
    **dict.fromkeys(("campaign_created_at", "deleted_at"), "of what is no more"),
    **dict.fromkeys(("edition_at", "made_at", "measured_at", "recorded_at", "superseded_at"), "of what was measured"),
    **dict.fromkeys(("output_dropped_at", "reported_at", "series_dropped_at"), "that it was done"),
    **dict.fromkeys(("presumed_ended_at", "ready_at", "released_at", "stop_requested_at"), "of what is over"),
    **dict.fromkeys(("date_joined", "last_login", "logout_time"), "of others' models"),
    **dict.fromkeys(("counted_at", "requested_at", "threshold", "unsent_since"), "written anew in a while"),
}


def times() -> dict[str, set[str]]:
    """Return {field: its models} of all times that are kept."""
    found: dict[str, set[str]] = {}
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.DateTimeField) and model.__module__.startswith(("apps.", "axes.")):
                found.setdefault(field.name, set()).add(model._meta.label)
    return found


def compared_in(tree: ast.AST, names: set[str]) -> set[str]:
    """Return which times a source compares: in a query, by an operator, or as how long ago they were."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg and node.arg.rpartition("__")[2] in COMPARED:
            found.add(node.arg.split("__")[-2])
        elif isinstance(node, ast.Compare) and any(
            isinstance(way, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for way in node.ops
        ):
            found |= {side.attr for side in (node.left, *node.comparators) if isinstance(side, ast.Attribute)}
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            found |= {side.attr for side in (node.left, node.right) if isinstance(side, ast.Attribute)}
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "is_ahead":
            found |= {side.id for side in node.args[:1] if isinstance(side, ast.Name)}
    return found & names


def test_each_time_that_is_compared_is_corrected_chosen_anew_or_bounded() -> None:
    kept = times()
    sources = [
        path
        for folder in ("apps", "workers")
        for path in (ROOT / folder).rglob("*.py")
        if not {"migrations", "agent", "bench"} & set(path.relative_to(ROOT).parts)
    ]
    compared = set().union(*(compared_in(ast.parse(path.read_text()), set(kept)) for path in sources))
    assert {"began_at", "updated_at", "asked_at", "expires_at"} <= compared
    corrected = {name for _label, name in past_times.PAST_TIMES} | set(Job.TIMES_UNDER_WAY)
    chosen_anew = {case.rpartition(".")[2] for case in test_clock_ahead.CASES}
    assert compared - corrected - chosen_anew - set(BOUNDED) == set()
    # Each other is a record; nothing is said of what is not there, nor twice.
    assert set(kept) - corrected - chosen_anew - set(BOUNDED) == set(RECORDS)
    assert set(BOUNDED) <= set(kept)
    assert all(label in kept[name] for label, name in past_times.PAST_TIMES)


@pytest.fixture
def bare(db: None) -> Iterator[None]:
    """Take away the rows that point at nothing, before the database looks for what they point at."""
    yield
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table in {apps.get_model(label)._meta.db_table for label, _name in past_times.PAST_TIMES} | {
            Job._meta.db_table
        }:
            cursor.execute(f"DELETE FROM {table}")
        cursor.execute("SET LOCAL session_replication_role = origin")


def bare_row(model: Any, **values: Any) -> int:
    """Write a row with nothing that it need not have, whatever it points at, and return its key."""
    row = {field.column: value_of(field) for field in model._meta.concrete_fields if not field.primary_key}
    row |= {model._meta.get_field(name).column: value for name, value in values.items()}
    if model._meta.pk.get_internal_type() not in ("BigAutoField", "AutoField"):
        row[model._meta.pk.column] = value_of(model._meta.pk)
    names = ", ".join(f'"{name}"' for name in row)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({names}) VALUES ({', '.join(['%s'] * len(row))})"
            f" RETURNING {model._meta.pk.column}",
            list(row.values()),
        )
        (pk,) = cursor.fetchone()
        cursor.execute("SET LOCAL session_replication_role = origin")
    return pk  # type: ignore[no-any-return]


def value_of(field: Any) -> Any:
    if field.null:
        return None
    if field.remote_field:
        return value_of(field.target_field)
    if field.has_default():
        value: Any = field.get_db_prep_save(field.get_default(), connection)
        return value
    if isinstance(field, models.DateTimeField):
        return timezone.now()
    if isinstance(field, models.CharField | models.TextField):
        return "a"
    if isinstance(field, models.GenericIPAddressField):
        return "192.0.2.1"
    if isinstance(field, models.UUIDField):
        return uuid.uuid4()
    if isinstance(field, models.JSONField):
        return "{}"
    return False if isinstance(field, models.BooleanField) else 1


# What the tables themselves ask of a row.
ASKED: dict[str, dict[str, Any]] = {}


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("label", "name"), past_times.PAST_TIMES, ids=[".".join(place) for place in past_times.PAST_TIMES]
)
def test_a_time_that_lies_ahead_is_put_to_now_and_no_other(label: str, name: str) -> None:
    model, now = apps.get_model(label), timezone.now()
    # A clock of another machine may be a little ahead.
    kept_at = now + clock.AHEAD / 2
    pk = bare_row(model, **{name: now + YEAR}, **ASKED.get(label, {}))
    past_times.correct(now=now)
    rows = model._default_manager.filter(pk=pk)
    assert rows.values_list(name, flat=True).get() == now
    rows.update(**{name: kept_at})
    past_times.correct(now=now)
    assert rows.values_list(name, flat=True).get() == kept_at


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("place", past_times.UNDER_WAY)
def test_what_is_over_keeps_what_its_clock_said(place: tuple[str, str]) -> None:
    (label, name), now = place, timezone.now()
    model = apps.get_model(label)
    pk = bare_row(model, **{name: now + YEAR}, **dict.fromkeys(past_times.UNDER_WAY[place], now + YEAR))
    past_times.correct(now=now)
    assert model._default_manager.values_list(name, flat=True).get(pk=pk) == now + YEAR


def test_no_page_says_since_a_time_that_lies_ahead() -> None:
    since = re.compile(r"""["'\s>,](?:since|unsent report)["'][^{]*%\}[^%]*\{% when ([^%]*)%\}""")
    places = [
        (path.name, words)
        for path in (ROOT / "templates").rglob("*.html")
        for words in since.findall(path.read_text())
    ]
    assert len(places) == 4
    assert [place for place in places if not re.match(r"[\w.]+\|past\b", place[1])] == []
    assert fathom.past(timezone.now() + YEAR) is None


def test_no_wait_nor_trouble_is_since_a_time_that_lies_ahead() -> None:
    now, code = timezone.now(), next(iter(REASONS))
    for at, expected in ((now - YEAR, now - YEAR), (now + YEAR, None)):
        assert reason(code, since=at).since == replace(reason(code), since=at).since == expected
        (trouble,) = troubles.read([{"code": "a", "detail": "", "since": at.isoformat()}])
        assert trouble.since == expected


@pytest.mark.usefixtures("bare")
def test_a_job_that_was_handed_out_ahead_is_late_in_time_and_a_lost_one_fences_for_its_time_limit() -> None:
    now = timezone.now()
    begun = {"delivered_at": now + YEAR, "started_at": now + YEAR, "argv": ["a"]}
    opened, ended = bare_row(Job, state="running", **begun), bare_row(Job, state="succeeded", **begun)
    lost = bare_row(Job, state="lost", may_run_until=now + YEAR, time_limit_s=60, argv=["a"])
    past_times.correct(now=now)
    assert Job.objects.values_list("delivered_at", "started_at").get(pk=opened) == (now, now)
    # What became of a job that ended never changes.
    assert Job.objects.values_list("delivered_at", flat=True).get(pk=ended) == now + YEAR
    until = Job.objects.values_list("may_run_until", flat=True).get(pk=lost)
    assert until is not None and timedelta(seconds=60) < until - now < timedelta(minutes=3)


@pytest.mark.django_db
def test_it_is_done_when_a_process_begins_after_each_step_and_each_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[datetime] = []
    monkeypatch.setattr(past_times, "correct", lambda now: done.append(now))
    monkeypatch.setattr(past_times, "_last", past_times._Last())
    lead = {"s": clock_steps.lead()}
    monkeypatch.setattr(clock_steps, "lead", lambda: lead["s"])
    for expected, step_s, ago_s in (
        (1, 0.0, 0.0),
        (1, 1.0, 0.0),
        (2, -86400.0, 0.0),
        (2, 0.0, 3500.0),
        (3, 0.0, 200.0),
    ):
        lead["s"] += step_s
        past_times._last.at -= ago_s
        past_times.correct_times(now=timezone.now())
        assert len(done) == expected


def lasting(key: str, seconds: float) -> None:
    """Have a key at the broker last for so long from now on, as one that it was given by a clock that was ahead."""
    assert broker.client(timeout_s=1).pexpire(key, int(seconds * 1000))


def test_what_was_counted_ahead_lasts_no_longer_than_its_window() -> None:
    counters.forget_all()
    counted = counters.Charge("test:ahead", 1, 60)
    counters.raise_counts([counted])
    counters.take_turn("test:turn", 10)
    for key in ("test:ahead", "test:turn"):
        lasting(counters._PREFIX + key, YEAR.total_seconds())
    [count] = counters.raise_counts([counted]) or []
    assert (count.count, count.ends_in_s) == (2, pytest.approx(60, abs=5))
    assert counters.take_turn("test:turn", 10) == 0.0
    assert 0 < counters.take_turn("test:turn", 10) <= 10
    counters.remember("test:fact", YEAR.total_seconds())
    counters.forget_ahead(172800)
    assert not counters.is_remembered("test:fact")
    assert counters.read_counts(["test:ahead"]) == {"test:ahead": 2}
    counters.forget_all()


def test_a_disk_that_was_full_by_a_clock_that_was_ahead_is_not_for_ever() -> None:
    client = broker.client(timeout_s=1)
    client.set(signs._REFUSED, timezone.now().timestamp() + YEAR.total_seconds(), ex=600)
    try:
        assert signs.full_since()[1] is False
    finally:
        client.delete(signs._REFUSED)


def test_times_of_health_are_never_ahead() -> None:
    now = datetime.now(UTC)
    assert clock.past(now + YEAR) is None
    assert clock.past(now - YEAR) == now - YEAR
    soon = clock.past(now + clock.AHEAD / 2)
    assert soon is not None and soon <= datetime.now(UTC)
    shift = {"s": YEAR.total_seconds()}
    since = clock.Since(lambda: now.timestamp() + shift["s"], lambda: 100.0)
    first = since.at()
    assert since.at() == first == now + YEAR
    shift["s"] = 0.0
    assert since.at() == now
