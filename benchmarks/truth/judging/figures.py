"""Judges of sentences under figures, of contrasts, of the UDP panel, and of predictions."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from benchmarks.truth.figures import ACROSS
from benchmarks.truth.judging.advice import CLOSE, EDGE
from benchmarks.truth.judging.base import TRUE, Case, Judgement, Rules, is_near, no, quantity, undecided, whether
from benchmarks.truth.judging.path import payload_span
from benchmarks.truth.worlds import udp

# Truths nearer than this are equal: no sentence about a difference holds of them.
EQUAL = 0.01
# What is called a plateau, the same, or the best may differ by this.
ALIKE, SLACK = 0.05, 0.03


def _truth(case: Case) -> dict[Any, float]:
    return dict(sorted(case.fields["truth"].items()))


def _shown(truth: Mapping[Any, float]) -> str:
    return ", ".join(f"{place}: {value:.4g}" for place, value in truth.items())


def _at(case: Case, name: str) -> Any:
    return case.fields["places"].get(case.fields["words"].get(name))


def _levels_off(case: Case) -> Judgement:
    truth, start = _truth(case), _at(case, "at")
    plateau = quantity(case.fields["words"]["plateau"]) or 0.0
    beyond = {place: value for place, value in truth.items() if place >= start}
    if not all(is_near(value, plateau, ALIKE + SLACK) for value in beyond.values()):
        return no(f"not within 5 % of {plateau:.4g} from {start} on: {_shown(truth)}")
    before = [value for place, value in truth.items() if place < start]
    if before and max(before) >= (1 - EQUAL) * min(beyond.values()):
        return no(f"it levels off before {start}: {_shown(truth)}")
    return whether(min(truth.values()) < (1 - ALIKE) * plateau, f"it does not grow: {_shown(truth)}")


def _grows(case: Case) -> Judgement:
    values = list(_truth(case).values())
    falls = any(b < (1 - ALIKE - SLACK) * a for a, b in pairwise(values))
    return whether(values[-1] > (1 + EQUAL) * values[0] and not falls, f"it does not: {_shown(_truth(case))}")


def _falls(case: Case) -> Judgement:
    values = list(_truth(case).values())
    grows = any(b > (1 + ALIKE + SLACK) * a for a, b in pairwise(values))
    return whether(values[-1] < (1 - EQUAL) * values[0] and not grows, f"it does not: {_shown(_truth(case))}")


def _flat(case: Case) -> Judgement:
    truth = _truth(case)
    return whether(max(truth.values()) <= (1 + 2 * ALIKE) * min(truth.values()), f"it depends: {_shown(truth)}")


def _best_at(case: Case) -> Judgement:
    truth, high, low = case.fields["truth"], _at(case, "high_at"), _at(case, "low_at")
    if high not in truth or low not in truth:
        return undecided("a place that was not measured")
    if truth[high] < (1 - SLACK) * max(truth.values()):
        return no(f"it is not highest at {high}: {_shown(_truth(case))}")
    if max(truth.values()) <= (1 + EQUAL) * min(truth.values()):
        return no(f"it is the same everywhere: {_shown(_truth(case))}")
    return whether(truth[low] <= (1 + SLACK) * min(truth.values()), f"it is not lowest at {low}")


def _best_among(case: Case) -> Judgement:
    """Return whether the highest is among those that it says it cannot be told from, and above the lowest."""
    truth, low = case.fields["truth"], _at(case, "low_at")
    named = str(case.fields["words"].get("rivals", ""))
    rivals = [place for text, place in case.fields["places"].items() if text in named.split(", ")]
    high = [place for place in (_at(case, "high_at"), *rivals) if place in truth]
    if low not in truth or not high:
        return undecided("a place that was not measured")
    if not named.endswith("…") and max(truth[place] for place in high) < (1 - SLACK) * max(truth.values()):
        return no(f"it is highest at none of {high}: {_shown(_truth(case))}")
    if truth[_at(case, "high_at")] <= (1 + EQUAL) * truth[low]:
        return no(f"it is not above {low}: {_shown(_truth(case))}")
    return whether(truth[low] <= (1 + SLACK) * min(truth.values()), f"it is not lowest at {low}")


def _above_inventory(case: Case) -> Judgement:
    """Return whether the path really carries more than the inventory's links would."""
    ceiling = quantity(case.fields["words"]["ceiling"]) or 0.0
    if case.world.family != "network":
        return undecided("no ceiling of one path")
    truth = case.world.reach({"streams": 64, "window": 0}).terms["path"]
    return whether(truth > ceiling, f"the path's ceiling is {truth:.4g}, not above {ceiling:.4g}")


def _ceiling(case: Case) -> Judgement:
    if case.world.family == "network":
        truth = case.world.reach({"streams": 64, "window": 0}).terms["path"]
        ceiling = quantity(case.fields["words"]["ceiling"]) or 0.0
        return whether(is_near(ceiling, truth, 0.1), f"the path's ceiling is {truth:.4g}, not {ceiling:.4g}")
    if case.fields["setup"].tool == "iperf3-tcp":
        world = case.world
        truth = min(world.client_nic_bps, world.server_nic_bps, world.wide_bps) * 0.94
        ceiling = quantity(case.fields["words"]["ceiling"]) or 0.0
        return whether(is_near(ceiling, truth, 0.1), f"the path's ceiling is {truth:.4g}, not {ceiling:.4g}")
    return undecided("no ceiling of one path")


def _nothing(case: Case) -> Judgement:
    return undecided("it claims nothing")


def _higher(case: Case) -> Judgement:
    return whether(case.fields["ratio"] > 1 + EQUAL / 2, f"the true ratio is {case.fields['ratio']:.3f}")


