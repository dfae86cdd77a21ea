"""A campaign comes to another team only once an operator of that team accepts it."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts import services as accounts
from apps.accounts.models import Role, Team
from apps.campaigns import errors, queries, services
from apps.campaigns.models import Campaign, Share, SparedTeam
from apps.campaigns.services import offers
from tests import factories as people
from tests.campaigns import factories as make

V = Campaign.Visibility
REST = "/api/v1/campaign-offers/"


@pytest.fixture
def campaign(cast: SimpleNamespace) -> Campaign:
    """Return a draft of Oscar's."""
    return make.campaign(cast)


@pytest.fixture
def receivers(cast: SimpleNamespace) -> dict[str, Any]:
    """Return a person of each role of the other team."""
    found = {role.value: people.user(f"their-{role.value}") for role in Role}
    for role, user in found.items():
        cast.other_team.memberships.create(user=user, role=role)
    return found


def offer_to(campaign: Campaign, cast: SimpleNamespace, *names: str) -> None:
    services.share_campaign(campaign=campaign, user=cast.oscar, visibility=V.SHARED, shared_with=names)


def put(client: Client, campaign: Campaign, user: Any, *names: str) -> Any:
    wish = {"visibility": "shared", "shared_with": list(names)}
    address = f"/api/v1/campaigns/{campaign.pk}/sharing/"
    return client.put(address, wish, content_type="application/json", **people.bearer(user))


def test_it_is_seen_once_it_is_accepted_and_no_more_when_let_go(
    client: Client, campaign: Campaign, cast: SimpleNamespace, receivers: dict[str, Any]
) -> None:
    offer_to(campaign, cast, "strangers")
    share, viewer = campaign.shares.get(), receivers["viewer"]
    assert not queries.sees_whole(campaign, viewer)
    offers.accept(share=share, user=receivers["operator"], now=timezone.now())
    assert queries.sees_whole(campaign, viewer)
    share.refresh_from_db()
    assert (share.team, share.decided_by) == (cast.other_team, receivers["operator"])
    offers.decline(share=share, user=receivers["manager"], now=timezone.now())
    assert not queries.sees_whole(campaign, viewer)
    assert not queries.offers_to(receivers["manager"]).exists()


def test_operators_and_managers_of_the_team_decide_and_nobody_else(
    client: Client, campaign: Campaign, cast: SimpleNamespace, receivers: dict[str, Any]
) -> None:
    expected = {"viewer": 403, "operator": 302, "manager": 302, "stranger": 404, "own": 404}
    persons = {**receivers, "stranger": people.user("nobody"), "own": cast.alice}
    for action in ("accept", "decline"):
        for role, user in persons.items():
            Share.objects.all().delete()
            share = make.share(campaign, cast.other_team, "offered")
            client.force_login(user)
            assert client.post(f"/campaigns/offers/{share.pk}/{action}/").status_code == expected[role], (
                role,
                action,
            )
            share.refresh_from_db()
            done = {"accept": "accepted", "decline": "declined"}[action]
            assert share.state == (done if expected[role] == 302 else "offered")
            Share.objects.filter(pk=share.pk).update(state="offered", team=None)
            answer = client.post(f"{REST}{share.pk}/{action}/", **people.bearer(user)).status_code
            assert answer == ({"accept": 200, "decline": 204}[action] if expected[role] == 302 else expected[role])


def test_the_list_tells_the_names_and_when_and_nothing_else_of_what_waits(
    client: Client, campaign: Campaign, cast: SimpleNamespace, receivers: dict[str, Any]
) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(name="<b>Win</b>" + "x" * 150, goal="Our secret goal")
    share = make.share(campaign, cast.other_team, "offered")
    client.force_login(receivers["operator"])
    page = client.get("/campaigns/offers/").content.decode()
    assert "&lt;b&gt;Win" in page and "x" * 100 not in page and "secret goal" not in page
    assert f"/campaigns/{campaign.pk}/" not in page
    (told,) = client.get(REST).json()["results"]
    assert told.pop("offered_at")
    assert told.pop("campaign_name").startswith("<b>Win")
    assert told == {
        "id": share.pk, "team": "strangers", "offered_by": cast.team.name, "campaign": None, "state": "offered",
    }  # fmt: skip
    assert "offers you a campaign" in client.get("/campaigns/").content.decode()
    client.force_login(receivers["viewer"])
    page = client.get("/campaigns/offers/").content.decode()
    assert "&lt;b&gt;Win" in page and "/accept/" not in page
    for user in (cast.oscar, people.user("nobody")):
        client.force_login(user)
        assert client.get(REST).json()["results"] == []
        assert "No campaign is offered" in client.get("/campaigns/offers/").content.decode()


