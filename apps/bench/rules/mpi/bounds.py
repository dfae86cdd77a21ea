"""What messages between two nodes reach of their InfiniBand port's own rate: an upper bound."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from apps.bench.network import infiniband
from apps.bench.rules.base import (
    DIAGNOSIS,
    DOUBT,
    INTERCONNECT,
    NO_CHANGE,
    SAMPLE,
    Alternative,
    Evidence,
    FindingDraft,
    Point,
    Proposal,
)
from apps.bench.rules.shapes import nodes_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

RULE, VERSION = "mpi-port-bound", 2
# Between two nodes, by metric; "aggregate" is that of all pairs between the same two.
METRICS = ("bandwidth_largest", "bandwidth", "aggregate")
# What a port carries one way and both ways at once.
ONE_WAY, BOTH_WAYS = 1, 2
# How benchmarks count: Sendrecv what is sent and received, Exchange two messages each way, osu_bibw both ways.
# Of collectives no rate is that of a port; files are none of its business.
WAYS: Mapping[str, Mapping[str, int]] = {
    "osu-bandwidth": {"osu_bw": ONE_WAY, "osu_mbw_mr": ONE_WAY, "osu_bibw": BOTH_WAYS},
    "imb": {"PingPong": ONE_WAY, "PingPing": ONE_WAY, "Sendrecv": BOTH_WAYS, "Exchange": BOTH_WAYS},
}
# Tools that send one way at a time, or all their pairs the same way.
SENDERS = frozenset({"mpi-pingpong", "mpi-contention"})
USUAL = {"osu-bandwidth": "osu_bw", "imb": "PingPong"}
# Of what a port carries, the part that large messages reach where nothing stands in their way; a rate above it by
# more than clocks err did not come over the port.
FULL, BEYOND = 0.80, 1.02
# Messages below this (B) do not fill a port: their rate is that of their number. So many bytes is the largest of
# those that tools send where nobody chooses.
LARGE, USUAL_LARGEST = 64 * 1024, 1024**2
# A smaller share is told with a digit behind the point.
LEAST_WHOLE = 0.01
WITHIN = frozenset({"same-socket", "other-socket"})


class _Best(NamedTuple):
    """The best mean rate (B/s) between two nodes against the port: `ways` that it counts, and what it is of."""

    rate: float
    ways: int
    point: Point
    metric: str

    @property
    def order(self) -> tuple[float, tuple[int, ...]]:
        """Return a key by which the highest rate of one way comes last, whatever the order of the evidence."""
        return self.rate / self.ways, self.point.trials(self.metric)


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return, for each pair of nodes with InfiniBand, how much of a port's rate messages reach."""
    rates: dict[tuple[str, ...], list[_Best]] = {}
    for point in evidence.points:
        if point.layer != INTERCONNECT or point.statistic != SAMPLE or not (ways := _ways_of(point)):
            continue
        best_rates = [_Best(rate, ways, point, name) for name in METRICS if (rate := point.mean(name)) is not None]
        rates.setdefault(nodes_of(point)[:2], []).extend(best_rates)
    drafts = (_draft(evidence, nodes, own) for nodes, own in sorted(rates.items()) if own)
    return [draft for draft in drafts if draft is not None]


def _ways_of(point: Point) -> int:
    """Return in how many directions a point's rate counts what a port of each of two nodes carries; 0 if in none.

    Several pairs over more than two nodes have several ports, and so has a chain of more than two ranks.
    """
    nodes, parameters = nodes_of(point), point.parameters
    if point.tool not in SENDERS and point.tool not in WAYS:
        return 0
    if len(nodes) < 2 or parameters.get("placement", "free") in WITHIN:
        return 0
    if len(nodes) > 2 and parameters.get("pairs", 1) != 1:
        return 0
    if point.tool in SENDERS:
        return ONE_WAY
    ways = WAYS[point.tool].get(parameters.get("benchmark", USUAL[point.tool]), 0)
    return 0 if point.tool == "imb" and ways and parameters.get("ranks", 2) != 2 else ways


