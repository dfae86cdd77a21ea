"""What is known of a team's names, ready in a process for as long as none of the rows changed that tell them."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import get_language

from apps.archive.landing.redaction.foreign import foreign_entries
from apps.archive.landing.redaction.inventory import entries_of, rows_of
from apps.archive.landing.redaction.stand_ins import MOST_SIGNS, Dictionary, Entry, TooManyNamesError, dictionary_of
from apps.archive.landing.turns import turn
from apps.bench.text import Message, _
from apps.campaigns.models import ForeignNames
from apps.core.limits.fair_places import FairPlaces
from apps.core.limits.policies import LimitExceededError
from apps.core.row_versions import versions_of
from apps.testbeds.models import Node

# What is kept ready, of all teams: as much as two may have. Of the smallest team it is some thousands of bytes.
MOST_KEPT_SIGNS, _LEAST_KEPT_SIGNS = 2 * MOST_SIGNS, 500
# Who has more names than can be hidden has to take some away.
_RETRY_AFTER_S = 600
# A team's names are read by one at a time.
reading = FairPlaces(2, wait_s=1.0)

_Key = tuple[int, str, tuple[int, ...], int | None]


@dataclass(frozen=True)
class KnownNames:
    """A team's names in one language; of two whose digests are equal texts are the same."""

    versions: list[Any]
    entries: tuple[Entry, ...]
    # None if there are more than can be looked for.
    looked_for: Dictionary | None
    digest: str

    @property
    def dictionary(self) -> Dictionary:
        """Return the names to look for; LimitExceededError (429) if there are more than can be."""
        if self.looked_for is None:
            text = _("The team has more names than can be hidden, with its former ones: nothing of this is shown.")
            raise LimitExceededError(Message(text), _RETRY_AFTER_S)
        return self.looked_for

    @property
    def signs(self) -> int:
        """Return how much is kept."""
        return _LEAST_KEPT_SIGNS + (self.looked_for.signs if self.looked_for else 0)


_kept: OrderedDict[_Key, KnownNames] = OrderedDict()
_lock = threading.Lock()


def known_of(team: int, first: Iterable[Node], foreign: int | None = None) -> KnownNames:
    """Return a team's names with what stands for them, as they are now; the nodes that come `first` are the first.

    `foreign` is the key of names of others (`ForeignNames`) that stand after them; what it leads to never changes.
    LimitExceededError (429) if many read names meanwhile.
    """
    played = list(first)
    key = (team, get_language() or "", tuple(node.pk for node in played), foreign)
    # Before the names: of a change in between the next one reads.
    versions = versions_of(*rows_of(team, played))
    names = _ready(key)
    if names is not None and names.versions == versions:
        return names
    with turn(reading, f"names of team {team}"):
        # Whoever was before may have read them.
        names = _ready(key)
        if names is None or names.versions != versions:
            names = _read(team, played, foreign, versions, names)
            _keep(key, names)
    return names


def _read(
    team: int, played: list[Node], foreign: int | None, versions: list[Any], before: KnownNames | None
) -> KnownNames:
    names = ForeignNames.objects.get(pk=foreign).all if foreign else []
    entries = entries_of(team, played, foreign_entries(names))
    if before is not None and before.looked_for and before.entries == entries:
        return KnownNames(versions, entries, before.looked_for, before.digest)
    digest = hashlib.sha256(repr([(add.__name__, texts) for add, texts in entries]).encode()).hexdigest()
    try:
        return KnownNames(versions, entries, dictionary_of(entries), digest)
    except TooManyNamesError:
        return KnownNames(versions, (), None, digest)


def _ready(key: _Key) -> KnownNames | None:
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
        return _kept.get(key)


def _keep(key: _Key, names: KnownNames) -> None:
    with _lock:
        _kept[key] = names
        _kept.move_to_end(key)
        while len(_kept) > 1 and sum(one.signs for one in _kept.values()) > MOST_KEPT_SIGNS:
            _kept.popitem(last=False)
