"""A question with its levels and what lies beneath each of them, read once."""

from dataclasses import replace
from typing import Any, NamedTuple

from apps.bench.rules.base import NETWORK, Evidence
from apps.bench.rules.layers.beneath import Beneath, Network
from apps.bench.rules.layers.days import near_in
from apps.bench.rules.layers.disks_beneath import disk_beneath, disk_unlike
from apps.bench.rules.layers.fullness import exceeds, is_alike
from apps.bench.rules.layers.questions import Level, Question
from apps.bench.rules.shapes import TASKS
from apps.bench.units.days import day_of

# One task may have so many times what several have of the same disks, which seek between them.
HELD_UP = 2


class Near(NamedTuple):
    """What lies beneath a rate, as far as it was not measured months before or after, and `apart` what was.

    `unlike` are disks that were measured, but asked for something else.
    """

    network: Network | None
    disk: Beneath | None
    apart: tuple[Beneath, ...] = ()
    unlike: Beneath | None = None

    def is_as_disks(self, level: Level) -> bool:
        """Return whether the disks were measured as the rate was, or not at all."""
        return self.unlike is None and is_alike(level, self.disk)


class Seen:
    """A question with its levels and what lies beneath, read once."""

    def __init__(self, evidence: Evidence, question: Question) -> None:
        self.question, self._evidence = question, evidence
        self.levels, self.modes = question.levels(), question.modes()
        self._whole = Network(evidence, question)
        self._networks: dict[tuple[Any, ...], Network] = {}
        self._near: dict[Level, Near] = {}

    def near(self, level: Level) -> Near:
        """Return what lies beneath a level, of what was measured about when it was: of each one read once."""
        if level not in self._near:
            self._near[level] = self._read_near(level)
        return self._near[level]

    def _read_near(self, level: Level) -> Near:
        """Return it; where TCP was measured over links months later, nobody described these as they were then."""
        evidence = near_in(self._evidence, level.when)
        disk, other = (read(evidence, self.question, level) for read in (disk_beneath, disk_unlike))
        if len(evidence.points) == len(self._evidence.points):
            return Near(self._whole, disk, unlike=other)
        network = self._network_of(evidence, level)
        whole = (self._whole.carried(level.clients), disk_beneath(self._evidence, self.question, level))
        apart = tuple(item for item in whole if item is not None and item.when.is_far_from(level.when))
        carried = network.carried(level.clients)
        is_of_later = any(item.layer == NETWORK and item.when.is_after(level.when) for item in apart)
        is_known = carried is not None and (bool(carried.trials) or not is_of_later)
        return Near(network if is_known else None, disk, apart, other)

    def _network_of(self, evidence: Evidence, level: Level) -> Network:
        """Return the network of what was measured about when a level was: of each day read once."""
        key = (level.point.campaign, None if level.point.at is None else day_of(level.point.at))
        if key not in self._networks:
            self._networks[key] = Network(evidence, self.question)
        return self._networks[key]

    def network(self, level: Level) -> Beneath | None:
        """Return what the network carries for the clients of a level."""
        network = self.near(level).network
        return network.beneath(level.clients, level.value) if network else None

    def is_cached(self, level: Level) -> bool:
        """Return whether a rate is surely more than what lies beneath can give.

        Disks that more tasks asked for the same tell how much it is at most, however much those hold each other up.
        """
        near = self.near(level)
        by_more = None
        if near.unlike and {*dict(near.unlike.unlike)} == {TASKS}:
            by_more = replace(near.unlike, value=HELD_UP * near.unlike.value, interval=None)
        return exceeds(level, near.disk, by_more, self.network(level))
