"""The memory that agents' reports may take while they come and are read: some of each agent, some in all."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

MIB = 1024 * 1024
# An agent sends reports over two connections, one for what is large; in all it is what a web process can spare.
REPORTS_OF_AGENT, REPORTS_OF_ALL = 2 * 64 * MIB, 8 * 64 * MIB
# Facts and questions for work are a MiB at most, and must not wait for reports.
NEWS_OF_AGENT, NEWS_OF_ALL = 4 * MIB, 256 * MIB
# Each request counts as so much at least: what is small is held open as easily.
LEAST = MIB // 16


class Problem(Exception):
    """An answer other than 2xx: HTTP's status, a word for programs, a text for people."""

    def __init__(self, status: int, code: str, detail: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s


class Share:
    """What one request takes of the room."""

    def __init__(self, room: "Room", agent_id: int) -> None:
        self._room, self._agent_id = room, agent_id
        self.size = 0

    def grow(self, size: int) -> None:
        """Take so many bytes in all; Problem 503, which an agent answers by coming again, if there is no room."""
        if size > self.size:
            self._room.take(self._agent_id, size - self.size)
            self.size = size


class Room:
    """What all requests take."""

    def __init__(self, most_of_agent: int, most_of_all: int) -> None:
        self._most_of_agent, self._most_of_all = most_of_agent, most_of_all
        self._sizes: Counter[int] = Counter()

    @contextmanager
    def share_of(self, agent_id: int) -> Iterator[Share]:
        """Give a share to a request of an agent, until the block ends."""
        share = Share(self, agent_id)
        try:
            share.grow(LEAST)
            yield share
        finally:
            self._sizes[agent_id] -= share.size
            if not self._sizes[agent_id]:
                del self._sizes[agent_id]

    def take(self, agent_id: int, size: int) -> None:
        """Take `size` bytes more for an agent; Problem 503 if there is no room."""
        is_full = self._sizes.total() + size > self._most_of_all
        if is_full or self._sizes[agent_id] + size > self._most_of_agent:
            whose = "all agents" if is_full else "this agent"
            raise Problem(503, "unavailable", f"Too much is being sent by {whose} at once: send it again later.")
        self._sizes[agent_id] += size
