"""What differs between the sets of a comparison, and what that and the table's places say against comparing them."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from apps.bench import comparison as science
from apps.bench.comparison import Deviation, Remark
from apps.comparison.comparisons import environment, factors
from apps.comparison.comparisons.gathering import Gathering
from apps.comparison.comparisons.layout import TableLayout
from apps.comparison.comparisons.places import FigurePlace


def judge(
    gathering: Gathering, layout: TableLayout, places: Sequence[FigurePlace]
) -> tuple[tuple[Deviation, ...], list[Remark]]:
    """Return what differs between the sets (of a set alone: what changed), parameters first, and the remarks."""
    environments = gathering.environments
    values = []
    for place, own in enumerate(environments.known):
        settings: environment.Known = defaultdict(set)
        for label, texts in layout.once:
            settings[_("Parameters"), label].update(texts[place])
        values.append({name: frozenset(values_of_set) for name, values_of_set in (settings | own).items()})
    subject = _subject(gathering, layout, places)
    if len(values) > 1:
        deviations = tuple(science.deviations(values))
    else:
        names = [name for own in values for name in own if name in environments.changed[0]]
        deviations = tuple(Deviation(topic, name, (values[0][topic, name],)) for topic, name in names)
    return deviations, science.judge(replace(subject, deviations=deviations))


def _subject(gathering: Gathering, layout: TableLayout, places: Sequence[FigurePlace]) -> science.ComparedSets:
    """Return what is to be judged, without what differs."""
    choice, figures = gathering.choice, gathering.figures
    used = [{choice.experiments[row.experiment].tool for row in rows} for rows in figures.rows]
    units = {
        slug: item.unit
        for slug, tool in choice.tools.items()
        for item in tool.metrics
        if choice.metric and item.name == choice.metric.name
    }
    on_sets = layout.axis.name == factors.SET
    samples = [0 for _title in choice.titles]
    common: list[set[Hashable]] = [set() for _title in choice.titles]
    for (place, x, _series, rest), values, *_others in places:
        samples[place] += len(values)
        common[place].add((None if on_sets else x, rest))
    names = [*([] if on_sets else [layout.axis.label]), *(factor.label for factor in layout.apart)]
    return science.ComparedSets(
        names=choice.titles,
        tools=tuple(frozenset(choice.tools[slug].name for slug in slugs) for slugs in used),
        units=tuple(frozenset(units.get(slug, "") for slug in slugs) for slugs in used),
        samples=tuple(samples),
        axis=", ".join(names),
        common=len(set.intersection(*common)) if common else 0,
        averaged=tuple(factor.label for factor in layout.averaged),
        deviations=(),
        changed=tuple(frozenset(name for _topic, name in names) for names in gathering.environments.changed),
        untold=gathering.untold,
        unrecorded=gathering.environments.unrecorded,
        invalid=sum(figures.invalid.values()) if choice.state.invalid else 0,
        cut=sum(scope.cut for scope in choice.scopes),
    )
