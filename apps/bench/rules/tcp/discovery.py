"""Discovery of the path's MTU: switched off on a node, or failing in silence on the way (RFC 1191, RFC 4821)."""

from apps.bench.rules.base import DIAGNOSIS, RECOMMENDATION, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp import sysctl
from apps.bench.rules.tcp.mtu import HEADERS, JUMBO
from apps.bench.rules.tcp.present import Present, is_plain, read_all
from apps.bench.text import Message, _

RULE, VERSION = "tcp-path-mtu", 1
KEY, NAME = "net.ipv4.ip_no_pmtu_disc", "tcp-path-mtu"
# The kernel's own view: segments below this share of what it takes the path's MTU for were made small by probing.
SMALL = 0.8
CHANGE = (
    "# firewalls on the way: let ICMP type 3 code 4 (IPv4) and ICMPv6 type 2 through\n"
    "# until they do, on both nodes: the largest packet that passes\n"
    "ip route change DESTINATION via GATEWAY mtu lock 1500\n"
)
UNDO = "ip route change DESTINATION via GATEWAY\n"


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return that discovery is to be switched on, or that packets vanish on the way; None where neither shows."""
    seen = [item for item in read_all(evidence) if is_plain(item.point)]
    if not seen:
        return None
    off = tuple(role for role in sysctl.ROLES if sysctl.read_sysctls(evidence, role).get(KEY, "0") not in ("0", ""))
    return _switch_on(evidence, seen, off) if off else _vanishing(seen)


def _switch_on(evidence: Evidence, seen: list[Present], off: tuple[str, ...]) -> FindingDraft:
    item = max(seen, key=lambda one: one.rate)
    allowed = evidence.path.mtu or 0
    nodes = sysctl.simple(evidence, {KEY: "0"}, off)
    why = [Message(_("%(name)s is set on %(roles)s."), {"name": KEY, "roles": " + ".join(off)})]
    is_small = bool(item.mss and allowed and item.mss + HEADERS < allowed * SMALL)
    if is_small:
        shown = {"mss": f"{item.mss:.0f}", "allowed": allowed}
        why.append(Message(_("Segments carried %(mss)s B; every link of the path allows %(allowed)s B."), shown))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION,
        title=Message(_("Let %(roles)s discover the path's MTU"), {"roles": " + ".join(off)}),
        why=tuple(why),
        formula=f"{KEY} = 0",
        evidence=item.trials,
        change=sysctl.change(nodes, NAME, f"Fathom {RULE}: discover the path's MTU"),
        undo=sysctl.undo(nodes, NAME),
        present=item.rate,
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


def _vanishing(seen: list[Present]) -> FindingDraft | None:
    """Return that TCP made its segments small by itself though the kernel was told of no smaller MTU."""
    found = [item for item in seen if _is_probed_small(item)]
    if not found:
        return None
    item = max(found, key=lambda one: len(one.trials))
    told, first, last = int(item.kernel["path_mtu"]), item.point.observed["mss"], item.kernel["mss"]
    shown = {"told": told, "first": f"{first:.0f}", "last": f"{last:.0f}"}
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        subject="black-hole",
        title=Message(_("Packets of %(told)s B vanish on the way, and no router says so: a black hole"), shown),
        why=(
            Message(_("The connection began with segments of %(first)s B, so both ends take them."), shown),
            Message(_("It ended with %(last)s B, and the kernel still takes the path's MTU for %(told)s B."), shown),
            Message(_("TCP makes segments small by itself only after larger ones were lost again and again.")),
        ),
        value=float(told),
        unit="B",
        formula=f"MSS + {HEADERS} = {last + HEADERS:.0f} B < {SMALL:g} · {told} B",
        evidence=item.trials,
        change=CHANGE,
        undo=UNDO,
        present=item.rate,
        confidence=0.8,
        applies_when=Message(_("TCP's probing of the MTU is on (tcp_mtu_probing): without it the transfer stalls.")),
        limits=(Message(_("Kernels keep what they learnt of a path for minutes: measure again after a change.")),),
        source="RFC 2923, section 2.1; RFC 4821; ip-sysctl, tcp_mtu_probing",
        alternatives=(
            Alternative(
                Message(_("Losses of another kind made TCP probe: then small and large packets are lost alike.")),
                Message(_("Send probes of both sizes that must not be fragmented, and compare their loss.")),
                Proposal("ping", {"dont_fragment": True}, {"payload": f"1400 B, {told - 28} B"}),
            ),
        ),
        missing=(Message(_("Which hop it is: compare the MTU of the interfaces at both ends of each link.")),),
        proposals=(Proposal("tracepath"),),
    )


def _is_probed_small(item: Present) -> bool:
    """Return whether segments were large at first and small in the end, while the kernel's path MTU stayed large."""
    sizes = item.point.observed.get("mss"), item.kernel.get("mss"), item.kernel.get("path_mtu")
    if not all(isinstance(size, int | float) and size > 0 for size in sizes):
        return False
    first, last, told = (float(size or 0) for size in sizes)
    return first + HEADERS >= SMALL * told > last + HEADERS
