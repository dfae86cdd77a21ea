"""Two metrics of the same runs of which more clients or tasks help one and harm the other: each names the other."""

import dataclasses
from collections.abc import Sequence

from apps.bench.rules import shapes
from apps.bench.rules.base import FindingDraft, Trend
from apps.bench.text import Message, _

_OTHERWISE = _("The same runs say otherwise of another metric: %(title)s")
_GROWS = (shapes.RISES, shapes.SATURATES, shapes.UNCLEAR)


def with_other_metrics(drafts: Sequence[FindingDraft], trends: Sequence[Trend]) -> list[FindingDraft]:
    """Return findings, each with those against it that more of the same help where it falls, or the other way round.

    What leaves the other metric as it is, `folding` tells in one finding.
    """
    findings = []
    for draft, trend in zip(drafts, trends, strict=True):
        against = [
            Message(_OTHERWISE, {"title": other.title.as_json()})
            for other, beside in zip(drafts, trends, strict=True)
            if _are_opposed(trend, beside)
        ]
        findings.append(dataclasses.replace(draft, against=(*draft.against, *against)) if against else draft)
    return findings


def _are_opposed(trend: Trend, other: Trend) -> bool:
    if trend.metric == other.metric or trend.factor != other.factor or not {*trend.trials} & {*other.trials}:
        return False
    return (trend.shape in _GROWS and other.shape == shapes.FALLS) or (
        trend.shape == shapes.FALLS and other.shape in _GROWS
    )
