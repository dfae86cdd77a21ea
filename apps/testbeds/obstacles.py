"""What keeps nodes from measuring now; who knows it is named in the settings."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.utils.module_loading import import_string


@dataclass(frozen=True)
class Obstacle:
    """Why a node cannot take a measurement now.

    `code` is for programs; `label`, a few words, and `text`, with `%(for)s` for the names of nodes, are msgids.
    `since` is when it began and `until` when it ends by itself, as far as that is known; `heard_at` is when the
    node's agent was heard last. An obstacle is a fault where something that was there is not there any more.
    """

    code: str
    label: str
    text: str
    since: datetime | None = None
    until: datetime | None = None
    heard_at: datetime | None = None
    is_fault: bool = False


def obstacles(*, nodes: Collection[int], now: datetime) -> dict[int, Obstacle]:
    """Return {id of a node: what keeps it from measuring at `now`}, of those nodes that something does.

    The inventory knows nothing of agents: NODE_OBSTACLES names a function of the same signature that does.
    """
    return import_string(settings.NODE_OBSTACLES)(nodes=nodes, now=now) if nodes else {}
