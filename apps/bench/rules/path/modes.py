"""Repetitions of one setting that fall into two modes, as over paths of which each flow takes one."""

from apps.bench import statistics
from apps.bench.rules.base import DOUBT, SAMPLE, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp.sweeps import tcp_points
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "path-modes", 1
# A mode of which fewer figures were met (a share of all) is that of a few outliers.
LEAST_SHARE = 0.15


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the two modes of all that was measured again and again; None where each setting has one."""
    points = [point for point in tcp_points(evidence) if point.statistic == SAMPLE]
    groups = [values for point in points if len(values := point.values("goodput")) > 1]
    modes = statistics.find_modes(statistics.shares_of_largest(groups))
    if modes is None:
        return None
    # Between the two modes, of what each figure is of the largest of its setting.
    cut = (modes.lower_mean * modes.upper_mean) ** 0.5
    low = [value for group in groups for value in group if value <= cut * max(group)]
    bimodal = [group for group in groups if min(group) <= cut * max(group)]
    high = [value for group in bimodal for value in group if value > cut * max(group)]
    count = sum(map(len, groups))
    if not high or min(len(low), count - len(low)) < LEAST_SHARE * count:
        return None
    lower, upper = (statistics.quantile(sorted(values), 0.5) for values in (low, high))
    params = {
        "low": format_quantity(lower, "bit/s"),
        "high": format_quantity(upper, "bit/s"),
        "count": len(low),
        "all": count,
    }
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        title=Message(_("Repetitions fall into two modes, about %(low)s and %(high)s: why is undecided"), params),
        why=(
            Message(_("%(count)s of %(all)s figures of the same settings lie near the lower one."), params),
            Message(_("A mean of both is what no transfer has: no rate or setting can be advised by it.")),
        ),
        value=lower,
        unit="bit/s",
        low=lower,
        high=upper,
        formula=f"X = {params['low']} | {params['high']}",
        evidence=tuple(sorted(trial for point in points for trial in point.trials("goodput"))),
        confidence=0.7,
        applies_when=Message(_("This path and direction, as measured.")),
        source="Iglewicz, Hoaglin (1993); RFC 2992",
        alternatives=_ALTERNATIVES,
        missing=(Message(_("Which flows have which rate: the ports of each, and more repetitions.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 8"}), Proposal("traceroute")),
    )


_ALTERNATIVES = (
    Alternative(
        Message(_("Flows take several paths (ECMP, or a bundle of links), of which one has less.")),
        Message(_("Many streams at once meet both: they share unevenly. Trace the route with other ports.")),
        Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 8"}),
    ),
    Alternative(
        Message(_("Something else used the path, or a node, during some of the trials.")),
        Message(_("Look at the times of the slow trials, and measure at night and by day.")),
    ),
    Alternative(
        Message(_("A process runs at times on a processor that is far from the interface.")),
        Message(_("Pin it to one processor, near the interface, and measure again.")),
    ),
)
