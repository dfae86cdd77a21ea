"""Saying who sees a campaign, and what its permanent id answers once it is deleted."""

from types import SimpleNamespace

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from apps.campaigns import services
from apps.campaigns.models import Campaign, Tombstone
from tests import factories as people
from tests.campaigns import factories as make

V = Campaign.Visibility


@pytest.fixture
def campaign(cast: SimpleNamespace) -> Campaign:
    """Return a draft of Oscar's."""
    return make.campaign(cast)


def page(campaign: Campaign) -> str:
    return f"/campaigns/{campaign.pk}/sharing/"


def test_an_operator_says_who_sees_it_and_the_log_tells(
    client: Client, campaign: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.oscar)
    assert client.get(page(campaign)).status_code == 200
    body = {"visibility": V.SHARED, "shared_with": "strangers", "licence": "CC-BY-4.0"}
    assert client.post(page(campaign), body).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.visibility, campaign.licence, campaign.redacted) == (V.SHARED, "CC-BY-4.0", False)
    assert [(share.name, share.state) for share in campaign.shares.all()] == [("strangers", "offered")]
    assert campaign.events.first().message["params"] == {"user": "oscar"}
    for shown in ("/campaigns/", f"/campaigns/{campaign.pk}/"):
        assert "The team, and the teams named below once they accept" in client.get(shown).content.decode()
    client.post(page(campaign), {"visibility": V.TEAM, "shared_with": "strangers"})
    assert not campaign.shares.exists()


def test_it_refuses_a_sharing_with_nobody_and_a_licence_that_is_none(
    client: Client, campaign: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.oscar)
    answer = client.post(page(campaign), {"visibility": V.SHARED})
    assert answer.status_code == 422
    assert "Name at least one other team" in answer.content.decode()
    assert client.post(page(campaign), {"visibility": V.PUBLIC, "licence": "mine"}).status_code == 422
    assert client.post(page(campaign), {}).status_code == 422
    campaign.refresh_from_db()
    assert campaign.visibility == V.TEAM


def test_only_its_maker_keeps_it_to_themselves(campaign: Campaign, cast: SimpleNamespace) -> None:
    with pytest.raises(ValidationError, match="ask oscar"):
        services.share_campaign(campaign=campaign, user=cast.alice, visibility=V.PRIVATE)
    assert services.share_campaign(campaign=campaign, user=cast.oscar, visibility=V.PRIVATE).visibility == V.PRIVATE


def test_the_stranger_finds_nothing_and_the_viewer_may_not(
    client: Client, campaign: Campaign, cast: SimpleNamespace
) -> None:
    for user, status in ((cast.charlie, 404), (cast.bob, 403)):
        client.force_login(user)
        assert client.get(page(campaign)).status_code == status
        assert client.post(page(campaign), {"visibility": V.PUBLIC}).status_code == status
        address = f"/api/v1/campaigns/{campaign.pk}/sharing/"
        wish = {"visibility": V.PUBLIC}
        answer = client.put(address, wish, content_type="application/json", **people.bearer(user))
        assert answer.status_code == status


def test_rest_says_it_and_names_what_is_wrong(client: Client, campaign: Campaign, cast: SimpleNamespace) -> None:
    headers, address = people.bearer(cast.oscar), f"/api/v1/campaigns/{campaign.pk}/sharing/"
    wish = {"visibility": "shared", "shared_with": ["strangers"], "licence": "CC0-1.0", "redacted": False}
    told = client.put(address, wish, content_type="application/json", **headers).json()
    preview = f"/c/{campaign.permanent_id}/?as=stranger"
    assert told == {**wish, "accepted": [], "permanent_id": campaign.permanent_id, "preview": preview}
    assert client.get(address, **headers).json() == told
    wrong = client.put(address, {"shared_with": ["no body"]}, content_type="application/json", **headers)
    assert wrong.status_code == 400
    assert {"visibility", "shared_with.0"} <= set(wrong.json()["fields"])


@pytest.mark.parametrize("visibility", V.values)
def test_a_copy_is_its_teams_whoever_sees_the_original(
    client: Client, campaign: Campaign, cast: SimpleNamespace, visibility: str
) -> None:
    make.share(campaign, cast.other_team)
    Campaign.objects.filter(pk=campaign.pk).update(visibility=visibility, redacted=False)
    campaign.refresh_from_db()
    copy = services.clone_campaign(campaign=campaign, user=cast.oscar)
    assert copy.visibility == (V.PRIVATE if visibility == V.PRIVATE else V.TEAM)
    assert (copy.redacted, copy.shares.exists()) == (True, False)
    assert copy.permanent_id != campaign.permanent_id
    # Whoever is not signed in is asked to, as for what there is none of.
    assert client.get(f"/c/{copy.permanent_id}/").status_code == 302
    client.force_login(cast.charlie)
    assert client.get(f"/c/{copy.permanent_id}/").status_code == 404


def test_deleting_leaves_a_tombstone_for_those_who_saw_it(
    client: Client, campaign: Campaign, cast: SimpleNamespace
) -> None:
    make.share(campaign, cast.other_team)
    client.force_login(cast.oscar)
    assert "permanent id" in client.get(f"/campaigns/{campaign.pk}/delete/").content.decode()
    client.post(f"/campaigns/{campaign.pk}/delete/", {"reason": "Wrong cable"})
    stone = Tombstone.objects.get(permanent_id=campaign.permanent_id)
    assert (stone.name, stone.reason, stone.deleted_by_name) == ("Window sweep", "Wrong cable", "oscar")
    assert stone.campaign_created_at == campaign.created_at
    for user in (cast.bob, cast.charlie):
        client.force_login(user)
        answer = client.get(f"/c/{campaign.permanent_id}/")
        assert answer.status_code == 410
        assert "Wrong cable" in answer.content.decode()
    client.force_login(people.user())
    assert client.get(f"/c/{campaign.permanent_id}/").status_code == 404


def test_rest_takes_the_reason_of_a_deletion(client: Client, campaign: Campaign, cast: SimpleNamespace) -> None:
    headers = people.bearer(cast.oscar)
    address = f"/api/v1/campaigns/{campaign.pk}/?reason=Twice"
    assert client.delete(address, **headers).status_code == 204
    told = client.get(f"/api/v1/permanent-ids/{campaign.permanent_id}/", **headers)
    assert told.status_code == 410
    assert told.json()["reason"] == "Twice"
    assert client.get(f"/api/v1/permanent-ids/{campaign.permanent_id}/").status_code == 404
