"""What sets are called: by what they were chosen by, and told apart where that is not enough."""

from collections import Counter

from django.utils.translation import gettext as _

from apps.comparison.comparisons.figure_rows import Choice
from apps.core import moments
from apps.testbeds.models import Cluster, Node, Site


def titles_of(choices: list[Choice]) -> list[str]:
    """Return a title for each set; those that would be the same are numbered."""
    names = _names(choices)
    found = [choice.found.label or _title(choice, names) for choice in choices]
    often, seen, titles = Counter(found), Counter[str](), []
    for title in found:
        seen[title] += 1
        titles.append(f"{title} ({seen[title]})" if often[title] > 1 else title)
    return titles


def _names(choices: list[Choice]) -> dict[tuple[str, int], str]:
    """Return the names of the parts of the inventory that sets are chosen by, which the user's experiments use."""
    found: dict[tuple[str, int], str] = {}
    for kind, model in (("cluster", Cluster), ("site", Site), ("node", Node)):
        teams = {item.campaign.team_id for choice in choices for item in choice.experiments.values()}
        wanted = [pk for choice in choices if (pk := choice.found.number(kind)) is not None]
        if wanted:
            rows = model.objects.filter(pk__in=wanted, team__in=teams).values_list("pk", "name")
            found |= {(kind, pk): name for pk, name in rows}
    return found


def _title(choice: Choice, names: dict[tuple[str, int], str]) -> str:
    found = choice.found
    one = next(iter(choice.experiments.values()), None)
    parts = []
    for kind, pk in found.numbers:
        if one and kind == "campaign":
            parts.append(one.campaign.name)
        elif one and kind == "experiment":
            parts.append(one.name if found.number("campaign") else f"{one.campaign.name}: {one.name}")
        elif one and kind == "file-system" and one.file_system:
            parts.append(one.file_system.name)
        else:
            parts.append(names.get((kind, pk), f"{kind} {pk}"))
    parts += [found.tool] if found.tool else []
    parts += [f"{name} = {value}" for name, value in found.settings]
    if found.since:
        parts.append(_("from %(date)s") % {"date": f"{moments.local(found.since):%Y-%m-%d}"})
    if found.until:
        parts.append(_("before %(date)s") % {"date": f"{moments.local(found.until):%Y-%m-%d}"})
    return ", ".join(parts)
