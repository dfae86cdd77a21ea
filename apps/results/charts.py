"""Shape a table of results for the chart: labels, series, error bars, and the lines of theory."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.utils.translation import gettext as _

from apps.bench import telemetry, units
from apps.bench.sweep import likeness
from apps.bench.toolkit import BY_SIZE, Parameter, Tool
from apps.bench.tools import label_of_metric
from apps.campaigns.models import Experiment
from apps.results import intervals, queries
from apps.results.doubts import Doubts
from apps.results.models import Result, Series
from apps.results.theory import Theory, theory_of
from apps.toolbox import queries as toolbox

# From this ratio of the largest to the smallest value on, equal steps are steps of ratio.
LOG_FROM = 10
# What a chart's tooltip has room for.
LONGEST_FLAGS = 300
# Units of rates, and how many bits one of them moves in a second.
RATE_BITS = {"bit/s": 1, "B/s": 8}
_ACRONYMS = {"bdp", "cpu", "ip", "mss", "mtu", "nic", "rtt", "tcp", "udp"}


def chart_of(table: queries.FactorTable, tool: Tool, lanes: dict[int, str], theory: Theory) -> dict[str, object]:
    """Return a chart's data: axes, one series for each combination of the other factors, and lines."""
    parameter = queries.parameter_of(tool, table.x)
    series: dict[str, list[dict[str, object]]] = {}
    for group in table.groups:
        label = label_of(tool, *_told(table.others, group.others), lanes)
        ends = group.interval(table.metric, ceiling_of(table.metric.unit, theory))
        point: dict[str, object] = {
            "x": group.x if parameter and _is_number(group.x) else text_of(parameter, group.x, lanes),
            "y": group.centre.value,
            "low": ends.low,
            "high": ends.high,
            "n": group.summary.n,
            "points": [figure.value for figure in group.figures],
            **flags_of(table.doubts, [figure.trial for figure in group.figures], table.metric.name),
        }
        series.setdefault(label, []).append(point | ({"note": intervals.cut_note()} if ends.is_cut else {}))
    values = [group.x for group in table.groups if isinstance(group.x, int | float)]
    numeric = bool(parameter and values) and all(_is_number(group.x) for group in table.groups)
    return {
        "metric": {"name": table.metric.name, "label": _(table.metric.label), "unit": table.metric.unit},
        "x": {
            "name": table.x,
            "label": label_of_factor(tool, table.x),
            "unit": parameter.unit if parameter else "",
            "numeric": numeric,
            "log": numeric and min(values) > 0 and max(values) >= LOG_FROM * min(values),
        },
        "series": [{"label": label, "points": points} for label, points in series.items()],
        "lines": _lines(table, parameter, theory),
        "left_out": table.left_out,
    }


def _told(names: tuple[str, ...], values: tuple[object, ...]) -> tuple[tuple[str, ...], tuple[object, ...]]:
    """Return factors without the mark of what is not known: points that it keeps apart are of one line."""
    pairs = [pair for pair in zip(names, values, strict=True) if likeness.is_told(pair[0])]
    return tuple(name for name, _value in pairs), tuple(value for _name, value in pairs)


def ceiling_of(unit: str, theory: Theory) -> float | None:
    """Return what no rate along the measured path exceeds, in a unit of rates; None where that is not known."""
    bits = RATE_BITS.get(unit)
    return theory.ceiling_bps / bits if bits and theory.ceiling_bps else None


def flags_of(doubts: Doubts, trials: Sequence[int], metric: str) -> dict[str, object]:
    """Return what a chart's point says of the flags of its figures: {} without any.

    `flagged` is how many have one, `flags` the words for them, `hollow` the places of these figures among all.
    """
    mark = doubts.about(trials, metric)
    if mark is None:
        return {}
    hollow = [place for place, trial in enumerate(trials) if doubts.is_flagged(trial, metric)]
    return {"flagged": mark.flagged, "flags": mark.text[:LONGEST_FLAGS], "hollow": hollow}


