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


READS = ["campaign_detail", "campaign_status", "campaign_events", "trial_list"]
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


@pytest.mark.parametrize("name", READS)
def test_members_read_and_strangers_find_nothing(cast: SimpleNamespace, pair: list[Node], name: str) -> None:
    place = address(name, make.launched(cast, *pair).pk)
    assert browser(None).get(place).status_code == 302
    assert browser(cast.bob).get(place).status_code == 200
    assert browser(cast.charlie).get(place).status_code == 404


@pytest.mark.parametrize("name", WRITES)
def test_only_operators_write(cast: SimpleNamespace, pair: list[Node], name: str) -> None:
    place = address(name, make.launched(cast, *pair).pk)
    for person, status in ((None, 302), (cast.bob, 403), (cast.charlie, 404)):
        call = browser(person).get if name == "confirm_launch" else browser(person).post
        assert call(place, {"name": "x"}).status_code == status
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
