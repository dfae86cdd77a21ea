"""How far a worker is with an archive, told beside the database: what a transaction wrote is seen after its end."""

from django.core.cache import cache

from apps.archive.incoming.models import IncomingArchive

_KEPT_S = 600


def sign(incoming: IncomingArchive, done: int, total: int) -> None:
    """Tell how far it is."""
    cache.set(_key(incoming), {"done": done, "total": total}, _KEPT_S)


def forget(incoming: IncomingArchive) -> None:
    """Take back what was told: the work is over."""
    cache.delete(_key(incoming))


def with_progress(incoming: IncomingArchive) -> IncomingArchive:
    """Return the row with the progress that its worker last told of."""
    progress = cache.get(_key(incoming)) if incoming.is_working else None
    if progress:
        incoming.done, incoming.total = progress["done"], progress["total"]
    return incoming


def _key(incoming: IncomingArchive) -> str:
    return f"incoming-archive:{incoming.pk}"
