"""Several clients of one file system: how many, what all of them moved together, and whether they really did."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from apps.bench.outputs import concurrency
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, NodeRef, Output, Parameter, Params, ToolRole
from apps.bench.tools._storage.window import Pass, Window, windows_of

CLIENT = "client"
INVALID = "invalid"
ROLES = (ToolRole(CLIENT, _("Clients"), many=True),)
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
    aside=True,
)


class ClientRates(NamedTuple):
    """What one client did in one stage: {metric: rate}, each of which adds up over the clients.

    `passes` {metric: when, and how it went} as far as they are known; of clients that did not end together `windows`
    {metric: the time in which all ran}, and the rates of these metrics are those in it.
    """

    output: Output
    rates: Mapping[str, float]
    passes: Mapping[str, Pass] = MappingProxyType({})
    windows: Mapping[str, Window] = MappingProxyType({})


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


def settled(shares: Sequence[ClientRates]) -> list[ClientRates]:
    """Return the shares of a stage with the rates that the clients had while all of them ran.

    Those of clients that were together all the time, and of which the course is not known, stay as they are.
    """
    windows = windows_of([share.passes for share in shares]) if len(shares) > 1 else {}
    return [
        share._replace(
            rates={**share.rates, **{metric: window.rates[place] for metric, window in windows.items()}},
            windows=windows,
        )
        for place, share in enumerate(shares)
    ]


def total(stages: Sequence[Sequence[ClientRates]]) -> dict[str, float]:
    """Return the sum over the clients of each figure that all clients of a stage have."""
    totals: dict[str, float] = {}
    for shares in stages:
        common = set.intersection(*(set(share.rates) for share in shares)) if shares else set()
        for metric in sorted(common):
            totals[metric] = sum(share.rates[metric] for share in shares)
    return totals


def observed_of(stages: Sequence[Sequence[ClientRates]]) -> dict[str, Any]:
    """Return what each client reached, and the overlap and skew of the start of the stage that is worst in it."""
    by_node: dict[str, dict[str, Any]] = {}
    for shares in stages:
        for share in shares:
            by_node.setdefault(share.output.node, {"node": share.output.node}).update(share.rates)
    observed: dict[str, Any] = {"clients": list(by_node.values())}
    worst = _worst(stages)
    if worst:
        windows = [window.duration_s for shares in stages for window in shares[0].windows.values()]
        together = min([worst.duration_s, *windows])
        observed |= {"overlap": worst.share, "start_skew": worst.skew_s, "together_s": together}
    return observed


def seconds_of(stages: Sequence[Sequence[ClientRates]]) -> dict[str, float]:
    """Return for how long (s) all clients ran together, of each metric whose rate is of that time."""
    return {metric: window.duration_s for shares in stages for metric, window in shares[0].windows.items()}


def flags_of(stages: Sequence[Sequence[ClientRates]], params: Params) -> tuple[Flag, ...]:
    """Return the doubts about how far the clients measured at one time, and whether all of them did.

    That those of one stage were apart says nothing of what another one measured; fairness is the first one's. Where
    the figure is that of the time in which all ran, that is all there is to say.
    """
    flags: list[Flag] = []
    for number, shares in enumerate(stages):
        metrics = {name for share in shares for name in share.rates} | ({"fairness"} if number == 0 else set())
        windows = shares[0].windows if shares else {}
        apart = metrics - windows.keys() - ({"fairness"} if windows else set())
        flags += [_window_flag(windows)] if windows else []
        doubts = concurrency.flags_of(_overlap(shares), tuple(sorted(apart)) if len(stages) > 1 or windows else ())
        flags += [flag for flag in doubts if apart or not windows or flag.severity != INVALID]
    fewest = min((len(shares) for shares in stages), default=0)
    if params["clients"] > fewest:
        text = _("%(seen)s of %(asked)s clients gave a result.")
        values = {"seen": fewest, "asked": params["clients"]}
        flags.append(Flag("fewer-clients", "invalid", Message(text, values)))
    return tuple(flags)


def _window_flag(windows: Mapping[str, Window]) -> Flag:
    """Return that the figures are of the time in which all ran, and how long that was."""
    text = _("The clients did not end together: the rates are those of the %(seconds)s s in which all of them ran.")
    shortest = min(window.duration_s for window in windows.values())
    return Flag("common-window", "info", Message(text, {"seconds": f"{shortest:.1f}"}), tuple(sorted(windows)))


def fairness(rates: Sequence[float]) -> float | None:
    """Return Jain's fairness index of two rates or more, (sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984)."""
    squares = sum(rate * rate for rate in rates)
    if len(rates) < 2 or not 0 < squares < float("inf"):
        return None
    return sum(rates) ** 2 / (len(rates) * squares)


def _worst(stages: Sequence[Sequence[ClientRates]]) -> concurrency.Overlap | None:
    """Return the overlap of the stage whose clients were together for the least share of the time."""
    overlaps = [overlap for shares in stages if (overlap := _overlap(shares))]
    return min(overlaps, key=lambda overlap: overlap.share, default=None)


def _overlap(shares: Sequence[ClientRates]) -> concurrency.Overlap | None:
    return concurrency.overlap_of([share.output for share in shares]) if len(shares) > 1 else None
