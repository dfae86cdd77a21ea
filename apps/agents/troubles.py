"""What agents say is wrong on their own nodes: codes in the words of people, and which of them stop measuring."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.bench.text import Message, _
from apps.core import clock

# code -> (what is wrong, what to do, whether nothing is measured on the node meanwhile)
_KNOWN: Mapping[str, tuple[str, str, bool]] = {
    "spool-full": (
        _("The disk of the agent's spool on %(node)s is full: %(detail)s"),
        _("Free space there; the agent goes on by itself."),
        True,
    ),
    "spool-read-only": (
        _("The agent's spool on %(node)s is on a file system that is read-only: %(detail)s"),
        _("Look for errors of the disk and mount it writable; the agent goes on by itself."),
        True,
    ),
    "spool-unwritable": (
        _("The agent on %(node)s cannot write its spool: %(detail)s"),
        _("Mend what it says; the agent goes on by itself."),
        True,
    ),
    "spool-hung": (
        _("The disk of the agent's spool on %(node)s does not answer: %(detail)s"),
        _("See to the disk or its file server; the agent still ends jobs at their limits, and goes on by itself."),
        True,
    ),
    "work-full": (
        _("The disk of the work folders on %(node)s is full: %(detail)s"),
        _("Free space there; the agent goes on by itself."),
        True,
    ),
    "work-read-only": (
        _("The work folders on %(node)s are on a file system that is read-only: %(detail)s"),
        _("Look for errors of the disk and mount it writable; the agent goes on by itself."),
        True,
    ),
    "work-unwritable": (
        _("The agent on %(node)s cannot write its work folders: %(detail)s"),
        _("Mend what it says; the agent goes on by itself."),
        True,
    ),
    "work-hung": (
        _("The disk of the work folders on %(node)s does not answer: %(detail)s"),
        _("See to the disk or its file server; the agent still ends jobs at their limits, and goes on by itself."),
        True,
    ),
    "lock-lost": (
        _("The lock of the agent's folder on %(node)s was removed and is another process's now: %(detail)s"),
        _("Stop the second agent on that machine; the first one goes on, and takes the lock back."),
        False,
    ),
    "config-unusable": (
        _("The agent on %(node)s could not be started again as this node's: %(detail)s"),
        _("Mend what it says: the agent puts a removed agent.json back by itself as long as it runs."),
        False,
    ),
    "few-descriptors": (
        _("The agent on %(node)s runs out of file descriptors: %(detail)s"),
        _("Raise its limit (LimitNOFILE in its systemd unit) or start it again."),
        True,
    ),
    "clearing": (
        _("The agent on %(node)s still removes files of an earlier measurement: %(detail)s"),
        _("Wait: it takes as long as the disk needs; the agent goes on by itself."),
        True,
    ),
    "folder-left": (
        _("The agent on %(node)s could not remove a work folder: %(detail)s"),
        _("Remove it by hand; the agent tries again, too."),
        False,
    ),
    "settings-left": (
        _("The agent on %(node)s could not put kernel settings of an earlier job back: %(detail)s"),
        _("Bring back what is missing there, or set it as it was: the agent tries every few seconds and goes on."),
        True,
    ),
    "report-stuck": (
        _("The agent on %(node)s cannot send a result: %(detail)s"),
        _("Look at what stands between it and the service: its limits of size and rate. Other results pass it."),
        False,
    ),
    "refused-removed": (
        _("The agent on %(node)s removed results that the service refused: %(detail)s"),
        _("Copy what you need of the others, and see why the service refuses them: the agent's log names each."),
        False,
    ),
    "clock-set": (
        _("The clock of %(node)s was set: %(detail)s"),
        _("Let chrony or another NTP client keep it; times of measurements are not touched by this."),
        False,
    ),
}
_OTHER = _("The agent on %(node)s says: %(code)s %(detail)s")
_OTHER_REMEDY = _("Read the agent's log on the node.")


@dataclass(frozen=True)
class Trouble:
    """One thing that is wrong on a node since a time, as its agent says."""

    code: str
    detail: str
    since: datetime | None = None

    @property
    def stops_measuring(self) -> bool:
        """Return whether nothing is measured on the node until it is gone."""
        return self.code in _KNOWN and _KNOWN[self.code][2]

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return {
            "code": self.code,
            "detail": self.detail,
            "since": self.since.isoformat() if self.since else None,
        }

    def words(self, node: str) -> Message:
        """Return what is wrong, for people; `node` is the node's name."""
        text = _KNOWN[self.code][0] if self.code in _KNOWN else _OTHER
        return Message(text, {"node": node, "code": self.code, "detail": self.detail})

    @property
    def remedy(self) -> Message:
        """Return what to do, for people."""
        return Message(_KNOWN[self.code][1] if self.code in _KNOWN else _OTHER_REMEDY)


def read(records: Iterable[Mapping[str, Any]]) -> list[Trouble]:
    """Return the troubles of an agent's row."""
    return [
        Trouble(
            entry["code"],
            entry["detail"],
            clock.past(datetime.fromisoformat(entry["since"]) if entry["since"] else None),
        )
        for entry in records
    ]


def are_same(some: Sequence[Trouble], others: Sequence[Trouble]) -> bool:
    """Return whether two lists say the same, whenever it began and in whatever numbers."""
    return {trouble.code for trouble in some} == {trouble.code for trouble in others}