def _lower(case: Case) -> Judgement:
    return whether(case.fields["ratio"] < 1 - EQUAL / 2, f"the true ratio is {case.fields['ratio']:.3f}")


def _udp_all_lossy(case: Case) -> Judgement:
    rate = quantity(case.fields["words"]["rate"]) or 0.0
    payload = _payload(case)
    return whether(payload < 1.02 * rate, f"the path carries {payload:.4g} of payload: not below {rate:.4g}")


def _udp_chance(case: Case) -> Judgement:
    truth, loss = case.world.way.loss, float(case.fields["words"]["share"]) / 100
    return whether(
        0 < truth / 3 <= loss <= 3 * truth, f"it loses {100 * truth:.2g} % by chance, not {100 * loss:.2g} %"
    )


def _udp_burst(case: Case) -> Judgement:
    """Return whether something came and went: it says of neither chance nor a burst that it was."""
    world = case.world
    comes = world.has_bursts or world.way.loss > 0 or world.noise.kind == "busy"
    return whether(comes, "each run lost as much as the others")


def _udp_none_lossy(case: Case) -> Judgement:
    rate = quantity(case.fields["words"]["rate"]) or 0.0
    payload = _payload(case)
    return whether(payload >= 0.97 * rate, f"the path carries {payload:.4g} of payload: less than {rate:.4g}")


def _udp_capacity(case: Case) -> Judgement:
    rate = quantity(case.fields["words"]["rate"]) or 0.0
    payload = _payload(case)
    return whether(is_near(rate, payload, 0.1), f"the path carries {payload:.4g} of payload, not {rate:.4g}")


def _udp_between(case: Case) -> Judgement:
    """Return whether the payload lies between; more may be lost than by a full link, as a policer does."""
    more = quantity(case.fields["words"]["more"]) or 0.0
    bound, payload = _udp_none_lossy(case), _payload(case)
    if bound.outcome != TRUE or _is_burst(case):
        return bound
    return whether(payload <= 1.03 * more, f"it carries {payload:.4g}: more")


def _is_burst(case: Case) -> bool:
    """Return whether bursts take more than a full link does, and nobody repeated a load to see that."""
    return bool(case.world.has_bursts and case.world.repetitions == 1)


def _udp_knee(case: Case) -> Judgement:
    plateau = quantity(case.fields["words"]["plateau"]) or 0.0
    world = case.world
    arrives = udp.offer(world.client, world.server, world.way, 1e12, world.length, world.drain_bps).goodput
    return whether(is_near(plateau, arrives, 0.08), f"{arrives:.4g} arrive at most, not {plateau:.4g}")


def _udp_full(case: Case) -> Judgement:
    world, rate = case.world, quantity(case.fields["words"]["rate"]) or 0.0
    if world.drain_bps < _payload(case):
        return no("the receiver drops them: the link is not full")
    return whether(is_near(rate, _payload(case), 0.1), f"the path carries {_payload(case):.4g}, not {rate:.4g}")


def _udp_excess(case: Case) -> Judgement:
    world = case.world
    other = (
        world.drain_bps < _payload(case)
        or world.way.policer_bps < payload_span(case)[0]
        or world.noise.kind == "busy"
        or _is_burst(case)
    )
    return whether(other, "the link is simply full")


def _udp_not_load(case: Case) -> Judgement:
    world = case.world
    is_lossy = world.way.loss > 0 or world.noise.kind == "busy" or _is_burst(case)
    return whether(is_lossy, "the path and its ends lose nothing by chance")


def _udp_pieces(case: Case) -> Judgement:
    return no("datagrams go in one piece")


def _payload(case: Case) -> float:
    """Return what one flow's datagrams have of the path (bit/s of payload)."""
    return min(payload_span(case)[0], case.world.way.shaper_bps, case.world.way.policer_bps)


def prediction(case: Case) -> Judgement:
    """Return whether the truth at the setting asked for lies within the interval."""
    fields = case.fields
    if case.world.family == "network":
        truth = case.world.reach(fields["parameters"]).rate
    else:
        truth = case.world.rate(fields["metric"], fields["parameters"])
    holds = (1 - EDGE) * fields["low"] <= truth <= (1 + EDGE) * fields["high"]
    holds = holds or is_near(fields["value"], truth, CLOSE)
    figures = f"{fields['value']:.4g} ({fields['low']:.4g} to {fields['high']:.4g})"
    return whether(holds, f"{figures} is predicted for {fields['parameters']}; it would be {truth:.4g}")


def _across(case: Case) -> Judgement:
    """Return whether what is set side by side is alike: the same file system, the same nodes."""
    return whether(case.fields["kinds"] < 2, "different file systems or nodes are set against each other")


SENTENCES: Rules = {
    ACROSS: _across,
    "levels-off": _levels_off,
    "grows": _grows,
    "falls": _falls,
    "flat": _flat,
    "same": _flat,
    "highest-at": _best_at,
    "highest-among": _best_among,
    "measured": _nothing,
    "value": _nothing,
    "ceiling": _ceiling,
    "inventory": _nothing,
    "above-inventory": _above_inventory,
}
CONTRASTS: Rules = {"higher": _higher, "lower": _lower, "no-difference": _nothing, "too-few": _nothing}
UDP: Rules = {
    "all-lossy": _udp_all_lossy,
    "none-lossy": _udp_none_lossy,
    "capacity": _udp_capacity,
    "bound": _udp_none_lossy,
    "between": _udp_between,
    "unknown": _nothing,
    "silence": _nothing,
    "chance": _udp_chance,
    "burst": _udp_burst,
    "knee": _udp_knee,
    "full-link": _udp_full,
    "excess": _udp_excess,
    "not-the-load": _udp_not_load,
    "pieces": _udp_pieces,
}
