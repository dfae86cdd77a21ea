"""Where more datagrams are lost than a full link loses, panel and findings say the same of it."""

import pytest

from apps.bench.network import loss_curve
from apps.bench.network.loss_curve import LoadPoint
from apps.bench.rules import path
from apps.bench.rules.base import PathFacts
from tests.bench.rules.cases import Maker, evidence

LOADS = (100, 200, 300, 400, 430, 450, 500, 622)
# What of an offered load (Mbit/s) arrives.
ARRIVALS = {
    "published": lambda rate: rate if rate < 450 else {450: 315, 500: 240, 622: 124}[rate],
    "fragments": lambda rate: rate * min(1, 400 / rate) ** 4,
    "policer": lambda rate: rate if rate <= 400 else 250,
    "buffer": lambda rate: rate if rate <= 300 else 300 - (rate - 300) / 2,
    "full": lambda rate: min(rate, 400),
    "full, with framing": lambda rate: min(rate, 399) * 0.999,
    "by chance": lambda rate: 0.97 * rate,
    "whole": lambda rate: rate,
}
ASKED = {"fragments", "socket buffer", "policer"}


def causes(draft):
    titles = " ".join(str(item.title) for item in draft.alternatives)
    return {word for word in ASKED if word in titles}


@pytest.mark.parametrize("name", ARRIVALS)
@pytest.mark.parametrize("tcp", [None, 380, 700])
@pytest.mark.parametrize("dispersion", [None, 400])
def test_panel_and_finding_name_the_same_causes(name, tcp, dispersion):
    make = Maker()
    arrives = ARRIVALS[name]
    points = [
        make.udp(arrives(rate) * 1e6, 1 - arrives(rate) / rate, rate=rate * 10**6, length=1448, duration=10)
        for rate in LOADS
    ]
    points += make.stream_sweep({1: [tcp, tcp * 1.001]}) if tcp else []
    links = PathFacts(dispersion * 1e6, 0.1, 1500) if dispersion else PathFacts()
    curve = loss_curve.analyse([LoadPoint(rate * 1e6, 1 - arrives(rate) / rate) for rate in LOADS])
    panel = [str(message) for message in curve.conclusions]
    is_more = any("times what a full link" in text for text in panel)
    assert is_more == (name in ("published", "fragments", "policer"))
    drafts = {draft.rule: draft for draft in path.findings(evidence(points, links))}
    for rule in ("path-capacity", "path-datagrams"):
        if rule not in drafts:
            continue
        draft = drafts[rule]
        is_falling = rule == "path-datagrams" and name == "buffer"
        assert (causes(draft) == ASKED) == (is_more or is_falling)
        if is_more or is_falling:
            assert "held to" not in str(draft.title)
            assert not any("A link is full" in str(item.title) for item in draft.alternatives)
    if "path-datagrams" in drafts and is_more:
        assert {text for text in panel if "times what a full link" in text} <= {
            *map(str, drafts["path-datagrams"].why)
        }


def test_a_buffer_that_was_tried_is_no_cause_any_more():
    make = Maker()
    arrives = ARRIVALS["published"]
    points = [
        make.udp(arrives(rate) * 1e6, 1 - arrives(rate) / rate, rate=rate * 10**6, length=1448, duration=10)
        for rate in LOADS
    ]
    points.append(make.udp(124e6, 1 - 124 / 622, rate=622 * 10**6, length=1448, duration=10, window=4 << 20))
    (draft,) = [draft for draft in path.findings(evidence(points, PathFacts())) if draft.rule == "path-datagrams"]
    assert "and 124.0 Mbit/s of 622.0 Mbit/s" in str(draft.title)
    assert causes(draft) == ASKED - {"socket buffer"}
