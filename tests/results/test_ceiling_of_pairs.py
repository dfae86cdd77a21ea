"""What several nodes of each role carry at once is the ceiling of all their pairs, in charts as in findings."""

from types import SimpleNamespace

import pytest

from apps.campaigns.models import Experiment, Lane
from apps.results.theory import theory_of
from apps.testbeds.models import Link, Node
from tests import rewriting
from tests.campaigns import factories as make


@pytest.mark.parametrize("is_known", [True, False])
def test_the_ceiling_of_two_pairs_is_that_of_both_links(
    cast: SimpleNamespace, pair: list[Node], is_known: bool
) -> None:
    campaign = make.launched(cast, pair[0], pair[1])
    experiment = campaign.experiments.get()
    alone = theory_of(experiment)
    first, second = make.nodes(cast.team, "a2")[0], make.nodes(cast.team, "b2")[0]
    if is_known:
        link = Link.objects.get()
        Link.objects.create(
            team=cast.team,
            name="other pair",
            a_node=first,
            b_node=second,
            capacity_bps=link.capacity_bps,
            mtu=link.mtu,
        )
    lane = experiment.lanes.get()
    others = zip(lane.roles.items(), (first, second), strict=True)
    roles = {role: [node, other.pk] for (role, (node,)), other in others}
    rewriting.update(Lane.objects.filter(pk=lane.pk), roles=roles)
    experiment = Experiment.objects.get(pk=experiment.pk)
    both = theory_of(experiment)
    # Of a pair without a path nothing is known.
    assert both.ceiling_bps == (pytest.approx(2 * alone.ceiling_bps) if is_known else None)
    assert both.bdp_bytes == (alone.bdp_bytes if is_known else None)
