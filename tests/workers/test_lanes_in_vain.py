"""Campaigns that wait for nodes without agents cost others nothing, however many pairs of nodes they have."""

from types import SimpleNamespace

import pytest

from apps.campaigns import queries
from apps.campaigns.models import Campaign, Run
from apps.campaigns.queries import lanes as of_lanes
from apps.testbeds.models import Node
from tests import rows
from tests.campaigns import factories as make
from tests.workers import factories as workers
from workers import carry_out

pytestmark = pytest.mark.django_db
SIDE, CAMPAIGNS = 12, 10
TABLES = ("campaigns_lane", "campaigns_trial", "campaigns_reservation")


def wait_in_vain(cast: SimpleNamespace) -> list[Campaign]:
    """Launch campaigns between all nodes of two sides, of which none has an agent."""
    sides = [make.nodes(cast.team, *(f"{side}{number}" for number in range(SIDE))) for side in ("left", "right")]
    clusters = [make.cluster(cast.team, f"side {number}", *nodes) for number, nodes in enumerate(sides)]
    values = {"factors": [], "repetitions": 1}
    return [make.launched(cast, *clusters, name=f"In vain {number}", **values) for number in range(CAMPAIGNS)]


def test_a_pass_looks_at_no_lane_of_nodes_that_are_away(cast: SimpleNamespace) -> None:
    waiting = wait_in_vain(cast)
    a, b = make.nodes(cast.team, "a", "b")
    workers.enrol(a, b)
    other = make.launched(cast, a, b, factors=[], repetitions=1)
    rows.know_tables()
    looked_at = rows.of(carry_out.schedule, *TABLES).read
    assert [run.trial.campaign for run in Run.objects.all()] == [other]
    # A few of the one lane and of its trial, a row of each campaign at most.
    assert looked_at <= 20 + len(waiting)
    # Once its nodes are taken there is no lane at all to look at.
    assert rows.of(carry_out.schedule, "campaigns_lane", "campaigns_trial").read == 0
    assert rows.of(lambda: carry_out.schedule(needing=[f"node:{a.pk}"]), "campaigns_lane").read == 0


def test_a_node_of_a_lane_that_is_there_alone_lets_no_trial_be_looked_at(cast: SimpleNamespace) -> None:
    waiting = wait_in_vain(cast)
    lane = waiting[0].experiments.get().lanes.first()
    here = lane.roles["client"][0]
    rows.know_tables()
    ready = Node.objects.get(pk=here)

    def take() -> None:
        assert make.take(ready) == []

    assert rows.of(take, "campaigns_trial").read == 0
    assert rows.of(take, "campaigns_lane").read <= CAMPAIGNS * SIDE


@pytest.mark.parametrize("compared", [0, of_lanes.MOST_COMPARED])
def test_many_ready_nodes_start_the_same_lanes_in_the_same_order(
    cast: SimpleNamespace, compared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_lanes, "MOST_COMPARED", compared)
    a, b, c, d, e = make.nodes(cast.team, "a", "b", "c", "d", "e")
    first = make.launched(cast, a, b, factors=[], repetitions=1)
    away = make.launched(cast, a, e, factors=[], repetitions=1)
    second = make.launched(cast, c, d, factors=[], repetitions=1)
    ready = {node.pk for node in (a, b, c, d)}
    found = [lane.experiment for lane in queries.startable_lanes(now=make.NOW, ready_nodes=ready)]
    assert found == [campaign.experiments.get().pk for campaign in (first, second)]
    assert away.experiments.get().pk not in found
