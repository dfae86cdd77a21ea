"""A trial has so many nodes at most, whoever asks: each pair of them has a path that is looked at meanwhile."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.campaigns import guards
from apps.campaigns.expansion import MOST_NODES, expand_experiment
from tests import factories
from tests.campaigns import factories as make
from tests.factories import Cast

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("more", "is_taken"), [(0, True), (1, False)])
def test_a_cluster_brings_no_more_nodes_into_a_trial_than_it_may_have(more: int, is_taken: bool, cast: Cast) -> None:
    nodes = make.nodes(cast.team, *(f"n{number}" for number in range(MOST_NODES + more)))
    crowd = make.cluster(cast.team, "crowd", *nodes)
    body = {
        "campaign": make.campaign(cast).pk,
        "name": "all",
        "tool": "imb",
        "roles": [{"role": "node", "cluster": crowd.pk}],
    }
    answer = Client().post("/api/v1/experiments/", body, "application/json", **factories.bearer(cast.oscar))
    assert answer.status_code == (201 if is_taken else 400), answer.content
    if not is_taken:
        said = answer.json()["fields"]["roles.node"][0]
        assert str(MOST_NODES) in said and str(MOST_NODES + 1) in said


def test_one_role_more_than_a_definition_takes_is_refused_by_its_name(cast: Cast) -> None:
    (node,) = make.nodes(cast.team, "n")
    body = {
        "campaign": make.campaign(cast).pk,
        "name": "all",
        "tool": "imb",
        "roles": [{"role": "node", "node": node.pk}] * (MOST_NODES + 1),
    }
    answer = Client().post("/api/v1/experiments/", body, "application/json", **factories.bearer(cast.oscar))
    assert answer.status_code == 400
    assert answer.json()["fields"].keys() == {"roles"}
    assert f"At most {MOST_NODES} entries" in answer.json()["fields"]["roles"][0]


def test_the_limits_of_all_links_are_asked_for_at_once(cast: Cast) -> None:
    asked, sides = [], make.wan(cast.team, 6)
    for pairs in (2, 6):
        here = make.cluster(cast.team, f"here {pairs}", *sides.left[:pairs])
        there = make.cluster(cast.team, f"there {pairs}", *sides.right[:pairs])
        swept = make.experiment(make.campaign(cast), here, there, fixed={"duration": "2 s", "streams": "4"})
        expansion = expand_experiment(swept, swept.roles.all())
        assert len(expansion.casts) == pairs**2
        with CaptureQueriesContext(connection) as queries:
            guards.check_limits(expansion)
        asked.append(len(queries))
    assert asked[0] == asked[1]
