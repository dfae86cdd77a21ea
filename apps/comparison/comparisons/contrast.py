"""A comparison: figures by set, axis and series, against their baseline."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress, repeat
from typing import TypeVar

from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bench import comparison as bench_comparison
from apps.bench import network, statistics
from apps.bench.comparison import Remark, RemarkLevel, Statistic
from apps.bench.statistics import Importance, Mean
from apps.bench.sweep import likeness
from apps.bench.text import Message
from apps.bench.toolkit import Metric, Params, Tool, right_mean
from apps.comparison.comparisons import environment, factors, figure_rows, gaps, part_names, titles
from apps.comparison.comparisons.apart import told_apart
from apps.comparison.comparisons.cells import ComparisonCell, Fixed, Key, cells_of, within
from apps.comparison.comparisons.factors import VariedFactor
from apps.comparison.comparisons.figure_rows import Gathered
from apps.comparison.comparisons.state import ComparisonState
from apps.core import parts
from apps.results import means, queries

T = TypeVar("T")


@dataclass
class Comparison:
    """All that the page, the REST interface and the downloads show of a state."""

    state: ComparisonState
    gathered: Gathered
    titles: list[str]
    metrics: list[Metric]
    metric: Metric | None
    mean: Mean
    why_mean: str
    factors: list[VariedFactor]
    axis: VariedFactor
    series: VariedFactor | None
    fixed: Fixed
    # What else varies within sets: each value of it has places of its own, or figures are means over all of them.
    apart: list[VariedFactor]
    averaged: list[VariedFactor]
    cells: list[ComparisonCell]
    remarks: list[Remark] = field(default_factory=list)
    deviations: list[bench_comparison.Deviation] = field(default_factory=list)
    # Of what something is known of every set, and of what not.
    recorded: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()
    overall: dict[int, bench_comparison.Joint] = field(default_factory=dict)
    # The paths that were measured, by their ends, with the transport; None until somebody asks.
    paths: dict[tuple[tuple[int, ...], ...], tuple[tuple[network.Path, ...], str]] | None = None
    # What the address asks for and is not there, by its parameter: {"metric": [message]}.
    missing: dict[str, list[Message]] = field(default_factory=dict)

    @property
    def is_comparable(self) -> bool:
        """Return whether nothing forbids to compare what is shown."""
        return not any(remark.level is RemarkLevel.REFUSAL for remark in self.remarks)

    @property
    def unit(self) -> str:
        """Return the unit of the figures."""
        return self.metric.unit if self.metric else ""

    @property
    def named(self) -> list[VariedFactor]:
        """Return the factors that were told: what keeps untold settings apart is none to show or to choose."""
        return [factor for factor in self.factors if likeness.is_told(factor.name)]

    def varies_within(self, factor: VariedFactor) -> bool:
        """Return whether a set has more than one value of a factor, so that there is something to fix."""
        return factors.varies_within(factor, self.gathered)

    def rest_of(self, cell: ComparisonCell) -> str:
        """Return "Streams 4, Length 8 KiB": what tells a place apart beside the axis and the series."""
        pairs = zip(self.apart, cell.rest, strict=True)
        return ", ".join(f"{factor.label} {factor.text(value)}" for factor, value in pairs)

    @cached_property
    def explained(self) -> list[tuple[str, Importance]]:
        """Return what each set's own factors explain of it: (title of the set, shares); a failure is a remark."""
        return self.compute_part(part_names.IMPORTANCE, self._importance, [])

    def compute_part(self, name: str, compute: Callable[[], T], otherwise: T) -> T:
        """Return a part (named by a msgid); of one that fails (`otherwise`) a remark says so, and others go on."""
        part, failure = parts.attempt(name, compute, otherwise)
        if failure:
            self.remarks.append(Remark(RemarkLevel.CAUTION, failure))
        return part

    def _importance(self) -> list[tuple[str, Importance]]:
        """Return what each set's own factors explain of it: (title of the set, shares)."""
        names = [factor.name for factor in self.named if factor.is_parameter or factor.name == factors.NODES]
        shares = []
        for place, (title, rows) in enumerate(zip(self.titles, self.gathered.rows, strict=True)):
            counts = [len(row.values) for row in rows]
            # Its value for each figure, of which a row may have several.
            columns = {
                name: list(chain.from_iterable(map(repeat, factors.column_of(name, place, self.gathered), counts)))
                for name in names
            }
            values = [value for row in rows for value in row.values]
            if names and (explained := statistics.explain_variance(columns, values)):
                shares.append((title, explained))
        return shares