def _largest_size(best: _Best) -> int:
    """Return the largest message (B) that a rate may be of; where nobody chose one, the tool sends up to 1 MiB."""
    parameters = best.point.parameters
    size = 0 if best.metric == "bandwidth_largest" else parameters.get("message_size", 0)
    return int(size or parameters.get("max_size", USUAL_LARGEST))


def _draft(evidence: Evidence, nodes: tuple[str, ...], rates: Sequence[_Best]) -> FindingDraft | None:
    best = max(rates, key=lambda item: item.order)
    interconnects = [evidence.interconnects.get(node, "") for node in nodes]
    bounds = [bound for text in interconnects if (bound := infiniband.port_rate(text))]
    if len(bounds) < len(nodes):
        return None
    bound = min(bounds)
    share = best.rate / (best.ways * bound)
    if share < FULL and max(map(_largest_size, rates)) < LARGE:
        return None
    params = {
        "nodes": ", ".join(nodes),
        "rate": format_quantity(best.rate, "B/s"),
        "bound": format_quantity(best.ways * bound, "B/s"),
        "port": format_quantity(bound, "B/s"),
        "share": percent(share) if share >= LEAST_WHOLE else f"{100 * share:.1g}",
        "interconnect": interconnects[bounds.index(bound)],
    }
    kind, text = NO_CHANGE, _("Messages between %(nodes)s reach %(share)s %% of what their InfiniBand port carries")
    if share > BEYOND:
        kind = DOUBT
        text = _("%(rate)s between %(nodes)s is not believable: their InfiniBand port carries %(bound)s")
        if best.ways == BOTH_WAYS:
            text = _("%(rate)s between %(nodes)s is not believable: their port carries %(bound)s, both ways together")
    elif share < FULL:
        kind = DIAGNOSIS
        text = _("Messages between %(nodes)s reach only %(share)s %% of what their InfiniBand port carries")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=kind,
        subject=str(params["nodes"])[:200],
        title=Message(text, params),
        why=_reasons(best, params),
        value=share,
        unit="1",
        formula=f"X / C = {params['rate']} / {params['bound']} = {share:.2g}",
        evidence=best.point.trials(best.metric),
        present=best.rate,
        predicted_unit="B/s",
        confidence=0.8 if kind == DOUBT else 0.7,
        applies_when=Message(_("The program uses one InfiniBand port of each node, as the inventory describes it.")),
        limits=(Message(_("The node's bus may carry less than the port: eight lanes of PCIe 1 carry 2 GB/s.")),),
        source="InfiniBand Architecture Specification, volume 2; Hoefler and Belli 2015, rule 11",
        alternatives=_alternatives(best.point, nodes) if kind == DIAGNOSIS else (),
        missing=(Message(_("Whether partners ran on the two nodes, or within one.")),) if kind == DOUBT else (),
    )


def _reasons(best: _Best, params: Mapping[str, str]) -> tuple[Message, ...]:
    reasons = [
        Message(_("The best rate of all messages was %(rate)s."), params),
        Message(
            _("“%(interconnect)s” carries at most %(bound)s of data in one direction."),
            {"interconnect": params["interconnect"], "bound": params["port"]},
        ),
    ]
    if best.ways == BOTH_WAYS:
        counted = {"benchmark": str(best.point.parameters.get("benchmark"))}
        reasons.append(Message(_("%(benchmark)s adds what goes both ways: its bound is twice that."), counted))
    return tuple(reasons)


def _alternatives(point: Point, nodes: tuple[str, ...]) -> tuple[Alternative, ...]:
    large = Proposal("mpi-pingpong", {"placement": "other-node", "max_size": "4 MiB"}, {}, {"node": nodes})
    return (
        Alternative(
            Message(_("The messages are too small to fill the port.")),
            Message(_("Measure messages up to 4 MiB between the two nodes.")),
            large,
        ),
        Alternative(
            Message(_("The library sends over TCP (IP over InfiniBand or Ethernet), not over the port itself.")),
            Message(_("Ask it for its transport: ompi_info, UCX_LOG_LEVEL=info, or I_MPI_DEBUG=5.")),
        ),
        Alternative(
            Message(_("The port came up with fewer lanes or at a lower rate than the inventory says.")),
            Message(_("Read the rate of the port on each node: ibstat.")),
        ),
    )
