"""Who may be sent files at once: each holds a database connection until its reader has all of it.

Places are shared: those of people who are signed in and those of anonymous readers are apart, and of either no reader
has all. How long one is held is bounded by how much was taken meanwhile (`Pace`).
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext

from apps.bench.text import Message, _
from apps.core import outage
from apps.core.limits.askers import address_of
from apps.core.limits.policies import LimitExceededError, QuotaState

# A reader who takes nothing for so long is given up: what is read for it stands in nobody's way any longer (s).
STALL_S = 45.0
# So long (s) a reader may take in all, and longer by what it took at this rate (B/s): a large file takes its time,
# but only while it is taken.
GRACE_S = 60.0
LEAST_RATE = 128 * 1024
# When to ask again (s): files of a usual size are sent within it.
RETRY_AFTER_S = 30
POLICY = "downloads"


@dataclass(frozen=True)
class DownloadPlace:
    """A place that was taken: how it stands for its reader, and what gives it back."""

    state: QuotaState
    give_back: Callable[[], None]


class Places:
    """So many files at once; of these a reader has half at most, all readers of an address, or of one owner's
    things, all but one.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.share = max(1, size // 2)
        self._most_of_many = max(1, size - 1)
        self._held: Counter[str] = Counter()
        self._taken = 0
        self._lock = threading.Lock()

    def take(self, reader: str, address: str, owner: str = "") -> DownloadPlace:
        """Return a place for a reader at an address, of what is an owner's.

        LimitExceededError (429) if its share is taken, outage.Busy (503) if all are.
        """
        keys = [key for key in (reader, f"at {address}" if address else "") if key]
        with self._lock:
            if self._held[reader] >= self.share or (address and self._held[keys[-1]] >= self._most_of_many):
                text = _("You are downloading as many files as one may at once. Try again in %(seconds)s s.")
                raise LimitExceededError(Message(text), RETRY_AFTER_S)
            if self._taken >= self.size or (owner and self._held[f"of {owner}"] >= self._most_of_many):
                raise outage.Busy(gettext("Many files are being downloaded at this moment. Try again in a minute."))
            self._taken += 1
            keys += [f"of {owner}"] if owner else []
            self._held.update(keys)
            left = self.share - self._held[reader]
        return DownloadPlace(
            QuotaState(POLICY, self.share, RETRY_AFTER_S, left, RETRY_AFTER_S), lambda: self._give_back(keys)
        )

    def _give_back(self, keys: Iterable[str]) -> None:
        with self._lock:
            self._taken -= 1
            self._held.subtract(keys)
            self._held = +self._held


class Pace:
    """How long a reader may still let a file wait for it."""

    def __init__(self) -> None:
        self._waited_s = 0.0
        self._taken_bytes = 0

    def left_s(self) -> float:
        """Return for how long the next piece may wait to be taken; 0 or less for a reader who is too slow."""
        return min(STALL_S, GRACE_S + self._taken_bytes / LEAST_RATE - self._waited_s)

    def note(self, size: int, waited_s: float) -> None:
        """Note that a piece of so many bytes was taken after so long."""
        self._taken_bytes += size
        self._waited_s += waited_s


# Half of a web process's connections at most are those of downloads: the others are left to pages.
signed_in = Places(max(1, settings.WEB_CONNECTIONS // 3))
anonymous = Places(max(1, settings.WEB_CONNECTIONS // 6))


def place_for(request: HttpRequest, owner: str = "") -> DownloadPlace:
    """Return a place for whoever asks; see `Places.take`. The `owner` counts where anybody may ask for a file."""
    user, address = getattr(request, "user", None), address_of(request)
    if user is not None and user.is_authenticated:
        return signed_in.take(f"user {user.pk}", address)
    return anonymous.take(f"anonymous {address}", address, owner)
