"""Judges of what is advised: what it would really reach, and whether it takes something away."""

import itertools
import re
from collections.abc import Mapping
from typing import Any

from benchmarks.truth.judging.base import FALSE, HARM, HARMFUL, Case, Judgement, is_near, no, yes
from benchmarks.truth.judging.tcp import TOOL, present
from benchmarks.truth.worlds.network import NetworkWorld

# A prediction without an interval is right within this (as the product itself judges its predictions).
AGREES = 0.15
# An interval's ends are widened by this: figures are rounded.
EDGE = 0.03
# A predicted figure that is this near (a share) to the truth is right whatever its interval.
CLOSE = 0.1

_SYSCTL = re.compile(r"(?:sysctl -w ')?([a-z0-9_.]+)=([0-9a-z ]+?)'?")
_MTU = re.compile(r"ip link set dev \S+ mtu (\d+)")
_PACE = re.compile(r"tc qdisc replace dev \S+ root (fq maxrate \d+mbit)")
_OPTION = {"-w": "window", "-P": "streams"}


def judge_network(case: Case) -> Judgement:
    """Return whether the change is harmless and its prediction right."""
    world: NetworkWorld = case.world
    changes = changes_of(str(case.fields.get("change") or ""))
    lowered = lowered_by(world, changes) if case.fields["kind"] == "recommendation" else ""
    if lowered:
        return Judgement(HARMFUL, lowered)
    proof = case.fields.get("proof")
    if proof and proof["tool"] != TOOL:
        # What is proved by another tool its own judge has weighed.
        return yes()
    if proof:
        now, then = proof["now"], proof["then"]
    elif case.fields["kind"] == "recommendation" and changes:
        now = present(case) or {"window": 0, "streams": 1}
        then = {**now, **changes}
    else:
        now = then = present(case) if case.fields.get("predicted") else {}
    rates = world.reach(now).rate, world.reach(then).rate
    if case.fields["kind"] == "recommendation" and rates[1] < HARM * rates[0]:
        return Judgement(HARMFUL, f"{rates[0]:.4g} becomes {rates[1]:.4g} bit/s")
    if not proof or not case.fields.get("predicted"):
        return yes()
    return predicted(case, rates[1])


def predicted(case: Case, truth: float) -> Judgement:
    """Return whether what is predicted agrees with what the change would really reach."""
    value, interval = float(case.fields["predicted"]), case.fields.get("predicted_interval")
    low, high = interval or ((1 - AGREES) * value, (1 + AGREES) * value)
    # One interval in twenty may miss; how many do is counted apart. A figure that is near is not false for it.
    if (1 - EDGE) * low <= truth <= (1 + EDGE) * high or is_near(value, truth, CLOSE):
        return yes()
    return no(f"{value:.4g} ({low:.4g} to {high:.4g}) is predicted; it would be {truth:.4g}")


def changes_of(text: str) -> dict[str, Any]:
    """Return what lines to paste set, as parameters of a measurement."""
    changes: dict[str, Any] = {}
    roles: tuple[str, ...] = ("client", "server")
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# ") and {*words[1:]} <= {"client", "server", "+"}:
            roles = tuple(word for word in words[1:] if word != "+")
        elif words[:1] == ["iperf3"]:
            pairs = itertools.pairwise(words)
            changes |= {_OPTION[one]: int(two) for one, two in pairs if one in _OPTION and two.isdigit()}
        elif match := _SYSCTL.fullmatch(line):
            changes |= {f"setting.{role}.{match[1]}": match[2] for role in roles}
        elif match := _MTU.fullmatch(line):
            changes |= {f"setting.{role}.mtu": match[1] for role in roles}
        elif match := _PACE.fullmatch(line):
            changes["setting.client.qdisc"] = match[1]
    return changes


def lowered_by(world: NetworkWorld, changes: Mapping[str, Any]) -> str:
    """Return which limit of a host the lines would lower, "" for none."""
    for name, text in changes.items():
        _setting, _dot, rest = name.partition(".")
        role, _dot, key = rest.partition(".")
        before = world.host(role).sysctls.get(key, "") if role in ("client", "server") else ""
        old, new = before.split(), str(text).split()
        if not "".join(old).isdigit() or len(old) != len(new):
            continue
        if any(int(b) > int(a) for b, a in zip(old, new, strict=True)):
            return f"{role}: {key} = {before} becomes {text}"
    return ""


def worse(first: Judgement, second: Judgement) -> Judgement:
    """Return the graver of two judgements: harm, then falsehood; else the first."""
    for outcome in (HARMFUL, FALSE):
        for item in (first, second):
            if item.outcome == outcome:
                return item
    return first
