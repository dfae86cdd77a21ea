"""What is done to agents' jobs, with a clock of the test's own."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import Team
from apps.agents import queries, services
from apps.agents.models import Agent, Job, Listener
from apps.core import queue
from apps.core.errors import ConflictError
from tests import limits
from tests.agents import factories

pytestmark = pytest.mark.django_db

NOW = timezone.now()
SECOND = timedelta(seconds=1)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What workers are told."""
    messages: list[tuple[object, ...]] = []
    monkeypatch.setattr(queue, "send", lambda *words: messages.append(words))
    return messages


def listening(since: float, until: float = 0) -> None:
    """Write that agents could be heard from so many seconds ago until so many."""
    Listener.objects.update_or_create(
        pk=1, defaults={"listening_since": NOW - since * SECOND, "heard_until": NOW - until * SECOND}
    )


def ended(state: Job.State = Job.State.ENDED, **fields: object) -> services.JobReport:
    times = {"started_at": NOW, "ended_at": NOW + SECOND}
    return services.JobReport(state=state, stdout_z=b"a", stderr_z=b"b", **{**times, **fields})


def state_of(job: Job) -> tuple[str, str]:
    job.refresh_from_db()
    return job.state, job.fault


def test_it_loses_the_jobs_of_an_agent_that_fell_silent(sent: list[tuple[object, ...]]) -> None:
    silent, _ = factories.agent(last_seen_at=NOW - 31 * SECOND)
    heard, _ = factories.agent(last_seen_at=NOW - 29 * SECOND)
    lost = [factories.job(silent.node, state=state, run_ref=3) for state in Job.OPEN_STATES]
    kept = factories.job(heard.node, state=Job.State.RUNNING)
    over = factories.job(silent.node, state=Job.State.ENDED)
    listening(100)
    assert services.mark_lost_jobs(now=NOW) == 4
    assert {state_of(job) for job in lost} == {("lost", "agent-lost")}
    assert state_of(kept) == ("running", "")
    assert state_of(over) == ("ended", "")
    assert sent == [(queue.JOB_CHANGED, 3)]
    assert services.mark_lost_jobs(now=NOW) == 0


@pytest.mark.parametrize(("since", "until", "heard"), [(29, 0, 60), (100, 11, 40)])
def test_silence_proves_nothing_while_nobody_listened(since: float, until: float, heard: float) -> None:
    silent, _ = factories.agent(last_seen_at=NOW - heard * SECOND)
    job = factories.job(silent.node, state=Job.State.RUNNING)
    assert services.mark_lost_jobs(now=NOW) == 0
    listening(since, until)
    assert services.mark_lost_jobs(now=NOW) == 0
    assert state_of(job) == ("running", "")


def test_it_loses_the_jobs_of_nodes_without_an_agent() -> None:
    listening(100)
    jobs = [factories.job(factories.node()), factories.job(factories.agent()[0].node)]
    retired, _ = factories.agent(last_seen_at=NOW, retired_at=NOW)
    jobs.append(factories.job(retired.node))
    assert services.mark_lost_jobs(now=NOW) == 3
    assert {state_of(job) for job in jobs} == {("lost", "agent-lost")}
    details = [job.fault_detail for job in jobs]
    assert details == ["the agent was retired", "the agent fell silent", "the agent was retired"]


def test_it_loses_jobs_far_over_their_time_limit() -> None:
    listening(1000)
    agent, _ = factories.agent(last_seen_at=NOW)
    limit = {"time_limit_s": 60.0, "state": Job.State.RUNNING}
    late = factories.job(agent.node, delivered_at=NOW - 91 * SECOND, **limit)
    due = factories.job(agent.node, delivered_at=NOW - 89 * SECOND, **limit)
    planned = factories.job(agent.node, delivered_at=NOW - 91 * SECOND, start_at=NOW - 10 * SECOND, **limit)
    started = factories.job(agent.node, delivered_at=NOW - 91 * SECOND, started_at=NOW - 10 * SECOND, **limit)
    queued = factories.job(agent.node, time_limit_s=1.0)
    assert services.mark_lost_jobs(now=NOW) == 1
    assert state_of(late) == ("lost", "agent-lost")
    # Its agent is heard: what it says next counts, not that the time is over.
    assert late.may_run_until == NOW + 40 * SECOND
    assert {state_of(job)[0] for job in (due, planned, started)} == {"running"}
    assert state_of(queued)[0] == "queued"


def test_a_report_on_a_lost_job_keeps_its_output_but_not_its_life(sent: list[tuple[object, ...]]) -> None:
    agent, _ = factories.agent()
    job = factories.job(agent.node, state=Job.State.LOST, fault="agent-lost")
    for _time in range(2):
        state = services.record_report(node_id=agent.node_id, job_id=job.pk, report=ended(exit_code=0))
        assert state == Job.State.LOST
    assert state_of(job) == ("lost", "agent-lost")
    assert bytes(job.output.stdout_z) == b"a"
    assert not sent


