"""The memory that agents' bodies may take while they come and are read: some of each agent, some in all."""

from contextlib import AbstractContextManager

from apps.core import room
from apps.core.limits.askers import address_in
from apps.core.room import LEAST, MIB, GaveWay, RoomClaim, RoomShare

__all__ = ["LEAST", "MIB", "AgentRoom", "GaveWay", "Lobby", "Problem", "RoomShare"]
# An agent sends reports over two connections, one for what is large; in all it is what a web process can spare.
REPORTS_OF_AGENT, REPORTS_OF_ALL = 2 * 64 * MIB, 8 * 64 * MIB
# Facts and questions for work are a MiB at most, and must not wait for reports.
NEWS_OF_AGENT, NEWS_OF_ALL = 4 * MIB, 256 * MIB
# An enrolment is anybody's; each counts as LEAST: so many of an address are open at once, so many of all.
ENROLMENTS_OF_ADDRESS, ENROLMENTS_OF_ALL = 256 * LEAST, 2048 * LEAST


class Problem(Exception):
    """An answer other than 2xx: HTTP's status, a word for programs, a text for people."""

    def __init__(self, status: int, code: str, detail: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s


class Lobby:
    """What all enrolments take, a share of each address; the slowest gives way where there is none."""

    def __init__(self, most_of_address: int, most_of_all: int) -> None:
        self._most_of_address = most_of_address
        self.all = room.Room(most_of_all, "all who enrol", _full)

    def share_of(self, address: str) -> AbstractContextManager[RoomShare]:
        """Give a share to a request of an address, until the block ends."""
        claim = RoomClaim(("address", address_in(address)), self._most_of_address, "this address", is_open=True)
        return self.all.share_of(claim)


class AgentRoom:
    """What all requests of agents take: a share of each agent, half of it of each team; Problem 503 for more."""

    def __init__(self, most_of_agent: int, most_of_all: int) -> None:
        self._most_of_agent, self._most_of_team = most_of_agent, most_of_all // 2
        self.all = room.Room(most_of_all, "all agents", _full)

    def share_of(self, agent: int, team: int) -> AbstractContextManager[RoomShare]:
        """Give a share to a request of an agent of a team, until the block ends."""
        return self.all.share_of(
            RoomClaim(("agent", agent), self._most_of_agent, "this agent"),
            RoomClaim(("team", team), self._most_of_team, "this team's agents"),
        )


def _full(whose: str) -> Problem:
    return Problem(503, "unavailable", f"Too much is being sent by {whose} at once: send it again later.")
