"""Who sees a campaign: its maker, its team, teams it is shared with, or everybody; on every page and by every API."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from apps.accounts.models import User
from apps.campaigns import queries
from apps.campaigns.models import Campaign
from apps.campaigns.queries import visibility
from apps.reports.models import Report
from apps.testbeds.models import Node
from tests import factories as people
from tests.campaigns import factories as make

V = Campaign.Visibility


@pytest.fixture
def campaign(cast: SimpleNamespace, pair: list[Node]) -> Campaign:
    """Return a draft of Oscar's with one experiment."""
    made = make.campaign(cast)
    make.experiment(made, *pair)
    return made


def show_to(campaign: Campaign, visibility: str, *teams: object, redacted: bool = False) -> None:
    campaign.visibility, campaign.redacted = visibility, redacted
    campaign.shares.all().delete()
    for team in teams:
        make.share(campaign, team)
    campaign.save()


def who_sees(campaign: Campaign, cast: SimpleNamespace) -> set[str]:
    everybody = (cast.alice, cast.oscar, cast.bob, cast.charlie)
    seen = {user.username for user in everybody if queries.sees_whole(campaign, user)}
    return seen | ({"anybody"} if queries.sees_whole(campaign, AnonymousUser()) else set())


def test_a_new_campaign_is_its_teams(campaign: Campaign, cast: SimpleNamespace) -> None:
    assert who_sees(campaign, cast) == {"alice", "oscar", "bob"}


def test_a_private_one_is_its_makers_alone_as_long_as_there_is_one(campaign: Campaign, cast: SimpleNamespace) -> None:
    show_to(campaign, V.PRIVATE, cast.other_team)
    assert who_sees(campaign, cast) == {"oscar"}
    # Whom the team took the role or the place from can stop nothing any more: its managers can.
    cast.team.memberships.filter(user=cast.oscar).update(role="viewer")
    assert who_sees(campaign, cast) == {"oscar", "alice"}
    cast.team.memberships.filter(user=cast.oscar).delete()
    assert who_sees(campaign, cast) == {"alice"}
    Campaign.objects.update(created_by=None)
    assert who_sees(campaign, cast) == {"alice", "bob"}


def test_one_shared_with_a_team_is_seen_by_it_and_no_longer_when_taken_back(
    campaign: Campaign, cast: SimpleNamespace
) -> None:
    show_to(campaign, V.SHARED, cast.other_team)
    assert who_sees(campaign, cast) == {"alice", "oscar", "bob", "charlie"}
    show_to(campaign, V.TEAM, cast.other_team)
    assert who_sees(campaign, cast) == {"alice", "oscar", "bob"}


def test_a_public_one_is_seen_whole_by_everybody_only_where_nothing_is_hidden(
    campaign: Campaign, cast: SimpleNamespace
) -> None:
    show_to(campaign, V.PUBLIC, redacted=True)
    assert who_sees(campaign, cast) == {"alice", "oscar", "bob"}
    assert queries.readable(Campaign.objects.all(), AnonymousUser()).get() == campaign
    show_to(campaign, V.PUBLIC)
    assert who_sees(campaign, cast) == {"alice", "oscar", "bob", "charlie", "anybody"}


def test_a_superuser_sees_all(campaign: Campaign, cast: SimpleNamespace) -> None:
    show_to(campaign, V.PRIVATE)
    assert queries.sees_whole(campaign, people.user("root", is_superuser=True))


def addresses(campaign: Campaign) -> list[str]:
    experiment = campaign.experiments.get()
    return [
        f"/campaigns/{campaign.pk}/",
        f"/results/campaigns/{campaign.pk}/trials/",
        f"/results/experiments/{experiment.pk}/",
        f"/results/experiments/{experiment.pk}/samples.csv",
        f"/findings/predict/{experiment.pk}/",
        f"/api/v1/campaigns/{campaign.pk}/",
        f"/api/v1/campaigns/{campaign.pk}/events/",
        f"/api/v1/experiments/{experiment.pk}/",
        f"/api/v1/experiments/{experiment.pk}/results/",
        f"/api/v1/experiments/{experiment.pk}/loss/",
    ]


def test_every_page_and_interface_asks_the_same_question(
    client: Client, campaign: Campaign, cast: SimpleNamespace
) -> None:
    def answers(user: object) -> set[int]:
        client.force_login(user)
        return {client.get(address).status_code for address in addresses(campaign)}

    show_to(campaign, V.PRIVATE)
    assert answers(cast.oscar) == {200}
    assert answers(cast.alice) == answers(cast.charlie) == {404}
    show_to(campaign, V.SHARED, cast.other_team)
    assert answers(cast.charlie) == {200}
    for address in ("/campaigns/", "/api/v1/campaigns/", "/api/v1/experiments/"):
        assert campaign.experiments.get().name in client.get(address).content.decode() or (
            campaign.name in client.get(address).content.decode()
        )
    show_to(campaign, V.PUBLIC, redacted=True)
    assert answers(cast.charlie) == {404}


def test_who_only_sees_it_changes_nothing(client: Client, campaign: Campaign, cast: SimpleNamespace) -> None:
    show_to(campaign, V.SHARED, cast.other_team)
    client.force_login(cast.charlie)
    page = client.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert f"/campaigns/{campaign.pk}/edit/" not in page
    experiment = campaign.experiments.get()
    assert client.post(f"/campaigns/{campaign.pk}/edit/", {"name": "Mine"}).status_code == 404
    assert client.post(f"/campaigns/{campaign.pk}/launch/now/").status_code == 404
    assert client.post(f"/campaigns/experiments/{experiment.pk}/delete/").status_code == 404
    headers = people.bearer(cast.charlie)
    assert client.delete(f"/api/v1/campaigns/{campaign.pk}/", **headers).status_code == 404
    assert client.delete(f"/api/v1/experiments/{experiment.pk}/", **headers).status_code == 404
    body = {"campaign": campaign.pk, "name": "x", "tool": "iperf3-tcp", "roles": []}
    answer = client.post("/api/v1/experiments/", body, content_type="application/json", **headers)
    assert answer.status_code == 404
    assert Campaign.objects.get().name == "Window sweep"


def test_what_is_asked_for_a_person_is_kept_and_what_is_found_is_not(
    campaign: Campaign, cast: SimpleNamespace
) -> None:
    Report.objects.create(team=cast.team, campaign=campaign, language="en", title="x", of_campaign="")
    Report.objects.update(of_campaign=campaign.permanent_id)

    def told(user: User) -> bool:
        found = Report.objects.filter(visibility.told_to(user)).exists()
        assert found == visibility.visible(Report.objects.all(), user, "campaign").exists()
        assert found == visibility.counted(Report.objects.all(), user, "campaign").exists()
        return found

    assert visibility.told_to(cast.bob) is visibility.told_to(User.objects.get(pk=cast.bob.pk))
    assert (told(cast.bob), told(cast.charlie)) == (True, False)
    place = cast.team.memberships.get(user=cast.bob)
    place.user = cast.charlie
    place.save()
    assert (told(cast.bob), told(cast.charlie)) == (False, True)