def compare(state: ComparisonState, user: User) -> Comparison:
    """Return the comparison of a state, with all that the user may see of its sets."""
    choices = figure_rows.choose(state.sets, user)
    tools = figure_rows.tools_of(choices)
    metrics = _metrics(choices, tools)
    metric = next((item for item in metrics if item.name == state.metric), metrics[0] if metrics else None)
    gathered = figure_rows.gather(choices, metric.name if metric else "", include_invalid=state.invalid)
    named = titles.titles_of(choices)
    varied = factors.varied(gathered)
    by_name = {factor.name: factor for factor in varied}
    sets = factors.of_sets(named)
    names = {state.axis, state.series, *(name for name, _text in state.fixed)} - by_name.keys()
    axes = by_name | factors.constant(names, gathered)
    axis = axes.get(state.axis) or (sets if state.axis == factors.SET else _usual_axis(varied, sets))
    series = axes.get(state.series) if state.series != axis.name else None
    fixed = [(axes[name], text) for name, text in state.fixed if name in axes and text in axes[name].keys]
    placed = {axis.name, series.name if series else "", *(factor.name for factor, _text in fixed)}
    mean, why = mean_of(gathered, tools, metric)
    apart, pooled, once = told_apart(gathered, [factor for factor in varied if factor.name not in placed], fixed)
    comparison = Comparison(
        state=state, gathered=gathered, titles=named, metrics=metrics, metric=metric, mean=mean, why_mean=why,
        factors=varied, axis=axis, series=series, fixed=fixed,
        apart=apart, averaged=pooled, cells=cells_of(gathered, axis, series, fixed, apart, pooled),
    )  # fmt: skip
    comparison.missing = gaps.missing_metric(state, metrics)
    # Where there are no figures yet, nothing is missed of them.
    comparison.missing |= gaps.missing_factors(state, axis, series, axes) if comparison.cells else {}
    evenness = statistics.evenness_of(cell.values for cell in comparison.cells if cell.settings == 1)
    for cell in comparison.cells:
        cell.centre = bench_comparison.centre_of(cell.values, state.statistic, mean, evenness)
    surroundings = environment.environment_of(gathered, once, user)
    comparison.deviations = surroundings.deviations
    comparison.recorded, comparison.unrecorded = surroundings.recorded, surroundings.unrecorded
    comparison.remarks = bench_comparison.judge(_shown(comparison, tools, surroundings.changed))
    if comparison.is_comparable:
        comparison.compute_part(part_names.CONTRAST, lambda: _contrast(comparison), None)
    return comparison


def baseline_of(comparison: Comparison, cell: ComparisonCell) -> Key:
    """Return the place that a cell is compared with."""
    state = comparison.state
    x, series = cell.x, cell.series
    if state.base_axis is not None and comparison.axis.name != factors.SET:
        return cell.set, _value(comparison.axis, state.base_axis, x), series, cell.rest
    if state.base_series is not None and comparison.series:
        return cell.set, x, _value(comparison.series, state.base_series, series), cell.rest
    # Where the sets are on the axis, the baseline is one of its places.
    return state.baseline, state.baseline if comparison.axis.name == factors.SET else x, series, cell.rest


def _value(factor: VariedFactor, text: str, other: Hashable) -> Hashable:
    keys = factor.keys
    return factor.values[keys.index(text)] if text in keys else other


def _metrics(choices: Sequence[figure_rows.SetScope], tools: dict[str, Tool]) -> list[Metric]:
    """Return the metrics of the sets' tools: first those that the most sets have figures of, or could have.

    Of these the primary ones come first, of these the most swept.
    """
    metrics_of = queries.measured((item for choice in choices for item in choice.experiments.values()), tools)
    had: dict[str, set[int]] = defaultdict(set)
    sets: dict[str, set[int]] = defaultdict(set)
    swept: dict[str, int] = defaultdict(int)
    metrics: dict[str, Metric] = {}
    for place, choice in enumerate(choices):
        for experiment in choice.experiments.values():
            for metric in metrics_of[experiment.pk]:
                had[metric.name].add(place)
            for metric in tools[experiment.tool].metrics:
                sets[metric.name].add(place)
                swept[metric.name] += bool(experiment.factors)
                metrics.setdefault(metric.name, metric)
    ranks = {name: (-len(had[name]), -len(sets[name]), not metrics[name].primary, -swept[name]) for name in metrics}
    return sorted(metrics.values(), key=lambda metric: ranks[metric.name])


def mean_of(gathered: Gathered, tools: dict[str, Tool], metric: Metric | None) -> tuple[Mean, str]:
    """Return the mean that is right for the figures of a metric, and why (a msgid)."""
    params: Iterable[Params] = (row.parameters for rows in gathered.rows for row in rows)
    kind, why = right_mean(tools.values(), params, metric.unit if metric else "")
    return kind, why.msgid


