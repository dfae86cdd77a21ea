"""What findings on TCP, paths and GridFTP propose and prove can be measured: tools take every one of the values."""

import dataclasses
import functools
import itertools
import math

import pytest

from apps.bench import settings, tools
from apps.bench.rules import gridftp, path, tcp
from apps.bench.rules.base import BELOW, NO_CHANGE, Evidence, LinkFacts, PathFacts, Ratio, Trend
from apps.bench.sweep import parse_factor, setting_names
from tests.bench.rules import cases
from tests.bench.rules.cases import KIB, LINKS, Maker, evidence

CALTECH = PathFacts(457e6, 0.1355, 1500, (LinkFacts("lan", 1e10), LinkFacts("WAN", 457e6)), "WAN")
GIGABIT_1500 = PathFacts(1e9, 0.0048, 1500)
OFF = {"net.ipv4.tcp_window_scaling": "0", "net.ipv4.tcp_sack": "0", "net.ipv4.tcp_timestamps": "0"}


def per_flow(make):
    bound = dataclasses.replace(make.tcp([10e6], window=8_000_000, observed=0), statistic=BELOW)
    return Evidence(
        (make.ping(0.1355), bound), CALTECH, trends=(Trend("iperf2", "goodput", "streams", "saturates", 50),)
    )


def losing(make):
    loads = [make.udp(rate * (1 - loss), loss, rate=round(rate)) for rate, loss in ((400e6, 0.0), (450e6, 0.3))]
    return evidence([make.ping(0.1355), *loads, make.udp(124e6, 0.8, rate=622_000_000)], CALTECH)


def bursts(make):
    point = make.tcp([250e6], observed=20e6, rtt=0.1355)
    point.metrics["retransmits"] = {2: 440.0}
    loads = make.udp(200e6, 0.0, rate=200_000_000, duration=60)
    return evidence([make.ping(0.1355), point, loads], CALTECH)


def printed_ratios(_make):
    one, many = {"streams": 1, "window": KIB * KIB}, {"streams": 16, "window": KIB * KIB}
    return Evidence((), LINKS, ratios=(Ratio("gridftp", "throughput", many, one, 1.25, math.inf),))


SITUATIONS = {
    "window sweep": lambda make: evidence([make.ping(0.0048), *make.recorded("winsweep_pnu")]),
    "no scaling": lambda make: evidence(
        [make.ping(0.0048), *make.recorded("streamsweep_pnu_nowscale")], client=OFF, server=OFF
    ),
    "far end": lambda make: evidence([make.ping(0.1355), *make.recorded("streamsweep_cal_w220k")], CALTECH),
    "loss": lambda make: evidence(
        [make.ping(0.0048), make.read("loss1e-3_cubic_sack0.json")], GIGABIT_1500, client=OFF, server=OFF
    ),
    "frames": lambda make: evidence([make.ping(0.0048), *make.recorded("winsweep_py1500")]),
    "untuned": lambda make: evidence([make.ping(0.0048), make.tcp([160e6]), make.tcp([1e9], window=KIB * KIB)]),
    "per flow": per_flow,
    "udp": losing,
    "bursts": bursts,
    "gridftp": lambda make: evidence([p for p in cases.gridftp(make) if p.parameters["window"] == 64 * KIB]),
    "gridftp printed": printed_ratios,
}


@functools.cache
def drafts_of(situation):
    measurements = SITUATIONS[situation](Maker())
    drafts = [draft for family in (tcp, path, gridftp) for draft in family.findings(measurements)]
    assert drafts
    return drafts


def values_of(tool, name, text):
    """Return the values of a factor as a sweep reads them."""
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    parameter = setting_names.parameter_of(name) if setting_names.is_setting(name) else parameters[name]
    return parse_factor(parameter, text)


def check(tool, parameters):
    """Refuse what the tool or the kernel would not take."""
    tool.clean(setting_names.own_parameters(parameters))
    for own in setting_names.settings_of(parameters).values():
        for key, value in own.items():
            assert settings.check_key(key) is None
            assert settings.check_value(key, value) is None


@pytest.mark.parametrize("situation", SITUATIONS)
def test_proposals_can_be_measured(situation):
    count = 0
    for draft in drafts_of(situation):
        for proposal in (*draft.proposals, *(item.proposal for item in draft.alternatives if item.proposal)):
            tool = tools.get(proposal.tool)
            axes = [
                [(name, value) for value in values_of(tool, name, text)] for name, text in proposal.factors.items()
            ]
            for point in itertools.product(*axes):
                check(tool, {**proposal.fixed, **dict(point)})
            count += 1
    assert count


@pytest.mark.parametrize("situation", SITUATIONS)
def test_proofs_compare_the_same_parameters_of_a_tool_that_has_the_metric(situation):
    for draft in drafts_of(situation):
        if draft.proof is None:
            # Of limits that are not known nothing may be set, not even to measure: they may be larger.
            asks = "sysctl -n" in draft.change
            assert draft.kind == NO_CHANGE or asks or not (draft.change and draft.present and draft.predicted)
            continue
        tool = tools.get(draft.proof.tool)
        assert draft.proof.metric in {metric.name for metric in tool.metrics}
        assert draft.proof.now.keys() == draft.proof.then.keys()
        assert draft.proof.now != draft.proof.then
        check(tool, draft.proof.now)
        check(tool, draft.proof.then)
