"""Curves of one file system that disagree under different conditions: one finding, with the figures of each."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from apps.bench.rules import shapes
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, Evidence, FindingDraft, Trend
from apps.bench.rules.shapes import CLIENTS, TASKS
from apps.bench.rules.shapes.apart import in_unit
from apps.bench.rules.storage.common import name_of, rate
from apps.bench.rules.storage.growth import Case
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# Parameters that are sizes (B).
SIZES = ("record_size", "block_size", "transfer_size", "file_size")
_EACH = _("With %(conditions)s: %(figures)s.")
# The best of a curve, as near as matters.
AS_GOOD = 0.97
# A gain of this much in one curve and of less than the other (a share) in another are no one effect.
MUCH, EQUAL = 1.2, 0.05
# Forms that say the same of whether more gain anything.
_GROWS = dict.fromkeys((shapes.SATURATES, shapes.RISES, shapes.UNCLEAR), shapes.RISES)
# So many curves are told one by one.
MOST_TOLD = 6


class ToldCurve(NamedTuple):
    """The means (B/s) of a curve by the values of its factor, its fixed settings, its nodes, and its trials."""

    means: Mapping[float, float]
    fixed: Mapping[str, Any]
    nodes: tuple[str, ...] = ()
    trials: tuple[int, ...] = ()


def told_together(
    draft: FindingDraft, curves: Sequence[ToldCurve], text: str, params: Mapping[str, object], *, are_sizes: bool
) -> FindingDraft:
    """Return a finding on curves that disagree: the first is the draft's; `text` is a msgid with `factors`."""
    names = differing(curves)
    factors = ", ".join(names) or "?"
    return dataclasses.replace(
        draft,
        kind=DIAGNOSIS,
        title=Message(text, {**params, "factors": factors}),
        why=figures_of(curves, are_sizes=are_sizes),
        value=None,
        unit="",
        low=None,
        high=None,
        formula=f"X by {factors}",
        evidence=tuple(sorted({*draft.evidence, *(trial for curve in curves for trial in curve.trials)})),
        change="",
        undo="",
        present=None,
        tried=None,
        is_comparison=False,
        predicted=None,
        predicted_interval=None,
        proof=None,
        alternatives=(),
        missing=(),
        proposals=(),
    )


def figures_of(curves: Sequence[ToldCurve], *, are_sizes: bool) -> tuple[Message, ...]:
    """Return the figures of each curve with what tells it from the others."""
    names = differing(curves)
    lines = []
    for curve in curves[:MOST_TOLD]:
        figures = ", ".join(
            f"{format_quantity(int(value), 'B') if are_sizes else f'{value:g}'}: {rate(mean)}"
            for value, mean in curve.means.items()
        )
        lines.append(Message(_EACH, {"conditions": conditions_of(curve, names), "figures": figures}))
    return tuple(lines)


def differing(curves: Sequence[ToldCurve]) -> list[str]:
    """Return the names of the settings in which curves differ, "nodes" for who measured."""
    # How many tasks there are in all follows from the others.
    names = sorted({name for curve in curves for name in curve.fixed} - {TASKS})
    varied = [name for name in names if len({repr(curve.fixed.get(name)) for curve in curves}) > 1]
    return [*varied, *(["nodes"] if len({curve.nodes for curve in curves}) > 1 else [])]


def conditions_of(curve: ToldCurve, names: Sequence[str]) -> str:
    """Return what a curve was measured with, of these settings."""
    return ", ".join(f"{name} = {_value(curve, name)}" for name in names) or "?"


def _value(curve: ToldCurve, name: str) -> str:
    if name == "nodes":
        return " - ".join(dict.fromkeys([curve.nodes[0], curve.nodes[-1]])) if curve.nodes else "?"
    return in_unit(curve.fixed.get(name), "B" if name in SIZES else "")


def with_other_sizes(
    draft: FindingDraft, evidence: Evidence, trend: Trend, curve: shapes.Curve | None, cached: frozenset[int]
) -> FindingDraft:
    """Return a finding with the curves of other settings beside it; where one disagrees it advises nothing."""
    if curve is None:
        return draft
    others = [
        other
        for other in shapes.curves(evidence, factor=shapes.RECORD)
        if (other.tool, other.metric, other.file_system) == (curve.tool, curve.metric, curve.file_system)
        and other.trials != curve.trials
        and other.fixed.get("testbed") == curve.fixed.get("testbed")
        and not (
            other.is_scattered or other.held_values or cached & {*other.trials} or min(other.means.values()) <= 0
        )
    ]
    if not others:
        return draft
    curves = [_told(item) for item in (curve, *others)]
    if any(_disagrees(draft, curve, other) for other in others):
        text = _("What record size gives %(name)s most (%(metric)s) depends on %(factors)s")
        params = {"name": name_of(trend), "metric": trend.metric}
        return told_together(draft, curves, text, params, are_sizes=True)
    trials = {*draft.evidence, *(trial for other in others for trial in other.trials)}
    return dataclasses.replace(
        draft, why=(*draft.why, *figures_of(curves, are_sizes=True)[1:]), evidence=tuple(sorted(trials))
    )


def _told(curve: shapes.Curve) -> ToldCurve:
    nodes = curve.roles.get("client") or curve.roles.get("node") or ()
    return ToldCurve(curve.means, curve.fixed, nodes, curve.trials)


def _disagrees(draft: FindingDraft, curve: shapes.Curve, other: shapes.Curve) -> bool:
    """Return whether another curve surely has most elsewhere, or no effect where the finding has one, or one else."""
    means, chance = other.means, other.chance
    least, most = min(means.values()), max(means.values())
    if draft.kind == NO_CHANGE:
        return most - least > max(chance, EQUAL * most)
    if draft.value not in means:
        return False
    at = means[draft.value]
    if at < AS_GOOD * most and most - at > chance:
        return True
    # What gains much in one and nothing in the other.
    now = min(means, key=lambda size: curve.means.get(size, math.inf))
    gain = curve.means[draft.value] / max(curve.means.get(now, math.inf), 1e-9)
    return gain > MUCH and at - means[now] <= EQUAL * at


def with_other_counts(draft: FindingDraft, cases: Sequence[tuple[Case, shapes.Curve | None]]) -> FindingDraft:
    """Return a finding; one that advises nothing where the curve goes another way with other settings."""
    first = cases[0][0]
    same = [(case, curve) for case, curve in cases if curve and case.trend.factor == first.trend.factor]
    forms = {_GROWS.get(case.trend.shape, case.trend.shape) for case, _curve in same}
    if len(forms) < 2 or cases[0][1] is None:
        return draft
    curves = [ToldCurve(curve.means, curve.fixed, case.clients[:1], curve.trials) for case, curve in same if curve]
    text = _("Whether more tasks gain anything on %(name)s (%(metric)s) depends on %(factors)s")
    if first.trend.factor == CLIENTS:
        text = _("Whether more clients gain anything on %(name)s (%(metric)s) depends on %(factors)s")
    params = {"name": name_of(first.trend), "metric": first.trend.metric}
    return told_together(draft, curves, text, params, are_sizes=False)
