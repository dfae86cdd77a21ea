"""TCP's options that must be on for a long fat path: window scaling, SACK, timestamps."""

from apps.bench import network
from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.tcp import sysctl
from apps.bench.rules.tcp.bdp import UNSCALED
from apps.bench.rules.tcp.path import read_path
from apps.bench.rules.tcp.present import read_present
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

VERSION = 6
SCALING, SACK, TIMESTAMPS = "net.ipv4.tcp_window_scaling", "net.ipv4.tcp_sack", "net.ipv4.tcp_timestamps"
# Sequence numbers come again after 2^31 bytes: within so many seconds old segments may still be on their way
# (RFC 7323, section 5.2).
WRAPPED = 120


def scaling(evidence: Evidence) -> FindingDraft | None:
    """Return that window scaling must be on, if it is off (or the window observed shows it) and the path is long."""
    path, present = read_path(evidence), read_present(evidence)
    if path is None or present is None or path.most_bytes <= UNSCALED:
        return None
    off = _off(evidence, SCALING)
    observed = present.mean("window_observed")
    is_seen = observed == UNSCALED
    if not off and not is_seen:
        return None
    unscaled = network.window_limited_bps(UNSCALED, path.rtt.longest, present.streams) or 0.0
    if present.rate > 1.1 * unscaled:
        # It got more than it can have had without: the fact is older than the measurement, or of another socket.
        return None
    reasons = [*(_is_off(SCALING, off) if off else ())]
    if is_seen:
        reasons.append(Message(_("The receiver never offered more than 65,535 B, the maximum without scaling.")))
    text = _("That allows %(rate)s; the path holds %(bdp)s.")
    params = {"rate": format_quantity(unscaled, "bit/s"), "bdp": format_quantity(path.most_bytes, "B")}
    if path.capacity.is_lower_bound:
        text = _("That allows %(rate)s; the path holds %(least)s or more.")
        params = {"rate": params["rate"], "least": params["bdp"]}
    nodes = sysctl.simple(evidence, {SCALING: "1"}, off or sysctl.ROLES)
    return FindingDraft(
        rule="tcp-window-scaling",
        version=VERSION,
        title=Message(_("Switch window scaling on: without it one stream has at most %(rate)s here"), params),
        why=(path.rtt.source, *reasons, Message(text, params)),
        value=float(UNSCALED),
        unit="B",
        formula=f"X = N · 65,535 B · 8 / RTT = {params['rate']}; BDP / 65,535 B = {path.most_bytes / UNSCALED:.1f}",
        evidence=tuple(sorted({*path.trials, *present.trials})),
        change=sysctl.change(nodes, "tcp-scaling", "Fathom tcp-window-scaling: windows above 65,535 B"),
        undo=sysctl.undo(nodes, "tcp-scaling"),
        present=present.rate,
        predicted_unit="bit/s",
        confidence=0.9 if is_seen else 0.75,
        applies_when=Message(_("Both ends must have it on; a firewall on the way may strip it.")),
        limits=(
            Message(_("The limits of the buffers must allow the larger window, too.")),
            Message(_("Connections that exist keep what they agreed on: restart daemons and remount file systems.")),
            Message(sysctl.KEPT),
        ),
        source="RFC 7323, section 2",
        proof=sysctl.proof(nodes, {"window": 0, "streams": present.streams}),
    )


def sack(evidence: Evidence) -> FindingDraft | None:
    """Return that selective acknowledgements should be on, if they are off and segments were lost."""
    present, off = read_present(evidence), _off(evidence, SACK)
    again = (present.mean("retransmits") or 0.0) if present else 0.0
    if present is None or not off or not again:
        return None
    nodes = sysctl.simple(evidence, {SACK: "1"}, off)
    text = _("%(count)s segments were sent again (mean of a run): without SACK a window with several losses stalls.")
    return FindingDraft(
        rule="tcp-sack",
        version=VERSION,
        title=Message(_("Switch selective acknowledgements (SACK) on")),
        why=(*_is_off(SACK, off), Message(text, {"count": f"{again:.0f}"})),
        formula=f"{SACK} = 0",
        evidence=present.trials,
        change=sysctl.change(nodes, "tcp-sack", "Fathom tcp-sack: recover from several losses in one RTT"),
        undo=sysctl.undo(nodes, "tcp-sack"),
        present=present.rate,
        predicted_unit="bit/s",
        confidence=0.5,
        applies_when=Message(_("Paths that lose segments; both ends must have it on.")),
        limits=(
            Message(_("Single losses far apart gain nothing by it; BBR gained ×1.8 at a loss of 0.1 % in the lab.")),
            Message(sysctl.KEPT),
        ),
        source="RFC 2018; RFC 6675",
        proof=sysctl.proof(nodes, {"window": 0, "streams": present.streams}),
    )


def timestamps(evidence: Evidence) -> FindingDraft | None:
    """Return that timestamps should be on, if they are off and the path wraps sequence numbers soon."""
    path, present, off = read_path(evidence), read_present(evidence), _off(evidence, TIMESTAMPS)
    if path is None or present is None or not off or path.most_bytes <= UNSCALED:
        return None
    seconds = 2**31 * 8 / path.capacity.value
    if seconds > WRAPPED:
        return None
    nodes = sysctl.simple(evidence, {TIMESTAMPS: "1"}, off)
    text = _("At %(rate)s sequence numbers come again after %(seconds)s s: timestamps tell old segments from new.")
    params = {"rate": format_quantity(path.capacity.value, "bit/s"), "seconds": f"{seconds:.0f}"}
    cost = _cost(evidence)
    return FindingDraft(
        rule="tcp-timestamps",
        version=VERSION,
        title=Message(_("Switch TCP timestamps on")),
        why=(*_is_off(TIMESTAMPS, off), Message(text, params)),
        formula=f"2^31 B · 8 / C = {seconds:.1f} s < {WRAPPED} s",
        evidence=tuple(sorted({*path.trials, *present.trials})),
        change=sysctl.change(nodes, "tcp-timestamps", "Fathom tcp-timestamps: tell old segments from new"),
        undo=sysctl.undo(nodes, "tcp-timestamps"),
        present=present.rate,
        predicted_unit="bit/s",
        confidence=0.6,
        applies_when=Message(_("Fast paths of long delay; both ends must have them on.")),
        limits=(Message(_("It makes transfers safe and RTTs exact, not faster.")), Message(sysctl.KEPT)),
        side_effects=(
            Message(_("12 bytes of each segment: %(share)s %% of the goodput."), {"share": f"{100 * cost:.1f}"}),
        ),
        source="RFC 7323, sections 4 and 5",
    )


def _cost(evidence: Evidence) -> float:
    mtu = evidence.path.mtu or 1500
    return 1 - network.tcp_efficiency(mtu) / network.tcp_efficiency(mtu, timestamps=False)


def _off(evidence: Evidence, key: str) -> tuple[str, ...]:
    return tuple(role for role in sysctl.ROLES if sysctl.read_sysctls(evidence, role).get(key) == "0")


def _is_off(key: str, roles: tuple[str, ...]) -> tuple[Message, ...]:
    return (Message(_("%(name)s is 0 on %(roles)s."), {"name": key, "roles": " + ".join(roles)}),)
