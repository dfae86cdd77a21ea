"""The kernel's limits that let a stream have the window the path needs, as lines to paste."""

import math
from collections.abc import Mapping

from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, RECOMMENDATION, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp import sysctl
from apps.bench.rules.tcp.bdp import (
    MAXIMA,
    UNSCALED,
    is_short,
    present_rate,
    wanted_window,
    way_beside_other,
)
from apps.bench.rules.tcp.growth import Growth, read_growth
from apps.bench.rules.tcp.outlook import read_outlook
from apps.bench.rules.tcp.path import PathReading, is_told_beside, read_path
from apps.bench.rules.tcp.present import SHARE_JUMBO, SHARE_USUAL, read_all
from apps.bench.rules.tcp.sysctl import Settings, read_sysctls
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-sysctl", 13
# Frames of which as large a share of a buffer becomes window.
JUMBO = 9000
# Limits end on this, so that the lines are easy to read and compare.
STEP = 64 * 1024
# These sysctls are C ints.
MOST = 2**31 - 1
# What a window may be at most with the largest scale (RFC 7323).
MOST_WINDOW = 2**30

# Linux's own minimum and default, where a node has not told its present ones.
TRIPLES = {"net.ipv4.tcp_rmem": (4096, 131072), "net.ipv4.tcp_wmem": (4096, 16384)}
SWITCHES = ("net.ipv4.tcp_moderate_rcvbuf", "net.ipv4.tcp_window_scaling")
# What had so much of a rate went through the limits that the rate needs.
THROUGH = 0.85
NAME, TARGET = "tcp", "twice the BDP of the path"


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the sysctl lines for twice the path's BDP; None without a sound RTT and capacity, or on a short path."""
    path = read_path(evidence)
    if path is None or path.capacity.is_lower_bound or is_short(path) or is_told_beside(evidence):
        return None
    window = min(wanted_window(path), MOST_WINDOW)
    share = SHARE_JUMBO if (evidence.path.mtu or 0) >= JUMBO else SHARE_USUAL
    minimum = math.ceil(window / share)
    maximum = min(math.ceil(minimum / STEP) * STEP, MOST)
    nodes = {role: make_settings(read_sysctls(evidence, role), maximum) for role in ("client", "server")}
    present, outlook = present_rate(evidence), read_outlook(evidence, path)
    if outlook.is_open:
        # What a window had that was asked for says nothing of the kernel's own: neither that it gains, nor that not.
        return None
    if outlook.in_the_way is None and _lets_through(evidence, outlook.rate or path.ceiling_bps):
        return None
    unknown = {role for role, own in nodes.items() if set(TRIPLES) & {*own.unknown}}
    # Whatever the limits are: a path that is filled, or something else in the way, needs no larger ones.
    roles = sysctl.lacking(nodes, leave_out=MAXIMA)
    is_set = not roles or outlook.in_the_way is not None
    if outlook.is_untried and roles:
        # What keeps the window small is not their limits, which allow far more.
        return None
    raised, settings = _changes_of(nodes, roles, maximum)
    way: dict[str, str] = {}
    title = _("Let the kernels grow a window of %(window)s: limits of %(maximum)s on %(roles)s")
    if settings:
        title = _("Let the kernels grow a window of %(window)s: %(settings)s")
    if settings and raised:
        title = _("Let the kernels grow a window of %(window)s: limits of %(maximum)s on %(roles)s, %(settings)s")
    if is_set:
        title = _("The kernels of both nodes allow a window of %(window)s already")
    if outlook.in_the_way:
        title = _("Larger limits than the kernels' own gain nothing now (%(window)s would be twice the BDP)")
        if way := way_beside_other(evidence):
            title = _(
                "From %(sender)s to %(receiver)s larger limits than the kernels' own gain nothing now (%(window)s"
                " would be twice the BDP)"
            )
    # Neither what the kernel's own window reaches nor what its limits are was told: nobody knows what to raise.
    is_untold = outlook.is_vain and unknown >= {*roles} and not is_set
    if is_untold:
        title = _("A window of %(window)s needs limits of %(maximum)s on %(roles)s: what they are is not known")
    params = {"window": format_quantity(window, "B"), "maximum": format_quantity(maximum, "B")}
    params |= {"roles": " + ".join(raised or roles), "settings": settings, **way}
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE if is_set else DIAGNOSIS if is_untold else RECOMMENDATION,
        title=Message(title, params),
        why=tuple(_reasons(evidence, path, nodes)),
        against=outlook.objections,
        value=float(maximum),
        unit="B",
        low=float(minimum),
        high=float(maximum),
        formula=f"{path.bdp_formula}; W = 2 · BDP = {window:,} B; M = W / {share} = {minimum:,} B -> {maximum:,} B",
        evidence=path.trials,
        change="" if is_set else sysctl.change(nodes, NAME, f"Fathom {RULE}: a window of {window:,} B, {TARGET}"),
        undo="" if is_set else sysctl.undo(nodes, NAME),
        present=present,
        predicted=outlook.rate,
        predicted_interval=outlook.interval,
        predicted_unit="bit/s",
        confidence=path.trust if is_set else outlook.trust(path.trust),
        applies_when=Message(_("Linux; programs that do not set their socket buffers, or set them up to the limit.")),
        limits=(
            Message(_("The share of the limit that becomes window was measured on kernel 6.18; it is 0.75 on 2.6.")),
            Message(
                _("tcp_rmem and tcp_wmem bound the automatic window; rmem_max and wmem_max an explicit one only.")
            ),
            Message(sysctl.KEPT),
            *sysctl.undo_limit(nodes),
        ),
        side_effects=(
            Message(
                _("A busy socket may hold so much memory on each node; many sockets at once hold many times that.")
            ),
            Message(_("Connections that exist keep their old limits: restart daemons and remount file systems.")),
        ),
        source="tcp(7), socket(7); RFC 7323, section 2.3",
        alternatives=(_several_streams(read_growth(evidence)),),
        # The automatic window heeds neither of the maxima, which belong to the whole machine.
        proof=None if is_set or unknown else sysctl.proof(nodes, {"window": 0, "streams": 1}, leave_out=MAXIMA),
    )


