"""Who may see and do what on the pages of campaigns."""

from types import SimpleNamespace

import pytest
from django.test import Client

from apps.campaigns.models import Campaign, Experiment
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import address, browser, form


@pytest.fixture
def oscar(cast: SimpleNamespace) -> Client:
    """Return the operator's browser."""
    return browser(cast.oscar)


READS = ["campaign_detail", "campaign_status", "campaign_events", "results:trial_list"]
WRITES = [
    "campaign_update",
    "campaign_clone",
    "campaign_delete",
    "confirm_launch",
    "launch",
    "pause",
    "resume",
    "withdraw",
    "cancel",
    "rerun_failed",
    "experiment_create",
]


def test_members_read_and_strangers_find_nothing(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    for name in READS:
        place = address(name, campaign.pk)
        statuses = [browser(person).get(place).status_code for person in (None, cast.bob, cast.charlie)]
        assert statuses == [302, 200, 404], place


def test_only_operators_write(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    people = [browser(person) for person in (None, cast.bob, cast.charlie)]
    for name in WRITES:
        place = address(name, campaign.pk)
        calls = [person.get if name == "confirm_launch" else person.post for person in people]
        assert [call(place, {"name": "x"}).status_code for call in calls] == [302, 403, 404], place
    assert Campaign.objects.get().state == "running"
    assert Campaign.objects.get().name == "Window sweep"


@pytest.mark.parametrize("name", ["experiment_update", "experiment_delete"])
def test_only_operators_change_experiments(cast: SimpleNamespace, pair: list[Node], name: str) -> None:
    experiment = make.experiment(make.campaign(cast), *pair)
    for person, status in ((None, 302), (cast.bob, 403), (cast.charlie, 404)):
        for method in ("get", "post"):
            assert getattr(browser(person), method)(address(name, experiment.pk)).status_code == status
    assert Experiment.objects.exists()


def test_only_members_preview(cast: SimpleNamespace, pair: list[Node]) -> None:
    place = address("experiment_preview", make.campaign(cast).pk)
    assert browser(None).post(place, form(pair)).status_code == 302
    assert browser(cast.charlie).post(place, form(pair)).status_code == 404
    assert browser(cast.oscar).get(place).status_code == 405


def test_nodes_of_other_teams_can_not_be_chosen(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    theirs = make.nodes(cast.other_team, "secret")[0]
    draft = make.campaign(cast)
    assert "secret" not in oscar.get(address("experiment_create", draft.pk)).content.decode()
    answer = oscar.post(address("experiment_create", draft.pk), form(pair, role_server=[f"node:{theirs.pk}"]))
    assert answer.status_code == 422
