"""The instant at which the commands of a stage begin together."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Max
from django.utils import timezone

from apps.agents.models import Agent
from apps.core import clock

# What an agent needs to get one more command ready (s): its record on disk, its folder, its process.
EACH_S = 0.02
# Half a round trip is what an agent's clock may be off; a command reaches it within so many of them.
HALF_TRIPS = 6


def common_start(*, nodes: Sequence[int]) -> datetime:
    """Return an instant by which the agents of these nodes, one entry a command, will have their commands ready.

    What lies further than AHEAD is taken for one of a clock that was set since, here and by agents.
    """
    commands = max(Counter(nodes).values(), default=0)
    error_s = Agent.objects.filter(node__in=nodes).aggregate(worst=Max("clock_error_s"))["worst"] or 0.0
    lead = timedelta(seconds=settings.START_LEAD_S + EACH_S * commands + HALF_TRIPS * error_s)
    return timezone.now() + min(lead, clock.AHEAD)
