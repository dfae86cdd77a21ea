"""What was measured at a site stays there: neither its nodes nor their testbed move to another."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from apps.campaigns.models import Trial
from apps.testbeds import services as inventory
from apps.testbeds.models import Node, Site
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api
from tests.testbeds import factories


@pytest.fixture
def elsewhere(cast: SimpleNamespace) -> Any:
    """Return a testbed at another site."""
    return factories.testbed(cast.team, "Far", site=Site.objects.create(team=cast.team, name="Jeju"))


def moves(pair: list[Node], elsewhere: Any) -> list[tuple[str, Any, str, Any]]:
    """Return (path, item, field, other value) of every change that would take a node to another site."""
    node = Node.objects.get(pk=pair[0].pk)
    return [
        (f"nodes/{node.pk}", node, "testbed", elsewhere),
        (f"testbeds/{node.testbed_id}", node.testbed, "site", elsewhere.site),
    ]


def test_a_node_and_its_testbed_move_as_long_as_nothing_was_measured(
    cast: SimpleNamespace, pair: list[Node], elsewhere: Any
) -> None:
    make.experiment(make.campaign(cast), *pair)
    for _path, item, field, value in moves(pair, elsewhere):
        assert getattr(inventory.update_item(item=item, values={field: value}), field) == value


@pytest.mark.parametrize("state", ["pending", "running", "succeeded"])
def test_they_stay_once_something_is_measured(
    cast: SimpleNamespace, pair: list[Node], elsewhere: Any, state: str
) -> None:
    campaign = make.launched(cast, *pair)
    campaign.trials.update(state=state)
    for path, item, field, value in moves(pair, elsewhere):
        with pytest.raises(ValidationError, match=f"“{campaign.name}” measured at the site") as refused:
            inventory.update_item(item=item, values={field: value})
        assert list(refused.value.message_dict) == [field]
        answer = Api(cast.oscar)("patch", f"/{path}/", {field: value.pk})
        assert answer.status_code == 400 and list(answer.json()["fields"]) == [field]
        # All else of them is changed as before.
        assert Api(cast.oscar)("patch", f"/{path}/", {"notes": "New."}).status_code == 200


def test_what_failed_has_no_figures_to_keep(cast: SimpleNamespace, pair: list[Node], elsewhere: Any) -> None:
    make.launched(cast, *pair).trials.update(state=Trial.State.FAILED)
    for _path, item, field, value in moves(pair, elsewhere):
        inventory.update_item(item=item, values={field: value})
    # Within a site a node moves as one likes.
    assert pair[0].testbed.site_id != elsewhere.site_id


def test_within_its_site_a_node_moves(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    node = Node.objects.get(pk=pair[0].pk)
    other = factories.testbed(cast.team, "Next door", site=node.testbed.site)
    assert inventory.update_item(item=node, values={"testbed": other}).testbed == other
