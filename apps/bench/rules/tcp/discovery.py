"""Discovery of the path's MTU: switched off on a node, or failing in silence on the way (RFC 1191, RFC 4821)."""

from apps.bench.rules.base import DIAGNOSIS, RECOMMENDATION, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp import sysctl
from apps.bench.rules.tcp.mtu import HEADERS, JUMBO
from apps.bench.rules.tcp.present import Present, is_plain, read_all
from apps.bench.text import Message, _

RULE, VERSION = "tcp-path-mtu", 4
KEY, NAME = "net.ipv4.ip_no_pmtu_disc", "tcp-path-mtu"
# The kernel's own view: segments below this share of what it takes the path's MTU for were made small by probing.
SMALL = 0.8
PROBING = "net.ipv4.tcp_mtu_probing"
# A probe that comes through less often than this is lost; the small one comes through.
LOST, PASSES = 0.9, 0.1
# Of a packet that pings, IPv4 and ICMP take so much.
PING_HEADERS = 28


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return that discovery is to be switched on, or that packets vanish on the way; None where neither shows."""
    readings = [item for item in read_all(evidence) if is_plain(item.point)]
    if not readings:
        return None
    off = tuple(role for role in sysctl.ROLES if sysctl.read_sysctls(evidence, role).get(KEY, "0") not in ("0", ""))
    return _switch_on(evidence, readings, off) if off else _vanishing(evidence, readings)


def _switch_on(evidence: Evidence, readings: list[Present], off: tuple[str, ...]) -> FindingDraft:
    item = max(readings, key=lambda one: one.rate)
    allowed = evidence.path.mtu or 0
    nodes = sysctl.simple(evidence, {KEY: "0"}, off)
    reasons = [Message(_("%(name)s is set on %(roles)s."), {"name": KEY, "roles": " + ".join(off)})]
    is_small = bool(item.mss and allowed and item.mss + HEADERS < allowed * SMALL)
    if is_small:
        params = {"mss": f"{item.mss:.0f}", "allowed": allowed}
        reasons.append(Message(_("Segments carried %(mss)s B; every link of the path allows %(allowed)s B."), params))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION,
        title=Message(_("Let %(roles)s discover the path's MTU"), {"roles": " + ".join(off)}),
        why=tuple(reasons),
        formula=f"{KEY} = 0",
        evidence=item.trials,
        change=sysctl.change(nodes, NAME, f"Fathom {RULE}: discover the path's MTU"),
        undo=sysctl.undo(nodes, NAME),
        present=item.rate,
        predicted_unit="bit/s",
        confidence=0.7 if is_small or allowed >= JUMBO else 0.5,
        applies_when=Message(_("Paths with larger frames than 1500 B, or with a tunnel that takes some bytes.")),
        limits=(
            Message(_("Routers on the way must send their “fragmentation needed”, and firewalls let it through.")),
            Message(sysctl.KEPT),
            *sysctl.undo_limit(nodes),
        ),
        source="RFC 1191; ip(7), ip_no_pmtu_disc",
        proof=sysctl.proof(nodes, {"window": item.point.parameters.get("window") or 0, "streams": item.streams}),
    )


def _vanishing(evidence: Evidence, readings: list[Present]) -> FindingDraft | None:
    """Return that large packets seem to vanish: TCP made its segments small, and nothing else known would.

    Not where its probing of the MTU is off, nor where the window seen holds less than two segments (the kernel sends
    none of more than half of it). That large packets vanish and small ones do not, only pings with DF set decide.
    """
    suspects = [item for item in readings if _is_probed_small(item) and not _is_half_window(item)]
    probing = sysctl.read_sysctls(evidence, evidence.sender).get(PROBING)
    passes = _pinged(evidence)
    if not suspects or probing == "0" or passes:
        return None
    item = max(suspects, key=lambda one: len(one.trials))
    path_mtu, first, last = int(item.kernel["path_mtu"]), item.point.observed["mss"], item.kernel["mss"]
    params = {"told": path_mtu, "first": f"{first:.0f}", "last": f"{last:.0f}"}
    reasons = [
        Message(_("The connection began with segments of %(first)s B, so both ends take them."), params),
        Message(_("It ended with %(last)s B, and the kernel still takes the path's MTU for %(told)s B."), params),
        Message(_("TCP makes segments small by itself only after larger ones were lost again and again.")),
    ]
    title = _(
        "Packets of %(told)s B seem to vanish on the way: TCP made its segments small, from %(first)s to %(last)s B"
    )
    if passes is False:
        title = _("Packets of %(told)s B vanish on the way, and no router says so: a black hole")
        reasons.append(Message(_("Pings of that size with DF set were lost, small ones were not."), params))
    missing = [
        Message(
            _("Whether pings with DF set of %(told)s B are lost and small ones are not: only that decides."), params
        )
    ]
    if probing is None:
        missing.append(
            Message(_("Whether TCP's probing of the MTU is on (tcp_mtu_probing): off, it is something else."))
        )
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        subject="black-hole",
        title=Message(title, params),
        why=tuple(reasons),
        value=float(path_mtu),
        unit="B",
        formula=f"MSS + {HEADERS} = {last + HEADERS:.0f} B < {SMALL:g} · {path_mtu} B",
        evidence=item.trials,
        change=f"# client: only if the second is lost and the first is not, large packets vanish\n"
        f"ping -c 10 -M do -s 1400 SERVER\nping -c 10 -M do -s {path_mtu - PING_HEADERS} SERVER\n",
        present=item.rate,
        predicted_unit="bit/s",
        confidence=0.9 if passes is False else 0.7 if probing else 0.5,
        applies_when=Message(_("TCP's probing of the MTU is on (tcp_mtu_probing): without it the transfer stalls.")),
        limits=(
            Message(_("Kernels keep what they learnt of a path for minutes: measure again after a change.")),
            Message(_("The remedy is at the firewall: it must let ICMP type 3 code 4 (ICMPv6 type 2) through.")),
        ),
        source="RFC 2923, section 2.1; RFC 4821; ip-sysctl, tcp_mtu_probing",
        alternatives=(
            Alternative(
                Message(_("Losses of another kind made TCP probe: then small and large packets are lost alike.")),
                Message(_("Send probes of both sizes that must not be fragmented, and compare their loss.")),
                Proposal("ping", {"dont_fragment": True}, {"payload": f"1400 B, {path_mtu - PING_HEADERS} B"}),
            ),
        ),
        missing=() if passes is False else tuple(missing),
        proposals=(Proposal("tracepath"),) if passes is False else (_ping(path_mtu),),
    )


def _ping(path_mtu: int) -> Proposal:
    return Proposal("ping", {"dont_fragment": True}, {"payload": f"1400 B, {path_mtu - PING_HEADERS} B"})


def _is_half_window(item: Present) -> bool:
    """Return whether the largest window seen holds less than two of the first segments: that makes them small."""
    windows, first = item.point.values("window_observed"), item.point.observed.get("mss")
    return bool(windows) and isinstance(first, int | float) and max(windows) < 2 * first


def _pinged(evidence: Evidence) -> bool | None:
    """Return whether the largest pings with DF set came through, None unless smaller ones beside them did."""
    losses = {
        float(point.parameters["payload"]): sum(values) / len(values)
        for point in evidence.points
        if point.parameters.get("dont_fragment")
        and isinstance(point.parameters.get("payload"), int | float)
        and (values := point.values("loss"))
    }
    if len(losses) < 2 or losses[min(losses)] > PASSES:
        return None
    large = losses[max(losses)]
    return True if large <= PASSES else False if large >= LOST else None


def _is_probed_small(item: Present) -> bool:
    """Return whether segments were large at first and small in the end, while the kernel's path MTU stayed large."""
    sizes = item.point.observed.get("mss"), item.kernel.get("mss"), item.kernel.get("path_mtu")
    if not all(isinstance(size, int | float) and size > 0 for size in sizes):
        return False
    first, last, path_mtu = (float(size or 0) for size in sizes)
    return first + HEADERS >= SMALL * path_mtu > last + HEADERS
