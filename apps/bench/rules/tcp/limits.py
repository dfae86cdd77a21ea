"""The kernel's limits that let a stream have the window the path needs, as lines to paste (rules R3 and R5)."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from apps.bench.rules.base import Alternative, Evidence, FindingDraft
from apps.bench.rules.tcp.bdp import UNSCALED, present_rate, wanted_window
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-sysctl", 1
# The share of tcp_rmem's maximum that becomes window, measured on kernel 6.18: the rest is overhead of the buffers.
SHARE_JUMBO, SHARE_USUAL, JUMBO = 0.70, 0.62, 9000
# Limits end on this, so that the lines are easy to read and compare.
STEP = 64 * 1024
# These sysctls are C ints.
MOST = 2**31 - 1
# What a window may be at most with the largest scale (RFC 7323).
MOST_WINDOW = 2**30

MAXIMA = ("net.core.rmem_max", "net.core.wmem_max")
# Linux's own minimum and default, where a node has not told its present ones.
TRIPLES = {"net.ipv4.tcp_rmem": (4096, 131072), "net.ipv4.tcp_wmem": (4096, 16384)}
SWITCHES = ("net.ipv4.tcp_moderate_rcvbuf", "net.ipv4.tcp_window_scaling")
FILE = "/etc/sysctl.d/90-fathom-tcp.conf"


_NUMBERS = re.compile(r"[0-9]{1,15}( [0-9]{1,15}){0,2}")


@dataclass(frozen=True)
class Settings:
    """One node's sysctls as they should be and as they are (None where unknown), and those that were not valid."""

    wanted: Mapping[str, str]
    present: Mapping[str, str | None]
    invalid: tuple[str, ...] = ()

    @property
    def is_set(self) -> bool:
        """Return whether the node needs no change."""
        return self.wanted == self.present


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the sysctl lines for twice the path's BDP; None without a sound RTT and capacity."""
    path = read_path(evidence)
    if path is None:
        return None
    window = min(wanted_window(path), MOST_WINDOW)
    share = SHARE_JUMBO if (evidence.path.mtu or 0) >= JUMBO else SHARE_USUAL
    least = math.ceil(window / share)
    maximum = min(math.ceil(least / STEP) * STEP, MOST)
    nodes = {role: make_settings(_sysctls(evidence, role), maximum) for role in ("client", "server")}
    is_set = all(settings.is_set for settings in nodes.values())
    title = _("Let the kernels grow a window of %(window)s: limits of %(maximum)s on both nodes")
    if is_set:
        title = _("The kernels of both nodes allow a window of %(window)s already")
    shown = {"window": format_quantity(window, "B"), "maximum": format_quantity(maximum, "B")}
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        title=Message(title, shown),
        why=tuple(_reasons(evidence, path, nodes)),
        value=float(maximum),
        unit="B",
        low=float(least),
        high=float(maximum),
        formula=f"{path.bdp_formula}; W = 2 · BDP = {window:,} B; M = W / {share} = {least:,} B -> {maximum:,} B",
        evidence=path.trials,
        change="" if is_set else _blocks({role: _set_lines(settings) for role, settings in nodes.items()}),
        undo="" if is_set else _blocks({role: _undo_lines(settings) for role, settings in nodes.items()}),
        predicted=path.ceiling_bps,
        predicted_interval=path.reachable_bps,
        confidence=round(path.trust * (1 if all(_sysctls(evidence, role) for role in nodes) else 0.8), 2),
        applies_when=Message(_("Linux; programs that do not set their socket buffers, or set them up to the limit.")),
        limits=(
            Message(_("The share of the limit that becomes window was measured on kernel 6.18; it is 0.75 on 2.6.")),
            Message(
                _("tcp_rmem and tcp_wmem bound the automatic window; rmem_max and wmem_max an explicit one only.")
            ),
            Message(_("The printf line keeps the settings over a reboot; sysctl --system reads its file again.")),
            *_undo_limit(nodes),
        ),
        side_effects=(
            Message(
                _("A busy socket may hold so much memory on each node; many sockets at once hold many times that.")
            ),
            Message(_("Connections that exist keep their old limits: restart daemons and remount file systems.")),
        ),
        source="tcp(7), socket(7); RFC 7323, section 2.3",
        alternatives=(_several_streams(),),
    )


