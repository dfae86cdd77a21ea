"""The parts of a drawing of a network: boxes of nodes and switches, and lines of links."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext
from django.utils.translation import gettext as _

from apps.testbeds.obstacles import Obstacle


@dataclass(frozen=True)
class DrawnBox:
    """A switch, or one or more like nodes; `members` are the ends (such as "node:3") it stands for.

    `busy` of its nodes are at work, `obstacle_count` cannot measure: `obstacle` says why in a few words (a msgid), if
    it is the same for all of those, and `has_fault` whether it is a fault.
    """

    key: str
    name: str
    detail: str
    site: str
    url: str
    members: tuple[str, ...]
    is_switch: bool
    busy: int = 0
    obstacle_count: int = 0
    obstacle: str = ""
    has_fault: bool = False

    @property
    def mark(self) -> str:
        """Return what stands out of the box's nodes: that one is "lost", "busy" or "kept" from measuring, or ""."""
        if self.has_fault:
            return "lost"
        return "busy" if self.busy else "kept" if self.obstacle_count else ""

    @property
    def present(self) -> str:
        """Return in a few words what stands out, "" if nothing does."""
        if not self.mark:
            return ""
        is_busy = self.mark == "busy"
        count = self.busy if is_busy else self.obstacle_count
        if len(self.members) == 1:
            return _("busy") if is_busy else gettext(self.obstacle)
        if is_busy:
            return _("%(number)s busy") % {"number": count}
        label = gettext(self.obstacle) if self.obstacle else _("not ready")
        return _("%(number)s: %(state)s") % {"number": count, "state": label}


@dataclass(frozen=True)
class DrawnLinks:
    """The like links between two boxes, `count` of them; figures as in the inventory."""

    a: str
    b: str
    name: str
    url: str
    capacity_bps: int | None
    rtt_s: float | None
    count: int
    keys: tuple[str, ...]
    is_bottleneck: bool = False


@dataclass(frozen=True)
class Picture:
    """The boxes by key, and the lines between them."""

    boxes: Mapping[str, DrawnBox] = field(default_factory=dict)
    lines: tuple[DrawnLinks, ...] = ()

    @property
    def node_ids(self) -> set[int]:
        """Return the nodes that the boxes stand for."""
        return {pk for box in self.boxes.values() for pk in _nodes_in(box)}

    def marked(self, keeping: Mapping[int, Obstacle]) -> "Picture":
        """Return the picture with the boxes marked whose nodes something keeps from measuring."""
        return replace(self, boxes={key: _marked(box, keeping) for key, box in self.boxes.items()})


def _nodes_in(box: DrawnBox) -> list[int]:
    return [] if box.is_switch else [int(member.partition(":")[2]) for member in box.members]


def _marked(box: DrawnBox, keeping: Mapping[int, Obstacle]) -> DrawnBox:
    obstacles = [keeping[pk] for pk in _nodes_in(box) if pk in keeping]
    labels = {obstacle.label for obstacle in obstacles}
    return replace(
        box,
        obstacle_count=len(obstacles),
        obstacle=labels.pop() if len(labels) == 1 else "",
        has_fault=any(obstacle.is_fault for obstacle in obstacles),
    )
