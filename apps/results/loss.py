"""Loss and jitter of datagrams against the load that was offered: what an experiment with a sweep of rates tells."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from apps.bench import units
from apps.bench.network import loss_curve
from apps.bench.network.full_links import PLATEAU
from apps.bench.network.loss_curve import LoadPoint, LossCurve
from apps.bench.rules import pace
from apps.bench.rules.passed import Passed
from apps.bench.toolkit import Tool
from apps.campaigns.models import Experiment
from apps.core.messages import render
from apps.results import charts, doubts, queries
from apps.results.doubts import Doubts, Mark
from apps.results.evidence.passed import passed_along

Line = dict[str, Any]

# The factor and the figures that such an experiment has.
RATE = "rate"
OFFERED, LOSS, JITTER, GOODPUT = "offered_load", "loss", "jitter", "goodput"


@dataclass(frozen=True)
class LossSweep:
    """The curve of one combination of the other factors; `label` names it ("" if there are none).

    `marks` are the flags of the figures at each offered load, `passed` what more came through the same way in
    whichever campaign.
    """

    label: str
    curve: LossCurve
    marks: Mapping[float, Mark | None] = field(default_factory=dict)
    passed: Passed | None = None

    @property
    def conclusions(self) -> list[str]:
        """Return what the curve says of one flow, and what else is known of the path, in the reader's language."""
        beside = [self.passed.message] if self.passed else []
        return [render(message) for message in (*self.curve.conclusions, *beside)]

    @property
    def rows(self) -> list[dict[str, object]]:
        """Return the lines of the table: each point with the loss of a full link and how much it is exceeded."""
        return [
            {
                "point": point,
                "loss": _percent(point.loss),
                "fluid": _percent(self.curve.fluid_loss(point.offered)),
                "excess": self.curve.excess(point),
                "mark": self.marks.get(point.offered),
            }
            for point in self.curve.points
        ]


def sweeps_of(experiment: Experiment, tool: Tool) -> list[LossSweep]:
    """Return the curves of an experiment; none unless it offers different loads and measures what becomes of them."""
    measured = {metric.name for metric in tool.metrics}
    varied = [factor["name"] for factor in experiment.factors]
    if RATE not in varied or not {OFFERED, LOSS} <= measured:
        return []
    factors = queries.factors_of(experiment)
    place = factors.index(RATE)
    cells: dict[tuple[object, ...], dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    trials: dict[tuple[object, ...], set[int]] = defaultdict(set)
    metrics = (OFFERED, LOSS, JITTER, GOODPUT)
    for metric in metrics:
        figures, _left_out = queries.figures_of(experiment, metric, factors)
        for figure in figures:
            cells[figure.key][metric][figure.trial] = figure.value
            trials[figure.key].add(figure.trial)
    raised = doubts.doubts_of([experiment.pk], metrics)
    held_trials = _held_trials(raised)
    points: dict[tuple[object, ...], list[LoadPoint]] = defaultdict(list)
    marks: dict[tuple[object, ...], dict[float, Mark | None]] = defaultdict(dict)
    runs: dict[tuple[object, ...], set[int]] = defaultdict(set)
    for key, values in cells.items():
        if point := _mean_point(values, held_trials):
            points[key[:place] + key[place + 1 :]].append(point)
            marks[key[:place] + key[place + 1 :]][point.offered] = raised.about(sorted(trials[key]), LOSS)
            runs[key[:place] + key[place + 1 :]] |= trials[key]
    others = tuple(name for name in factors if name != RATE)
    lanes = queries.lane_names(experiment) if queries.NODES in others else {}
    curves = {
        key: curve for key, members in points.items() if len(members) > 1 and (curve := loss_curve.analyse(members))
    }
    passed = passed_along({key: runs[key] for key in curves}, tool, LOSS)
    sweeps = [
        LossSweep(charts.label_of(tool, others, key, lanes), curve, marks[key], _more_than(curve, passed.get(key)))
        for key, curve in curves.items()
    ]
    return sorted(sweeps, key=lambda sweep: sweep.label)


def _more_than(curve: LossCurve, passed: Passed | None) -> Passed | None:
    """Return what came through the same way if it is more than arrived of any load, by the width of a plateau."""
    return passed if passed is not None and passed.rate_bps > (1 + PLATEAU) * curve.arrived else None


def charts_of(sweeps: list[LossSweep]) -> dict[str, object]:
    """Return loss and jitter against the offered load, {"charts": [chart, …]}, with the knee and the full link."""
    loss = [_line(_named(sweep, _("measured")), sweep, lambda _s, point: point.loss) for sweep in sweeps]
    loss += [
        _line(_named(sweep, _("a full link (1 − C/R)")), sweep, lambda s, point: s.curve.fluid_loss(point.offered))
        for sweep in sweeps
        if sweep.curve.full
    ]
    jitter = [_line(sweep.label, sweep, lambda _s, point: point.jitter) for sweep in sweeps]
    chart_list = [_chart(LOSS, _("Datagram loss"), "fraction", loss, sweeps)]
    if any(point["y"] is not None for series in jitter for point in series["points"]):
        chart_list.append(_chart(JITTER, _("Jitter"), "s", jitter, sweeps))
    return {"charts": chart_list if sweeps else []}


def _held_trials(raised: Doubts) -> set[int]:
    """Return the trials whose ends a judge saw drop datagrams, or send too slowly."""
    return {
        trial for (trial, _metric), flags in raised.raised.items() if pace.ENDS & {flag["name"] for flag in flags}
    }


def _mean_point(values: dict[str, dict[int, float]], held_trials: set[int]) -> LoadPoint | None:
    """Return the means of a load over the trials that nothing at the ends held; over all, and so marked, if none."""
    free = values.get(LOSS, {}).keys() - held_trials
    runs = {
        metric: tuple(value for trial, value in own.items() if trial in free or not free)
        for metric, own in values.items()
    }
    means = {metric: sum(own) / len(own) for metric, own in runs.items() if own}
    if not means.get(OFFERED) or LOSS not in means:
        return None
    return LoadPoint(
        means[OFFERED],
        means[LOSS],
        means.get(JITTER),
        means.get(GOODPUT),
        is_held=not free,
        losses=runs[LOSS],
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.3g} %"


def _named(sweep: LossSweep, what: str) -> str:
    return f"{sweep.label}: {what}" if sweep.label else what


def _flags(mark: Mark | None) -> dict[str, object]:
    return {"flagged": mark.flagged, "flags": mark.text[: charts.LONGEST_FLAGS]} if mark else {}


def _line(label: str, sweep: LossSweep, figure: Callable[[LossSweep, LoadPoint], float | None]) -> Line:
    points = [
        {"x": point.offered, "y": figure(sweep, point), **_flags(sweep.marks.get(point.offered))}
        for point in sweep.curve.points
    ]
    return {"label": label, "points": points}


def _chart(name: str, label: str, unit: str, series: list[Line], sweeps: list[LossSweep]) -> dict[str, object]:
    knees = []
    for sweep in sweeps:
        if bend := sweep.curve.bend:
            text = _("Knee: %(rate)s") % {"rate": units.format_quantity(bend, "bit/s")}
            knees.append({"axis": "x", "value": bend, "label": _named(sweep, text)})
    return {
        "metric": {"name": name, "label": label, "unit": unit},
        "x": {"name": OFFERED, "label": _("Offered load"), "unit": "bit/s", "numeric": True, "log": False},
        "series": series,
        "lines": knees,
    }