def make_settings(present: Mapping[str, str], maximum: int) -> Settings:
    """Return a node's settings for a limit of `maximum` bytes; larger limits of its own stay, as do min and default.

    A triple that is not min <= default <= max counts as invalid and gets Linux's own minimum and default.
    """
    targets: dict[str, str] = {}
    invalid = []
    for name in MAXIMA:
        value = present.get(name, "")
        targets[name] = str(max(int(value), maximum) if value.isdigit() else maximum)
    for name, (minimum, default) in TRIPLES.items():
        triple = _read_triple(present.get(name, ""))
        if triple is None:
            numbers = [int(word) for word in present.get(name, "").split() if word.isdigit()]
            if name in present:
                invalid.append(name)
            # Mended, it is no less than the largest that stood there.
            triple = (minimum, default, max([maximum, *numbers[1:]]))
        targets[name] = f"{triple[0]} {triple[1]} {max(triple[1], triple[2], maximum)}"
    for name in SWITCHES:
        if present.get(name) == "0":
            targets[name] = "1"
    return Settings(targets, {name: present.get(name) for name in targets}, tuple(invalid), are_limits=True)


def _changes_of(nodes: Mapping[str, Settings], roles: tuple[str, ...], maximum: int) -> tuple[tuple[str, ...], str]:
    """Return of these roles those whose limits are raised, or may be, and what else is set: `name=value (roles)`."""
    raised: dict[str, None] = {}
    others: dict[str, list[str]] = {}
    for role in roles:
        own = nodes[role]
        for name, value in own.targets.items():
            if name in MAXIMA or own.present[name] == value:
                continue
            if name in TRIPLES and value.split()[-1] == str(maximum):
                raised[role] = None
            else:
                others.setdefault(f"{name}={value}", []).append(role)
    return tuple(raised), ", ".join(f"{line} ({' + '.join(on)})" for line, on in others.items())


def _read_triple(text: str) -> tuple[int, int, int] | None:
    words = text.split()
    if len(words) != 3:
        return None
    minimum, default, maximum = (int(word) for word in words)
    return (minimum, default, maximum) if minimum <= default <= maximum else None


def _reasons(evidence: Evidence, path: PathReading, nodes: Mapping[str, Settings]) -> list[Message]:
    reasons = [path.rtt.source, path.capacity.source]
    for role, settings in nodes.items():
        for name in TRIPLES:
            value = settings.present[name]
            if name in settings.invalid:
                text = _("%(role)s: %(name)s is “%(value)s”, not min ≤ default ≤ max: the line corrects it.")
            elif value is None:
                text = _(
                    "%(role)s: its present %(name)s is not known; the line asks for it, and raises it if it is less."
                )
            else:
                text = _("%(role)s: %(name)s is now “%(value)s”.")
            reasons.append(Message(text, {"role": role, "name": name, "value": value}))
    present = present_rate(evidence)
    if present:
        text = _("One stream with the automatic window now reaches %(rate)s of the %(ceiling)s that TCP can have.")
        if path.capacity.is_stated:
            text = _(
                "One stream with the automatic window now reaches %(rate)s; the links as described leave %(ceiling)s."
            )
        params = {"rate": present, "ceiling": path.ceiling_bps}
        reasons.append(Message(text, {name: format_quantity(value, "bit/s") for name, value in params.items()}))
    if wanted_window(path) > UNSCALED:
        reasons.append(Message(_("Window scaling and the receive buffer's autotuning must stay on.")))
    return reasons


def _lets_through(evidence: Evidence, rate: float) -> bool:
    """Return whether today's limits let one stream with the automatic window have a rate, by whatever control."""
    return any(
        item.streams == 1 and not item.point.parameters["window"] and item.rate >= THROUGH * rate
        for item in read_all(evidence)
    )


def _several_streams(growth: Growth | None) -> Alternative:
    text = _("Leave the limits and open several streams: each has a window of its own.")
    if growth and growth.fall:
        text = _(
            "Leave the limits and open several streams, each with a window of its own, but not too many: with"
            " %(more)s it was %(less)s, %(share)s %% less than with %(best)s."
        )
    return Alternative(
        Message(text, growth.fall if growth and growth.fall else {}),
        Message(_("Sweep the number of streams with the automatic window.")),
        Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4, 8, 16"}),
    )
