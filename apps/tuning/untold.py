"""What nobody told of a campaign's runs, so that rules that read it had none to look at: silence is no answer."""

from collections.abc import Iterable
from contextlib import nullcontext

from django.utils.translation import gettext

from apps.bench import rules
from apps.bench.rules.runner import Guard
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign
from apps.toolbox import queries as toolbox
from apps.tuning import evidence

# More runs are not gone through while a page waits.
MOST_FOR_A_PAGE = 2000


def silent_for(campaign: Campaign, guard: Guard = nullcontext) -> Message | None:
    """Return that rules which found nothing had no run of which all is known that they read; None if none of them."""
    if campaign.origin != Campaign.Origin.IMPORTED or campaign.findings.exists():
        return None
    answers = [answer for own in evidence.by_ends(campaign).values() for answer in rules.ask_ends(own, guard)]
    answers += rules.ask_whole(evidence.of_campaign(campaign), guard)
    silent = [answer for answer in answers if answer.untold]
    if not silent:
        return None
    names = sorted({name for answer in silent for name in answer.untold})
    text = _(
        "Not known: %(names)s. Rules that read this of the runs left all of them out: nothing can be said of what "
        "holds the measured rates back."
    )
    labels = _labels(campaign)
    return Message(text, {"names": ", ".join(dict.fromkeys(labels.get(name, name) for name in names))})


def silent_among(campaigns: Iterable[Campaign]) -> list[tuple[Campaign, Message]]:
    """Return those of which that is to be said, with what."""
    return [(campaign, message) for campaign in campaigns if (message := silent_for(campaign))]


def silent_for_a_page(campaign: Campaign) -> Message | None:
    """Return the same while somebody waits: of a campaign of more than MOST_FOR_A_PAGE runs nothing is said."""
    return silent_for(campaign) if campaign.trials.count() <= MOST_FOR_A_PAGE else None


def _labels(campaign: Campaign) -> dict[str, str]:
    """Return {parameter: what its tool calls it}, in the reader's language."""
    slugs = campaign.experiments.values_list("tool", flat=True).distinct()
    tools = [toolbox.get_tool(slug) for slug in slugs]
    return {item.name: gettext(item.label) for tool in tools for item in tool.parameters}
