"""Advice on limits names the nodes whose limits are in the way, and changes no other."""

import itertools

import pytest

from apps.bench.rules.tcp import buffers, limits
from tests.bench.rules.cases import KIB, LINKS, Maker, evidence

ROLES = ("client", "server")
MAXIMA = ("net.core.rmem_max", "net.core.wmem_max")
TRIPLES = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")
SWITCHES = {"net.ipv4.tcp_moderate_rcvbuf": "1", "net.ipv4.tcp_window_scaling": "1"}


def settings(size):
    return {**dict.fromkeys(MAXIMA, str(size)), **dict.fromkeys(TRIPLES, f"4096 131072 {size}"), **SWITCHES}


# Settings that are in the way, that have room, and that nobody told.
KINDS = {"small": settings(212_992), "roomy": settings(2**28), "unknown": {}}
PAIRS = [pair for pair in itertools.product(KINDS, repeat=2) if pair != ("roomy", "roomy")]


def measured(kinds):
    """Return a window of 400 KiB of which the kernel granted a part, and nodes of these kinds."""
    make = Maker()
    capped = make.tcp([393e6], window=400 * KIB, observed=236_000)
    capped.metrics["window_granted"] = {2: 425_984.0}
    facts = {role: KINDS[kind] for role, kind in zip(ROLES, kinds, strict=True)}
    return evidence([make.ping(0.0048), capped, make.tcp([980e6], window=1024 * KIB)], LINKS, **facts)


@pytest.mark.parametrize("rule", [buffers, limits])
@pytest.mark.parametrize("kinds", PAIRS)
def test_only_nodes_that_need_larger_limits_are_named_and_changed(kinds, rule):
    draft, of = rule.conclude(measured(kinds)), dict(zip(ROLES, kinds, strict=True))
    in_the_way = [role for role in ROLES if of[role] == "small"] or [role for role in ROLES if of[role] == "unknown"]
    assert draft.title.params["roles"] == " + ".join(in_the_way)
    headings = [
        line.removeprefix("# ") for line in draft.change.splitlines() if line.startswith(("# client", "# server"))
    ]
    assert {role for line in headings for role in line.split(" + ")} == {
        role for role in ROLES if of[role] != "roomy"
    }


@pytest.mark.parametrize("role", ROLES)
def test_maxima_that_bound_no_automatic_window_name_no_node(role):
    facts = dict.fromkeys(ROLES, KINDS["roomy"]) | {role: {**KINDS["roomy"], **dict.fromkeys(MAXIMA, "212992")}}
    make = Maker()
    draft = limits.conclude(evidence([make.ping(0.0048), make.tcp([980e6], window=1024 * KIB)], LINKS, **facts))
    assert "already" in str(draft.title)
    assert draft.change == ""


def test_a_window_that_all_kernels_grant_by_now_asks_for_no_maxima():
    assert buffers.conclude(measured(("roomy", "roomy"))) is None
