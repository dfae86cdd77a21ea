"""Which link limits the path, and whether what was measured agrees with what the inventory says of it (R15)."""

from apps.bench.rules.base import DIAGNOSIS, DOUBT, Alternative, Evidence, FindingDraft, LinkFacts, Proposal
from apps.bench.rules.path import means
from apps.bench.rules.tcp import members
from apps.bench.rules.tcp.sweeps import confidence_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

RULE, VERSION = "path-bottleneck", 7
# Of the link's rate so much must be measured for the two to agree; more than this much of it cannot be.
AGREES, EXCEEDS = 0.90, 1.05


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the bottleneck link and whether the measurements agree with it; None without links or measurements.

    A bound, such as what TCP reached, agrees if it comes near, contradicts from above, and from below says nothing.
    """
    link = _slowest(evidence)
    estimates = means.read_means(evidence)
    if link is None or link.capacity_bps is None or not estimates:
        return None
    # What came through for sure: payload, or the low end of what the spacing of packets tells.
    sure = max(item.low for item in estimates)
    is_exceeded = sure > EXCEEDS * link.capacity_bps
    rates = [(means.at_line(evidence, item), item) for item in estimates if is_exceeded or not item.is_held]
    if not rates:
        return None
    max_rate, best = max(rates, key=lambda pair: pair[0])
    share = max_rate / link.capacity_bps
    if best.means == means.ELSEWHERE and not is_exceeded and _own_share(rates, link.capacity_bps) < AGREES:
        # What came through in another campaign alone is no agreement of what was measured in this one.
        return None
    # One flow of datagrams may be held below the link by a limit on each flow.
    firm = [item for _rate, item in rates if not item.is_bound and means.is_borne_out(evidence, item, estimates)]
    if share < AGREES and (not firm or best not in firm):
        return None
    alike = _alike(evidence, link)
    params = {
        "link": " / ".join(alike) or link.name or evidence.path.bottleneck,
        "nominal": format_quantity(link.capacity_bps, "bit/s"),
        "rate": format_quantity(max_rate, "bit/s"),
        "share": percent(share),
    }
    if is_exceeded:
        kind, title = DOUBT, _("%(link)s is not what the inventory says: %(rate)s came over its %(nominal)s")
        text = _(
            "No path carries more than its slowest link: its capacity is wrong, or the traffic took another way."
        )
    elif share >= AGREES:
        kind, title = DIAGNOSIS, _("The bottleneck is %(link)s, %(nominal)s, and the measurements agree")
        if alike:
            title = _("The bottleneck is one of %(link)s, %(nominal)s each, and the measurements agree")
        text = _("%(rate)s at the line are %(share)s %% of it.")
    else:
        # Which link that is nobody knows: one of which less is true than is said may be another one.
        kind, title = (
            DIAGNOSIS,
            _("Of the narrowest link as described, %(link)s (%(nominal)s), only %(rate)s can be had"),
        )
        if alike:
            title = _("Of the narrowest links as described, %(link)s (%(nominal)s each), only %(rate)s can be had")
        text = _(
            "%(rate)s at the line are %(share)s %% of it: framing, other traffic, a limit below the link's rate, or a"
            " link that has less than is said of it."
        )
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=kind,
        subject=link.name,
        title=Message(title, params),
        why=(Message(text, params), *_elsewhere(evidence, best), *_others(evidence, link)),
        value=link.capacity_bps,
        unit="bit/s",
        formula=f"min C = {params['nominal']} (RFC 5136); measured / C = {share:.2f}",
        evidence=tuple(sorted({trial for _rate, item in rates for trial in item.trials})),
        confidence=confidence_of((len(rates) > 1, 0.15), (best.is_bound and share < AGREES, -0.2), base=0.7),
        applies_when=Message(_("The path goes over the links that the inventory joins.")),
        limits=(Message(_("Links of unknown capacity are not counted; one of them may be slower.")),),
        source="RFC 5136, section 2.3",
        alternatives=_alternatives(evidence, share),
        missing=() if share >= AGREES else (Message(_("What other traffic there was on the link meanwhile.")),),
        proposals=() if share >= AGREES else (Proposal("pathload"),),
    )


def _own_share(rates: list[tuple[float, means.Estimate]], capacity: float) -> float:
    """Return how much of a link's capacity this campaign itself measured at the line, 0 where an end held all."""
    return max((rate for rate, item in rates if item.means != means.ELSEWHERE), default=0.0) / capacity


def _elsewhere(evidence: Evidence, best: means.Estimate) -> list[Message]:
    """Return in which other campaign the highest rate came through, where it was none of this one."""
    passed = evidence.elsewhere
    return [passed.message] if passed and best.means == means.ELSEWHERE else []


def _slowest(evidence: Evidence) -> LinkFacts | None:
    links = [link for link in evidence.path.links if link.capacity_bps]
    bottleneck = next((link for link in links if link.name == evidence.path.bottleneck), None)
    if bottleneck or links:
        return bottleneck or min(links, key=lambda link: link.capacity_bps or 0)
    if evidence.path.capacity_bps and evidence.path.bottleneck:
        return LinkFacts(evidence.path.bottleneck, evidence.path.capacity_bps)
    return None


def _alike(evidence: Evidence, slowest: LinkFacts) -> list[str]:
    """Return the names of all links that are said to be as slow, [] where it is one alone."""
    names = [link.name for link in evidence.path.links if link.capacity_bps == slowest.capacity_bps]
    return names if len(names) > 1 else []


def _others(evidence: Evidence, slowest: LinkFacts) -> list[Message]:
    others = [link for link in evidence.path.links if link.capacity_bps and link.capacity_bps != slowest.capacity_bps]
    if not others:
        return []
    listed = ", ".join(f"{link.name} {format_quantity(link.capacity_bps or 0, 'bit/s')}" for link in others)
    return [Message(_("The other links have more: %(links)s."), {"links": listed})]


def _alternatives(evidence: Evidence, share: float) -> tuple[Alternative, ...]:
    if share >= AGREES:
        return ()
    return (
        Alternative(
            Message(_("The inventory is wrong: this link, or another one, has less than is said of it.")),
            Message(_("Ask the operators what each link has; look at the rates of both ends' interfaces.")),
        ),
        Alternative(
            Message(_("Framing takes a part: of SONET's 622 Mbit/s ATM leaves 530 and packets over SONET 599.")),
            Message(_("Ask the operator what carries the link.")),
        ),
        Alternative(
            Message(_("Others used the link meanwhile.")),
            Message(_("Measure the available bandwidth at night and by day.")),
            Proposal("pathload"),
        ),
        Alternative(
            Message(_("A shaper gives less than the link.")),
            Message(_("Offer UDP in small steps: a shaper has a sharp knee that stays where it is.")),
        ),
        *(() if members.has_several(evidence) else (members.BUNDLE,)),
    )
