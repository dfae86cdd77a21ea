"""Interfaces that do not fit the path: half duplex, a speed below the link's, or MTUs that differ."""

from collections.abc import Iterator, Mapping
from typing import Any

from apps.bench.rules.base import DIAGNOSIS, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp.mtu import is_name
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "path-interface", 1
# Kinds that carry nothing over a wire.
VIRTUAL = {"loopback", "bridge", "veth", "tun", "tap", "dummy", "docker", "sit", "ifb"}
# An interface below this share of its link's capacity is slower than the inventory believes.
SLOWER = 0.9


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return what is wrong with the interfaces of both ends; None if nothing is, or nothing was measured."""
    trials = sorted({trial for point in evidence.points for values in point.metrics.values() for trial in values})
    problems = [message for role in evidence.facts for message in _of_node(evidence, role)]
    # Of the other way, or in other roles, the interfaces are the same: they are told of once.
    if not problems or not trials or evidence.elder:
        return None
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        title=Message(_("An interface does not fit its link")),
        why=tuple(problems),
        formula="",
        evidence=tuple(trials),
        change=_look(evidence),
        confidence=0.8,
        applies_when=Message(_("The interface carries the traffic of these measurements.")),
        limits=(Message(_("Drivers of virtual machines tell speeds that mean nothing.")),),
        side_effects=(Message(_("Setting speed or duplex takes the link down for a moment.")),),
        source="IEEE 802.3, clause 28; ethtool(8)",
        missing=(Message(_("What the switch says of the same port: both ends must agree on speed and duplex.")),),
        proposals=(Proposal("iperf3-udp", {}, {"rate": "10 Mbit/s, 50 Mbit/s, 90 Mbit/s"}),),
    )


def _of_node(evidence: Evidence, role: str) -> Iterator[Message]:
    interfaces = [entry for entry in _interfaces(evidence, role) if _is_used(entry)]
    for entry in interfaces:
        if entry.get("duplex") == "half":
            text = _("%(role)s: %(interface)s runs half duplex: the other end takes that for loss and collisions.")
            yield Message(text, {"role": role, "interface": str(entry.get("name", ""))})
    speeds = [entry["speed_bps"] for entry in interfaces if _is_number(entry.get("speed_bps"))]
    nominal = _own_link(evidence, role)
    if speeds and nominal and max(speeds) < SLOWER * nominal:
        text = _("%(role)s: its fastest interface has %(speed)s, its link is said to have %(nominal)s.")
        params = {"speed": format_quantity(max(speeds), "bit/s"), "nominal": format_quantity(nominal, "bit/s")}
        yield Message(text, {"role": role, **params})


def _look(evidence: Evidence) -> str:
    """Return the commands that show what each interface agreed on with its switch; they change nothing."""
    lines = []
    for role in evidence.facts:
        names = [str(entry.get("name", "")) for entry in _interfaces(evidence, role) if _is_used(entry)]
        lines += [f"# {role}", *(f"ethtool {name}" for name in names if is_name(name))]
    return "".join(f"{line}\n" for line in lines)


def _interfaces(evidence: Evidence, role: str) -> list[Mapping[str, Any]]:
    entries = evidence.facts[role].get("interfaces")
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def _is_used(entry: Mapping[str, Any]) -> bool:
    """Return whether an interface is a wire's, up, and has an address or is a member of a bond that has."""
    is_wire = entry.get("kind") not in VIRTUAL and entry.get("name") != "lo"
    return is_wire and entry.get("state") == "up" and bool(entry.get("addresses") or entry.get("master"))


def _own_link(evidence: Evidence, role: str) -> float | None:
    """Return the capacity (bit/s) of the link at the node's end of the path."""
    links = evidence.path.links
    if not links:
        return None
    return {"client": links[0], "server": links[-1], "source": links[0], "destination": links[-1]}.get(
        role, links[0]
    ).capacity_bps


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
