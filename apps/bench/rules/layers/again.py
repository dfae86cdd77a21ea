"""What was measured again with the very same settings: one level that holds, or another."""

from collections.abc import Sequence
from dataclasses import replace

from apps.bench.rules.base import Point
from apps.bench.rules.layers.days import When, when_of
from apps.bench.rules.layers.questions import Level
from apps.bench.rules.layers.swings import APART, Swing
from apps.bench.rules.points import place_of


def setting_of(point: Point) -> str:
    """Return what two points of one layer have in common that were measured alike."""
    parameters = sorted((name, place_of(value)) for name, value in point.parameters.items())
    return repr((parameters, sorted(point.roles.items())))


def with_others(best: Level, levels: Sequence[Level]) -> Level:
    """Return the best of some levels; where it was measured again and had another rate, as one that swings."""
    rates = [level.value for level in levels if setting_of(level.point) == setting_of(best.point)]
    if best.swing or not rates or max(rates) < APART * min(rates):
        return best
    return replace(best, swing=Swing(min(rates), max(rates), best.value))


def when_alike(best: Level, points: Sequence[Point]) -> When:
    """Return when a level was measured, and when it was met again with the same settings."""
    own = [point for point in points if setting_of(point) == setting_of(best.point)]
    rates = {place: point.mean(best.metric) or 0.0 for place, point in enumerate(own)}
    mean = best.point.mean(best.metric) or 0.0
    met = [own[place] for place, rate in rates.items() if mean / APART < rate < APART * mean]
    return when_of([best.point, *met])
