"""What readers nobody knows cost: a recipe without names is written once, is never stale, and shuts nobody out."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import Membership
from apps.archive.landing import kept
from apps.archive.landing.models import KeptText
from apps.archive.landing.redaction.named import NAMED, NamingField
from apps.campaigns import recipe_sizes
from apps.campaigns.models import Campaign, Experiment
from apps.core.limits import at_once
from apps.core.limits.fair_places import Owners
from apps.testbeds.models import Node, NodeAddress, Site
from tests import factories as people
from tests.campaigns import factories as make

pytestmark = pytest.mark.django_db
MARK = "# as it was kept"
SECRET = "zorbquark"


@pytest.fixture
def public(cast: Any) -> Campaign:
    campaign = make.campaign(cast, goal=f"Over {SECRET} and back.")
    Campaign.objects.update(visibility="public", redacted=True)
    campaign.refresh_from_db()
    a, b = make.joined(cast.team)
    make.experiment(campaign, a, b)
    return campaign


def read(campaign: Campaign, language: str = "en") -> str:
    return Client().get(f"/c/{campaign.permanent_id}/recipe.yaml", headers={"accept-language": language}).text


def mark_kept(campaign: Campaign) -> None:
    """Have what is kept be known again."""
    assert KeptText.objects.filter(campaign=campaign, part="recipe").update(text=MARK)


def test_every_public_answer_reads_what_was_written_once(public: Campaign) -> None:
    read(public)
    mark_kept(public)
    assert read(public) == MARK
    answer = Client().get(f"/api/v1/permanent-ids/{public.permanent_id}/").json()
    assert answer["recipe"] == MARK
    assert MARK in Client().get(f"/c/{public.permanent_id}/").text
    assert MARK not in read(public, "ko")
    Campaign.objects.update(redacted=False)
    assert SECRET in read(public)


def _rename_node(campaign: Campaign) -> None:
    Node.objects.filter(team=campaign.team).update(name=SECRET)


def _add_node(campaign: Campaign) -> None:
    make.nodes(campaign.team, SECRET)


def _add_address(campaign: Campaign) -> None:
    NodeAddress.objects.create(node=Node.objects.first(), address=f"{SECRET}.example.org")


def _name_person(campaign: Campaign) -> None:
    person = Membership.objects.filter(team=campaign.team).first().user
    person.username = SECRET
    person.save()


def _add_member(campaign: Campaign) -> None:
    Membership.objects.create(team=campaign.team, user=people.user(SECRET), role="viewer")


def _name_place(campaign: Campaign) -> None:
    Site.objects.filter(team=campaign.team).update(place=SECRET)


def _name_site(campaign: Campaign) -> None:
    Site.objects.filter(team=campaign.team).update(name=SECRET)


@pytest.mark.parametrize(
    "change",
    [_add_node, _add_address, _name_person, _add_member, _name_place, _name_site],
    ids=lambda item: item.__name__,
)
def test_a_name_that_came_later_is_hidden_at_the_next_look(
    public: Campaign, change: Callable[[Campaign], None]
) -> None:
    assert SECRET in read(public)
    change(public)
    assert SECRET not in read(public)


@pytest.mark.parametrize("named", [item for item in NAMED if item.model in (Node, Site)], ids=lambda item: item.field)
def test_a_name_that_went_is_hidden_still(public: Campaign, named: NamingField) -> None:
    row = named.model._default_manager.filter(team=public.team).order_by("pk")[0]
    for name in (SECRET, "another"):
        named.model._default_manager.filter(pk=row.pk).update(**{named.field: name})
        assert SECRET not in read(public)


def test_a_change_of_the_campaign_is_read_at_once(public: Campaign) -> None:
    read(public)
    mark_kept(public)
    Experiment.objects.filter(campaign=public).update(repetitions=7)
    assert "repetitions: 7" in read(public)
    mark_kept(public)
    Campaign.objects.filter(pk=public.pk).update(goal="Another.")
    assert "Another." in read(public)


def test_what_another_release_hid_is_written_anew(public: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    read(public)
    mark_kept(public)
    monkeypatch.setattr(kept, "release", lambda: "another")
    assert read(public) != MARK


def test_one_recipe_of_a_team_is_written_at_a_time_and_keeps_no_other_teams_waiting(
    public: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept.writing, "_wait_s", 0.1)
    address = f"/c/{public.permanent_id}/recipe.yaml"
    own, others = (Owners(f"texts of team {team}") for team in (public.team_id, public.team_id + 1))
    with kept.writing.turn(own):
        answer = Client().get(address)
    assert answer.status_code == 429 and answer["Retry-After"]
    with kept.writing.turn(others):
        assert Client().get(address).status_code == 200
    with kept.writing.turn(own):
        assert Client().get(address).status_code == 200


def test_readers_whom_nobody_knows_take_no_place_of_who_signs_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_once.of_process, "_wait_s", 0.1)
    with contextlib.ExitStack() as turns:
        for number in range(at_once.of_process.most):
            turns.enter_context(at_once.of_process.turn(at_once.Asker(f"192.0.2.{number}", is_known=False)))
        assert Client().get("/api/v1/permanent-ids/9jqm-f0xh-hvn3/").status_code == 429
        assert Client().get("/c/9jqm-f0xh-hvn3/").status_code == 429
        for address in ("/accounts/login/", "/accounts/mail/stop/"):
            assert Client().get(address).status_code < 429


def test_a_recipe_that_nobody_can_read_again_is_refused(cast: Any, public: Campaign) -> None:
    experiment = public.experiments.get()
    wide = ",".join(f"{number}KiB" for number in range(1, 1200))
    Experiment.objects.bulk_create(
        Experiment(
            campaign=public, position=number, name=f"e{number}", tool=experiment.tool,
            factors=[{"name": "window", "expression": wide}] * 10,
        )
        for number in range(1, 15)
    )  # fmt: skip
    assert recipe_sizes.size_of(public) > recipe_sizes.MOST_BYTES
    assert read(public).startswith("# The recipe is too large")
    roles = [{"role": part.role, "node": part.node_id} for part in experiment.roles.all()]
    body = {"campaign": public.pk, "name": "more", "tool": experiment.tool, "roles": roles}
    answer = Client().post("/api/v1/experiments/", body, "application/json", **people.bearer(cast.alice))
    assert answer.status_code == 400 and "divide it" in str(answer.json()), answer.json()
    answer = Client().patch(
        f"/api/v1/experiments/{experiment.pk}/", {"name": "more"}, "application/json", **people.bearer(cast.alice)
    )
    assert answer.status_code == 400 and "divide it" in str(answer.json()), answer.json()
    assert not public.experiments.filter(name="more").exists()


def test_a_page_shows_so_many_experiments_at_once(public: Campaign) -> None:
    experiment = public.experiments.get()
    Experiment.objects.bulk_create(
        Experiment(campaign=public, position=number, name=f"experiment {number}.", tool=experiment.tool)
        for number in range(1, 50)
    )
    page = Client().get(f"/c/{public.permanent_id}/").text
    assert page.count("<section") < 25 and "experiment 40." in Client().get(f"/c/{public.permanent_id}/?page=3").text
