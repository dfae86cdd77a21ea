"""Paths over a team's links, and what a measurement reserves."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.testbeds import queries
from tests import factories as people
from tests.testbeds import factories

pytestmark = pytest.mark.django_db


def test_the_capacity_is_the_lowest_links_and_that_link_is_named() -> None:
    here = factories.two_sites(people.team(), capacity_bps=500_000_000)
    path = queries.path_between(here.near[0], here.far[0])
    assert path.capacity_bps == 500_000_000
    assert path.bottleneck.name == "KISTI–PNU"
    assert path.bottleneck.key == here.line.key
    assert path.mtu == 9000
    assert path.hops == 3


def test_of_equally_narrow_links_the_line_between_the_sites_is_the_bottleneck() -> None:
    here = factories.two_sites(people.team())
    assert queries.path_between(here.near[0], here.far[0]).bottleneck.name == "KISTI–PNU"
    assert queries.path_between(here.far[0], here.near[0]).bottleneck.name == "KISTI–PNU"


def test_the_rtt_is_the_sum_over_the_links() -> None:
    here = factories.two_sites(people.team())
    assert queries.path_between(here.near[0], here.far[0]).rtt_s == pytest.approx(0.0048)


def test_an_end_to_end_rtt_takes_precedence_in_either_direction() -> None:
    here = factories.two_sites(people.team())
    factories.site_pair(here.far_site, here.near_site, 0.0062)
    assert queries.path_between(here.near[0], here.far[0]).rtt_s == 0.0062
    assert queries.path_between(here.far[0], here.near[0]).rtt_s == 0.0062
    assert queries.path_between(here.near[0], here.near[1]).rtt_s == 0


def test_nodes_without_links_have_no_path() -> None:
    team = people.team()
    assert queries.path_between(factories.node(team), factories.node(team)) is None


def test_a_node_on_two_networks_does_not_forward() -> None:
    team = people.team()
    a, middle, b = (factories.node(team) for _ in range(3))
    factories.link(a, middle)
    factories.link(middle, b)
    assert queries.path_between(a, b) is None
    assert queries.path_between(a, middle).hops == 1


def test_nodes_of_different_teams_have_no_path() -> None:
    assert queries.path_between(factories.node(people.team()), factories.node(people.team())) is None


def test_a_measurement_reserves_its_nodes_and_the_links_between_them() -> None:
    here = factories.two_sites(people.team())
    a, b = here.near[0], here.far[0]
    found = queries.resources_of([b, a])
    own = [f"link:{link.pk}" for node in (a, b) for link in queries.links_at(node)]
    assert found == sorted([f"node:{a.pk}", f"node:{b.pk}", here.line.key, *own])


def test_two_campaigns_on_different_nodes_meet_on_the_line_between_the_sites() -> None:
    here = factories.two_sites(people.team())
    first = queries.resources_of([here.near[0], here.far[0]])
    second = queries.resources_of([here.near[1], here.far[1]])
    assert set(first) & set(second) == {here.line.key}


def test_measurements_within_a_site_do_not_meet() -> None:
    here = factories.two_sites(people.team())
    near, far = queries.resources_of(here.near), queries.resources_of(here.far)
    assert not set(near) & set(far)


def test_a_single_node_and_unconnected_nodes_reserve_themselves() -> None:
    team = people.team()
    a, b = factories.node(team), factories.node(team)
    assert queries.resources_of([a]) == [f"node:{a.pk}"]
    assert queries.resources_of([a, b]) == sorted([f"node:{a.pk}", f"node:{b.pk}"])
    assert queries.resources_of([]) == []


def test_reservations_of_many_nodes_take_few_queries() -> None:
    here = factories.two_sites(people.team(), nodes=6)
    with CaptureQueriesContext(connection) as caught:
        queries.resources_of([*here.near, *here.far])
    assert len(caught) <= 2
