"""What sets are called: by what they were chosen by, and told apart where that is not enough."""

from collections import Counter

from django.utils.translation import gettext as _

from apps.comparison.comparisons.figure_rows import SetScope
from apps.core import moments
from apps.testbeds.models import Cluster, Node, Site


def titles_of(choices: list[SetScope]) -> list[str]:
    """Return a title for each set; those that would be the same are numbered."""
    names = _names(choices)
    bare_titles = [choice.result_set.label or _title(choice, names) for choice in choices]
    often, counts, titles = Counter(bare_titles), Counter[str](), []
    for title in bare_titles:
        counts[title] += 1
        titles.append(f"{title} ({counts[title]})" if often[title] > 1 else title)
    return titles


def _names(choices: list[SetScope]) -> dict[tuple[str, int], str]:
    """Return the names of the parts of the inventory that sets are chosen by, which the user's experiments use."""
    names: dict[tuple[str, int], str] = {}
    for kind, model in (("cluster", Cluster), ("site", Site), ("node", Node)):
        teams = {item.campaign.team_id for choice in choices for item in choice.experiments.values()}
        part_ids = [pk for choice in choices if (pk := choice.result_set.number(kind)) is not None]
        if part_ids:
            rows = model.objects.filter(pk__in=part_ids, team__in=teams).values_list("pk", "name")
            names |= {(kind, pk): name for pk, name in rows}
    return names


def _title(choice: SetScope, names: dict[tuple[str, int], str]) -> str:
    result_set = choice.result_set
    one = next(iter(choice.experiments.values()), None)
    parts = []
    for kind, pk in result_set.numbers:
        if one and kind == "campaign":
            parts.append(one.campaign.name)
        elif one and kind == "experiment":
            parts.append(one.name if result_set.number("campaign") else f"{one.campaign.name}: {one.name}")
        elif one and kind == "file-system" and one.file_system:
            parts.append(one.file_system.name)
        else:
            parts.append(names.get((kind, pk), f"{kind} {pk}"))
    parts += [result_set.tool] if result_set.tool else []
    parts += [f"{name} = {value}" for name, value in result_set.settings]
    if result_set.since:
        parts.append(_("from %(date)s") % {"date": f"{moments.local(result_set.since):%Y-%m-%d}"})
    if result_set.until:
        parts.append(_("before %(date)s") % {"date": f"{moments.local(result_set.until):%Y-%m-%d}"})
    return ", ".join(parts)
