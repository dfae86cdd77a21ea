"""What is to be said of nodes that can not measure now; who knows it is named in the settings."""

from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.utils.module_loading import import_string

from apps.bench.text import Message
from apps.testbeds.models import Node


def warnings(*, nodes: Iterable[Node], now: datetime) -> list[Message]:
    """Return a message for each node that could not start a measurement at `now`.

    Campaigns know nothing of agents: NODE_READINESS names a function of the same signature that does.
    """
    return import_string(settings.NODE_READINESS)(nodes=list(nodes), now=now)
