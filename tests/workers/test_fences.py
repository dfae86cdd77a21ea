"""What a lost agent's program may still use is kept back until it must have ended; figures beside it are flagged."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.agents import queries as agents_queries
from apps.agents import services as agents
from apps.agents.models import Agent, Job, Listener
from apps.campaigns import errors, queries
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Reservation, Run, Trial
from apps.results.models import Result
from apps.testbeds.models import Node
from tests.workers.factories import SILENT, job_of, listen, measure, report, start
from workers import carry_out, fences


def lose(run: Run, role: str, limit_s: float = 600.0) -> Job:
    """Have the agent of a role fall silent while its program runs, end the other side, and close the run."""
    listen(run)
    report(job_of(run, "client"), Job.State.RUNNING)
    node = job_of(run, role).node_id
    now = timezone.now()
    Agent.objects.filter(node=node).update(last_seen_at=now - timedelta(seconds=31))
    Listener.objects.update_or_create(
        pk=1, defaults={"listening_since": now - timedelta(hours=1), "heard_until": now}
    )
    Job.objects.filter(run_ref=run.pk).update(delivered_at=now)
    assert agents.mark_lost_jobs(now=now) == 1
    carry_out.advance(run.pk)
    other = "server" if role == "client" else "client"
    report(job_of(run, other), Job.State.ENDED, SILENT)
    assert carry_out.advance(run.pk)
    return job_of(run, role)


def come_back(*nodes: Node) -> None:
    Agent.objects.filter(node__in=nodes).update(last_seen_at=timezone.now())


def measure_again(pair: list[Node]) -> Run:
    """Have the nodes come back and the trial be measured once more; return that run."""
    come_back(*pair)
    Trial.objects.update(not_before=None)
    assert carry_out.schedule() == 1
    again = Run.objects.latest("pk")
    listen(again)
    measure(again)
    assert carry_out.advance(again.pk)
    return again


def fenced() -> set[str]:
    return set(queries.fences_of())


def test_peers_and_links_are_kept_back_until_the_time_limit(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    job = lose(run, "client")
    assert job.started_at is not None
    limit = job.started_at + timedelta(seconds=job.time_limit_s)
    assert limit < job.may_run_until <= limit + timedelta(seconds=10)
    assert {f"node:{node.pk}" for node in pair} <= fenced()
    fence = queries.fences_of([f"node:{pair[0].pk}"])[f"node:{pair[0].pk}"]
    assert (fence.run, fence.campaign, fence.until) == (run.pk, run.trial.campaign_id, job.may_run_until)
    # Its peer is heard of and could measure: but the program may still send to it.
    come_back(*pair)
    Trial.objects.update(not_before=None)
    assert carry_out.schedule() == 0
    assert fences.lift_fences(now=timezone.now()) == 0
    assert fences.lift_fences(now=job.may_run_until + timedelta(seconds=1)) >= 2
    assert not fenced()
    assert carry_out.schedule() == 1


def test_a_job_whose_start_nobody_heard_of_is_given_time(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    job = job_of(run, "server")
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(state=Job.State.DELIVERED, delivered_at=now)
    agents.retire_agent(agent=Agent.objects.get(node=job.node_id), now=now)
    job.refresh_from_db()
    assert (job.may_run_until - now).total_seconds() == pytest.approx(job.time_limit_s + 40, abs=1)


def test_a_job_that_was_never_handed_out_fences_nothing(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    agents.retire_agent(agent=Agent.objects.get(node=job_of(run, "server").node_id), now=timezone.now())
    assert carry_out.advance(run.pk)
    assert job_of(run, "server").may_run_until is None
    assert not fenced()


def test_its_agent_says_that_nothing_runs_any_more(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    job = lose(run, "client")
    agent = Agent.objects.get(node=job.node_id)
    held = [str(job.pk)]
    delivery = agents.deliver_jobs(agent_id=agent.pk, held=held, stopping=[], is_first_look=True)
    assert delivery.stop == held, "it still runs, and is to be stopped"
    assert fences.lift_fences(now=timezone.now()) == 0
    agents.deliver_jobs(agent_id=agent.pk, held=[], stopping=[], is_first_look=True)
    assert fences.lift_fences(now=timezone.now()) >= 2
    assert not fenced()


def test_what_its_agent_says_is_there_still_stays_fenced_past_its_limit(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    # As a program that waits for a hung disk, and that nobody can kill.
    run = start(cast, pair)
    job = lose(run, "client")
    agent = Agent.objects.get(node=job.node_id)
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(may_run_until=now + timedelta(seconds=5))
    ask = {"agent_id": agent.pk, "stopping": [], "is_first_look": True, "now": now}
    agents.deliver_jobs(**ask, held=[str(job.pk)], running=[str(job.pk)])
    after = now + timedelta(seconds=30)
    assert fences.lift_fences(now=after) == 0
    # Its record alone is not it.
    agents.deliver_jobs(**{**ask, "now": after}, held=[str(job.pk)])
    assert fences.lift_fences(now=after + timedelta(seconds=30)) >= 2


def test_its_agent_reports_the_end(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    job = lose(run, "client")
    report(job, Job.State.ENDED, SILENT)
    assert job.state == Job.State.LOST
    assert fences.lift_fences(now=timezone.now()) >= 2


def test_a_program_that_its_agent_ended_fences_nothing(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    report(job_of(run, "server"), Job.State.ENDED, fault="agent-restarted")
    assert carry_out.advance(run.pk)
    assert not fenced()
    assert not Reservation.objects.filter(run=run, released_at=None).exists()


def test_a_figure_beside_a_program_taken_for_ended_is_flagged(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    job = lose(run, "client")
    assert agents.presume_ended(node_id=job.node_id, now=timezone.now()) == 1
    assert not agents_queries.leftovers_of([run.pk], timezone.now())
    assert fences.lift_fences(now=timezone.now()) >= 2
    again = measure_again(pair)
    flags = {flag["name"]: flag for flag in Result.objects.get(run=again).flags}
    assert flags["leftover-possible"]["severity"] == "warning"
    assert flags["leftover-possible"]["message"]["params"] == {"nodes": job.node.name}


def test_a_figure_after_the_program_ended_is_not(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    job = lose(run, "client")
    report(job, Job.State.ENDED, SILENT)
    fences.lift_fences(now=timezone.now())
    again = measure_again(pair)
    assert "leftover-possible" not in {flag["name"] for flag in Result.objects.get(run=again).flags}


def test_a_campaign_is_not_deleted_while_something_of_it_may_run(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = start(cast, pair)
    lose(run, "client")
    campaign = Campaign.objects.get()
    campaigns.cancel_campaign(campaign=campaign, user=cast.alice, now=timezone.now())
    campaign.refresh_from_db()
    with pytest.raises(errors.WrongState, match="may still run"):
        campaigns.delete_campaign(campaign=campaign, user=cast.alice, now=timezone.now())


def test_a_trial_that_met_a_trouble_of_its_node_waits_and_is_none_the_poorer(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    run = start(cast, pair)
    allowed = run.trial.attempts_allowed
    report(job_of(run, "server"), Job.State.ENDED, fault="node-trouble", fault_detail="work-full: 0 KiB are free")
    assert carry_out.advance(run.pk)
    trial = Trial.objects.get(pk=run.trial_id)
    assert (trial.state, trial.attempts_allowed) == ("pending", allowed + 1)
    assert trial.reason["code"] == "node-trouble"
    assert trial.reason["message"]["params"]["detail"] == "work-full: 0 KiB are free"


def test_a_trial_is_not_tried_for_ever_on_a_node_that_never_says_what_is_wrong(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    first = start(cast, pair)
    Trial.objects.exclude(pk=first.trial_id).update(state=Trial.State.CANCELLED)
    for _number in range(40):
        run = Run.objects.latest("pk")
        report(job_of(run, "server"), Job.State.ENDED, fault="node-trouble", fault_detail="?")
        assert carry_out.advance(run.pk)
        if Trial.objects.get(pk=run.trial_id).state == "failed":
            break
        Trial.objects.filter(pk=run.trial_id).update(not_before=None)
        # On a busy machine all of this takes longer than an agent may be silent.
        Agent.objects.update(last_seen_at=timezone.now())
        assert carry_out.schedule() == 1
    assert 20 < run.attempt < 30
