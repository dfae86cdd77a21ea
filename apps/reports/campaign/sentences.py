"""What a figure shows, in one or two sentences made of its statistics."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.translation import gettext as _

from apps.bench import comparison, knee
from apps.bench.comparison import Verdict
from apps.reports.campaign.columns import quantity

# A spread of less than this share of the largest is no effect that matters.
FLAT = 0.05
# So many series are spoken of one by one.
MOST_SERIES = 3


@dataclass(frozen=True)
class Point:
    """A place of a figure: its text, its number on the axis (None: a word), the centre, and the figures behind it."""

    text: str
    x: float | None
    y: float
    values: Sequence[float]


@dataclass(frozen=True)
class Curve:
    """What one line of a figure shows; `label` is "" where there is only one, or with `is_metric` a metric's own."""

    label: str
    points: Sequence[Point]
    is_metric: bool = False


@dataclass(frozen=True)
class Shown:
    """What is said of a figure: its metric's words, unit and direction, the axis' words, and the ceiling, if any.

    Without an `axis` its places are measurements that have nothing in common but the tool.
    """

    metric: str
    unit: str
    higher_is_better: bool | None
    axis: str
    curves: Sequence[Curve]
    ceiling: float | None = None


def of(shown: Shown) -> str:
    """Return the sentences, "" where nothing was measured."""
    curves = [curve for curve in shown.curves if curve.points]
    if not curves:
        return ""
    said = [_of_curve(shown, curve) for curve in curves[:MOST_SERIES]]
    if len(curves) > 1 and not any(curve.is_metric for curve in curves):
        said.append(_across(shown, curves))
    if len(curves) > MOST_SERIES:
        said = said[-1:]
    if shown.ceiling and (best := max(point.y for curve in curves for point in curve.points)) > 0:
        words = {"share": f"{100 * best / shown.ceiling:.0f}", "ceiling": quantity(shown.ceiling, shown.unit)}
        said.append(_("The highest is %(share)s %% of the path's ceiling of %(ceiling)s.") % words)
    return " ".join(filter(None, said))


def _of_curve(shown: Shown, curve: Curve) -> str:
    points = curve.points
    words = {
        "metric": curve.label if curve.is_metric else _named(shown.metric, curve.label),
        "axis": shown.axis,
        **_ends(shown, points),
    }
    if len(points) == 1:
        return _("%(metric)s: %(high)s.") % words
    if words["flat"] and not shown.axis:
        return _("%(metric)s is about the same everywhere, between %(low)s and %(high)s.") % words
    if words["flat"]:
        return _("%(metric)s hardly depends on %(axis)s: it lies between %(low)s and %(high)s.") % words
    if any(point.x is None for point in points):
        text = _("%(metric)s is highest at %(high_at)s (%(high)s) and lowest at %(low_at)s (%(low)s), × %(ratio)s.")
        return f"{text % words} {_chance(points)}"
    return _trend(shown, sorted(points, key=lambda point: point.x or 0.0), words)


def _named(metric: str, label: str) -> str:
    return f"{metric} ({label})" if label else metric


def _trend(shown: Shown, points: Sequence[Point], words: dict[str, object]) -> str:
    """Return how a metric goes with a number: to a plateau, up, down, or neither."""
    stick = None
    if shown.higher_is_better and all((point.x or 0) > 0 and point.y >= 0 for point in points):
        stick = knee.find_knee([point.x or 0.0 for point in points], [point.y for point in points])
    if stick and stick.is_clear and stick.smallest < (points[-1].x or 0):
        at = next(point.text for point in points if point.x == stick.smallest)
        text = _(
            "%(metric)s grows with %(axis)s and levels off at %(plateau)s: from %(at)s on it is within 5 %% of that."
        )
        return text % {**words, "plateau": quantity(stick.plateau, shown.unit), "at": at}
    ends = {
        "first": quantity(points[0].y, shown.unit),
        "first_at": points[0].text,
        "last": quantity(points[-1].y, shown.unit),
        "last_at": points[-1].text,
    }
    steps = [after.y / before.y - 1 for before, after in pairwise(points) if before.y > 0]
    if all(step > -FLAT for step in steps) and points[-1].y > points[0].y:
        text = _("%(metric)s grows from %(first)s at %(axis)s %(first_at)s to %(last)s at %(last_at)s (× %(ratio)s).")
    elif all(step < FLAT for step in steps) and points[-1].y < points[0].y:
        text = _("%(metric)s falls from %(first)s at %(axis)s %(first_at)s to %(last)s at %(last_at)s (× %(ratio)s).")
    else:
        text = _(
            "%(metric)s is highest, %(high)s, at %(axis)s %(high_at)s and lowest, %(low)s, at %(low_at)s"
            " (× %(ratio)s)."
        )
    return text % {**words, **ends}


def _across(shown: Shown, curves: Sequence[Curve]) -> str:
    """Return which curve reaches the best figure of all."""
    best = max if shown.higher_is_better is not False else min
    curve, point = best(((curve, point) for curve in curves for point in curve.points), key=lambda pair: pair[1].y)
    words = {"value": quantity(point.y, shown.unit), "label": curve.label, "at": point.text}
    return _("The best of all is %(value)s with %(label)s at %(at)s.") % words


def _ends(shown: Shown, points: Sequence[Point]) -> dict[str, object]:
    low, high = min(points, key=lambda point: point.y), max(points, key=lambda point: point.y)
    return {
        "low": quantity(low.y, shown.unit),
        "low_at": low.text,
        "high": quantity(high.y, shown.unit),
        "high_at": high.text,
        "ratio": f"{high.y / low.y:.3g}" if low.y > 0 else "–",
        "flat": high.y - low.y <= FLAT * abs(high.y),
    }


def _chance(points: Sequence[Point]) -> str:
    """Return whether the difference of the extremes is chance; several places are corrected for."""
    ordered = sorted(points, key=lambda point: point.y)
    base = ordered[0].values
    found = comparison.contrast([(base, point.values) for point in ordered[1:]])
    verdict = found[-1].verdict if found else Verdict.TOO_FEW
    return {
        Verdict.HIGHER: _("The difference is significant."),
        Verdict.LOWER: _("The difference is significant."),
        Verdict.NO_DIFFERENCE: _("The difference may be chance."),
        Verdict.TOO_FEW: _("There are too few figures to tell whether that is chance."),
    }[verdict]