def test_it_tells_workers_only_what_can_take_a_run_on(sent: list[tuple[object, ...]]) -> None:
    agent, _ = factories.agent()
    begun = services.JobReport(state=Job.State.RUNNING, started_at=NOW)
    ready = services.JobReport(state=Job.State.READY, started_at=NOW, ready_at=NOW)

    def tell(job: Job, report: services.JobReport) -> int:
        sent.clear()
        services.record_report(node_id=agent.node_id, job_id=job.pk, report=report)
        return len(sent)

    foreground = factories.job(agent.node)
    assert [tell(foreground, report) for report in (begun, ended(), ended())] == [0, 1, 0]
    server = factories.job(agent.node, background=True, ready_pattern="x")
    assert [tell(server, report) for report in (begun, ready, begun, ended())] == [0, 1, 0, 1]
    helper = factories.job(agent.node, background=True)
    assert [tell(helper, report) for report in (begun, ended())] == [1, 1]
    alone = factories.job(agent.node, run_ref=None)
    assert tell(alone, ended()) == 0


def test_a_report_may_come_for_a_job_that_was_never_marked_as_delivered() -> None:
    agent, _ = factories.agent()
    job = factories.job(agent.node)
    services.record_report(node_id=agent.node_id, job_id=job.pk, report=ended(exit_code=0))
    assert state_of(job) == ("ended", "")


def test_a_report_without_a_process_leaves_no_output() -> None:
    agent, _ = factories.agent()
    job = factories.job(agent.node)
    report = services.JobReport(state=Job.State.ENDED, ended_at=NOW, fault="not-allowed", fault_detail="x")
    services.record_report(node_id=agent.node_id, job_id=job.pk, report=report)
    assert state_of(job) == ("ended", "not-allowed")
    assert not hasattr(job, "output")


def test_nobody_reports_on_another_nodes_job() -> None:
    agent, _ = factories.agent()
    job = factories.job(factories.node())
    with pytest.raises(services.UnknownJob):
        services.record_report(node_id=agent.node_id, job_id=job.pk, report=ended())


def test_a_stop_ends_at_once_what_was_never_handed_out(sent: list[tuple[object, ...]]) -> None:
    node = factories.node()
    queued = factories.job(node, run_ref=4)
    running = factories.job(node, run_ref=4, state=Job.State.RUNNING)
    other = factories.job(node, run_ref=5)
    assert services.request_stop(run_ref=4, now=NOW) == 2
    assert state_of(queued) == ("ended", "stopped")
    assert state_of(running) == ("running", "")
    assert running.stop_requested_at == NOW
    assert state_of(other)[0] == "queued"
    assert sent == [(queue.JOB_CHANGED, 4)]
    assert services.request_stop(run_ref=4, now=NOW + SECOND) == 0
    assert Job.objects.get(pk=running.pk).stop_requested_at == NOW


def test_what_was_lost_on_the_way_and_is_to_be_stopped_ends(sent: list[tuple[object, ...]]) -> None:
    agent, _ = factories.agent()
    job = factories.job(agent.node, state=Job.State.DELIVERED, run_ref=4)
    services.request_stop(run_ref=4, now=NOW)
    sent.clear()
    delivery = services.deliver_jobs(agent_id=agent.pk, held=[], stopping=[], is_first_look=True, now=NOW)
    assert not delivery
    assert state_of(job) == ("ended", "stopped")
    assert sent == [(queue.JOB_CHANGED, 4)]


def test_a_job_carries_the_facts_of_its_moment() -> None:
    agent, _ = factories.agent()
    services.record_facts(agent_id=agent.pk, facts={"kernel": {"release": "6.1"}}, version="1")
    job = factories.job(agent.node)
    services.deliver_jobs(agent_id=agent.pk, held=[], stopping=[], is_first_look=True)
    services.record_facts(agent_id=agent.pk, facts={"kernel": {"release": "6.2"}}, version="1")
    (found,) = queries.jobs_of_run(job.run_ref)
    assert found.facts.facts == {"kernel": {"release": "6.1"}}
    assert queries.latest_facts([agent.node_id]) == {agent.node_id: {"kernel": {"release": "6.2"}}}


def test_heartbeats_are_written_for_all_and_never_go_back() -> None:
    first, _ = factories.agent()
    second, _ = factories.agent()
    retired, _ = factories.agent(retired_at=NOW)
    beats = [services.Heartbeat(agent.pk, NOW, 0.25, 0.01) for agent in (second, first, retired)]
    services.record_heartbeats(heartbeats=beats, now=NOW)
    services.record_heartbeats(heartbeats=[services.Heartbeat(first.pk, NOW - SECOND)], now=NOW)
    rows = {row.pk: (row.last_seen_at, row.clock_offset_s) for row in Agent.objects.all()}
    assert rows == {first.pk: (NOW, 0.25), second.pk: (NOW, 0.25), retired.pk: (None, None)}


