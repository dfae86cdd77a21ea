"""What the owners of links allow: an experiment that would offer more UDP, or open more streams, is refused."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from apps.bench import units
from apps.bench.sweep import SweepSpec
from apps.bench.text import Message, _
from apps.bench.toolkit import Params, Tool
from apps.campaigns import errors
from apps.campaigns.estimation import Estimator
from apps.campaigns.expansion import Cast, Expansion
from apps.testbeds.models import Link, Node

# The field under which a refusal stands.
FIELD = "limits"


class Exceeded(errors.Refused):
    """More than a link's owner allows; `why` says of which link, and what to do."""

    def __init__(self, why: Message) -> None:
        super().__init__({FIELD: why})
        self.why = why


@dataclass(frozen=True)
class Traffic:
    """The traffic of one trial that does not give way to others: bit/s of UDP, connections, and clients at once.

    `clients` is how many nodes of the roles that take several take part, 0 for all of them.
    """

    offered_bps: float
    streams: int
    clients: int


def check_limits(expansion: Expansion, estimator: Estimator | None = None) -> None:
    """Raise Exceeded naming the link, its limit and what to do, for the first limit that a point exceeds.

    What a trial sends is taken to be shared evenly by the pairs of nodes of different roles, as far as their paths
    are described; where a path is unknown nothing can be said of its links.
    """
    estimator = estimator or Estimator()
    most: dict[tuple[str, float, int], float] = {}
    for cast in expansion.casts:
        for traffic in _heavy(expansion, estimator, cast):
            for key, share in _shares(estimator, cast, expansion, traffic.clients).items():
                kind = key, traffic.offered_bps, traffic.streams
                most[kind] = max(share, most.get(kind, 0.0))
    limits = {link.key: link for link in Link.objects.filter(pk__in={_pk_of(key) for key, *_traffic in most})}
    for (key, offered_bps, streams), share in most.items():
        if key in limits:
            _check_link(limits[key], offered_bps * share, streams * share)


def check_trial(tool: Tool, point: Params, roles: Mapping[str, Sequence[int]]) -> None:
    """Raise Exceeded as `check_limits` does, for one point of a tool whose roles these nodes (ids) play.

    Asked whenever a trial is to begin: an owner may have lowered a limit since the trial was made.
    """
    bare = tool.estimate(point, None)
    if bare.offered_bps <= 0 and bare.streams <= 1:
        return
    nodes = Node.objects.in_bulk({pk for members in roles.values() for pk in members})
    cast = Cast({role: tuple(nodes[pk] for pk in members if pk in nodes) for role, members in roles.items()})
    check_limits(Expansion(tool, SweepSpec(), (cast,), 0, (point,), {}))


def _heavy(expansion: Expansion, estimator: Estimator, cast: Cast) -> set[Traffic]:
    """Return the kinds of traffic that a cast's points make and that can exceed a limit at all."""
    estimates = zip(expansion.points, estimator.estimates_of(expansion, cast), strict=True)
    kinds = {Traffic(estimate.offered_bps, estimate.streams, _clients_of(point)) for point, estimate in estimates}
    return {traffic for traffic in kinds if traffic.offered_bps > 0 or traffic.streams > 1}


def _clients_of(point: Params) -> int:
    clients = point.get("clients")
    return clients if isinstance(clients, int) else 0


def _shares(estimator: Estimator, cast: Cast, expansion: Expansion, clients: int) -> dict[str, float]:
    """Return {key of a link: the share of the trial's pairs of nodes whose path leads over it}."""
    several = {role.name for role in expansion.tool.roles if role.many}
    members = {role: nodes[: clients or None] if role in several else nodes for role, nodes in cast.roles.items()}
    pairs = list(_pairs(members.values()))
    counts: dict[str, int] = {}
    for a, b in pairs:
        path = estimator.path(a, b)
        for link in path.links if path else ():
            counts[str(link.key)] = counts.get(str(link.key), 0) + 1
    return {key: count / len(pairs) for key, count in counts.items()}


def _pairs(roles: Iterable[tuple[Node, ...]]) -> Iterator[tuple[Node, Node]]:
    for left, right in itertools.combinations(roles, 2):
        yield from itertools.product(left, right)


def _check_link(link: Link, offered_bps: float, open_streams: float) -> None:
    most, offered = link.most_udp_bps, round(offered_bps)
    if most is not None and offered > most:
        text = _(
            "A point offers %(load)s of UDP to the link %(link)s, whose owner allows %(limit)s: offer less, or have "
            "the limit raised on the link's page."
        )
        values = {"load": units.format_quantity(offered, "bit/s"), "limit": units.format_quantity(most, "bit/s")}
        raise Exceeded(Message(text, {"link": link.name, **values}))
    streams = math.ceil(open_streams)
    if streams > link.streams_limit:
        text = _(
            "A point opens %(streams)s streams over the link %(link)s, whose owner allows %(limit)s: use fewer, or "
            "have the limit raised on the link's page."
        )
        counts = {"streams": streams, "limit": link.streams_limit}
        raise Exceeded(Message(text, {"link": link.name, **counts}))


def _pk_of(key: str) -> int:
    return int(key.partition(":")[2])
