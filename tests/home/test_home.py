"""The first page: what needs somebody, what runs and why it waits, what was found; and the guide of a new team."""

import re
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts import quotas
from apps.accounts.models import Invitation
from apps.agents.models import Agent
from apps.archive.imports.models import Import
from apps.archive.incoming.models import IncomingArchive
from apps.campaigns.models import Campaign, Trial
from apps.results.models import Result
from apps.testbeds.models import Node
from apps.tuning.analysis.queries import asked_with
from apps.tuning.models import Analysis, Finding
from tests import factories, rewriting
from tests.agents import factories as agent_factories
from tests.campaigns import factories as make

HOME = reverse("home")
FLAG = {
    "name": "processor-full",
    "severity": "warning",
    "message": {"msgid": "The processor was full.", "params": {}},
}


def seen_by(person: object) -> str:
    answer = factories.signed_in(person).get(HOME)
    assert answer.status_code == 200
    return answer.content.decode().split("<main")[1]


def test_the_stranger_signs_in_first() -> None:
    for path in (HOME, reverse("start:changes")):
        assert Client().get(path).headers["Location"].startswith("/accounts/")


def test_who_is_in_no_team_hears_what_to_do(db: None) -> None:
    assert "You are in no team" in seen_by(factories.user())


def test_a_new_team_is_guided_step_by_step(cast: SimpleNamespace, django_assert_max_num_queries: Any) -> None:
    client = factories.signed_in(cast.oscar)
    with django_assert_max_num_queries(40):
        page = client.get(HOME).content.decode()
    assert "From nothing to a verified finding" in page
    assert "0 of 5 done" in page
    assert reverse("testbeds:example") in page
    assert reverse("testbeds:example") not in seen_by(cast.bob)
    pair = make.nodes(cast.team, "kisti01", "pnu01")
    assert "1 of 5 done" in seen_by(cast.oscar)
    for node in pair:
        _heard(node, timezone.now())
    assert "2 of 5 done" in seen_by(cast.oscar)


def test_the_guide_goes_on_beside_what_was_measured(measured_before: Any, cast: SimpleNamespace) -> None:
    page = seen_by(cast.oscar)
    assert "3 of 5 done" in page
    assert "Needs you" in page
    finding = Finding.objects.create(
        campaign=measured_before.campaign,
        team=cast.team,
        rule="tcp-window",
        title={"msgid": "A window", "params": {}},
        details={"predicted": 983e6, "predicted_unit": "bit/s", "present": 166e6},
        confidence=0.9,
        predicted_gain=5.92,
    )
    page = seen_by(cast.oscar)
    assert "4 of 5 done" in page
    assert reverse("tuning:detail", args=[finding.pk]) in page
    assert "×5.92" in page
    assert "166.0 Mbit/s" in page
    Finding.objects.filter(pk=finding.pk).update(state="dismissed")
    assert "×5.92" not in seen_by(cast.oscar)


def _heard(node: Node, at: Any) -> None:
    agent_factories.listening()
    agent = Agent.objects.filter(node=node).first()
    if agent is None:
        Agent.objects.create(node=node, prefix=f"p{node.pk}", digest="x", last_seen_at=at)
    else:
        Agent.objects.filter(pk=agent.pk).update(last_seen_at=at)


def _lost(world: Any) -> Callable[[], object]:
    _heard(world.pair[0], timezone.now() - timedelta(hours=2))
    return lambda: _heard(world.pair[0], timezone.now())


def _troubled(world: Any) -> Callable[[], object]:
    trouble = {"code": "work-full", "detail": "/work", "since": timezone.now().isoformat()}
    rows = Agent.objects.filter(node=world.pair[0])
    rows.update(troubles=[trouble])
    return lambda: rows.update(troubles=[])


def _failed(world: Any) -> Callable[[], object]:
    trial = world.campaign.trials.first()
    Trial.objects.filter(pk=trial.pk).update(state="failed")
    return lambda: Trial.objects.filter(pk=trial.pk).update(state="succeeded")


def _doubtful(world: Any) -> Callable[[], object]:
    rewriting.update(Result.objects.filter(trial=world.campaign.trials.first()), flags=[FLAG])
    old = timezone.now() - timedelta(days=8)
    return lambda: Campaign.objects.filter(pk=world.campaign.pk).update(finished_at=old)


def _unanalysed(world: Any) -> Callable[[], object]:
    Campaign.objects.filter(pk=world.campaign.pk).update(analysed_at=timezone.now())
    error = {"msgid": "No worker took it up.", "params": {}}
    analysis = Analysis.objects.create(
        asked_with=asked_with(),
        campaign=world.campaign,
        has_failed=True,
        attempts=1,
        error=error,
        began_at=timezone.now(),
    )
    return analysis.delete


def _offered(world: Any) -> Callable[[], object]:
    foreign = Campaign.objects.create(team=world.cast.other_team, name="theirs", created_by=world.cast.charlie)
    return make.share(foreign, world.cast.team, state="offered").delete


def _invited(world: Any) -> Callable[[], object]:
    third = factories.team("third")
    return Invitation.objects.create(team=third, username=world.cast.oscar.username, role="viewer").delete