def make_settings(present: Mapping[str, str], maximum: int) -> Settings:
    """Return a node's settings for a limit of `maximum` bytes; larger limits of its own stay, as do min and default.

    A triple that is not min <= default <= max counts as invalid and gets Linux's own minimum and default.
    """
    wanted: dict[str, str] = {}
    invalid = []
    for name in MAXIMA:
        value = present.get(name, "")
        wanted[name] = str(max(int(value), maximum) if value.isdigit() else maximum)
    for name, (least, default) in TRIPLES.items():
        triple = _read_triple(present.get(name, ""))
        if triple is None:
            if name in present:
                invalid.append(name)
            triple = (least, default, maximum)
        wanted[name] = f"{triple[0]} {triple[1]} {max(triple[1], triple[2], maximum)}"
    for name in SWITCHES:
        if present.get(name) == "0":
            wanted[name] = "1"
    return Settings(wanted, {name: present.get(name) for name in wanted}, tuple(invalid))


def _read_triple(text: str) -> tuple[int, int, int] | None:
    words = text.split()
    if len(words) != 3:
        return None
    least, default, most = (int(word) for word in words)
    return (least, default, most) if least <= default <= most else None


def _sysctls(evidence: Evidence, role: str) -> Mapping[str, str]:
    """Return the sysctls that a node has told and that are numbers: they go into lines that people paste."""
    sysctls = evidence.facts.get(role, {}).get("sysctls", {})
    return {name: text for name, text in sysctls.items() if isinstance(text, str) and _NUMBERS.fullmatch(text)}


def _assignments(values: Mapping[str, str]) -> list[str]:
    # No blanks around "=": `sysctl -w` would take them for words of their own.
    return [f"'{name}={value}'" for name, value in values.items()]


def _set_lines(settings: Settings) -> list[str]:
    pairs = _assignments(settings.wanted)
    return [f"sysctl -w {pair}" for pair in pairs] + [f"printf '%s\\n' {' '.join(pairs)} > {FILE}"]


def _undo_lines(settings: Settings) -> list[str]:
    known = {name: value for name, value in settings.present.items() if value is not None}
    return [f"rm -f {FILE}", *(f"sysctl -w {pair}" for pair in _assignments(known))]


def _blocks(lines: Mapping[str, list[str]]) -> str:
    """Return the lines of each role under its name, or once if all are equal."""
    if len({tuple(block) for block in lines.values()}) == 1:
        lines = {" + ".join(lines): next(iter(lines.values()))}
    return "\n".join("\n".join((f"# {role}", *block)) for role, block in lines.items()) + "\n"


def _reasons(evidence: Evidence, path: PathReading, nodes: Mapping[str, Settings]) -> list[Message]:
    reasons = [path.rtt.source, path.capacity.source]
    for role, settings in nodes.items():
        for name in TRIPLES:
            value = settings.present[name]
            if name in settings.invalid:
                text = _("%(role)s: %(name)s is “%(value)s”, not least ≤ default ≤ most: the line mends it.")
            elif value is None:
                text = _("%(role)s: its present %(name)s is not known; the line takes Linux's least and default.")
            else:
                text = _("%(role)s: %(name)s is now “%(value)s”.")
            reasons.append(Message(text, {"role": role, "name": name, "value": value}))
    present = present_rate(evidence)
    if present:
        text = _("One stream with the automatic window now reaches %(rate)s of the %(ceiling)s that TCP can have.")
        shown = {"rate": present, "ceiling": path.ceiling_bps}
        reasons.append(Message(text, {name: format_quantity(value, "bit/s") for name, value in shown.items()}))
    if wanted_window(path) > UNSCALED:
        reasons.append(Message(_("Window scaling and the receive buffer's autotuning must stay on.")))
    return reasons


def _undo_limit(nodes: Mapping[str, Settings]) -> list[Message]:
    unknown = [role for role, settings in nodes.items() if None in settings.present.values()]
    text = _("Not all present values of %(roles)s are known: to take the change back, remove the file and reboot.")
    return [Message(text, {"roles": " + ".join(unknown)})] if unknown else []


def _several_streams() -> Alternative:
    return Alternative(
        Message(_("Leave the limits and open several streams: each has a window of its own.")),
        Message(_("Sweep the number of streams with the automatic window.")),
    )
