"""How far a worker is with an archive, told beside the database: what a transaction wrote is seen after its end.

Best effort: nothing fails or waits because the broker, where it stands, is away.
"""

import logging
from typing import Any

from django.core.cache import cache

from apps.archive.incoming.models import IncomingArchive
from apps.core import outage

logger = logging.getLogger(__name__)

_KEPT_S = 600


def sign(incoming: IncomingArchive, done: int, total: int) -> None:
    """Tell how far it is."""
    _ask(cache.set, _key(incoming), {"done": done, "total": total}, _KEPT_S)


def forget(incoming: IncomingArchive) -> None:
    """Take back what was told: the work is over."""
    _ask(cache.delete, _key(incoming))


def with_progress(incoming: IncomingArchive) -> IncomingArchive:
    """Return the row with the progress that its worker last told of."""
    progress = _ask(cache.get, _key(incoming)) if incoming.is_working else None
    if progress:
        incoming.done, incoming.total = progress["done"], progress["total"]
    return incoming


def _ask(call: Any, *args: object) -> Any:
    try:
        return outage.ask_broker(lambda: call(*args))
    except outage.BROKER_ERRORS as error:
        logger.warning("How far an archive is can be neither kept nor asked for: %s", error)
        return None


def _key(incoming: IncomingArchive) -> str:
    return f"incoming-archive:{incoming.pk}"
