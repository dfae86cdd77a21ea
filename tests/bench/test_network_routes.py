"""Routes: one form for all tools, and what changed between two sightings."""

import pytest

from apps.bench import tools
from apps.bench.network import routes
from tests.bench.tools import recordings

A = routes.make_route([(1, ["10.0.0.1"]), (2, ["10.0.1.1"]), (3, ["10.0.2.1"]), (4, ["10.0.3.1"])])


def changed(hop, *addresses, route=A):
    return tuple(addresses if number == hop else kept for number, kept in enumerate(route, start=1))


def test_hops_are_put_in_order_and_silent_ones_kept():
    route = routes.make_route([(3, ["10.0.2.1"]), (1, ["10.0.0.2", "10.0.0.1"]), (1, ["10.0.0.1"])])
    assert route == (("10.0.0.1", "10.0.0.2"), (), ("10.0.2.1",))
    assert routes.make_route([]) == ()


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("FE80:0:0::1%eth0", "fe80::1"),
        ("2001:DB8:0:0::1", "2001:db8::1"),
        ("10.0.0.1", "10.0.0.1"),
        ("Router.Example.", "router.example"),
    ],
)
def test_addresses_have_one_form(written, normal):
    assert routes.normalise(written) == normal


def test_a_route_survives_json():
    assert routes.from_json(routes.as_json(A)) == A
    for nonsense in (None, [], "x", [["a"], "b"], [[1]]):
        assert routes.from_json(nonsense) is None


def test_the_same_route_is_the_same():
    assert routes.compare(A, A).kind == routes.SAME
    assert not routes.compare(A, A).is_change


def test_a_hop_that_kept_silent_once_is_no_change():
    assert routes.compare(A, changed(2)).kind == routes.SAME
    assert routes.compare(changed(2), A).kind == routes.SAME


def test_an_end_that_answered_late_is_no_change():
    late = (*A[:3], (), (), A[3])
    assert routes.compare(A, late).kind == routes.SAME
    assert routes.compare(late, A).kind == routes.SAME
    assert [variant.sightings for variant in routes.variants([A, late])] == [(0, 1)]
    assert [variant.route for variant in routes.variants([late, A])] == [A]
    assert routes.compare(A, changed(3)).kind == routes.SAME
    assert routes.compare(A, (*A[:2], (), ("10.9.9.9",))).is_change
    assert routes.compare((), A).is_change


def test_another_router_is_a_change_and_is_named():
    found = routes.compare(A, changed(3, "10.9.9.9"))
    assert found.is_change
    assert (found.first, found.before, found.after) == (3, (("10.0.2.1",),), (("10.9.9.9",),))
    assert str(found.message) == "The route changed at hop 3: 10.0.2.1 became 10.9.9.9."


def test_a_stretch_that_changed_is_told_as_a_whole():
    longer = (A[0], ("10.8.0.1",), ("10.8.1.1",), ("10.8.2.1",), A[3])
    found = routes.compare(A, longer)
    assert (found.first, len(found.before), len(found.after)) == (2, 2, 3)


def test_new_and_lost_hops_are_a_change():
    longer = (*A[:2], ("10.7.7.7",), *A[2:])
    assert "new hops from hop 3 on: 10.7.7.7" in str(routes.compare(A, longer).message)
    assert "lost its hops from hop 3 on: 10.7.7.7" in str(routes.compare(longer, A).message)


def test_a_hop_that_spreads_traffic_is_no_change():
    spread = changed(2, "10.0.1.1", "10.0.1.5")
    assert routes.compare(spread, changed(2, "10.0.1.5")).kind == routes.SAME
    found = routes.compare(spread, changed(2, "10.0.1.9"))
    assert found.kind == routes.BALANCED
    assert not found.is_change
    assert "10.0.1.1/10.0.1.5, then 10.0.1.9" in str(found.message)


def test_a_change_beside_a_hop_that_spreads_traffic_is_still_a_change():
    spread = changed(2, "10.0.1.1", "10.0.1.5")
    assert routes.compare(spread, changed(3, "10.9.9.9", route=changed(2, "10.0.1.9"))).is_change


def test_sightings_are_put_together_by_the_way_they_took():
    other = changed(3, "10.9.9.9")
    spread = changed(2, "10.0.1.1", "10.0.1.5")
    found = routes.variants([A, spread, other, changed(2, "10.0.1.5"), other, changed(4)])
    assert [variant.sightings for variant in found] == [(0, 1, 3, 5), (2, 4)]
    assert found[0].route == spread
    assert routes.variants([]) == ()


def test_routes_of_two_lengths_cannot_be_merged():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        routes.merge(A, A[1:])


def test_all_tools_keep_a_route_in_the_same_form():
    seen = []
    for slug, name in (("tracepath", "ok.txt"), ("traceroute", "udp.txt"), ("traceroute", "tcp.txt")):
        tool = tools.get(slug)
        seen.append(routes.from_json(tool.parse([recordings.load(slug, name)], tool.clean({})).observed["route"]))
    assert seen[0] == (("10.9.1.1",), ("10.9.0.2",), ("10.9.2.2",))
    assert all(routes.compare(seen[0], route).kind == routes.SAME for route in seen[1:])
