"""What keeps a campaign from going on leads to where it can be mended; what failed says what to do."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.agents.models import Agent
from apps.bench.text import Message
from apps.bench.toolkit import ToolFailure
from apps.campaigns import queries, services, waits
from apps.campaigns.models import Campaign, Trial
from apps.core.messages import render
from apps.testbeds.models import Node
from tests.agents.factories import listening
from tests.campaigns import factories as make
from tests.campaigns.browsing import address, browser
from tests.workers import factories as workers


def test_a_campaign_that_waits_is_found_as_such_and_leads_to_the_agent(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    workers.enrol(*pair)
    stuck = make.launched(cast, *pair, name="Stuck")
    make.campaign(cast, name="Draft")
    lists = address("campaign_list")
    oscar = browser(cast.oscar)
    assert "Stuck" not in oscar.get(lists, {"state": "waiting"}).content.decode()
    Agent.objects.filter(node=pair[1]).update(last_seen_at=timezone.now() - timedelta(hours=1))
    listening()
    page = oscar.get(lists, {"state": "waiting"}).content.decode()
    assert "Stuck" in page
    assert ">Draft<" not in page
    assert "Stuck" in oscar.get(lists, {"state": "running"}).content.decode()
    link = f'href="{reverse("agents:detail", args=[pair[1].pk])}"'
    assert link in page
    assert link in oscar.get(address("campaign_detail", stuck.pk)).content.decode()
    assert "Stuck" not in browser(cast.charlie).get(lists, {"state": "waiting"}).content.decode()


def test_only_what_somebody_has_to_mend_leads_to_an_agent() -> None:
    subjects = (waits.WaitSubject("node", 7, "kisti01"),)
    for code in waits.REASONS:
        assert waits.WaitReason(code, "waiting for %(for)s", subjects).nodes_to_mend == ()
    assert waits.WaitReason("agent-lost", "waiting for %(for)s", subjects).nodes_to_mend == subjects


@pytest.mark.parametrize("path", ["/campaigns/", "trials"])
def test_a_state_that_there_is_not_is_told(cast: SimpleNamespace, path: str) -> None:
    draft = make.campaign(cast)
    where = address("results:trial_list", draft.pk) if path == "trials" else path
    page = browser(cast.oscar).get(where, {"state": "nonsense"}).content.decode()
    assert "There is no state “nonsense”" in page or "This is not offered here" in page
    assert "Select a valid choice" not in page


def test_a_finished_campaign_says_what_failed_and_what_to_do(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    remedy = Message("Install it, or give its path under “programs” in the agent's agent.json.")
    failure = ToolFailure("not-found", Message("%(node)s lacks it.", {"node": "pnu01"}), False, remedy)
    campaign.trials.update(state="succeeded")
    failed = campaign.trials.order_by("pk")[:3].values_list("pk", flat=True)
    Trial.objects.filter(pk__in=list(failed)).update(state="failed", reason=failure.as_json())
    assert services.finish_campaign(campaign_id=campaign.pk, now=timezone.now())
    text = "Failed trials: 3. pnu01 lacks it. Install it, or give its path"
    assert any(text in render(event.message) for event in queries.events_of(campaign))
    oscar = browser(cast.oscar)
    for page in (oscar.get("/campaigns/"), oscar.get(address("campaign_detail", campaign.pk))):
        assert "3 failed</a>" in page.content.decode()
    assert "Install it, or give its path" in oscar.get(address("results:trial_list", campaign.pk)).content.decode()
    Trial.objects.update(state="succeeded")
    assert " failed</a>" not in oscar.get("/campaigns/").content.decode()


def test_a_finished_campaign_without_failures_names_none(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    campaign.trials.update(state="succeeded")
    services.finish_campaign(campaign_id=campaign.pk, now=timezone.now())
    assert Campaign.objects.get().state == "finished"
    assert not any("Failed trials" in render(event.message) for event in queries.events_of(campaign))