def label_of_factor(tool: Tool, name: str) -> str:
    """Return the words for a factor; a parameter that the tool has no more goes by its name."""
    if name == queries.NODES:
        return _("Nodes")
    parameter = queries.parameter_of(tool, name)
    return _(parameter.label) if parameter else name


def label_of(tool: Tool, names: tuple[str, ...], values: tuple[object, ...], lanes: dict[int, str]) -> str:
    """Return "Window 64 KiB, Streams 4" for the values of several factors."""
    parts = [
        f"{label_of_factor(tool, name)} {text_of(queries.parameter_of(tool, name), value, lanes)}"
        if queries.parameter_of(tool, name)
        else text_of(None, value, lanes)
        for name, value in zip(names, values, strict=True)
    ]
    return ", ".join(parts)


def text_of(parameter: Parameter | None, value: object, lanes: dict[int, str]) -> str:
    """Return a factor's value with its unit, a choice's label, or the lane's nodes."""
    if parameter is None:
        return lanes.get(value, str(value)) if isinstance(value, int) else str(value)
    if parameter.choices and value is not None:
        return _(dict(parameter.choices).get(str(value), str(value)))
    if value is None:
        # What has a default always has a value, unless nobody told it of an import.
        return _("default") if parameter.default is None else _("not known")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int | float):
        return _(parameter.zero) if parameter.zero and not value else units.format_quantity(value, parameter.unit)
    return str(value)


def missing_of(experiment: Experiment, *, metric: str | None, x: str | None) -> dict[str, list[str]]:
    """Return {parameter: names that there are} of a metric and a factor that are asked for and not there."""
    metrics = [item.name for item in queries.metrics_of(toolbox.get_tool(experiment.tool))]
    factors = queries.factors_of(experiment)
    choices = (("metric", metric, metrics), ("x", x, factors))
    return {name: names for name, name_asked, names in choices if name_asked and name_asked not in names}


def data_for(
    experiment: Experiment, *, metric: str | None, x: str | None, include_invalid: bool = False
) -> tuple[queries.FactorTable, dict[str, object]]:
    """Return the table and the chart of an experiment for a metric and a factor, the usual ones unless given."""
    tool = toolbox.get_tool(experiment.tool)
    metrics = queries.metrics_of(tool)
    metric_drawn = next((item for item in metrics if item.name == metric), None)
    if metric_drawn is None:
        measured_metrics = queries.measured([experiment], {tool.slug: tool})[experiment.pk]
        metric_drawn = measured_metrics[0] if measured_metrics else metrics[0]
    table = queries.table_of(experiment, metric=metric_drawn, x=x, include_invalid=include_invalid)
    return table, chart_of(table, tool, queries.lane_names(experiment), theory_of(experiment))


def _axis(*, by_size: bool) -> dict[str, object]:
    """Return the x axis of a run's series; sizes double from one to the next, so they stand on a log axis."""
    if by_size:
        return {"name": "size", "label": _("Size"), "unit": "B", "numeric": True, "log": True}
    return {"name": "time", "label": _("Time"), "unit": "s", "numeric": True, "log": False}


def series_of(result: Result) -> dict[str, object]:
    """Return the series of one run over time or message size, one chart a metric: {"charts": [chart, ...]}."""
    labels = partial(label_of_metric, tool=toolbox.get_tool(result.tool))
    grouped: dict[tuple[str, bool], list[Series]] = {}
    # As they were stored: those that retention packed come back from the database in another order.
    for series in sorted(result.series.all(), key=lambda series: series.pk):
        # What the kernel said is drawn with the rest of it.
        if series.metric in telemetry.LABELS:
            continue
        grouped.setdefault((series.metric, series.stream.startswith(BY_SIZE)), []).append(series)
    return {
        "charts": [
            {
                "metric": {"name": name, "label": _(labels(name)), "unit": members[0].unit},
                "x": _axis(by_size=by_size),
                "series": [
                    {
                        "label": member.stream or _("sum"),
                        "points": [{"x": x, "y": y} for x, y in zip(member.times, member.values, strict=True)],
                    }
                    for member in members
                ],
                "lines": [],
            }
            for (name, by_size), members in grouped.items()
        ]
    }


