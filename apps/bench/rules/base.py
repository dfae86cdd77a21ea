"""What rules read (evidence) and what they conclude (findings)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from apps.bench import lines
from apps.bench.rules.passed import Passed
from apps.bench.rules.points import (
    ABOUT,
    AT_LEAST,
    BELOW,
    LEAST_FIGURE,
    MODE,
    MOST_FIGURE,
    SAMPLE,
    Point,
    is_figure,
)  # fmt: skip
from apps.bench.text import Message, _

__all__ = ["ABOUT", "AT_LEAST", "BELOW", "LEAST_FIGURE", "MODE", "MOST_FIGURE", "SAMPLE", "Point", "is_figure"]

Json = dict[str, Any]

# What a finding is: a change to make, a cause named, the word that something needs no change, or a doubt in a figure.
RECOMMENDATION, DIAGNOSIS, NO_CHANGE, DOUBT = KINDS = ("recommendation", "diagnosis", "no-change", "doubt")
NETWORK, DISK, FILE_SYSTEM, INTERCONNECT = "network", "disk", "file-system", "interconnect"
LAYER_NAMES = {
    NETWORK: _("network"),
    DISK: _("disk"),
    FILE_SYSTEM: _("file system"),
    INTERCONNECT: _("interconnect"),
}


def of_files(name: str) -> str:
    """Return the question of what to do for a file system."""
    return f"files {name}" if name else ""


@dataclass(frozen=True)
class LinkFacts:
    """A link of a path, as described: capacity (bit/s), RTT (s), MTU (B)."""

    name: str
    capacity_bps: float | None = None
    rtt_s: float | None = None
    mtu: int | None = None


@dataclass(frozen=True)
class PathFacts:
    """What is known of the path: the given capacity (bit/s), RTT (s) and MTU (B) of its links, and these in order."""

    capacity_bps: float | None = None
    rtt_s: float | None = None
    mtu: int | None = None
    links: tuple[LinkFacts, ...] = ()
    bottleneck: str = ""


@dataclass(frozen=True)
class FileSystemFacts:
    """A file system as described: block size (B), the nodes that serve it, options by name, how many disks it has.

    `disk_rates` {metric: what the disks are said to give that way (B/s)} lacks what nobody wrote of that direction.
    """

    name: str
    kind: str
    block_size_bytes: int | None = None
    servers: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    disks: int | None = None
    disk_rates: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Trend:
    """How a metric goes with a factor: ``rises``, ``flat``, ``falls``, or ``saturates`` from `knee` on.

    Computed from points, or printed by a publication that gives no figures; `best` is the rate of the plateau.
    `apart` {name: value} are the settings that tell its points from others of its metric.
    """

    tool: str
    metric: str
    factor: str
    shape: str
    knee: float | None = None
    best: float | None = None
    file_system: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    trials: tuple[int, ...] = ()
    apart: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ratio:
    """A ratio of two things measured alike, `low` to `high`: computed, or printed without the figures behind it.

    `sure` is the interval that holds with those of all ratios looked at, None where this was the only one.
    """

    tool: str
    metric: str
    of: Mapping[str, Any]
    to: Mapping[str, Any]
    low: float
    high: float
    trials: tuple[int, ...] = ()
    sure: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Return between what the ratio lies whatever else was looked at: what a difference is told by."""
        return self.sure or (self.low, self.high)


