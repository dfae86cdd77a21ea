"""Discovery of the path's MTU: switched off, or failing in silence; and that neither is said where it is not so."""

import dataclasses

import pytest

from apps.bench.rules import tcp
from apps.bench.rules.base import DIAGNOSIS, PathFacts
from tests.bench.rules.cases import Maker, evidence, tools

JUMBO = PathFacts(1_000_000_000, 0.0048, 9000)


@pytest.fixture
def make():
    return Maker()


def draft_of(measurements):
    return {draft.rule: draft for draft in tcp.findings(measurements)}.get("tcp-path-mtu")


def points_of(make, first, last=None, path_mtu=9000):
    """Return a transfer whose segments had `first` B at its start and `last` at its end, by the kernel's list."""
    observed = {"mss": first, "tcp": {"mss": last or first, "path_mtu": path_mtu}}
    return [make.ping(0.0048), dataclasses.replace(make.tcp([144.7e6]), observed=observed)]


def test_discovery_that_is_off_is_switched_on_where_it_is_off(make):
    draft = draft_of(evidence(points_of(make, 1448), JUMBO, client={"net.ipv4.ip_no_pmtu_disc": "1"}))
    assert "# client\n" in draft.change
    assert "net.ipv4.ip_no_pmtu_disc=0\n" in draft.change
    assert "net.ipv4.ip_no_pmtu_disc=1" in draft.undo
    assert draft.proof.then["setting.client.net.ipv4.ip_no_pmtu_disc"] == "0"
    assert draft.confidence_label == "medium"


@pytest.mark.parametrize("facts", [{}, {"client": {"net.ipv4.ip_no_pmtu_disc": "0"}}])
def test_discovery_that_is_on_or_unknown_needs_no_change(make, facts):
    assert draft_of(evidence(points_of(make, 8948), JUMBO, **facts)) is None


def test_segments_that_tcp_itself_made_small_tell_of_a_black_hole(make):
    # Seen in the lab: an MTU of 1500 behind a router whose ICMP went nowhere, tcp_mtu_probing = 1.
    draft = draft_of(evidence(points_of(make, 8948, 1446), JUMBO))
    assert (draft.kind, draft.subject) == (DIAGNOSIS, "black-hole")
    assert "9000 B seem to vanish on the way" in str(draft.title)
    assert "ended with 1446 B" in str(draft.why[1])
    assert draft.alternatives[0].proposal.factors == {"payload": "1400 B, 8972 B"}
    assert draft.change.endswith("ping -c 10 -M do -s 8972 SERVER\n")
    assert "with DF set" in str(draft.missing[0])
    assert draft.confidence == 0.5


def pinged(make, **losses):
    return [
        make.point(tools.get("ping"), {"payload": int(size[1:]), "dont_fragment": True}, {"loss": loss})
        for size, loss in losses.items()
    ]


def test_only_pings_with_df_set_name_a_black_hole(make):
    points, probing = points_of(make, 8948, 1446), {"net.ipv4.tcp_mtu_probing": "1"}
    draft = draft_of(evidence([*points, *pinged(make, s1400=0.0, s8972=1.0)], JUMBO, client=probing))
    assert "9000 B vanish on the way, and no router says so" in str(draft.title)
    assert (draft.confidence, draft.missing) == (0.9, ())
    assert draft_of(evidence([*points, *pinged(make, s1400=0.0, s8972=0.0)], JUMBO, client=probing)) is None
    assert draft_of(evidence(points, JUMBO, client=probing)).confidence == 0.7


def test_without_probing_or_with_half_a_window_nothing_vanishes(make):
    points = points_of(make, 8948, 1446)
    assert draft_of(evidence(points, JUMBO, client={"net.ipv4.tcp_mtu_probing": "0"})) is None
    # The kernel sends no segment of more than half the largest window that it was offered.
    points[1].metrics["window_observed"] = {2: 2900.0}
    assert draft_of(evidence(points, JUMBO)) is None


@pytest.mark.parametrize(
    ("first", "last", "path_mtu"),
    [(8948, 8948, 9000), (8948, 1448, 1500), (1448, 1448, 9000), (1012, 1012, 9000), (0, 1446, 9000)],
    ids=["large", "a router said so", "the other end asked for less", "probes always", "its start is not known"],
)
def test_small_segments_for_another_reason_tell_of_none(make, first, last, path_mtu):
    assert draft_of(evidence(points_of(make, first, last, path_mtu), JUMBO)) is None
