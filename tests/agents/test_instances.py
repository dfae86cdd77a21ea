"""Which process of an agent is at work: copies of a machine, restarts, and what their reports count."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from apps.agents import queries, services
from apps.agents.models import Agent, AgentInstance, Job, JobOutput, Listener
from apps.agents.troubles import Trouble
from tests.agents import factories
from tests.agents.test_services import ended

pytestmark = pytest.mark.django_db

HERE = {"machine": "m1", "boot": "b1", "folder": "f1", "host": "dj-a", "address": "10.0.0.1"}
COPY = {"machine": "m1", "boot": "b2", "folder": "f1", "host": "dj-b", "address": "10.0.0.2"}


def process(**where: Any) -> services.Introduction:
    return services.Introduction(key=uuid.uuid4(), version="1.2", **where)


def admit(agent: Agent, one: services.Introduction) -> AgentInstance:
    return services.admit_instance(agent_id=agent.pk, introduction=one, now=timezone.now())


def at_work(agent: Agent) -> uuid.UUID | None:
    agent.refresh_from_db()
    return agent.instance.key if agent.instance else None


def listen_and_hear(agent: Agent, silent_s: float) -> None:
    """Have somebody listen for an hour, and the agent be silent for a while."""
    now = timezone.now()
    Listener.objects.update_or_create(
        pk=1, defaults={"listening_since": now - timedelta(hours=1), "heard_until": now}
    )
    Agent.objects.filter(pk=agent.pk).update(last_seen_at=now - timedelta(seconds=silent_s))


def admit_refused(agent: Agent, one: services.Introduction) -> uuid.UUID:
    with pytest.raises(services.InstanceRefused):
        admit(agent, one)
    return one.key


@pytest.fixture
def agent() -> Agent:
    return factories.agent()[0]


@pytest.mark.parametrize(
    "where", [COPY, {**HERE, "folder": "f2"}, {**HERE, "machine": "m2"}, {"boot": "", "folder": ""}]
)
def test_a_second_live_one_is_refused_and_shown(agent: Agent, where: dict[str, str]) -> None:
    first, second = process(**HERE), process(**where)
    admit(agent, first)
    listen_and_hear(agent, 3)
    with pytest.raises(services.InstanceRefused, match=r"dj-a \(10.0.0.1\), heard 3 s ago"):
        admit(agent, second)
    assert at_work(agent) == first.key
    (rival,) = queries.rivals_of([agent.node_id], timezone.now())[agent.node_id]
    assert rival.key == second.key
    assert not queries.rivals_of([agent.node_id], timezone.now() + timedelta(minutes=2))


def test_one_that_cannot_know_where_it_is_never_takes_over_at_once(agent: Agent) -> None:
    first = process()
    admit(agent, first)
    listen_and_hear(agent, 3)
    with pytest.raises(services.InstanceRefused):
        admit(agent, process())


def test_a_restarted_one_takes_over_at_once_with_its_jobs(agent: Agent) -> None:
    first, second = process(**HERE), process(**HERE)
    admit(agent, first)
    job = factories.job(agent.node, state=Job.State.RUNNING, instance=first.key, taken_at_poll=9)
    admit(agent, second)
    assert at_work(agent) == second.key
    job.refresh_from_db()
    assert (job.instance, job.taken_at_poll, job.state) == (second.key, 0, "running")
    # The old one is a ghost if it is heard again: its lock was no proof, and it is let in no more beside the other.
    listen_and_hear(agent, 3)
    with pytest.raises(services.InstanceRefused):
        admit(agent, first)


def test_another_takes_over_when_the_first_is_silent_and_not_while_nobody_listened(agent: Agent) -> None:
    first, second = process(**HERE), process(**COPY | {"folder": "f2"})
    admit(agent, first)
    job = factories.job(agent.node, state=Job.State.RUNNING, instance=first.key)
    listen_and_hear(agent, 31)
    Listener.objects.update(listening_since=timezone.now() - timedelta(seconds=5))
    with pytest.raises(services.InstanceRefused):
        admit(agent, second)
    Listener.objects.update(listening_since=timezone.now() - timedelta(seconds=40))
    admit(agent, second)
    assert at_work(agent) == second.key
    job.refresh_from_db()
    assert (job.state, job.fault) == ("lost", "agent-lost")
    assert job.may_run_until is not None, "its program may run on where the first is"


def test_one_that_said_that_it_ends_is_followed_at_once(agent: Agent) -> None:
    first, second = process(**HERE), process(**COPY)
    admit(agent, first)
    services.leave_instance(agent_id=agent.pk, key=first.key, now=timezone.now())
    admit(agent, second)
    assert at_work(agent) == second.key


def test_a_manager_says_which_is_right(agent: Agent) -> None:
    first, second = process(**HERE), process(**COPY | {"machine": "m2"})
    admit(agent, first)
    listen_and_hear(agent, 3)
    with pytest.raises(services.InstanceRefused):
        admit(agent, second)
    job = factories.job(agent.node, state=Job.State.RUNNING, instance=first.key, time_limit_s=100)
    services.choose_instance(agent=agent, key=second.key, now=timezone.now())
    assert at_work(agent) == second.key
    job.refresh_from_db()
    assert (job.state, job.fault_detail) == ("lost", "another process took the agent's place")
    with pytest.raises(services.InstanceRefused):
        admit(agent, first)
    with pytest.raises(ValidationError, match="no such process"):
        services.choose_instance(agent=agent, key=uuid.uuid4(), now=timezone.now())


def test_the_report_of_another_process_is_not_counted_but_noted(agent: Agent) -> None:
    first, second = process(**HERE), process(**COPY)
    admit(agent, first)
    listen_and_hear(agent, 3)
    with pytest.raises(services.InstanceRefused):
        admit(agent, second)
    job = factories.job(agent.node, state=Job.State.RUNNING, instance=first.key)
    for key in (second.key, None):
        with pytest.raises(services.OtherInstance):
            services.record_report(node_id=agent.node_id, job_id=job.pk, report=ended(), instance=key)
    services.note_refused_report(node_id=agent.node_id, key=second.key, job_id=job.pk, now=timezone.now())
    assert AgentInstance.objects.get(key=second.key).refused_reports == 1
    job.refresh_from_db()
    assert job.state == "running"
    assert (
        services.record_report(node_id=agent.node_id, job_id=job.pk, report=ended(), instance=first.key)
        == Job.State.ENDED
    )
    with pytest.raises(services.OtherInstance):
        services.record_report(node_id=agent.node_id, job_id=job.pk, report=ended(), instance=second.key)
    assert JobOutput.objects.count() == 1


def test_only_the_process_at_work_is_handed_jobs(agent: Agent) -> None:
    first, second = process(**HERE), process(**COPY)
    admit(agent, first)
    job = factories.job(agent.node)
    nothing: dict[str, list[str]] = {"held": [], "stopping": []}
    for key in (second.key, None):
        assert not services.deliver_jobs(agent_id=agent.pk, **nothing, is_first_look=True, instance=key, poll=1)
    got = services.deliver_jobs(agent_id=agent.pk, **nothing, is_first_look=True, instance=first.key, poll=7)
    assert [one.pk for one in got.jobs] == [job.pk]
    job.refresh_from_db()
    assert (job.instance, job.taken_at_poll) == (first.key, 7)


def test_an_old_poll_says_nothing_of_jobs_taken_since(agent: Agent) -> None:
    first = process(**HERE)
    admit(agent, first)
    job = factories.job(agent.node, state=Job.State.RUNNING, instance=first.key, taken_at_poll=7)
    nothing: dict[str, list[str]] = {"held": [], "stopping": []}
    for old in (3, 7):
        services.deliver_jobs(agent_id=agent.pk, **nothing, is_first_look=True, instance=first.key, poll=old)
        job.refresh_from_db()
        assert job.state == "running", "an old poll was taken for a restart"
    services.deliver_jobs(agent_id=agent.pk, **nothing, is_first_look=True, instance=first.key, poll=8)
    job.refresh_from_db()
    assert (job.state, job.fault) == ("lost", "outcome-gone")


def test_what_was_lost_on_the_way_is_handed_out_again_but_not_to_an_old_poll(agent: Agent) -> None:
    first = process(**HERE)
    admit(agent, first)
    job = factories.job(agent.node, state=Job.State.DELIVERED, instance=first.key, taken_at_poll=7)
    nothing: dict[str, list[str]] = {"held": [], "stopping": []}
    ask = {"agent_id": agent.pk, **nothing, "is_first_look": True, "instance": first.key}
    assert not services.deliver_jobs(**ask, poll=6)
    assert services.deliver_jobs(**ask, poll=8).jobs
    job.refresh_from_db()
    assert job.taken_at_poll == 8


def test_programs_of_earlier_versions_work_until_a_new_one_begins(agent: Agent) -> None:
    services.admit_unnamed(agent_id=agent.pk, now=timezone.now())
    listen_and_hear(agent, 1)
    job = factories.job(agent.node, state=Job.State.RUNNING)
    updated = process(**HERE)
    admit(agent, updated)
    job.refresh_from_db()
    assert (job.state, job.instance) == ("running", updated.key)
    with pytest.raises(services.InstanceRefused):
        services.admit_unnamed(agent_id=agent.pk, now=timezone.now())
    listen_and_hear(agent, 31)
    services.admit_unnamed(agent_id=agent.pk, now=timezone.now())
    assert at_work(agent) is None


def test_a_program_of_an_earlier_version_says_what_it_holds_no_more(agent: Agent) -> None:
    job = factories.job(agent.node)
    ask = {"agent_id": agent.pk, "held": [], "stopping": [], "is_first_look": True}
    assert services.deliver_jobs(**ask).jobs
    services.retire_agent(agent=agent, now=timezone.now())
    Agent.objects.update(retired_at=None)
    job.refresh_from_db()
    assert job.may_run_until > timezone.now()
    services.deliver_jobs(**ask)
    job.refresh_from_db()
    assert job.may_run_until <= timezone.now()


def test_a_chosen_copy_of_a_disk_takes_no_job_of_one_that_lives(agent: Agent) -> None:
    first, second = process(**HERE), process(**COPY)
    admit(agent, first)
    listen_and_hear(agent, 3)
    with pytest.raises(services.InstanceRefused):
        admit(agent, second)
    job = factories.job(agent.node, state=Job.State.RUNNING, instance=first.key)
    services.choose_instance(agent=agent, key=second.key, now=timezone.now())
    job.refresh_from_db()
    assert (job.state, job.instance, job.presumed_ended_at) == ("lost", first.key, None)
    assert job.may_run_until > timezone.now()


def test_a_machine_started_anew_has_its_jobs_and_nothing_is_fenced_for_them(agent: Agent) -> None:
    first, second = process(**HERE), process(**COPY)
    admit(agent, first)
    listen_and_hear(agent, 31)
    later = {"may_run_until": timezone.now() + timedelta(hours=1), "fault": "agent-lost"}
    lost = factories.job(agent.node, state=Job.State.LOST, instance=first.key, **later)
    opened = factories.job(agent.node, state=Job.State.RUNNING, instance=first.key)
    admit(agent, second)
    for job in (lost, opened):
        job.refresh_from_db()
        assert job.instance == second.key
    assert lost.presumed_ended_at is not None
    assert opened.state == "running", "it is on the spool of the machine"


@pytest.mark.parametrize("limit_s", [-10, 60])
def test_what_a_lost_job_printed_is_taken_from_who_follows(agent: Agent, limit_s: float) -> None:
    first, second = process(**HERE), process(**HERE)
    admit(agent, first)
    until = timezone.now() + timedelta(seconds=limit_s)
    job = factories.job(agent.node, state=Job.State.LOST, instance=first.key, may_run_until=until, fault="agent-lost")
    admit(agent, second)
    services.record_report(node_id=agent.node_id, job_id=job.pk, report=ended(), instance=second.key)
    assert JobOutput.objects.filter(job=job).exists()


def test_a_new_enrolment_begins_with_nobody_at_work() -> None:
    agent, _token = factories.agent()
    admit(agent, process(**HERE))
    services.retire_agent(agent=agent, now=timezone.now())
    fresh, _token = factories.agent(agent.node)
    assert (fresh.instance, fresh.troubles, fresh.set_aside_at) == (None, [], None)


def said(*codes: str) -> tuple[Trouble, ...]:
    return tuple(Trouble(code, "as tests say") for code in codes)


def test_a_node_with_trouble_of_its_own_is_set_aside_until_it_is_over(agent: Agent) -> None:
    listen_and_hear(agent, 1)
    now = timezone.now()
    assert queries.ready_nodes(now) == {agent.node_id}
    assert services.record_troubles(agent_id=agent.pk, agent_troubles=said("clock-set"), now=now)
    assert queries.ready_nodes(now) == {agent.node_id}, "a clock that was set stops nothing"
    assert services.record_troubles(agent_id=agent.pk, agent_troubles=said("clock-set", "work-full"), now=now)
    assert queries.ready_nodes(now) == set()
    assert not services.record_troubles(agent_id=agent.pk, agent_troubles=said("work-full", "clock-set"), now=now)
    agent.refresh_from_db()
    assert agent.set_aside_at == now
    codes = [trouble.code for trouble in queries.troubles_of([agent.node_id])[agent.node_id]]
    assert codes == ["clock-set", "work-full"]
    assert services.record_troubles(agent_id=agent.pk, agent_troubles=(), now=now)
    assert queries.ready_nodes(now) == {agent.node_id}


def test_an_unknown_trouble_is_shown_in_the_agents_words(agent: Agent) -> None:
    services.record_troubles(agent_id=agent.pk, agent_troubles=said("moon-phase"), now=timezone.now())
    agent.refresh_from_db()
    (trouble,) = queries.troubles_of([agent.node_id])[agent.node_id]
    assert "moon-phase as tests say" in str(trouble.words("dj-a"))
    assert str(trouble.remedy)
    assert agent.set_aside_at is None
