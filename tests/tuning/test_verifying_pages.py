"""Pages and REST of verifications, proposals and history: what they show and do, and for whom."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.bench.rules.base import Alternative, Proof, Proposal
from apps.bench.text import Message
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Trial
from apps.testbeds.models import Node
from apps.tuning.models import Finding
from tests import factories
from tests.pages import flat
from tests.tuning.carrying import carry_out, draft, rates, store, verify

SAID = {
    "against": (Message("It was night."),),
    "missing": (Message("The far disk is unmeasured."),),
    "proposals": (Proposal("iperf3-udp", {"duration": 3.0}, {"rate": "100Mbit/s, 400Mbit/s"}),),
    "alternatives": (
        Alternative(Message("Loss."), Message("Look at it."), Proposal("ping", {"count": 100})),
        Alternative(Message("A policer."), Message("Ask its owner.")),
    ),
}


@pytest.fixture
def finding(swept: Campaign, pair: list[Node]) -> Finding:
    """Return a finding with a proof, proposals and alternatives, of a campaign that has ended."""
    Trial.objects.update(state="succeeded")
    campaigns.finish_campaign(campaign_id=swept.pk, now=timezone.now())
    return store(swept, pair, draft(**SAID))


def page(client: Client, name: str, *args: object, query: str = "") -> str:
    answer = client.get(reverse(f"tuning:{name}", args=args) + query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def post(client: Client, name: str, finding: Finding, **values: str) -> Any:
    return client.post(reverse(f"tuning:{name}", args=[finding.pk]), values)


def test_the_page_says_how_it_is_proved_and_the_button_launches_it(
    client: Client, finding: Finding, cast: SimpleNamespace
) -> None:
    client.force_login(cast.oscar)
    shown = page(client, "detail", finding.pk)
    assert all(text in shown for text in ("64KiB", "1MiB", "×7", "3 times", "It was night.", "kisti01 → pnu01"))
    answer = post(client, "verify", finding)
    made = finding.verifications.get()
    assert answer.url == reverse("campaigns:campaign_detail", args=[made.campaign_id])
    shown = page(client, "detail", finding.pk)
    assert "0 of 6 trials measured" in shown
    assert 'hx-trigger="every 3s"' in shown
    assert reverse("tuning:verify", args=[finding.pk]) not in shown


def test_predicted_and_realised_stand_side_by_side_and_link_both_ways(
    client: Client, finding: Finding, cast: SimpleNamespace
) -> None:
    made = verify(finding, cast.oscar)
    carry_out(made.campaign, rates(140e6, 910e6))
    client.force_login(cast.bob)
    address = reverse("campaigns:campaign_detail", args=[made.campaign_id])
    for shown in (
        page(client, "list"),
        page(client, "list", query="?state=verified&kind=recommendation&rule=tcp-window"),
    ):
        assert "×7<" in shown
        assert "×6.5" in shown
        assert "1 prediction was measured again: 1 verified, 0 refuted, 1 within 15 %" in shown
    shown = page(client, "detail", finding.pk)
    assert all(text in shown for text in ("×7", "×6.5", address, "measured", "910.0 Mbit/s"))
    assert "every 3s" not in shown
    panel = page(client, "campaign_panel", made.campaign_id)
    assert reverse("tuning:detail", args=[finding.pk]) in panel
    assert "×6.5" in panel
    assert "No finding is of this kind" in page(client, "list", query="?state=refuted")


def test_the_history_says_who_decided_what_and_why(client: Client, finding: Finding, cast: SimpleNamespace) -> None:
    client.force_login(cast.oscar)
    post(client, "decide", finding, state="dismissed", reason="measured at night")
    post(client, "decide", finding, state="new")
    assert [(line.earlier, line.state) for line in finding.decisions.all()] == [
        ("dismissed", "new"),
        ("new", "dismissed"),
    ]
    shown = page(client, "detail", finding.pk)
    assert "measured at night" in shown
    assert "oscar" in shown


def test_only_a_measurement_verifies(client: Client, finding: Finding, cast: SimpleNamespace) -> None:
    client.force_login(cast.oscar)
    answer = client.post(reverse("tuning:decide", args=[finding.pk]), {"state": "verified"}, follow=True)
    assert "Choose accept" in answer.content.decode()
    finding.refresh_from_db()
    assert finding.state == "new"


def test_what_can_not_be_done_is_said_on_the_page(
    client: Client, finding: Finding, swept: Campaign, pair: list[Node], cast: SimpleNamespace
) -> None:
    name = "setting.client.net.core.rmem_max"
    sysctl = store(
        swept, pair, draft(rule="s", proof=Proof("iperf3-tcp", "goodput", {name: "212992"}, {name: "9000000"}))
    )
    client.force_login(cast.oscar)
    shown = page(client, "detail", sysctl.pk)
    assert "ask a manager of the node" in shown
    assert pair[0].get_absolute_url() in shown
    assert reverse("tuning:verify", args=[sysctl.pk]) not in shown
    answer = client.post(reverse("tuning:verify", args=[sysctl.pk]), follow=True)
    assert "ask a manager of the node" in answer.content.decode()
    plain = store(swept, pair, draft(rule="p", proof=None))
    assert "does not say what would prove" in page(client, "detail", plain.pk)


def test_proposals_become_drafts(client: Client, finding: Finding, pair: list[Node], cast: SimpleNamespace) -> None:
    client.force_login(cast.oscar)
    shown = page(client, "detail", finding.pk)
    assert all(text in shown for text in ("The far disk is unmeasured.", "A policer.", 'value="p0"', 'value="a0"'))
    assert 'value="a1"' not in shown
    for key, tool in (("p0", "iperf3-udp"), ("a0", "ping"), ("all", "iperf3-udp")):
        answer = post(client, "draft", finding, key=key)
        made = Campaign.objects.latest("pk")
        assert answer.url == reverse("campaigns:campaign_detail", args=[made.pk])
        experiment = made.experiments.get()
        assert (made.state, experiment.tool) == ("draft", tool)
        assert {part.node for part in experiment.roles.all()} == set(pair)
    assert experiment.factors == [{"name": "rate", "expression": "100Mbit/s, 400Mbit/s"}]
    assert experiment.fixed == {"duration": "3s"}
    assert made.goal == "The far disk is unmeasured."
    count = Campaign.objects.count()
    answer = client.post(reverse("tuning:draft", args=[finding.pk]), {"key": "p7"}, follow=True)
    assert "does not propose “p7”" in answer.content.decode()
    assert Campaign.objects.count() == count


@pytest.mark.parametrize(
    ("proposal", "words"),
    [
        (Proposal("iperf9"), "no tool “iperf9”"),
        (Proposal("ping", roles={"client": ("nobody",)}), "The node nobody is not in the inventory"),
        (Proposal("fio", file_system="/gpfs"), "file system /gpfs is not in the inventory"),
        (Proposal("ping", {"count": "many"}), "many"),
    ],
)
def test_a_proposal_that_no_longer_fits_says_why(
    client: Client, swept: Campaign, pair: list[Node], cast: SimpleNamespace, proposal: Proposal, words: str
) -> None:
    odd = store(swept, pair, draft(proposals=(proposal,)))
    client.force_login(cast.oscar)
    answer = client.post(reverse("tuning:draft", args=[odd.pk]), {"key": "p0"}, follow=True)
    assert words in answer.content.decode()
    assert Campaign.objects.count() == 1


@pytest.mark.parametrize("name", ["verify", "draft"])
def test_the_stranger_the_wrong_team_and_the_viewer_start_nothing(
    client: Client, finding: Finding, cast: SimpleNamespace, name: str
) -> None:
    address, rest = reverse(f"tuning:{name}", args=[finding.pk]), f"/api/v1/findings/{finding.pk}/{name}/"
    assert client.post(address).status_code == 302
    assert client.post(rest).status_code == 401
    for person, status in ((cast.charlie, 404), (cast.bob, 403)):
        client.force_login(person)
        assert client.post(address).status_code == status
        answer = client.post(rest, {}, content_type="application/json", **factories.bearer(person))
        assert answer.status_code == status
    partial = reverse("tuning:verifications", args=[finding.pk])
    assert client.get(partial).status_code == 200
    client.force_login(cast.charlie)
    assert client.get(partial).status_code == 404
    assert Campaign.objects.count() == 1


def test_rest_verifies_drafts_and_tells_the_history(client: Client, finding: Finding, cast: SimpleNamespace) -> None:
    path, headers = f"/api/v1/findings/{finding.pk}/", factories.bearer(cast.oscar)
    assert [offer["key"] for offer in client.get(f"{path}proposals/", **headers).json()] == ["p0", "a0"]
    made = client.post(f"{path}draft/", json.dumps({"key": "a0"}), "application/json", **headers)
    assert (made.status_code, made.json()["state"]) == (201, "draft")
    refused = client.post(f"{path}draft/", json.dumps({"key": "x"}), "application/json", **headers)
    assert refused.status_code == 400
    begun = client.post(f"{path}verify/", **headers)
    assert (begun.status_code, begun.json()["verdict"]) == (201, "open")
    assert client.post(f"{path}verify/", **headers).status_code == 400
    carry_out(Campaign.objects.get(pk=begun.json()["campaign"]), rates(140e6, 910e6))
    told = client.get(path, **headers).json()
    assert (told["state"], told["predicted_gain"]) == ("verified", 7.0)
    assert told["verifications"][0]["gain"] == pytest.approx(6.5)
    assert told["verifications"][0]["agrees"]
    (line,) = client.get(f"{path}history/", **headers).json()
    assert (line["state"], line["user"]) == ("verified", None)
    assert "×6.5" in line["note"]
    assert client.get("/api/v1/findings/calibration/", **headers).json()["close"] == 1
    body = json.dumps({"state": "verified"})
    assert client.post(f"{path}decide/", body, "application/json", **headers).status_code == 400


def test_pages_cost_the_same_queries_however_much_there_is(
    client: Client,
    finding: Finding,
    swept: Campaign,
    pair: list[Node],
    cast: SimpleNamespace,
    django_assert_max_num_queries,
) -> None:
    for number in range(5):
        made = verify(store(swept, pair, draft(rule=f"rule-{number}")), cast.oscar)
        campaigns.cancel_campaign(campaign=made.campaign, user=cast.oscar, now=timezone.now())
    client.force_login(cast.bob)
    with django_assert_max_num_queries(14):
        page(client, "list")
    with django_assert_max_num_queries(24):
        page(client, "detail", finding.pk)
    with django_assert_max_num_queries(12):
        page(client, "campaign_panel", swept.pk)


def test_settings_that_were_only_tried_are_not_called_now_and_then(
    client: Client, swept: Campaign, pair: list[Node], cast: SimpleNamespace
) -> None:
    Trial.objects.update(state="succeeded")
    campaigns.finish_campaign(campaign_id=swept.pk, now=timezone.now())
    proof = Proof("iperf3-tcp", "goodput", {"window": 65536}, {"window": 0})
    tried = draft(rule="tried", kind="diagnosis", present=None, tried=100e6, is_comparison=True, proof=proof)
    known = draft(rule="known", proof=proof)
    client.force_login(cast.oscar)
    told = page(client, "detail", store(swept, pair, known).pk)
    assert ">Now<" in told
    assert ">Then<" in told
    other = store(swept, pair, tried)
    told = page(client, "detail", other.pk)
    assert ">Now<" not in told
    assert ">Then<" not in told
    assert "Nobody knows which setting is there at present" in told
    assert ">Tried beside it<" in told
    # A window that nobody asks for is the kernel's, and not one of no bytes.
    assert "<td>64KiB</td><td>autotuned</td>" in flat(told)
    verify(other, cast.oscar)
    told = page(client, "detail", other.pk)
    assert "Beside it → tried" in told
    assert "Now → then" not in told
