"""What arithmetic says of the path that an experiment measured: its ceiling, and its BDP with what that is of."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from apps.bench import network, units
from apps.bench.network.rfc6349 import USUAL_MTU
from apps.campaigns.models import Experiment, Trial
from apps.results import queries
from apps.testbeds import queries as testbeds
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

LENGTH = "length"


@dataclass(frozen=True)
class Theory:
    """What arithmetic says of a measured path: the ceiling (bit/s), the BDP (B) and its words; None where unknown."""

    ceiling_bps: float | None = None
    bdp_bytes: float | None = None
    bdp_label: str = ""
    bottleneck: str = ""


def theory_of(experiment: Experiment) -> Theory:
    """Return the ceiling and the BDP of the paths all lanes of the experiment share; empty if they differ.

    Of roles with several nodes the ceiling is that of all pairs at once, the BDP the first pair's.
    """
    tool = toolbox.get_tool(experiment.tool)
    casts = {
        tuple(tuple(lane.roles[role]) for role, _node in queries.ends_of(lane, tool))
        for lane in experiment.lanes.all()
    }
    if len(casts) != 1 or len(cast := casts.pop()) != 2:
        return Theory()
    nodes = Node.objects.select_related("testbed").in_bulk({node for own in cast for node in own})
    pairs = network.pairs_at_once(*cast)
    paths = testbeds.paths_between([(nodes[a], nodes[b]) for a, b in pairs if a in nodes and b in nodes])
    path = paths[0] if paths and len(paths) == len(pairs) else None
    if path is None or path.bottleneck is None or path.capacity_bps is None:
        return Theory()
    lengths = lengths_of([experiment.pk])[experiment.pk] if tool.transport == "udp" else ()
    return Theory(
        ceiling_bps=ceiling_bps(paths, tool.transport, lengths),
        bdp_bytes=network.bdp_bytes(path.capacity_bps, path.rtt_s) if path.rtt_s else None,
        bdp_label=bdp_label(path),
        bottleneck=path.bottleneck.name,
    )


def ceiling_bps(paths: Sequence[network.Path], transport: str, lengths: Collection[int | None]) -> float | None:
    """Return what all of these paths at once carry of a transport's data (bit/s); None where a link is not known.

    Of datagrams that is by their length (B): None, too, where they had several, of which each has its own.
    """
    capacity = network.clients_ceiling_bps(paths).total_bps if len(paths) != 1 else paths[0].capacity_bps
    if not capacity or not transport:
        return None
    mtu = min((path.mtu for path in paths if path.mtu), default=USUAL_MTU)
    if transport == "tcp":
        return network.tcp_ceiling_bps(capacity, mtu)
    return network.udp_ceiling_bps(capacity, mtu, *lengths) if len(lengths) == 1 else None


def lengths_of(experiments: Collection[int]) -> Mapping[int, set[int | None]]:
    """Return the lengths (B) of the datagrams of experiments' trials, by experiment, None of those that name none."""
    trials = Trial.objects.filter(experiment__in=experiments).order_by()
    lengths: dict[int, set[int | None]] = defaultdict(set)
    for experiment, parameters in trials.values_list("experiment", "parameters").distinct():
        lengths[experiment].add(length_of(parameters))
    return lengths


def length_of(parameters: Mapping[str, Any]) -> int | None:
    """Return the length (B) of the datagrams that parameters ask for, None without one."""
    length = parameters.get(LENGTH)
    return int(length) if isinstance(length, int | float) and length > 0 else None


def bdp_label(path: network.Path) -> str:
    """Return the BDP of a path in words, with what it was reckoned of: an RTT of two sites is not the links'."""
    size = units.format_quantity(network.bdp_bytes(path.capacity_bps, path.rtt_s) or 0, "B")
    if path.end_to_end_rtt_s is None:
        return _("BDP of the links as described: %(size)s") % {"size": size}
    words = {"size": size, "rtt": units.format_quantity(path.end_to_end_rtt_s, "s")}
    return _("BDP of the links' capacity and the RTT of %(rtt)s given for the two sites: %(size)s") % words
