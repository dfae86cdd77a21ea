"""The server's clock set while jobs are under way: no healthy one ends, and what is held is held as long as without.

What happens is carried out twice, by an even clock and by one that is set in the middle: the ends are to be the same.
"""

import itertools
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.agents import queries, services
from apps.agents.models import Agent, Job, Listener
from apps.campaigns.models import Reservation, Run
from apps.core import clock, clock_steps
from tests import rewriting
from tests.agents import factories
from tests.campaigns import factories as make
from workers import carry_out, fences, past_times, server_clock

pytestmark = pytest.mark.django_db
NOW = timezone.now()
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
STEPS = [3, 45, 7200, 40 * 86400, -3, -45, -150, -7200]
LIMIT_S = 120.0


class ServerClock:
    """The server's clock and what looks at it each second; `even` is the time (s) that nobody can set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.even, self.by = 0.0, 0.0
        monkeypatch.setattr(timezone, "now", self.now)
        monkeypatch.setattr(clock_steps, "lead", lambda: self.by)
        clock_steps.note_lead(clock_steps._boot(), 0.0)

    def now(self) -> datetime:
        return NOW + (self.even + self.by) * SECOND

    def pass_by(self, seconds: float, *, notes: bool = True) -> None:
        """Have so much time pass in which agents are heard and everybody looks, for steps only if it `notes`."""
        end = self.even + seconds
        while self.even < end:
            self.even = min(end, self.even + 8)
            beats = [services.Heartbeat(pk, self.now()) for pk in Agent.objects.values_list("pk", flat=True)]
            if notes:
                server_clock.note_steps(now=self.now())
            services.mark_lost_jobs(now=self.now())
            services.record_heartbeats(heartbeats=beats, now=self.now())
            past_times._put_jobs_right(self.now(), self.now() + clock.AHEAD)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> ServerClock:
    return ServerClock(monkeypatch)


def a_job(state: Job.State, server: ServerClock, **values: datetime) -> Job:
    agent = factories.agent(last_seen_at=server.now())[0]
    times = {"delivered_at": server.now(), **values}
    return factories.job(agent.node, state=state, time_limit_s=LIMIT_S, **times)


@pytest.mark.parametrize(("step", "passed_s", "notes"), [*itertools.product(STEPS, (1, 100), (True, False))])
@pytest.mark.parametrize("state", [Job.State.DELIVERED, Job.State.RUNNING])
def test_a_job_ends_for_its_limit_no_sooner_and_soon_after(
    server: ServerClock, step: float, passed_s: float, notes: bool, state: Job.State
) -> None:
    server.pass_by(60)
    started = {"started_at": server.now()} if state == Job.State.RUNNING else {}
    job = a_job(state, server, **started)
    server.pass_by(passed_s)
    server.by = step
    # The very next look of whoever marks lost jobs may be the first.
    services.mark_lost_jobs(now=server.now())
    server.pass_by(LIMIT_S + 30 - passed_s - 15, notes=notes)
    job.refresh_from_db()
    assert (job.state, job.fault_detail) == (state, "")
    server.pass_by(passed_s + 60 + clock.AHEAD.total_seconds())
    job.refresh_from_db()
    assert (job.state, job.fault_detail) == ("lost", "no report long after its time limit")


@pytest.mark.parametrize("back_after_s", [1.5, 12, 100])
def test_a_start_that_was_planned_ahead_holds_nothing(server: ServerClock, back_after_s: float) -> None:
    server.pass_by(60)
    server.by = 7200.0
    start = server.now() + SECOND
    job = a_job(Job.State.DELIVERED, server, start_at=start)
    server.pass_by(back_after_s)
    server.by = 0.0
    # An agent may tell a start of the clock as it knew it for a minute yet.
    Job.objects.filter(pk=job.pk).update(started_at=start, state=Job.State.RUNNING)
    server.pass_by(LIMIT_S + 60)
    job.refresh_from_db()
    assert job.state == "lost"
    assert job.may_run_until <= server.now() + LIMIT_S * SECOND + 2 * timedelta(minutes=1)


@pytest.mark.parametrize("step", STEPS)
def test_what_is_fenced_is_given_back_when_it_would_have_been(
    server: ServerClock, cast: SimpleNamespace, step: float
) -> None:
    pair = make.nodes(cast.team, "one", "two")
    node = pair[0]
    make.launched(cast, *pair)
    (run,) = make.take()
    server.pass_by(60)
    until = server.now() + LIMIT_S * SECOND
    lost = factories.job(node, run_ref=run.pk, state=Job.State.LOST, may_run_until=until, time_limit_s=LIMIT_S)
    over = factories.job(node, run_ref=run.pk, state=Job.State.LOST, may_run_until=server.now(), time_limit_s=LIMIT_S)
    rewriting.update(Job.objects.filter(pk__in=[lost.pk, over.pk]), ended_at=server.now())
    Reservation.objects.filter(run=run).update(fenced_until=until)
    server.pass_by(1)
    now = server.now()
    server.by = step
    # Whether the clock was set before or after the look began, nothing is given away.
    for moment in {min(now, server.now()), server.now()}:
        assert fences.lift_fences(now=moment) == 0
    left = LIMIT_S - 1
    server.pass_by(left - 10)
    assert fences.lift_fences(now=server.now()) == 0
    server.pass_by(10 + (65 if step < 0 else 5))
    assert fences.lift_fences(now=server.now()) > 0
    assert Run.objects.filter(pk=run.pk).exists()


@pytest.mark.parametrize("steps", [[-300], [-7200], [300, 0], [7200, 0], [7200, 0, 7200, 0], [-300, 0], [45, 0]])
@pytest.mark.parametrize("lost_ago_s", [1, 70, 600])
def test_a_fence_lasts_as_long_as_without_the_steps(
    server: ServerClock, cast: SimpleNamespace, steps: list[float], lost_ago_s: float
) -> None:
    (node,) = make.nodes(cast.team, "one")
    server.pass_by(60)
    until = server.even + 3600
    lost = factories.job(
        node,
        state=Job.State.LOST,
        may_run_until=server.now() + 3600 * SECOND,
        time_limit_s=3600,
        ended_at=server.now(),
    )
    server.pass_by(lost_ago_s)
    for step in steps:
        server.by = step
        server.pass_by(6)
    lost.refresh_from_db()
    left_s = (lost.may_run_until - server.now()).total_seconds()
    # Of a job lost just before a small step nobody knows by which clock: its fence lasts longer by that.
    longer_s = max(map(abs, steps)) if lost_ago_s < 60 else 0
    assert 0 <= left_s - (until - server.even) <= min(longer_s, 60 + clock.AHEAD.total_seconds())


def test_a_program_of_a_job_that_is_lost_after_a_step_is_fenced_for_its_whole_limit(server: ServerClock) -> None:
    server.pass_by(60)
    start = server.now()
    job = a_job(Job.State.RUNNING, server, started_at=start)
    server.by = 7200.0
    server.pass_by(10)
    # The agent told its start once more, by the clock as it knew it.
    Job.objects.filter(pk=job.pk).update(started_at=start)
    Agent.objects.update(retired_at=server.now())
    assert services.mark_lost_jobs(now=server.now()) == 1
    job.refresh_from_db()
    assert job.may_run_until - server.now() >= (LIMIT_S - 10) * SECOND
    assert list(queries.leftover_jobs(job.node_id, server.now())) == [job]


@pytest.mark.parametrize(("ended_ago_s", "waits"), [(0.1, True), (-0.1, True), (2, False), (-7200, False)])
def test_servers_that_are_to_end_by_themselves_are_not_waited_for_until_a_clock_is_right(
    ended_ago_s: float, waits: bool
) -> None:
    server_of_one = SimpleNamespace(background=True, ends_by_itself=True)
    client = SimpleNamespace(background=False, ends_by_itself=False)
    plan = SimpleNamespace(stages=[SimpleNamespace(name="measure", commands=[server_of_one, client])])
    ended_at = timezone.now() - ended_ago_s * SECOND
    jobs = [
        SimpleNamespace(ended_at=None, has_ended=False, stage=0, is_broken=False),
        SimpleNamespace(ended_at=ended_at, has_ended=True, stage=0, is_broken=False),
    ]
    assert carry_out._ends_soon(plan, jobs) is waits


def test_nobody_is_lost_for_a_limit_before_somebody_listened(server: ServerClock) -> None:
    a_job(Job.State.RUNNING, server, delivered_at=NOW - 9 * HOUR)
    Listener.objects.create(pk=1, listening_since=NOW - 9 * HOUR, heard_until=NOW - 11 * SECOND)
    Agent.objects.update(last_seen_at=NOW)
    assert services.mark_lost_jobs(now=server.now()) == 0
