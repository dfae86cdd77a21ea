"""Campaigns under way whose tool waits for a manager to take it over: their logs say since when."""

from collections import defaultdict
from datetime import datetime

from django.db.models import Exists, OuterRef

from apps.bench.text import Message
from apps.campaigns.models import Campaign, Event, Experiment, Trial
from apps.campaigns.services.events import Level, write_event
from apps.campaigns.waits.reasons import TOOL_AWAITED
from apps.core import isolation
from apps.toolbox import queries as toolbox
from apps.toolbox.models import VERSION_MARK

NOTE_AWAITED_TOOLS = "note_awaited_tools"


def note_awaited_tools(*, now: datetime) -> list[int]:
    """Say in the log of each campaign under way that it waits for a tool, once of each; return which campaigns do.

    A version comes to wait by an upgrade of the service, which knows of no campaign: so somebody has to look.
    """
    pending = Trial.objects.filter(experiment=OuterRef("pk"), state=Trial.State.PENDING)
    rows = Experiment.objects.filter(
        Exists(pending), campaign__state=Campaign.State.RUNNING, tool__contains=VERSION_MARK
    )
    pairs = set(rows.order_by().values_list("campaign", "tool"))
    awaiting = toolbox.awaiting_tools({tool for _campaign, tool in pairs})
    waiting = {pair for pair in pairs if pair[1] in awaiting}
    events = Event.objects.filter(campaign__in={pk for pk, _tool in waiting}, message__msgid=TOOL_AWAITED)
    tools = defaultdict(list)
    for campaign, tool in sorted(waiting - set(events.values_list("campaign", "message__params__tool"))):
        tools[campaign].append(tool)
    return isolation.for_each(NOTE_AWAITED_TOOLS, sorted(tools), lambda pk: _note(pk, tools[pk]), now=now)


def _note(campaign: int, tools: list[str]) -> int:
    for tool in tools:
        write_event(campaign_id=campaign, level=Level.WARNING, message=Message(TOOL_AWAITED, {"tool": tool}))
    return campaign