def test_what_was_heard_before_the_clock_was_set_back_counts_from_then() -> None:
    """An agent that is killed afterwards is lost half a minute later, not when the clock has come so far again."""
    hour = 3600 * SECOND
    killed, _ = factories.agent()
    living, _ = factories.agent()
    job = factories.job(killed.node, state=Job.State.RUNNING, delivered_at=NOW, time_limit_s=3600)
    before = [services.Heartbeat(agent.pk, NOW) for agent in (killed, living)]
    for ago in (40, 38, 36):
        services.record_heartbeats(heartbeats=before, now=NOW - ago * SECOND)
    services.record_heartbeats(heartbeats=before, now=NOW)
    # The first after the step still has what came before it.
    services.record_heartbeats(heartbeats=before, now=NOW - hour)
    assert set(Agent.objects.values_list("last_seen_at", flat=True)) == {NOW - hour}
    listener = Listener.objects.get()
    assert (listener.listening_since, listener.heard_until) == (NOW - hour, NOW - hour)
    for seconds in range(2, 40, 2):
        now = NOW - hour + seconds * SECOND
        services.record_heartbeats(heartbeats=[services.Heartbeat(living.pk, now)], now=now)
        lost = services.mark_lost_jobs(now=now)
        assert lost == (seconds == 32)
    job.refresh_from_db()
    assert job.state == Job.State.LOST
    assert queries.ready_nodes(now) == {living.node_id}


def test_ready_nodes_are_those_just_heard_from() -> None:
    listening(3600)
    heard, _ = factories.agent(last_seen_at=NOW - 29 * SECOND)
    factories.agent(last_seen_at=NOW - 31 * SECOND)
    factories.agent(last_seen_at=NOW, retired_at=NOW)
    factories.agent()
    assert queries.ready_nodes(NOW) == {heard.node_id}


def test_changes_of_facts_are_told_by_name() -> None:
    before = {
        "interfaces": [{"name": "a", "mtu": 1}, {"name": "b", "mtu": 1}],
        "list": [1, 2],
        "gone": {"x": 1},
        "n": [[1]],
    }
    after = {"interfaces": [{"name": "b", "mtu": 9}], "list": [1, 3], "new": None, "n": [{"mtu": 1}, 3]}
    changes = {change.path: (change.before, change.after) for change in queries.changes_between(before, after)}
    assert changes == {
        "interfaces › a › mtu": (1, None),
        "interfaces › a › name": ("a", None),
        "interfaces › b › mtu": (1, 9),
        "list": ("1, 2", "1, 3"),
        "gone › x": (1, None),
        "n": ("[1]", None),
        "n › 0 › mtu": (None, 1),
        "n › 1": (None, 3),
    }


def test_a_token_of_a_node_with_an_agent_is_not_made() -> None:
    agent, _ = factories.agent(last_seen_at=NOW)
    with pytest.raises(Exception, match="already has an agent"):
        services.issue_enrolment_token(node=agent.node, user=factories.administrator(), now=NOW)
    services.retire_agent(agent=agent, now=NOW)
    services.issue_enrolment_token(node=agent.node, user=factories.administrator(), now=NOW)


def test_a_team_has_so_many_agents_and_another_team_as_many(settings: Any) -> None:
    agent, _ = factories.agent(last_seen_at=NOW)
    limits.bound(settings, 2, "AGENTS_PER_TEAM")
    team = agent.node.team
    waiting, late = (factories.node(team, name) for name in ("waiting", "late"))
    issued = services.issue_enrolment_token(node=late, user=factories.administrator(), now=NOW)
    factories.agent(waiting)
    with pytest.raises(ConflictError, match="AGENTS_PER_TEAM"):
        services.issue_enrolment_token(node=factories.node(team, "more"), user=factories.administrator(), now=NOW)
    # A token that was made before is worth no more.
    with pytest.raises(services.EnrolmentRefused, match="AGENTS_PER_TEAM") as refused:
        services.enrol_agent(token_text=issued.text, version="1", now=NOW)
    assert refused.value.code == "too-many-agents"
    # The replacement of one that is there is none more, and what one team has is nothing of another's.
    services.issue_enrolment_token(node=waiting, user=factories.administrator(), now=NOW)
    other = Team.objects.create(name="others")
    services.issue_enrolment_token(node=factories.node(other, "theirs"), user=factories.administrator(), now=NOW)
    services.retire_agent(agent=agent, now=NOW)
    services.enrol_agent(token_text=issued.text, version="1", now=NOW)


def test_an_agent_that_never_came_to_life_can_be_replaced() -> None:
    agent, old = factories.agent()
    again, new = factories.agent(agent.node)
    assert again.pk == agent.pk
    assert new != old
    assert queries.credentials_of(old.split("_")[2]) is None
