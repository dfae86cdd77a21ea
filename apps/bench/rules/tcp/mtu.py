"""Larger frames: what the links allow, what the path lets through, and what the segments really were."""

from collections.abc import Mapping
from typing import TypeGuard

from apps.bench import network
from apps.bench.rules.base import DIAGNOSIS, RECOMMENDATION, Evidence, FindingDraft, Proof, Proposal
from apps.bench.rules.tcp.path import read_path
from apps.bench.rules.tcp.present import Present, is_plain, read_all
from apps.bench.rules.tcp.verdict.case import FULL
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _

RULE, VERSION = "tcp-mtu", 4
JUMBO = 9000
ROLES = ("client", "server")
# Of a segment's frame these bytes are no payload: IPv4, TCP and its timestamps; without timestamps 12 fewer.
HEADERS = network.transport.IPV4_BYTES + network.transport.TCP_BYTES + network.transport.TIMESTAMP_BYTES


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return that frames could be larger than they are; None if links are unknown, or segments fill them."""
    allowed = evidence.path.mtu
    readings = [item for item in read_all(evidence) if item.mss and is_plain(item.point)]
    if not allowed or allowed < JUMBO or not readings:
        return None
    # A path MTU once learnt is kept for minutes: the largest segment tells what the path can.
    item = max(readings, key=lambda one: (one.mss or 0, one.rate))
    frame = round(item.mss or 0) + HEADERS
    if frame >= allowed - network.transport.TIMESTAMP_BYTES:
        return None
    let = [value for point in evidence.points for value in point.values("path_mtu")]
    if not let or max(let) >= allowed:
        return _raise(evidence, item, frame)
    # A probe is no larger than what the sender's interface sends: a small one tells of the path only beyond that.
    own = [size for role in ("client", "server") if (size := mtu_of(evidence, role))]
    if max(let) < frame or (len(own) == 2 and max(let) < min(own)):
        return _narrow(evidence, item, frame, max(let))
    return _raise(evidence, item, frame) if own and min(own) <= max(let) else None


def _gain(allowed: int, frame: int) -> float:
    return network.tcp_efficiency(allowed) / network.tcp_efficiency(frame)


def _raise(evidence: Evidence, item: Present, frame: int) -> FindingDraft | None:
    allowed, path = evidence.path.mtu or 0, read_path(evidence)
    gain = _gain(allowed, frame)
    fills = path is not None and item.rate >= FULL * path.capacity.value * network.tcp_efficiency(frame)
    reasons = [
        Message(
            _("Segments carried %(mss)s B, so frames of %(used)s B; every link of the path allows %(allowed)s B."),
            {"mss": f"{item.mss:.0f}", "used": frame, "allowed": allowed},
        ),
        Message(
            _("Headers then take less: %(gain)s %% more goodput; what else jumbo frames gain is processor."),
            {"gain": f"{100 * (gain - 1):.1f}"},
        ),
    ]
    if not fills:
        reasons.append(Message(_("The path is not filled now, so something else limits first: do that before.")))
    small = {role: own for role in ROLES if (own := mtu_of(evidence, role) or frame) < allowed}
    if not small:
        # Both ends take such frames already: something else makes the segments small.
        return None
    now = {setting_names.name_of(role, "mtu"): str(own) for role, own in small.items()}
    parameters = {"window": item.point.parameters.get("window") or 0, "streams": item.streams}
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION,
        title=Message(
            _("Use frames of %(allowed)s B end to end instead of %(used)s B"), {"allowed": allowed, "used": frame}
        ),
        why=tuple(reasons),
        value=float(allowed),
        unit="B",
        formula=f"η = (MTU − 52) / (MTU + 38): η({allowed}) / η({frame}) = {gain:.4f}",
        evidence=item.trials,
        change=_lines(evidence, dict.fromkeys(small, allowed)),
        undo=_lines(evidence, small),
        present=item.rate,
        predicted=item.rate * gain if fills else None,
        predicted_interval=(item.rate * (1 + (gain - 1) / 2), item.rate * gain * 1.02) if fills else None,
        predicted_unit="bit/s",
        confidence=0.8 if fills else 0.5,
        applies_when=Message(_("Every switch and router between the nodes passes such frames.")),
        limits=(
            Message(_("The line lasts until the next boot: set it in the node's network configuration as well.")),
            Message(_("A router that drops large packets silently breaks connections: test with ping first.")),
        ),
        side_effects=(Message(_("All other hosts of the same Ethernet must use the same MTU.")),),
        source="RFC 6349, section 4.1.1; RFC 4821",
        missing=(
            Message(
                _("Whether the largest frame passes: ping with DF set."),
            ),
        ),
        proposals=(Proposal("tracepath", {}, {"length": f"{frame}, {allowed}"}),),
        proof=Proof(
            "iperf3-tcp", "goodput", {**parameters, **now}, {**parameters, **dict.fromkeys(now, str(allowed))}
        ),
    )


def _narrow(evidence: Evidence, item: Present, frame: int, let: float) -> FindingDraft:
    """Return that the path lets less through than its links are said to allow."""
    allowed = evidence.path.mtu or 0
    params = {"let": f"{let:.0f}", "allowed": allowed, "used": frame}
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        subject="path",
        title=Message(
            _("Packets above %(let)s B do not pass, though every link is said to allow %(allowed)s B"), params
        ),
        why=(
            Message(_("The path MTU was measured as %(let)s B; TCP used frames of %(used)s B."), params),
            Message(_("An interface, switch or router on the way has a smaller MTU than the inventory says.")),
        ),
        value=float(let),
        unit="B",
        formula=f"path MTU = {let:.0f} B < {allowed} B",
        evidence=tuple(sorted({*item.trials, *(t for point in evidence.points for t in point.trials("path_mtu"))})),
        present=item.rate,
        predicted_unit="bit/s",
        confidence=0.85,
        applies_when=Message(_("This path, as it was measured.")),
        limits=(Message(_("Kernels keep a path MTU for minutes: measure again after a change.")),),
        source="RFC 1191; RFC 4821",
        missing=(Message(_("Which hop it is: compare the MTU of the interfaces at both ends of each link.")),),
        proposals=(Proposal("tracepath"),),
    )


def _lines(evidence: Evidence, sizes: Mapping[str, int]) -> str:
    """Return the commands that give the nodes these MTUs; an interface that takes more already is left as it is."""
    return "".join(
        f"# {role}\nip link set dev {interface_of(evidence, role)} mtu {size}\n" for role, size in sizes.items()
    )


def interface_of(evidence: Evidence, role: str) -> str:
    """Return the name of the node's only interface that is up and has an address; the word to replace otherwise."""
    interfaces = evidence.facts.get(role, {}).get("interfaces")
    names = [
        entry["name"]
        for entry in (interfaces if isinstance(interfaces, list) else [])
        if isinstance(entry, dict)
        and entry.get("state") in ("up", "unknown")
        and entry.get("addresses")
        and is_name(entry.get("name"))
    ]
    own = [name for name in names if name != "lo"]
    return own[0] if len(own) == 1 else "INTERFACE"


def mtu_of(evidence: Evidence, role: str) -> int | None:
    """Return the MTU (B) of the node's only interface that is up and has an address, None where it is not told."""
    name, interfaces = interface_of(evidence, role), evidence.facts.get(role, {}).get("interfaces")
    for entry in interfaces if isinstance(interfaces, list) else []:
        if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get("mtu"), int):
            return int(entry["mtu"])
    return None


def is_name(name: object) -> TypeGuard[str]:
    """Return whether a text is the name of an interface, and safe in a line that people paste."""
    return (
        isinstance(name, str)
        and 0 < len(name) <= 15
        and all(c.isalnum() or c in "-_." for c in name)
        # A program would take it for an option.
        and not name.startswith("-")
        and name.isascii()
    )
