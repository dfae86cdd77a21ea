"""Each place of a comparison against its baseline, and each set over all settings that it shares with that of it."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress

from apps.bench import comparison as science
from apps.bench.comparison import Contrast, Joint, Remark
from apps.comparison.comparisons import factors, failures
from apps.comparison.comparisons.gathering import Gathering
from apps.comparison.comparisons.layout import TableLayout
from apps.comparison.comparisons.places import FigurePlace, Key, settings_of
from apps.comparison.comparisons.state import ComparisonState

Strata = Sequence[Mapping[Hashable, Sequence[float]]]


@dataclass(frozen=True)
class TableContrasts:
    """The places that are the baseline, the contrasts of the others, each set's over all, and what failed of it."""

    baselines: frozenset[Key] = frozenset()
    of_places: Mapping[Key, Contrast] = field(default_factory=dict)
    overall: Mapping[int, Joint] = field(default_factory=dict)
    remarks: Sequence[Remark] = ()


def contrasts_of(gathering: Gathering, layout: TableLayout, places: Sequence[FigurePlace]) -> TableContrasts:
    """Return the contrasts of all places; the answers over all settings only where the baseline is a set."""
    state = gathering.choice.state
    values = {place.key: place.values for place in places}
    bases = {key: _baseline(key, state, layout) for key in values}
    pairs = {key: (values[base], values[key]) for key, base in bases.items() if base != key and base in values}
    strata = _strata(gathering, layout) if state.base_axis is None and state.base_series is None else []
    # The table's pairs are mostly those of the answer over all settings, too.
    compare_once = science.compare_with_memory()
    none: list[Contrast] = []
    contrasts, remarks = failures.attempt(
        failures.CONTRAST, lambda: science.contrast(list(pairs.values()), compare_once), none
    )
    overall: dict[int, Joint] = {}
    if not remarks:
        overall, remarks = failures.attempt(
            failures.CONTRAST, lambda: _overall(strata, state.baseline, compare_once), overall
        )
    baselines = frozenset(key for key, base in bases.items() if key == base)
    return TableContrasts(baselines, dict(zip(pairs, contrasts, strict=False)), overall, remarks)


def _baseline(key: Key, state: ComparisonState, layout: TableLayout) -> Key:
    """Return the place that another is compared with."""
    place, x, series, rest = key
    on_sets = layout.axis.name == factors.SET
    if state.base_axis is not None and not on_sets:
        return place, layout.axis.value_at(state.base_axis, x), series, rest
    if state.base_series is not None and layout.series:
        return place, x, layout.series.value_at(state.base_series, series), rest
    # Where the sets are on the axis, the baseline is one of its places.
    return state.baseline, state.baseline if on_sets else x, series, rest


def _strata(gathering: Gathering, layout: TableLayout) -> Strata:
    """Return {setting: figures} of each set."""
    names = [factor.name for factor in gathering.factors if factor.is_parameter]
    strata: list[dict[Hashable, list[float]]] = []
    for place, rows in enumerate(gathering.figures.rows):
        figures: dict[Hashable, list[float]] = defaultdict(list)
        row_settings = zip(settings_of(names, gathering.columns, place), rows, strict=True)
        for setting, row in compress(row_settings, layout.has_fixed[place]):
            figures[setting].extend(row.values)
        strata.append(figures)
    return strata


def _overall(strata: Strata, baseline: int, compare_once: science.Compare) -> dict[int, Joint]:
    """Return how each set differs from the baseline over the settings that both have."""
    answers = {}
    base = strata[baseline] if strata else {}
    for place, other in enumerate(strata):
        common = [(base[key], other[key]) for key in base if key in other]
        if place != baseline and (answer := science.joint(common, compare_once)):
            answers[place] = answer
    return answers
