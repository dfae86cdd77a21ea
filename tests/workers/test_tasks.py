"""The tasks that wake the code which looks at the rows."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.agents.models import Agent, Job, Listener
from apps.campaigns import services
from apps.campaigns.models import Campaign, Run
from apps.core import messages, queue
from apps.testbeds.models import Node
from apps.tuning.services.findings import Drawn
from tests.agents import factories as agent_factories
from tests.campaigns import factories as make
from tests.workers.factories import job_of, listen, measure, report
from workers import analysis, readiness, tasks
from workers.celery import app


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the campaigns whose analysis is asked for, which no worker carries out here."""
    campaigns: list[int] = []

    def send(task: str, *arguments: int) -> None:
        if task == queue.ANALYSE:
            campaigns.extend(arguments)

    monkeypatch.setattr(queue, "send", send)
    return campaigns


def finished(cast: SimpleNamespace, pair: list[Node]) -> Campaign:
    campaign = make.launched(cast, *pair, factors=[], repetitions=1)
    tasks.schedule()
    run = Run.objects.get()
    listen(run)
    measure(run)
    tasks.job_changed(run.pk)
    tasks.tick()
    campaign.refresh_from_db()
    return campaign


def test_the_door_to_celery_and_the_timetable_name_tasks_that_are_there() -> None:
    timetable = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert {queue.JOB_CHANGED, queue.SCHEDULE, queue.ANALYSE, *timetable} <= app.tasks.keys()


def test_a_tick_starts_what_is_due(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast, start_at=timezone.now() + timedelta(hours=1))
    make.experiment(draft, *pair)
    services.launch_campaign(campaign=draft, user=cast.oscar, now=timezone.now())
    tasks.tick()
    assert not Run.objects.exists()
    Campaign.objects.update(next_at=timezone.now())
    tasks.tick()
    assert Run.objects.get().state == "running"


def test_a_tick_takes_on_what_nobody_did(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    tasks.schedule()
    report(job_of(Run.objects.get(), "server"), Job.State.READY)
    tasks.tick()
    assert Job.objects.count() == 2


def test_a_tick_gives_up_the_jobs_of_a_lost_agent(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    tasks.schedule()
    now = timezone.now()
    Listener.objects.create(pk=1, listening_since=now - timedelta(hours=1), heard_until=now)
    Agent.objects.filter(node=pair[1]).update(last_seen_at=now - timedelta(seconds=31))
    tasks.tick()
    tasks.close_run(Run.objects.get().pk)
    run = Run.objects.get()
    assert (run.state, run.reason["code"]) == ("failed", "agent-lost")
    assert Run.objects.count() == 1


def test_a_tick_asks_for_the_analysis_of_what_has_ended(
    cast: SimpleNamespace, pair: list[Node], asked: list[int]
) -> None:
    campaign = finished(cast, pair)
    assert campaign.state == "finished"
    assert asked == [campaign.pk]


def test_an_ended_campaign_is_analysed_once(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = finished(cast, pair)
    drawn = []
    monkeypatch.setattr(
        "apps.tuning.services.findings.refresh_findings", lambda *, campaign, guard: drawn.append(campaign) or Drawn()
    )
    tasks.analyse(campaign.pk)
    tasks.analyse(campaign.pk)
    assert drawn == [campaign]
    campaign.refresh_from_db()
    assert campaign.analysed_at


def test_the_analysis_of_real_results_runs_through(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = finished(cast, pair)
    assert analysis.analyse_campaign(campaign_id=campaign.pk, now=timezone.now())
    assert not campaign.events.filter(level="error").exists()


def test_an_analysis_that_fails_says_so_and_is_not_tried_for_ever(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = finished(cast, pair)

    def stumble(*, campaign: Campaign, guard: object) -> None:
        raise ZeroDivisionError("of no use")

    monkeypatch.setattr("apps.tuning.services.findings.refresh_findings", stumble)
    assert analysis.analyse_campaign(campaign_id=campaign.pk, now=timezone.now())
    assert not analysis.analyse_campaign(campaign_id=campaign.pk, now=timezone.now())
    event = campaign.events.filter(level="error").get()
    assert messages.render(event.message) == (
        "No findings could be drawn from the results: ZeroDivisionError: of no use"
    )


def test_a_campaign_run_again_is_analysed_again(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = finished(cast, pair)
    analysis.analyse_campaign(campaign_id=campaign.pk, now=timezone.now())
    campaign.trials.update(state="failed")
    services.rerun_failed(campaign=campaign, user=cast.oscar)
    campaign.trials.update(state="succeeded")
    services.finish_campaigns(now=timezone.now())
    assert analysis.analyse_campaign(campaign_id=campaign.pk, now=timezone.now())


def test_each_state_of_an_agent_that_can_not_measure_has_its_warning(cast: SimpleNamespace, pair: list[Node]) -> None:
    now = timezone.now()
    bare, unheard = make.nodes(cast.team, "bare", "unheard")
    retired = pair[0]
    Agent.objects.filter(node=retired).update(retired_at=now)
    Agent.objects.create(node=unheard, prefix="x", digest="y")
    agent_factories.listening()
    Agent.objects.filter(node=pair[1]).update(last_seen_at=now - timedelta(minutes=1))
    found = readiness.node_warnings(nodes=[bare, unheard, *pair], now=now)
    said = [str(message) for message in found]
    assert [text.split(":")[0] for text in said] == [
        "bare has no agent",
        "The agent on unheard was never heard of",
        "The agent on kisti01 is retired",
        "The agent on pnu01 is lost",
    ]
    Agent.objects.update(retired_at=None, last_seen_at=now)
    assert readiness.node_warnings(nodes=pair, now=now) == []
