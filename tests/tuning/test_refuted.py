"""What a measurement refuted is no advice any more: it is listed only where it is asked for."""

import json
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Trial
from apps.testbeds.models import Node
from apps.tuning.models import Finding
from tests.factories import signed_in
from tests.tuning.carrying import draft, store

Lister = Callable[[Client, Finding, bool], str]


@pytest.fixture
def finding(swept: Campaign, pair: list[Node]) -> Finding:
    Trial.objects.update(state="succeeded")
    campaigns.finish_campaign(campaign_id=swept.pk, now=timezone.now())
    return store(swept, pair, draft())


def on_the_page(client: Client, _finding: Finding, is_asked: bool) -> str:
    return client.get(reverse("tuning:list"), {"state": "refuted"} if is_asked else {}).content.decode()


def of_its_campaign(client: Client, finding: Finding, is_asked: bool) -> str:
    text = client.get(reverse("tuning:campaign_panel", args=[finding.campaign_id])).content.decode()
    advice, _summary, folded = text.partition("was refuted by a measurement")
    return folded if is_asked else advice


def over_rest(client: Client, finding: Finding, is_asked: bool) -> str:
    query = {"campaign": finding.campaign_id, **({"state": "refuted"} if is_asked else {})}
    return client.get("/api/v1/findings/", query).content.decode()


def by_command(_client: Client, finding: Finding, is_asked: bool) -> str:
    out = StringIO()
    call_command("findings", json=True, campaign=str(finding.campaign_id), refuted=is_asked, stdout=out)
    return json.dumps(json.loads(out.getvalue()))


@pytest.mark.parametrize("lister", [on_the_page, of_its_campaign, over_rest, by_command])
def test_a_refuted_finding_is_listed_only_where_it_is_asked_for(lister: Lister, finding: Finding, cast) -> None:
    title = "A window of 1 MiB fills the path."
    text = {"msgid": title, "params": {}}
    Finding.objects.filter(pk=finding.pk).update(title=text, details={**finding.details, "title": text})
    client = signed_in(cast.oscar)
    assert title in lister(client, finding, False)
    Finding.objects.filter(pk=finding.pk).update(state=Finding.State.REFUTED)
    assert title not in lister(client, finding, False)
    assert title in lister(client, finding, True)