def test_whoever_offers_learns_neither_who_declined_nor_which_teams_there_are(
    client: Client, campaign: Campaign, cast: SimpleNamespace, receivers: dict[str, Any]
) -> None:
    Team.objects.create(name="Third", slug="third")
    answers = {name: put(client, campaign, cast.oscar, name) for name in ("strangers", "third", "no-such-team")}
    bodies = {answer.content.decode().replace(name, "NAME") for name, answer in answers.items()}
    assert {answer.status_code for answer in answers.values()} == {200} and len(bodies) == 1
    before = put(client, campaign, cast.oscar, "strangers").json()
    client.force_login(cast.oscar)
    page = f"/campaigns/{campaign.pk}/sharing/"
    assert "third" not in client.get(page).content.decode()
    shown = client.get(page).content.decode().count(">offered<")
    offers.decline(share=campaign.shares.get(), user=receivers["operator"], now=timezone.now())
    assert put(client, campaign, cast.oscar, "strangers").json() == before
    assert client.get(page).content.decode().count(">offered<") == shown == 1
    assert client.post(page, {"visibility": "shared", "shared_with": "no-such-team"}).status_code == 302
    assert client.post(page, {"visibility": "shared", "shared_with": "no/team"}).status_code == 422


def test_who_reads_it_is_not_told_to_whom_else_it_is_offered(
    client: Client, campaign: Campaign, cast: SimpleNamespace, receivers: dict[str, Any]
) -> None:
    make.share(campaign, cast.other_team)
    make.share(campaign, Team.objects.create(name="Third", slug="third"), "offered")
    for user, names in ((cast.bob, ["strangers", "third"]), (receivers["manager"], [])):
        told = client.get(f"/api/v1/campaigns/{campaign.pk}/sharing/", **people.bearer(user)).json()
        assert (told["shared_with"], told["accepted"]) == (names, names[:1])


def test_who_declined_is_spared_for_a_while_whatever_is_offered_or_deleted(
    campaign: Campaign, cast: SimpleNamespace, receivers: dict[str, Any]
) -> None:
    offer_to(campaign, cast, "strangers")
    offers.decline(share=campaign.shares.get(), user=receivers["operator"], now=timezone.now())
    services.delete_campaign(campaign=campaign, user=cast.oscar, now=timezone.now())
    for _again in range(2):
        second = make.campaign(cast, name="Second")
        offer_to(second, cast, "strangers")
        assert not queries.offers_to(receivers["operator"]).exists()
    SparedTeam.objects.update(until=timezone.now() - timedelta(seconds=1))
    services.share_campaign(campaign=second, user=cast.oscar, visibility=V.TEAM)
    offer_to(second, cast, "strangers")
    assert queries.offers_to(receivers["operator"]).get().campaign == second


def test_few_offers_are_open_of_a_team_and_of_a_person_in_all_teams(
    campaign: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offers, "MOST_OFFERS", 3)
    offer_to(campaign, cast, "a", "b", "c")
    # What is open already needs no room.
    offer_to(campaign, cast, "a", "b", "c")
    with pytest.raises(errors.Refused, match="At most 3 offers"):
        offer_to(campaign, cast, "a", "b", "c", "d")
    cast.other_team.memberships.create(user=cast.oscar, role=Role.OPERATOR)
    elsewhere = make.campaign(SimpleNamespace(team=cast.other_team, oscar=cast.oscar))
    with pytest.raises(errors.Refused, match="At most 3 offers"):
        offer_to(elsewhere, cast, "e")
    campaign.refresh_from_db()
    assert not services.clone_campaign(campaign=campaign, user=cast.oscar).shares.exists()
    Share.objects.filter(name="a").delete()
    offer_to(elsewhere, cast, "e")


