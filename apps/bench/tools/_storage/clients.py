"""Several clients of one file system: how many, what all of them moved together, and whether they really did."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from apps.bench.text import Message, _
from apps.bench.tools import _concurrency
from apps.bench.tools.base import Flag, NodeRef, Output, Parameter, Params, Role

CLIENT = "client"
ROLES = (Role(CLIENT, _("Clients"), many=True),)
CLIENTS = Parameter(
    "clients",
    "integer",
    _("Clients"),
    help=_("How many of the chosen nodes measure, all at one instant; 0 for all of them."),
    default=0,
    zero=_("all"),
    unit="count",
    minimum=0,
    maximum=4096,
)


class Share(NamedTuple):
    """What one client did in one stage: {metric: rate}, each of which adds up over the clients."""

    output: Output
    rates: Mapping[str, float]


def check_cast(params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
    """Refuse more clients than there are nodes."""
    have = counts.get(CLIENT, 0)
    if params["clients"] <= have:
        return {}
    text = _("Only %(count)s nodes were chosen as clients: give at most as many, or choose more.")
    return {"clients": Message(text, {"count": have})}


def chosen(params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Sequence[NodeRef]:
    """Return the nodes that measure: the first of the role."""
    return nodes[CLIENT][: params["clients"] or None]


def total(stages: Sequence[Sequence[Share]]) -> dict[str, float]:
    """Return the sum over the clients of each figure that all clients of a stage have."""
    totals: dict[str, float] = {}
    for shares in stages:
        common = set.intersection(*(set(share.rates) for share in shares)) if shares else set()
        for metric in sorted(common):
            totals[metric] = sum(share.rates[metric] for share in shares)
    return totals


def observed_of(stages: Sequence[Sequence[Share]]) -> dict[str, Any]:
    """Return what each client reached, and the overlap and skew of the start of the stage that is worst in it."""
    by_node: dict[str, dict[str, Any]] = {}
    for shares in stages:
        for share in shares:
            by_node.setdefault(share.output.node, {"node": share.output.node}).update(share.rates)
    observed: dict[str, Any] = {"clients": list(by_node.values())}
    worst = _worst(stages)
    if worst:
        observed |= {"overlap": worst.share, "start_skew": worst.skew_s, "together_s": worst.duration_s}
    return observed


def flags_of(stages: Sequence[Sequence[Share]], params: Params) -> tuple[Flag, ...]:
    """Return the doubts about how far the clients measured at one time, and whether all of them did.

    That those of one stage were apart says nothing of what another one measured; fairness is the first one's.
    """
    flags: list[Flag] = []
    for number, shares in enumerate(stages):
        metrics = {name for share in shares for name in share.rates} | ({"fairness"} if number == 0 else set())
        flags += _concurrency.flags_of(_overlap(shares), tuple(sorted(metrics)) if len(stages) > 1 else ())
    fewest = min((len(shares) for shares in stages), default=0)
    if params["clients"] > fewest:
        text = _("%(seen)s of %(asked)s clients gave a result.")
        values = {"seen": fewest, "asked": params["clients"]}
        flags.append(Flag("fewer-clients", "invalid", Message(text, values)))
    return tuple(flags)


def fairness(rates: Sequence[float]) -> float | None:
    """Return Jain's fairness index of two rates or more, (sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984)."""
    squares = sum(rate * rate for rate in rates)
    if len(rates) < 2 or not 0 < squares < float("inf"):
        return None
    return sum(rates) ** 2 / (len(rates) * squares)


def _worst(stages: Sequence[Sequence[Share]]) -> _concurrency.Overlap | None:
    """Return the overlap of the stage whose clients were together for the least share of the time."""
    overlaps = [overlap for shares in stages if (overlap := _overlap(shares))]
    return min(overlaps, key=lambda overlap: overlap.share, default=None)


def _overlap(shares: Sequence[Share]) -> _concurrency.Overlap | None:
    return _concurrency.overlap_of([share.output for share in shares]) if len(shares) > 1 else None