@dataclass(frozen=True)
class Kept:
    """A setting as it was requested, granted and observed, each as text ("" where nothing is known)."""

    label: str
    requested: str
    granted: str
    observed: str


def kept_of(tool: Tool, result: Result) -> list[Kept]:
    """Return what was granted or observed of a run, beside what was requested of the same name."""
    plain = {
        name for record in (result.granted, result.observed) for name, value in record.items() if _is_plain(value)
    }
    names = [name for name in dict.fromkeys([*result.granted, *result.observed]) if name in plain]
    labels = {item.name: _(item.label) for item in tool.parameters} | {
        item.name: _(item.label) for item in tool.metrics
    }
    return [
        Kept(
            labels.get(name) or _words(name),
            _requested_text(tool, name, result.requested.get(name)),
            *(_kept_text(tool, name, values.get(name)) for values in (result.granted, result.observed)),
        )
        for name in names
    ]


@dataclass(frozen=True)
class Clients:
    """What each of several clients reached: the labels of the columns, and a row of texts a client."""

    labels: list[str]
    rows: list[list[str]]


def clients_of(tool: Tool, result: Result) -> Clients | None:
    """Return the clients' own figures as `observed["clients"]` has them, None if there are not several."""
    clients = result.observed.get("clients")
    rows = [row for row in clients if isinstance(row, dict)] if isinstance(clients, list) else []
    if len(rows) < 2:
        return None
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if name != "node"]
    labels = {item.name: _(item.label) for item in tool.metrics}
    return Clients(
        labels=[labels.get(name) or _words(name) for name in names],
        rows=[[str(row.get("node", "")), *(_kept_text(tool, name, row.get(name)) for name in names)] for row in rows],
    )


def _words(name: str) -> str:
    """Return a field's own name of something as words: "Path MTU" of path_mtu."""
    words = [word.upper() if word in _ACRONYMS else word for word in name.split("_")]
    return " ".join(words)[:1].upper() + " ".join(words)[1:]


def _is_plain(value: object) -> bool:
    """Return whether a value is one, and not a structure that is shown elsewhere."""
    return not isinstance(value, dict | list)


def _requested_text(tool: Tool, name: str, value: object) -> str:
    zeros = {item.name: item.zero for item in tool.parameters if item.zero}
    return _(zeros[name]) if value == 0 and name in zeros else _kept_text(tool, name, value)


# What tools observe beside their parameters and metrics is named so that its end tells its unit.
_UNITS_BY_ENDING = (
    ("B", ("buffer", "mss", "mtu", "working_set", "client_memory", "file_system_free")),
    ("s", ("_s", "start_skew")),
)


def _kept_text(tool: Tool, name: str, value: object) -> str:
    units_of = {item.name: item.unit for item in tool.parameters} | {item.name: item.unit for item in tool.metrics}
    unit = units_of.get(name) or next((unit for unit, ends in _UNITS_BY_ENDING if name.endswith(ends)), "")
    if value in (None, ""):
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return units.format_quantity(value, unit)
    return str(value)


def _lines(table: queries.FactorTable, parameter: Parameter | None, theory: Theory) -> list[dict[str, object]]:
    lines: list[dict[str, object]] = []
    ceiling = ceiling_of(table.metric.unit, theory)
    if ceiling:
        label = _("Ceiling of the path (%(link)s): %(rate)s") % {
            "link": theory.bottleneck,
            "rate": units.format_quantity(ceiling, table.metric.unit),
        }
        lines.append({"axis": "y", "value": ceiling, "label": label})
    if parameter and parameter.name == "window" and theory.bdp_bytes:
        lines.append({"axis": "x", "value": theory.bdp_bytes, "label": theory.bdp_label})
    return lines


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