def test_a_team_that_takes_a_name_later_has_nothing_that_was_accepted_under_it(
    campaign: Campaign, cast: SimpleNamespace, receivers: dict[str, Any]
) -> None:
    make.share(campaign, cast.other_team)
    Team.objects.filter(pk=cast.other_team.pk).update(slug="renamed", skeleton="renamed", name="Renamed")
    late = people.user("late")
    Team.objects.create(name="Late", slug="strangers").memberships.create(user=late, role=Role.MANAGER)
    assert not queries.sees_whole(campaign, late)
    assert not queries.offers_to(late).exists()
    assert queries.sees_whole(campaign, receivers["viewer"])


def test_who_makes_a_team_of_a_name_that_was_offered_to_has_nothing_of_it_until_it_is_offered_again(
    client: Client, campaign: Campaign, cast: SimpleNamespace
) -> None:
    offer_to(campaign, cast, "late")
    share, late = campaign.shares.get(), people.user("late")
    accounts.create_team(user=late, name="Anything at all", slug="late")
    assert not queries.offers_to(late).exists() and not queries.has_offers(late)
    for address in (f"{REST}{share.pk}/accept/", f"/campaigns/offers/{share.pk}/accept/"):
        client.force_login(late)
        assert client.post(address).status_code == 404
    offer_to(campaign, cast, "late")
    assert not queries.offers_to(late).exists()
    services.share_campaign(campaign=campaign, user=cast.oscar, visibility=V.TEAM)
    offer_to(campaign, cast, "late")
    assert queries.has_offers(late)


def test_the_dates_of_a_series_follow_what_was_accepted_and_are_let_go_with_it(
    campaign: Campaign, cast: SimpleNamespace, receivers: dict[str, Any]
) -> None:
    share = make.share(campaign, cast.other_team)
    make.share(campaign, Team.objects.create(name="Third", slug="third"), "offered")
    campaign.refresh_from_db()
    date = services.copies.copy_campaign(campaign=campaign, name="Date", created_by=cast.oscar, series=campaign)
    assert [(row.name, row.state) for row in date.shares.all()] == [("strangers", "accepted")]
    assert queries.sees_whole(date, receivers["viewer"])
    offers.decline(share=share, user=receivers["operator"], now=timezone.now())
    assert not queries.sees_whole(date, receivers["viewer"])


def test_an_offer_that_was_taken_back_is_accepted_by_nobody(
    client: Client, campaign: Campaign, cast: SimpleNamespace, receivers: dict[str, Any]
) -> None:
    offer_to(campaign, cast, "strangers")
    share = campaign.shares.get()
    services.share_campaign(campaign=campaign, user=cast.oscar, visibility=V.TEAM)
    client.force_login(receivers["operator"])
    assert client.post(f"/campaigns/offers/{share.pk}/accept/").status_code == 404
    assert not queries.sees_whole(campaign, receivers["operator"])


def test_one_of_who_may_write_no_more_is_refused_in_words_on_the_page_and_over_rest(
    client: Client, campaign: Campaign, cast: SimpleNamespace, receivers: dict[str, Any]
) -> None:
    offer_to(campaign, cast, "strangers")
    share, operator = campaign.shares.get(), receivers["operator"]
    cast.team.memberships.filter(user=cast.oscar).update(role=Role.VIEWER)
    answer = client.post(f"{REST}{share.pk}/accept/", **people.bearer(operator))
    assert (answer.status_code, "may not write for grid any more" in answer.content.decode()) == (409, True)
    page = people.signed_in(operator).post(f"/campaigns/offers/{share.pk}/accept/", follow=True)
    assert "may not write for grid any more" in page.content.decode()
    assert not queries.sees_whole(campaign, operator)
