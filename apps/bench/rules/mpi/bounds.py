"""What messages between two nodes reach of their InfiniBand port's own rate: an upper bound."""

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

RULE, VERSION = "mpi-port-bound", 1
# One direction between two nodes, by metric; "aggregate" is that of all pairs between the same two.
METRICS = ("bandwidth_largest", "bandwidth", "aggregate")
# Of what a port carries, the part that large messages reach where nothing stands in their way; a rate above it by
# more than clocks err did not come over the port.
FULL, BEYOND = 0.80, 1.02
WITHIN = frozenset({"same-socket", "other-socket"})


class _Best(NamedTuple):
    """The best mean rate (B/s) between two nodes: which point and metric gave it."""

    rate: float
    point: Point
    metric: str


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return, for each pair of nodes with InfiniBand, how much of a port's rate messages reach."""
    best_rates: dict[tuple[str, ...], _Best] = {}
    for point in evidence.points:
        nodes = nodes_of(point)[:2]
        across = point.parameters.get("placement", "free") not in WITHIN and len(nodes) == 2
        if point.layer != INTERCONNECT or point.statistic != SAMPLE or not across:
            continue
        for metric in METRICS:
            rate = point.mean(metric)
            if rate is not None and (nodes not in best_rates or rate > best_rates[nodes].rate):
                best_rates[nodes] = _Best(rate, point, metric)
    drafts = (_draft(evidence, nodes, best) for nodes, best in best_rates.items())
    return [draft for draft in drafts if draft is not None]


def _draft(evidence: Evidence, nodes: tuple[str, ...], best: _Best) -> FindingDraft | None:
    interconnects = [evidence.interconnects.get(node, "") for node in nodes]
    bounds = [bound for text in interconnects if (bound := infiniband.port_rate(text))]
    if len(bounds) < len(nodes):
        return None
    bound = min(bounds)
    share = best.rate / bound
    params = {
        "nodes": ", ".join(nodes),
        "rate": format_quantity(best.rate, "B/s"),
        "bound": format_quantity(bound, "B/s"),
        "share": percent(share),
        "interconnect": interconnects[bounds.index(bound)],
    }
    kind, text = NO_CHANGE, _("Messages between %(nodes)s reach %(share)s %% of what their InfiniBand port carries")
    if share > BEYOND:
        kind = DOUBT
        text = _("%(rate)s between %(nodes)s is not believable: their InfiniBand port carries %(bound)s")
    elif share < FULL:
        kind = DIAGNOSIS
        text = _("Messages between %(nodes)s reach only %(share)s %% of what their InfiniBand port carries")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=kind,
        subject=str(params["nodes"])[:200],
        title=Message(text, params),
        why=(
            Message(_("The best rate of all messages was %(rate)s."), params),
            Message(_("“%(interconnect)s” carries at most %(bound)s of data in one direction."), params),
        ),
        value=share,
        unit="1",
        formula=f"X / C = {params['rate']} / {params['bound']} = {share:.2f}",
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