@dataclass(frozen=True)
class Evidence:
    """All that a rule may use: of one pair of ends, or (in ``overview``) of a whole campaign or pair of sites.

    `points` carry parameters and metrics as the tools name them (ping's and iperf3's together); `facts` are the
    nodes' facts by role (of a whole campaign: by node name), of which the rules read ``{"sysctls": {name: text}}``;
    `paths` {(node, node): path} and `interconnects` {node: as its testbed describes it} are of a whole campaign;
    `trends` and `ratios` only those that a publication prints. `beside` is what was measured between the same two
    nodes in other roles or the other way, in the order in which it is asked of the path, `elder` of it first.
    Of one pair of ends data goes one way: `way` are the ids of who sends and who receives (() where nobody says), and
    from the second role to the first if it `is_back`. The trials `told_beside` are of both ways: what rests on them
    alone is told of the other. `elsewhere` is the most that came through the same way in another campaign,
    of a whole one `elsewhere_between` {(who sends, who receives): that}.
    """

    points: tuple[Point, ...]
    path: PathFacts = PathFacts()
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    paths: Mapping[tuple[str, str], PathFacts] = field(default_factory=dict)
    interconnects: Mapping[str, str] = field(default_factory=dict)
    file_systems: Mapping[str, FileSystemFacts] = field(default_factory=dict)
    trends: tuple[Trend, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    beside: tuple["Evidence", ...] = ()
    elder: int = 0
    way: tuple[int, ...] = ()
    is_back: bool = False
    told_beside: frozenset[int] = frozenset()
    elsewhere: Passed | None = None
    elsewhere_between: Mapping[tuple[str, str], Passed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put the points in one order: what rules say of them must not go by the order that they were measured in."""
        object.__setattr__(self, "points", tuple(sorted(self.points, key=lambda point: point.place)))

    @property
    def sender(self) -> str:
        """Return the role of the node that sends."""
        return "server" if self.is_back else "client"

    @property
    def receiver(self) -> str:
        """Return the role of the node that receives."""
        return "client" if self.is_back else "server"

    def is_of_way(self, point: Point) -> bool:
        """Return whether a point's data went the way of this evidence, and none the other way meanwhile."""
        return point.goes_back() == self.is_back and not point.goes_both_ways

    def path_between(self, a: str, b: str) -> PathFacts:
        """Return the path between two nodes, in whichever order `paths` names them; nothing is known of others."""
        return self.paths.get((a, b)) or self.paths.get((b, a)) or PathFacts()


@dataclass(frozen=True)
class Proposal:
    """An experiment that would decide, or repeats another: factors as a person would write them, nodes of roles."""

    tool: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    factors: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file_system: str = ""
    is_repetition: bool = False


@dataclass(frozen=True)
class Alternative:
    """Another explanation or remedy, and what would tell them apart; alternatives are ranked, the likeliest first."""

    title: Message
    test: Message
    proposal: Proposal | None = None


@dataclass(frozen=True)
class Proof:
    """What verifies a finding: the tool's parameters `now` and `then` (settings of nodes among them), and the metric.

    The two are measured in turn on the nodes of the evidence; the gain is the metric's ratio, then to now.
    """

    tool: str
    metric: str
    now: Mapping[str, Any]
    then: Mapping[str, Any]
    file_system: str = ""


@dataclass(frozen=True, kw_only=True)
class FindingDraft:
    """One conclusion: a value with its formula, the trials it rests on, the change and how to take it back.

    `kind` is one of KINDS. `value`, `low`, `high` are in `unit`; `predicted` and its interval in `predicted_unit`, at
    `proof.then`, and `present` is the same at `proof.now`; `confidence` 0 to 1. `subject` tells findings of one rule
    apart; `against` is what speaks against it, `missing` what is still unmeasured, `proposals` measures that.
    `is_comparison`: nobody knows the present setting, `tried` is what the other setting had (`presence.settle`).
    `question` names what it proposes something for (a path, a file system): of one question one finding is told, with
    what else was proposed as its `parts`.
    """

    rule: str
    version: int
    kind: str = RECOMMENDATION
    subject: str = ""
    title: Message
    why: tuple[Message, ...]
    against: tuple[Message, ...] = ()
    value: float | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    formula: str
    evidence: tuple[int, ...]
    change: str = ""
    undo: str = ""
    present: float | None = None
    tried: float | None = None
    is_comparison: bool = False
    compared_title: Message | None = None
    predicted: float | None = None
    predicted_interval: tuple[float, float] | None = None
    predicted_unit: str = ""
    confidence: float
    applies_when: Message
    limits: tuple[Message, ...] = ()
    side_effects: tuple[Message, ...] = ()
    source: str = ""
    alternatives: tuple[Alternative, ...] = ()
    missing: tuple[Message, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    proof: Proof | None = None
    question: str = ""
    parts: tuple["FindingDraft", ...] = ()

    def __post_init__(self) -> None:
        """Refuse a figure without its unit: nobody could tell what it counts; leave out lines that are not usual."""
        if not self.predicted_unit and {self.present, self.tried, self.predicted} != {None}:
            raise ValueError(f"{self.rule}: a figure without its unit")
        if not lines.are_usual(self.change, self.undo):
            vars(self).update(change="", undo="", limits=(*self.limits, Message(lines.LEFT_OUT)))

    @property
    def confidence_label(self) -> str:
        """Return high (from 0.8), medium (from 0.5) or low: a msgid."""
        return _("high") if self.confidence >= 0.8 else _("medium") if self.confidence >= 0.5 else _("low")

    @property
    def is_loss(self) -> bool:
        """Return whether it recommends what its own figures say is worse than what there is."""
        if self.kind != RECOMMENDATION or not self.present or not self.predicted:
            return False
        return self.predicted > self.present if self.predicted_unit == "s" else self.predicted < self.present

    def as_json(self) -> Json:
        """Return the finding as plain JSON values; what its parts rest on, all of them together do (`trials`)."""
        parts = [{**part.as_json(), "evidence": []} for part in self.parts]
        own = {item.name: as_plain(getattr(self, item.name)) for item in fields(self) if item.name != "parts"}
        return {**own, "parts": parts, "confidence_label": self.confidence_label}

    @property
    def trials(self) -> tuple[int, ...]:
        """Return the ids of the trials that it rests on together with its parts."""
        return tuple(sorted({*self.evidence, *(trial for part in self.parts for trial in part.trials)}))


def as_plain(value: Any) -> Any:
    """Return a value as JSON has it: messages by their own form, tuples as lists, dataclasses as objects."""
    # Most values are plain, and most others lists: what is asked first costs least.
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, Message):
        return value.as_json()
    if is_dataclass(value):
        return {item.name: as_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    return value
