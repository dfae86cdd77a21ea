"""A window that was asked for and not granted: rmem_max or wmem_max is below it."""

import math

from apps.bench.rules.base import Alternative, Evidence, FindingDraft
from apps.bench.rules.tcp import sysctl
from apps.bench.rules.tcp.bdp import MAXIMA, is_short, wanted_window
from apps.bench.rules.tcp.path import read_path
from apps.bench.rules.tcp.present import Present, is_plain, read_all
from apps.bench.rules.tcp.sysctl import Settings, read_sysctls
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-buffer-maxima", 6
NAME = "tcp-maxima"
# Linux doubles what is asked for (socket(7)); a kernel that grants less than this share of it capped the request.
GRANTED = 0.95
# These sysctls are C ints.
MOST = 2**31 - 1


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the maxima that the windows asked for need; None if all were granted or could not have been needed."""
    capped = [item for item in read_all(evidence) if is_plain(item.point) and _is_capped(item)]
    if not capped:
        return None
    path = read_path(evidence)
    if is_short(path):
        return None
    request = max(item.point.parameters["window"] for item in capped)
    # Nobody needs a larger window than the path holds, however large a one was tried.
    target = min(request, wanted_window(path)) if path else request
    smallest = min(capped, key=lambda item: item.point.parameters["window"])
    granted = smallest.mean("window_granted") or 0.0
    if target <= granted / 2:
        return None
    maximum = min(math.ceil(target / 1024) * 1024, MOST)
    nodes = {role: _settings(evidence, role, maximum) for role in sysctl.ROLES}
    roles = sysctl.lacking(nodes)
    if not roles:
        # By what their kernels tell now they grant it.
        return None
    params = {
        "asked": format_quantity(smallest.point.parameters["window"], "B"),
        "granted": format_quantity(round(granted / 2), "B"),
    }
    text = _("Of a window of %(asked)s that was requested the kernel granted %(granted)s, without an error.")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        title=Message(
            _("rmem_max or wmem_max caps windows at %(granted)s: raise them to %(maximum)s on %(roles)s"),
            {**params, "maximum": format_quantity(maximum, "B"), "roles": " + ".join(roles)},
        ),
        why=(Message(text, params), *_maxima(evidence)),
        value=float(maximum),
        unit="B",
        low=float(math.ceil(granted / 2)),
        high=float(maximum),
        formula=f"granted = {granted:,.0f} B < 2 · W = {2 * smallest.point.parameters['window']:,} B",
        evidence=tuple(sorted({trial for item in capped for trial in item.trials})),
        change=sysctl.change(nodes, NAME, f"Fathom {RULE}: programs may ask for windows of {maximum:,} B"),
        undo=sysctl.undo(nodes, NAME),
        present=smallest.rate,
        predicted_unit="bit/s",
        confidence=0.95,
        applies_when=Message(_("Programs that set their socket buffers themselves, such as iperf3 -w or -tcp-bs.")),
        limits=(
            Message(_("These maxima do not bound the automatic window: tcp_rmem and tcp_wmem do.")),
            Message(sysctl.KEPT),
            *sysctl.undo_limit(nodes),
        ),
        side_effects=(Message(_("They hold for all network namespaces of the machine and for UDP, too.")),),
        source="socket(7), SO_RCVBUF and SO_SNDBUF",
        alternatives=(
            Alternative(
                Message(_("Ask for no window: the kernel's own grows up to tcp_rmem and tcp_wmem.")),
                Message(_("Measure with the automatic window beside the largest one granted.")),
            ),
        ),
    )


def _is_capped(item: Present) -> bool:
    request, granted = item.point.parameters.get("window") or 0, item.mean("window_granted")
    return bool(request and granted and granted < GRANTED * 2 * request)


def _settings(evidence: Evidence, role: str, maximum: int) -> Settings:
    sysctls = read_sysctls(evidence, role)
    targets = {
        name: str(max(int(sysctls[name]) if sysctls.get(name, "").isdigit() else 0, maximum)) for name in MAXIMA
    }
    return Settings(targets, {name: sysctls.get(name) for name in MAXIMA}, are_limits=True)


def _maxima(evidence: Evidence) -> tuple[Message, ...]:
    maxima = [(role, name, read_sysctls(evidence, role).get(name)) for role in sysctl.ROLES for name in MAXIMA]
    return tuple(
        Message(_("%(role)s: %(name)s is now “%(value)s”."), {"role": role, "name": name, "value": value})
        for role, name, value in maxima
        if value is not None
    )
