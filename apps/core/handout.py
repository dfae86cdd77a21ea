"""Whether work can be handed out to workers now, for whoever tells people why theirs waits."""

import threading
import time
from dataclasses import dataclass
from datetime import datetime

from apps.core import outage, writing

# A page asks for many campaigns and trials: one look in so many seconds is enough.
_LOOK_EVERY_S = 2.0
_lock = threading.Lock()
_looked_at = float("-inf")


@dataclass(frozen=True)
class Stop:
    """Since when the message broker takes no work, and what it says; of the `database` its disk is full."""

    since: datetime
    words: str
    part: str = "broker"


def stop() -> Stop | None:
    """Return why no work can be handed out, None if it can; asks the broker now and then, a second at most.

    What cannot be written down cannot be begun either: so it is while the database's disk is full.
    """
    global _looked_at
    watch = outage.broker_watch
    with _lock:
        is_due = watch.away_since is None and time.monotonic() - _looked_at > _LOOK_EVERY_S
        if is_due:
            _looked_at = time.monotonic()
    if is_due and (words := outage.trouble_of_broker()):
        watch.begin(words)
    since, words = watch.away_since, watch.words
    if since is not None:
        return Stop(since, words)
    full_since = writing.full_since()
    return Stop(full_since, "", "database") if full_since is not None else None
