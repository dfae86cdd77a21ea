"""Datagrams that are lost below the path's capacity: by chance, in bursts or outages, and not by a full link."""

from apps.bench.network.loads import QUIET
from apps.bench.network.loss_curve import THRESHOLD
from apps.bench.rules.base import DIAGNOSIS, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp import counted, estimates, unlike
from apps.bench.rules.tcp.path import BELOW_LINKS, PathReading, read_path
from apps.bench.rules.tcp.present import read_present
from apps.bench.statistics import CONFIDENCE
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "path-loss", 9


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the share that is lost at loads that fill nothing, where it matters: to datagrams, or to one stream.

    None if it is nothing, is not known, or holds nothing that was measured.
    """
    path = read_path(evidence)
    loss = estimates.chance_of(evidence, path.capacity.value) if path else None
    if path is None or loss is None:
        return None
    chance, own, trials = loss
    left = unlike.chance_left(evidence)
    is_held = left is not None and not left.is_refuted
    if not is_held and own.low < THRESHOLD:
        return None
    present = read_present(evidence)
    # That chance takes them is known where one stream of TCP has about what it leaves.
    is_chance = is_held and present is not None
    title = _("The path loses %(share)s %% of datagrams at loads that fill nothing")
    if is_chance:
        title = _("The path loses %(share)s %% of datagrams by chance")
    elif left is not None and left.is_refuted:
        title = _("The path loses %(share)s %% of datagrams in bursts or outages, not by chance")
    params = {
        "share": f"{100 * own.share:.2g}",
        **_ends(own),
        "lost": f"{own.lost:.0f}",
        "sent": f"{own.sent:.0f}",
        "confidence": f"{100 * CONFIDENCE:g}",
        "load": format_quantity(chance.loads[-1].offered, "bit/s"),
    }
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        title=Message(title, params),
        why=(
            _far_below(evidence, path, params),
            Message(
                _("Lost were %(lost)s of %(sent)s datagrams: %(low)s to %(high)s %% (%(confidence)s %%)."), params
            ),
            *_how(own, left),
            Message(
                _("A link that is full loses nothing below its capacity: errors, duplex, a policer or outages do.")
            ),
        ),
        value=100 * own.share,
        low=100 * own.low,
        high=100 * own.high,
        unit="%",
        formula=f"p = {own.lost:.0f} / {own.sent:.0f} = {own.share:.2g} at R <= {QUIET:g} · C",
        evidence=tuple(sorted({*trials, *path.trials})),
        confidence=0.75 if len(chance.loads) > 1 else 0.6,
        applies_when=Message(_("This path and direction.")),
        limits=(Message(_("Short runs count few losses: measure longer to be sure of a small share.")),),
        source="Mathis, Semke, Mahdavi, Ott (1997); RFC 7680; Wilson (1927)",
        alternatives=() if is_chance else _ALTERNATIVES[1 if left is not None and left.is_refuted else 0 :],
        missing=(Message(_("Which link it is: loss hop by hop, and the interfaces' counts of errors.")),),
        proposals=(Proposal("mtr"),),
    )


def _ends(own: counted.Counted) -> dict[str, str]:
    """Return the ends of the interval (%), with as many digits as tell them from the share and from each other."""
    ends: dict[str, str] = {}
    for digits in range(2, 7):
        ends = {"low": f"{100 * own.low:.{digits}g}", "high": f"{100 * own.high:.{digits}g}"}
        if len({*ends.values(), f"{100 * own.share:.{digits}g}"}) == 3:
            break
    return ends


def _how(own: counted.Counted, left: unlike.Left | None) -> tuple[Message, ...]:
    """Return whether chance takes them, as far as the runs of the loads and the rates of TCP tell."""
    if not own.is_even:
        text = _(
            "The runs differ by more than chance lets them: it comes in bursts or outages, or the share changes."
        )
        return (Message(text),)
    if left is None:
        return ()
    if not left.is_refuted:
        return (left.message,)
    text = _("By chance that would leave one stream of TCP about %(rate)s, and one had %(had)s.")
    rates = {"rate": float(f"{left.rate:.2g}"), "had": left.had}
    return (Message(text, {name: format_quantity(value, "bit/s") for name, value in rates.items()}),)


_ALTERNATIVES = (
    Alternative(
        Message(_("By chance: bit errors, or a radio link.")),
        Message(_("One stream of TCP: chance leaves it as little as Mathis's law says, bursts leave more.")),
        Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1"}),
    ),
    Alternative(
        Message(_("In short outages: a route that flaps, a radio link, an interface that resets.")),
        Message(_("Send a small packet each 10 ms: whether many are lost in a row.")),
        Proposal("irtt"),
    ),
    Alternative(
        Message(_("In bursts: a policer or a short queue that others' traffic fills.")),
        Message(_("Measure again by night and by day, and look at the load of the links meanwhile.")),
    ),
)


def _far_below(evidence: Evidence, path: PathReading, params: dict[str, str]) -> Message:
    """Return what the loads are far below: the path's capacity where that was shown, else what arrived at most."""
    curve, _trials = estimates.loss_curve_of(evidence)
    arrived = curve.arrived if curve else 0.0
    level = path.capacity.value
    text = _("Loads up to %(load)s, far below the %(capacity)s of the path, lost %(share)s %%.")
    is_held = curve is not None and bool(curve.plateau or curve.full) and arrived < BELOW_LINKS * level
    if path.capacity.is_lower_bound or is_held:
        level = arrived if is_held else max(arrived, level)
        text = _("Loads up to %(load)s, far below the %(capacity)s that arrived at most, lost %(share)s %%.")
        if path.capacity.campaign and level > arrived:
            params = {**params, "campaign": path.capacity.campaign}
            text = _(
                "Loads up to %(load)s, far below the %(capacity)s that came through in the campaign %(campaign)s,"
                " lost %(share)s %%."
            )
    elif path.capacity.is_open:
        text = _(
            "Loads up to %(load)s, far below the %(capacity)s that the links are said to carry, lost %(share)s %%."
        )
    return Message(text, {**params, "capacity": format_quantity(level, "bit/s")})