def _usual_axis(varied: list[VariedFactor], sets: VariedFactor) -> VariedFactor:
    """Return the first factor that varies, a number if there is one; the sets if nothing does."""
    parameters = [factor for factor in varied if factor.is_parameter and likeness.is_told(factor.name)]
    numbers = [factor for factor in parameters if factor.numeric]
    nodes = [factor for factor in varied if factor.name == factors.NODES]
    return next(iter([*numbers, *parameters, *([] if len(sets.values) > 1 else nodes)]), sets)


def _shown(
    comparison: Comparison, tools: dict[str, Tool], changed: tuple[frozenset[str], ...]
) -> bench_comparison.ComparedSets:
    """Return what is to be judged of a comparison."""
    gathered, metric = comparison.gathered, comparison.metric
    used = [{gathered.experiments[row.experiment].tool for row in rows} for rows in gathered.rows]
    units = {
        slug: item.unit
        for slug, tool in tools.items()
        for item in tool.metrics
        if metric and item.name == metric.name
    }
    on_sets = comparison.axis.name == factors.SET
    places = [
        {(None if on_sets else cell.x, cell.rest) for cell in comparison.cells if cell.set == place}
        for place in range(len(comparison.titles))
    ]
    names = [*([] if on_sets else [comparison.axis.label]), *(factor.label for factor in comparison.apart)]
    return bench_comparison.ComparedSets(
        names=tuple(comparison.titles),
        tools=tuple(frozenset(tools[slug].name for slug in slugs) for slugs in used),
        units=tuple(frozenset(units.get(slug, "") for slug in slugs) for slugs in used),
        samples=tuple(
            sum(cell.n for cell in comparison.cells if cell.set == place) for place in range(len(comparison.titles))
        ),
        axis=", ".join(names),
        common=len(set.intersection(*places)) if places else 0,
        averaged=tuple(factor.label for factor in comparison.averaged),
        deviations=tuple(comparison.deviations),
        changed=changed,
        untold=factors.untold_of(comparison.factors, gathered),
        unrecorded=comparison.unrecorded,
        invalid=sum(gathered.invalid.values()) if comparison.state.invalid else 0,
        cut=sum(choice.cut for choice in gathered.choices),
    )


def _contrast(comparison: Comparison) -> None:
    """Give each cell its contrast with the baseline, and each set the answer over all common settings."""
    cells = {cell.key: cell for cell in comparison.cells}
    pairs = []
    for cell in comparison.cells:
        base = baseline_of(comparison, cell)
        cell.is_baseline = base == cell.key
        if not cell.is_baseline and base in cells:
            pairs.append((cell, cells[base]))
    # The table's pairs are mostly those of the answer over all settings, too.
    compare_once = bench_comparison.compare_with_memory()
    contrasts = bench_comparison.contrast([(base.values, cell.values) for cell, base in pairs], compare_once)
    for (cell, _base), contrast in zip(pairs, contrasts, strict=True):
        cell.contrast = contrast
    if comparison.state.base_axis is None and comparison.state.base_series is None:
        comparison.overall = _overall(comparison, compare_once)


def _overall(comparison: Comparison, compare: bench_comparison.Compare) -> dict[int, bench_comparison.Joint]:
    """Return how each set differs from the baseline over the settings that both have."""
    names = [factor.name for factor in comparison.factors if factor.is_parameter]
    strata: list[dict[Hashable, list[float]]] = []
    for place, rows in enumerate(comparison.gathered.rows):
        figures: dict[Hashable, list[float]] = defaultdict(list)
        row_settings = zip(factors.settings_of(names, place, comparison.gathered), rows, strict=True)
        for setting, row in compress(row_settings, within(comparison.fixed, place, comparison.gathered)):
            figures[setting].extend(row.values)
        strata.append(figures)
    answers = {}
    base = strata[comparison.state.baseline] if strata else {}
    for place, other in enumerate(strata):
        if place != comparison.state.baseline:
            common = [(base[key], other[key]) for key in base if key in other]
            if answer := bench_comparison.joint(common, compare):
                answers[place] = answer
    return answers


def statistic_label(comparison: Comparison) -> str:
    """Return what the figures shown are called."""
    if comparison.state.statistic is Statistic.MEDIAN:
        return _("Median")
    return means.label_of(comparison.mean)


def baseline_title(comparison: Comparison) -> str:
    """Return what the others are compared with, "" where there is nothing to compare with."""
    state = comparison.state
    for factor, text in ((comparison.axis, state.base_axis), (comparison.series, state.base_series)):
        if text is not None and factor and factor.name != factors.SET and text in factor.keys:
            return f"{factor.label} {factor.texts[factor.keys.index(text)]}"
    return comparison.titles[state.baseline] if len(comparison.titles) > 1 else ""
