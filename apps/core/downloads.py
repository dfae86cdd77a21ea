"""Who may be sent files at once: each holds a database connection, or what it sends, until its reader has all of it.

Places are shared: those of people who are signed in and those of anonymous readers are apart, and of either no
reader, address or team has all. Who finds none waits a moment for the next. How long one is held is bounded by how
much was taken meanwhile (`Pace`), and where somebody waits for what a slow reader holds, that one loses it. What is
slow grows with how long the file has waited for its reader, so that nobody's turn is as long as their file.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string
from django.utils.translation import gettext

from apps.bench.text import Message, _
from apps.core import outage
from apps.core.limits.askers import address_of
from apps.core.limits.fair_places import FairPlaces, Owners, PlacesTakenError
from apps.core.limits.policies import LimitExceededError, QuotaState

# A reader who takes nothing for so long is given up: what is read for it stands in nobody's way any longer (s).
STALL_S = 45.0
# So long (s) a reader may take in all, and longer by what it took at this rate (B/s): a large file takes its time,
# but only while it is taken.
GRACE_S = 60.0
LEAST_RATE = 128 * 1024
# Who is so far (s) behind this rate (B/s) loses its place to one who waits for it: a stalled one costs nothing.
SLOW_S = 10.0
SLOW_RATE = 32 * 1024
# The rate doubles with each further of these times (s) for which the file waited for its reader: 100 MB at 1 Mbit/s
# are through before, and one at hundreds of times the rate has had an hour.
TURN_S = 300.0
_MOST_DOUBLINGS = 30.0
# For so long (s) a reader who has fewer than one may have waits for a place.
WAIT_S = 5.0
# When to ask again (s): files of a usual size are sent within it.
RETRY_AFTER_S = 30
POLICY = "downloads"


class Pace:
    """How long a reader may still let a file wait for it; `give_up` ends the download, once there is one."""

    def __init__(self) -> None:
        self.give_up: Callable[[], object] = lambda: None
        self._waited_s = self._behind_s = 0.0
        self._taken_bytes = 0
        self._given: tuple[int, float] | None = None

    def left_s(self) -> float:
        """Return for how long the next piece may wait to be taken; 0 or less for a reader who is too slow."""
        return min(STALL_S, GRACE_S + self._taken_bytes / LEAST_RATE - self._waited_s)

    def behind_s(self) -> float:
        """Return how far the reader is behind the rate that is due now; 0 while nothing waits for it."""
        given = self._given
        return self._behind_s + time.monotonic() - given[1] if given else 0.0

    def give(self, size: int) -> None:
        """Note that a piece of so many bytes waits from now on."""
        self._given = size, time.monotonic()

    def take(self) -> None:
        """Note that the piece that waited, if one did, was taken."""
        given, self._given = self._given, None
        if given is not None:
            self.note(given[0], time.monotonic() - given[1])

    def note(self, size: int, waited_s: float) -> None:
        """Note that a piece of so many bytes was taken after so long."""
        self._taken_bytes += size
        self._waited_s += waited_s
        doublings = min(_MOST_DOUBLINGS, max(0.0, self._waited_s / TURN_S - 1))
        self._behind_s = max(0.0, self._behind_s + waited_s - size / (SLOW_RATE * 2**doublings))


@dataclass(frozen=True)
class DownloadPlace:
    """A place that was taken: how it stands for its reader, what gives it back, and how fast what it is for goes."""

    state: QuotaState
    give_back: Callable[[], None]
    pace: Pace


class Places(FairPlaces):
    """So many files at once; of these a reader has half at most."""

    def __init__(self, size: int) -> None:
        self.share = max(1, size // 2)
        self._held: dict[Pace, Owners] = {}
        super().__init__(size, wait_s=WAIT_S, of_person=self.share, is_brief=True)

    def place(self, reader: Owners, *, file_owner: str = "") -> DownloadPlace:
        """Return a place for a reader, all but one of which may be of what is a file's owner's.

        LimitExceededError (429) if the share of the reader, their address or a team of theirs is taken, outage.Busy
        (503) if all are.
        """
        owners = Owners(reader.person, (*reader.teams, *filter(None, [file_owner])))
        try:
            give_back = self.take(owners)
        except PlacesTakenError as error:
            if set(error.full) - {file_owner}:
                text = _(
                    "You, or others of your team or address, are downloading as many files as you may at once."
                    " Try again in %(seconds)s s."
                )
                raise LimitExceededError(Message(text), RETRY_AFTER_S) from None
            text = gettext("Many files are being downloaded at this moment. Try again in a minute.")
            raise outage.Busy(text) from None
        pace = Pace()
        with self._changed:
            self._held[pace] = owners

        def end() -> None:
            with self._changed:
                del self._held[pace]
            give_back()

        return DownloadPlace(
            QuotaState(POLICY, self.share, RETRY_AFTER_S, self.left(owners.person), RETRY_AFTER_S), end, pace
        )

    def _end_one_for(self, owners: Owners) -> None:
        """End the slowest download that stands in the way of one who waits, if its reader is too slow for that."""
        full = set(self._full(owners))
        in_the_way = [pace for pace, others in self._held.items() if not full or full & set(others.names)]
        slowest = max(in_the_way, key=Pace.behind_s, default=None)
        if slowest is not None and slowest.behind_s() > SLOW_S:
            slowest.give_up()


# Half of a web process's connections at most are those of downloads: the others are left to pages.
signed_in = Places(max(1, settings.WEB_CONNECTIONS // 3))
anonymous = Places(max(1, settings.WEB_CONNECTIONS // 6))
# What is sent from memory, packed: an output, or a file of a job, of 16 MiB at most.
outputs, outputs_of_anonymous = Places(12), Places(6)


def place_for(request: HttpRequest, owner: str = "", *, reads_database: bool = True) -> DownloadPlace:
    """Return a place for whoever asks; see `Places.place`. The `owner` counts where anybody may ask for a file.

    What does not read the database while it is sent has places of its own.
    """
    of_people, of_others = (signed_in, anonymous) if reads_database else (outputs, outputs_of_anonymous)
    user, address = getattr(request, "user", None), address_of(request)
    if user is None or not user.is_authenticated:
        return of_others.place(Owners(f"at {address}"), file_owner=owner)
    owners: Owners = import_string(settings.OWNERS_CHECK)(request)
    return of_people.place(Owners(owners.person, (*owners.teams, *([f"at {address}"] if address else []))))
