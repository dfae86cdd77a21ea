"""Permanent ids and the references made of them: they name a thing wherever its campaign is read."""

from types import SimpleNamespace

import pytest

from apps.campaigns import permanent_ids, references
from apps.campaigns.models import Campaign, Event
from apps.testbeds.models import Node
from tests.campaigns import factories as make


def test_ids_are_three_groups_of_four_and_unlike_each_other() -> None:
    made = {permanent_ids.new() for _number in range(200)}
    assert len(made) == 200
    for text in made:
        assert len(text) == 14
        assert permanent_ids.normalise(text) == text


@pytest.mark.parametrize("text", ["7K3M9QXT2V4H", " 7k3m 9qxt 2v4h ", "7k3m-9qxt-2v4h"])
def test_an_id_is_read_however_it_was_written(text: str) -> None:
    assert permanent_ids.normalise(text) == "7k3m-9qxt-2v4h"


def test_misread_letters_are_read_as_the_figures_they_look_like() -> None:
    assert permanent_ids.normalise("oil0-0000-0000") == "0110-0000-0000"


@pytest.mark.parametrize("text", ["", "7k3m", "7k3m-9qxt-2v4u", "7k3m-9qxt-2v4h-2v4h", "７k3m-9qxt-2v4h"])
def test_what_is_no_id_is_none(text: str) -> None:
    assert permanent_ids.normalise(text) is None


def test_a_reference_leads_back_to_its_thing_for_who_may_see_it(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    trial = campaign.trials.select_related("experiment", "campaign").order_by("position")[1]
    pk = campaign.permanent_id
    expected = {
        f"campaign:{pk}": campaign.get_absolute_url(),
        f"experiment:{pk}/0": f"{campaign.get_absolute_url()}#experiment-{trial.experiment_id}",
        f"trial:{pk}/0/1": f"/results/trials/{trial.pk}/",
    }
    things = [campaign, trial.experiment, trial]
    assert [references.reference(thing) for thing in things] == list(expected)
    assert {ref: references.resolve(ref, cast.bob) for ref in expected} == expected
    assert {references.resolve(ref, cast.charlie) for ref in expected} == {None}


@pytest.mark.parametrize("rest", ["", "/0", "/0/99", "/x/1", "/0/1/2", "/9999999999999999999999/1", "/0/\0"])
def test_a_reference_to_nothing_resolves_to_nothing(rest: str, cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    assert references.resolve(f"trial:{campaign.permanent_id}{rest}", cast.oscar) is None
    assert references.resolve(f"tree:{campaign.permanent_id}{rest}", cast.oscar) is None


def test_an_address_is_itself_and_another_scheme_is_nothing(cast: SimpleNamespace) -> None:
    assert references.resolve("https://example.org/a", cast.oscar) == "https://example.org/a"
    assert references.resolve("javascript:alert(1)", cast.oscar) is None


def test_nothing_refers_to_a_line_of_the_log() -> None:
    with pytest.raises(TypeError, match="Event"):
        references.reference(Event())


def test_a_kind_is_added_once() -> None:
    with pytest.raises(ValueError, match="campaign"):
        references.register(references.ReferenceKind("campaign", Campaign, None, None, None))  # type: ignore[arg-type]