def _full(world: Any) -> Callable[[], object]:
    now = timezone.now()
    quota = quotas.usage_of(world.cast.team).quota_bytes
    quotas.set_stored(sizes={world.cast.team.pk: quota * 95 // 100}, now=now)
    return lambda: quotas.set_stored(sizes={world.cast.team.pk: 0}, now=now)


def _sent(world: Any) -> Callable[[], object]:
    team, person = world.cast.team, world.cast.oscar
    return IncomingArchive.objects.create(team=team, created_by=person, name="a.fathom", size=9, state="ready").delete


def _importing(world: Any) -> Callable[[], object]:
    team, person = world.cast.team, world.cast.oscar
    return Import.objects.create(team=team, created_by=person, name="old runs", state="ready").delete


NEEDS = {
    "lost since": _lost,
    "work folders on kisti01 is full": _troubled,
    "1 of 4 trials failed": _failed,
    "1 of 4 trials are doubtful": _doubtful,
    "The analysis of Window sweep failed": _unanalysed,
    "Another team offers you a campaign": _offered,
    "third invites you": _invited,
    "grid has": _full,
    "An archive waits for your decision": _sent,
    "An import waits for you": _importing,
}


@pytest.mark.parametrize("words", NEEDS)
def test_what_needs_somebody_stands_there_until_it_is_mended(measured_before: Any, settings: Any, words: str) -> None:
    settings.QUOTA_STORED_BYTES = 10**9
    Campaign.objects.filter(pk=measured_before.campaign.pk).update(finished_at=timezone.now())
    cast = measured_before.cast
    Agent.objects.update(last_seen_at=timezone.now(), retired_at=None)
    rewriting.update(Result.objects.all(), flags=[])
    assert "Nothing needs you" in seen_by(cast.oscar)
    mend = NEEDS[words](measured_before)
    page = seen_by(cast.oscar)
    assert words in page
    assert "1 thing needs you" in page
    (way,) = re.findall(r'id="need-1"\s+href="([^"]+)"', page)
    assert factories.signed_in(cast.oscar).get(way.replace("&amp;", "&")).status_code == 200
    assert words not in seen_by(cast.charlie)
    mend()
    assert "Nothing needs you" in seen_by(cast.oscar)


def test_a_lost_agent_tells_what_it_holds_up_and_the_first_three_are_named(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    campaign = make.launched(cast, *pair)
    nodes = [*pair, *make.nodes(cast.team, "a", "b", "c")]
    for node in nodes:
        _heard(node, timezone.now() - timedelta(hours=2))
    page = seen_by(cast.oscar)
    assert page.count("1 campaign waits for it") == 2
    assert "2 more agents are lost" in page
    assert "4 things need you" in page
    assert reverse("campaigns:campaign_detail", args=[campaign.pk]) in page
    assert "no estimate" in page
    assert "1 waiting" in page
    assert "waiting for the agent" in page


def test_it_costs_as_many_queries_for_many_campaigns_as_for_some(
    cast: SimpleNamespace, pair: list[Node], django_assert_max_num_queries: Any
) -> None:
    client = factories.signed_in(cast.oscar)
    for number in range(8):
        make.launched(cast, *pair, name=f"sweep {number}")
    Campaign.objects.filter(name__in=("sweep 0", "sweep 1")).update(
        state="scheduled", next_at=timezone.now() + timedelta(hours=3)
    )
    with django_assert_max_num_queries(70):
        page = client.get(HOME).content.decode()
    assert "Next 7 days" in page
    for number in range(8, 24):
        make.launched(cast, *pair, name=f"sweep {number}")
    with django_assert_max_num_queries(70):
        page = client.get(HOME).content.decode()
    assert "16 more" in page


@pytest.mark.parametrize("state", ["running", "paused", "cancelled", "finished"])
def test_failed_trials_need_somebody_whatever_became_of_the_campaign(measured_before: Any, state: str) -> None:
    trial = measured_before.campaign.trials.first()
    Trial.objects.filter(pk=trial.pk).update(state="failed")
    is_over = state in ("cancelled", "finished")
    Campaign.objects.filter(pk=measured_before.campaign.pk).update(
        state=state, finished_at=timezone.now() if is_over else None
    )
    assert "1 of 4 trials failed" in seen_by(measured_before.cast.oscar)


def test_rest_gives_what_the_page_shows(measured_before: Any, cast: SimpleNamespace) -> None:
    agent_factories.listening()
    Agent.objects.update(last_seen_at=timezone.now() - timedelta(hours=2))
    path = "/api/v1/needs/"
    assert Client().get(path).status_code == 401
    body = Client().get(path, **factories.bearer(cast.bob, "read")).json()
    assert [item["severity"] for item in body["needs"]][:2] == ["bad", "bad"]
    assert all(item["title"] in seen_by(cast.bob) for item in body["needs"])
    assert Client().get(path, **factories.bearer(cast.charlie)).json()["needs"] == []


def test_what_has_not_changed_is_not_sent_again(measured_before: Any) -> None:
    client = factories.signed_in(measured_before.cast.oscar)
    digest = re.search(r"seen=(\w+)", client.get(HOME).content.decode())
    assert digest
    part = {"HTTP_HX_REQUEST": "true"}
    assert client.get(HOME, {"seen": digest[1]}, **part).status_code == 204
    Campaign.objects.create(
        team=measured_before.cast.team, name="Another", state="running", launched_at=timezone.now()
    )
    answer = client.get(HOME, {"seen": digest[1]}, **part)
    assert answer.status_code == 200
    assert "Another" in answer.content.decode()
    assert "<main" not in answer.content.decode()


def test_what_is_stored_says_when_it_was_counted(measured_before: Any, cast: SimpleNamespace) -> None:
    client = factories.signed_in(cast.oscar)
    assert "not counted yet" in client.get("/").content.decode()
    quotas.set_stored(sizes={cast.team.pk: 5_000_000}, now=timezone.now())
    page = client.get("/").content.decode()
    assert "not counted yet" not in page and "counted\n" in page
