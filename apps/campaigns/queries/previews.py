"""What a campaign would do if it were launched: trials, points, time, bytes, dates and warnings."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter, Params, Value
from apps.campaigns import readiness, schedules
from apps.campaigns.estimation import Estimator, Load
from apps.campaigns.expansion import Expansion
from apps.campaigns.models import Campaign

# Points that a preview lists; it says how many there are in all.
ROWS = 50


@dataclass(frozen=True)
class PointRow:
    """One point: who measures it, and the values of the factors as text."""

    nodes: str
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What one experiment, or a whole campaign, comes to.

    `duration_s` counts on trials without a common resource running at the same time; `link_bytes` {name of the link:
    bytes} and `unconnected` {(node, node): bytes, no link being described between them} are those of all trials, at
    most: what the paths and the windows allow.
    """

    trials: int
    points: int
    lanes: int
    duration_s: float
    link_bytes: dict[str, int]
    unconnected: dict[tuple[str, str], int]
    factors: tuple[Parameter, ...] = ()
    rows: tuple[PointRow, ...] = ()
    warnings: tuple[Message, ...] = ()
    dates: tuple[datetime, ...] = ()


def preview_experiment(expansion: Expansion, *, now: datetime) -> Preview:
    """Return what one experiment comes to, with its first ROWS points."""
    factors = tuple(expansion.parameters[name] for name in expansion.spec.factors)
    first = itertools.islice(itertools.product(expansion.casts, expansion.points), ROWS)
    rows = (
        PointRow(cast.title, tuple(_shown(expansion, factor, point) for factor in factors)) for cast, point in first
    )
    load = _load_of([expansion])
    return Preview(
        **_totals([expansion], load),
        factors=factors,
        rows=tuple(rows),
        warnings=tuple(_warnings([expansion], load, now)),
    )


def preview_campaign(campaign: Campaign, expansions: Sequence[Expansion], *, now: datetime) -> Preview:
    """Return what the experiments of a campaign come to together, with its next dates."""
    load = _load_of(expansions)
    warnings = _warnings(expansions, load, now)
    dates = next_dates(campaign, now=now)
    if campaign.start_at and campaign.start_at <= now and campaign.state == Campaign.State.DRAFT:
        text = _("The date of the start has passed: a launch starts it at once.")
        if campaign.cron:
            text = _("The date of the start has passed: it starts at the next date of its schedule.")
        warnings.append(Message(text))
    if len(dates) > 1 and (dates[1] - dates[0]).total_seconds() < load.duration_s:
        text = _("The dates come faster than the campaign can end: its occurrences will queue up.")
        if campaign.overlap == Campaign.Overlap.SKIP:
            text = _("The dates come faster than the campaign can end: those in between will be skipped.")
        warnings.append(Message(text))
    return Preview(**_totals(expansions, load), warnings=tuple(warnings), dates=dates)


def next_dates(campaign: Campaign, *, now: datetime) -> tuple[datetime, ...]:
    """Return the next dates on which the campaign starts, five at most."""
    if campaign.cron:
        after = max(now, campaign.start_at) if campaign.start_at else now
        return tuple(schedules.next_dates(cron=campaign.cron, timezone=campaign.cron_timezone, after=after))
    return (campaign.start_at,) if campaign.start_at and campaign.start_at > now else ()


def text_of(parameter: Parameter, value: Value) -> str:
    """Return a parameter's value as a reader would write it."""
    return "" if value is None else units.canonical_text(value, parameter.kind)


def _shown(expansion: Expansion, factor: Parameter, point: Params) -> str:
    return expansion.open.get(factor.name) or text_of(factor, point[factor.name])


def _load_of(expansions: Sequence[Expansion]) -> Load:
    load, estimator = Load(), Estimator()
    for expansion in expansions:
        estimator.add_load(load, expansion)
    return load


def _totals(expansions: Sequence[Expansion], load: Load) -> dict[str, Any]:
    return {
        "trials": sum(expansion.trials for expansion in expansions),
        "points": sum(len(expansion.casts) * len(expansion.points) for expansion in expansions),
        "lanes": sum(len(expansion.casts) for expansion in expansions),
        "duration_s": load.duration_s,
        "link_bytes": dict(load.link_bytes),
        "unconnected": dict(load.unconnected),
    }


def _warnings(expansions: Sequence[Expansion], load: Load, now: datetime) -> list[Message]:
    warnings = []
    left_out = sum(expansion.left_out for expansion in expansions)
    if left_out:
        text = _("Combinations left out, as one node would play two roles in them: %(count)s.")
        warnings.append(Message(text, {"count": left_out}))
    if any(expansion.open for expansion in expansions):
        text = _(
            "Formulas are computed when the experiments they refer to are done; until then time and bytes are "
            "estimated with the tool's defaults."
        )
        warnings.append(Message(text))
    for a, b in itertools.islice(load.unconnected, 3):
        text = _("No path between %(a)s and %(b)s is described: nothing keeps others from using it at the same time.")
        warnings.append(Message(text, {"a": a, "b": b}))
    return [*warnings, *readiness.warnings(expansions=expansions, now=now)]
