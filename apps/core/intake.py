"""What a web process takes of requests' bodies at once, in memory and on the disk: some of each sender, some in all.

A body may be held open for as long as its sender likes, and costs it nothing.
"""

import contextlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from apps.core import bodies
from apps.core.room import LEAST, MIB, GaveWay, Room, RoomClaim, RoomShare

# In memory a body has FILE_UPLOAD_MAX_MEMORY_SIZE at most; the rest of it lies on the disk.
MEMORY_OF_SENDER, MEMORY_OF_ALL = 64 * MIB, 256 * MIB
# So many files of the largest size may one person send at once; in all it is what the disk has (core.space).
LARGEST_OF_SENDER = 2


class Crowded(bodies.RefusedBody):
    """Too much is being sent at once: by its sender (429), or by all (503)."""

    def __init__(self, whose: str) -> None:
        super().__init__(f"Too much is being sent at once by {whose}.")
        self.status = 429 if whose == _SENDER else 503


class Overtaken(bodies.RefusedBody):
    """The body came too slowly, or its sender had most under way, while others sent much."""

    status = 503

    def __init__(self) -> None:
        super().__init__("The request gave way to what others sent.")


_SENDER, _ALL = "its sender", "all"
memory = Room(MEMORY_OF_ALL, _ALL, Crowded)
disk = Room(sys.maxsize, _ALL, Crowded)


class Intake:
    """What one request takes while its body comes and is worked on; nothing, if there is none."""

    def __init__(self, address: str) -> None:
        self._ends = contextlib.ExitStack()
        self._address = address
        self._memory: RoomShare | None = None
        self._disk: RoomShare | None = None

    @contextmanager
    def while_it_comes(self) -> Iterator[None]:
        """Take room from here on, and let others end the block where there is none: Crowded or Overtaken."""
        address = RoomClaim(("address", self._address), MEMORY_OF_SENDER, _SENDER, is_open=True)
        self._memory = self._ends.enter_context(memory.share_of(address))
        self._disk = self._ends.enter_context(disk.share_of(least=0))
        try:
            with self._memory.while_it_comes():
                yield
        except GaveWay:
            raise Overtaken from None

    def note_end(self) -> None:
        """Note that all of the body came, and waits for its turn."""
        if self._memory is not None:
            self._memory.is_whole = True

    def belong_to(self, sender: str) -> None:
        """Count it as somebody's who is known; Crowded if too much comes of them."""
        if self._memory is None or self._disk is None:
            return
        most = LARGEST_OF_SENDER * settings.UPLOAD_MOST_BYTES or sys.maxsize
        self._memory.claim([RoomClaim(sender, MEMORY_OF_SENDER, _SENDER, is_open=True)])
        self._disk.claim([RoomClaim(sender, most, _SENDER)])

    def grow(self, size: int) -> None:
        """Take room for so many bytes in all, in memory or on the disk; Crowded if there is none."""
        if self._memory is None or self._disk is None:
            return
        if size <= settings.FILE_UPLOAD_MAX_MEMORY_SIZE:
            self._memory.grow(size)
        else:
            self._disk.grow(size)
            self._memory.shrink(LEAST)

    @property
    def others(self) -> int:
        """Return how many bytes of further bodies lie on the disk."""
        return disk.size - (self._disk.size if self._disk is not None else 0)

    def drop(self) -> None:
        """Take no more than any request does: what came was dropped."""
        if self._memory is not None and self._disk is not None:
            self._memory.shrink(LEAST)
            self._disk.shrink(0)

    def close(self) -> None:
        """Give back all."""
        self._ends.close()
