"""Discovery of the path's MTU: switched off, or failing in silence; and that neither is said where it is not so."""

import dataclasses

import pytest

from apps.bench.rules import tcp
from apps.bench.rules.base import DIAGNOSIS, PathFacts
from tests.bench.rules.cases import Maker, evidence

JUMBO = PathFacts(1_000_000_000, 0.0048, 9000)
WIRE = {"name": "eth0", "state": "up", "addresses": ["192.0.2.1"], "mtu": 9000}


@pytest.fixture
def make():
    return Maker()


def said(found):
    return {draft.rule: draft for draft in tcp.findings(found)}.get("tcp-path-mtu")


def measured(make, mss, path_mtu=9000):
    point = make.tcp([300e6])
    seen = {"mss": mss, "tcp": {"mss": mss, "path_mtu": path_mtu}}
    return [make.ping(0.0048), dataclasses.replace(point, observed=seen)]


def probed(make, mss=1012, path_mtu=9000, probing="1", mtus=(9000, 9000)):
    """Return evidence of a kernel that takes the path for jumbo frames, and of segments that are small."""
    facts = {
        role: {"sysctls": {"net.ipv4.tcp_mtu_probing": probing}, "interfaces": [{**WIRE, "mtu": mtu}]}
        for role, mtu in zip(("client", "server"), mtus, strict=True)
    }
    return dataclasses.replace(evidence(measured(make, mss, path_mtu), JUMBO), facts=facts)


def test_discovery_that_is_off_is_switched_on_where_it_is_off(make):
    draft = said(evidence(measured(make, 1448), JUMBO, client={"net.ipv4.ip_no_pmtu_disc": "1"}))
    assert "# client\n" in draft.change
    assert "net.ipv4.ip_no_pmtu_disc=0\n" in draft.change
    assert "net.ipv4.ip_no_pmtu_disc=1" in draft.undo
    assert draft.proof.then["setting.client.net.ipv4.ip_no_pmtu_disc"] == "0"
    assert draft.confidence_label == "medium"


@pytest.mark.parametrize("facts", [{}, {"client": {"net.ipv4.ip_no_pmtu_disc": "0"}}])
def test_discovery_that_is_on_or_unknown_needs_no_change(make, facts):
    assert said(evidence(measured(make, 8948), JUMBO, **facts)) is None


def test_segments_that_probing_made_small_tell_of_a_black_hole(make):
    draft = said(probed(make))
    assert (draft.kind, draft.subject) == (DIAGNOSIS, "black-hole")
    assert "9000 B vanish on the way" in str(draft.title)
    assert draft.alternatives[0].proposal.factors == {"payload": "1400 B, 8972 B"}
    assert draft.change.endswith("mtu lock 1500\n")


@pytest.mark.parametrize(
    "changed",
    [{"mss": 8948}, {"path_mtu": 1500, "mss": 1448}, {"probing": "0"}, {"probing": "2"}, {"mtus": (9000, 1500)}],
    ids=["large", "told so", "does not probe", "probes always", "the other end asked for less"],
)
def test_small_segments_for_another_reason_tell_of_none(make, changed):
    assert said(probed(make, **changed)) is None
