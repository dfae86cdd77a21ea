"""A path of which far less was had than its links carry, where no rule says why: that is told, not silence."""

from collections.abc import Iterable

from apps.bench import network
from apps.bench.rules.base import DIAGNOSIS, DOUBT, NO_CHANGE, Evidence, FindingDraft, Proposal
from apps.bench.rules.path import capacity
from apps.bench.rules.tcp import held, starts, verdict
from apps.bench.rules.tcp.path import BELOW_LINKS, read_path
from apps.bench.rules.tcp.present import Present, read_all
from apps.bench.rules.tcp.sweeps import HOLDING
from apps.bench.rules.told import known_or_none
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

RULE, VERSION = "path-unexplained", 3
# By whether the path was measured, and whether one run filled it though the mean is far below.
_TITLES = {
    False: (
        _("TCP had %(rate)s at most, of %(carried)s that the links as described would carry: why is undecided"),
        _("TCP had %(rate)s on average but %(most)s in a run, of %(carried)s by the links: why is undecided"),
    ),
    True: (
        _("TCP had %(rate)s at most, of %(carried)s that the path carries: why is undecided"),
        _("TCP had %(rate)s on average but %(most)s in a run, of %(carried)s of the path: why is undecided"),
    ),
}


def conclude(evidence: Evidence, drafts: Iterable[FindingDraft]) -> FindingDraft | None:
    """Return that what TCP had of the path is unexplained; None where it fills it, or a finding names a cause."""
    drafts = tuple(drafts)
    if any(_names_cause(draft) for draft in drafts):
        return None
    best, (carried, is_measured) = _best(evidence), _carried(evidence)
    if best is None or carried is None or best.rate >= BELOW_LINKS * carried:
        return None
    params = {
        "rate": format_quantity(best.rate, "bit/s"),
        "carried": format_quantity(carried, "bit/s"),
        "share": percent(best.rate / carried),
        "n": len(best.trials),
        "count": len(read_all(evidence)),
    }
    most = max(best.point.values("goodput"))
    is_uneven = most >= BELOW_LINKS * carried
    if is_uneven:
        params["most"] = format_quantity(most, "bit/s")
    title = _TITLES[is_measured][is_uneven]
    if not is_measured and any((draft.rule, draft.subject) == (verdict.RULE, verdict.PATH) for draft in drafts):
        title = _("TCP fills the path with %(rate)s, of %(carried)s that the links would carry: why is undecided")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        title=Message(title, params),
        why=(
            Message(
                _("The best of %(count)s settings had %(rate)s (n = %(n)s), %(share)s %% of what TCP can have."),
                params,
            ),
            *_measured(evidence),
            Message(_("From these figures no rule can tell what holds it: that is not to say that nothing does.")),
        ),
        against=tuple(filter(None, [starts.said_of(best, evidence)])),
        value=best.rate,
        unit="bit/s",
        formula=f"X / (η · C) = {params['rate']} / {params['carried']} = {best.rate / carried:.2f}",
        evidence=best.trials,
        confidence=0.7,
        applies_when=Message(_("This path and direction, as measured.")),
        source="RFC 6349",
        missing=(
            Message(_("Whether the path carries more: loads of UDP, and several streams at once.")),
            Message(_("What the kernels of both ends say of the connection: window, loss, and what it waited for.")),
        ),
        proposals=(
            Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4, 8, 16"}),
            Proposal(
                "iperf3-udp", {}, {"rate": f"{round(best.rate / 1e6) or 1}Mbit/s, {round(carried / 1e6)}Mbit/s"}
            ),
        ),
    )


def _names_cause(draft: FindingDraft) -> bool:
    """Return whether a finding tells a problem or a change: more than what there is, or what to leave alone."""
    is_fact = draft.rule == capacity.RULE or draft.is_comparison
    return draft.kind == DOUBT or (draft.kind != NO_CHANGE and not (draft.kind == DIAGNOSIS and is_fact))


def _measured(evidence: Evidence) -> tuple[Message, ...]:
    """Return what the path was measured to carry, where anything tells."""
    path = read_path(evidence)
    return (path.capacity.source,) if path is not None and not path.capacity.is_open else ()


def _best(evidence: Evidence) -> Present | None:
    """Return the best rate of TCP that nobody asked to keep to a pace or to small segments."""
    free = [
        item for item in read_all(evidence) if not any(known_or_none(item.point.parameters, name) for name in HOLDING)
    ]
    return max(free, key=lambda item: item.rate, default=None)


def _carried(evidence: Evidence) -> tuple[float | None, bool]:
    """Return what TCP can have (bit/s) of the links as described and False, else of the path as measured and True."""
    nominal, path = evidence.path.capacity_bps, read_path(evidence)
    if nominal:
        return nominal * network.tcp_efficiency(held.frame_of(evidence)), False
    is_measured = path is not None and not path.capacity.is_open
    return (path.ceiling_bps if path is not None and is_measured else None), is_measured
