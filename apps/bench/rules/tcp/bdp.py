"""How much the path holds, and so how large a window one stream needs."""

from apps.bench.network import rfc6349
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft, Proof, Proposal
from apps.bench.rules.tcp import sysctl
from apps.bench.rules.tcp.outlook import ADVISED, Outlook, read_outlook
from apps.bench.rules.tcp.path import PathReading, is_told_beside, read_path
from apps.bench.rules.tcp.present import read_present
from apps.bench.rules.tcp.sweeps import tcp_points
from apps.bench.text import Message, _
from apps.bench.units import canonical_text, format_quantity

RULE, VERSION = "tcp-bdp", 11
# The largest window without window scaling (RFC 7323).
UNSCALED = 65535
# The largest window that iperf3 can be asked for (-w).
MOST_ASKED = 512 * 1024**2
MAXIMA = ("net.core.rmem_max", "net.core.wmem_max")


def wanted_window(path: PathReading) -> int:
    """Return the window (B) that one stream should have on the path: twice the BDP."""
    return ADVISED * path.bdp_bytes


def is_short(path: PathReading | None) -> bool:
    """Return whether a path is known to hold so little that any window is enough: nothing is advised on windows."""
    return path is not None and not path.capacity.is_lower_bound and ADVISED * path.most_bytes <= UNSCALED


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the path's BDP and the window it asks for; None without a sound RTT and capacity."""
    path = read_path(evidence)
    if path is None or path.capacity.is_lower_bound or is_told_beside(evidence):
        return None
    bdp, window = path.bdp_bytes, wanted_window(path)
    reasons = [
        path.rtt.source,
        path.capacity.source,
        Message(
            _("A smaller window than %(bdp)s cannot fill the path; twice as much allows for a queue on the way."),
            {"bdp": format_quantity(bdp, "B")},
        ),
    ]
    present, outlook = present_rate(evidence), read_outlook(evidence, path)
    knee = _printed_knee(evidence)
    if knee:
        text = _("Printed: the path is full only from a window of %(knee)s on, %(times)s times the BDP.")
        reasons.append(Message(text, {"knee": format_quantity(knee, "B"), "times": f"{knee / bdp:.1f}"}))
    is_swept = (
        knee or len({point.parameters["window"] for point in tcp_points(evidence) if point.parameters["window"]}) > 2
    )
    is_little, is_vain = is_short(path), outlook.in_the_way is not None or outlook.is_vain
    is_undecided = outlook.is_open or outlook.is_untried
    if present and not is_little:
        text = _("With the kernel's automatic window one stream now reaches %(rate)s: a gain of ×%(gain)s at most.")
        if is_vain:
            # What gains nothing has no gain at most.
            text = _("With the kernel's automatic window one stream now reaches %(rate)s.")
        gain = f"{max(path.ceiling_bps / present, 1):.2f}"
        reasons.append(Message(text, {"rate": format_quantity(present, "bit/s"), "gain": gain}))
    if window > UNSCALED:
        reasons.append(Message(_("It is more than 65,535 bytes, so both ends need window scaling (RFC 7323).")))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        # What measured windows had against each other says which to take, not what the path holds.
        kind=NO_CHANGE if is_vain or is_little else DIAGNOSIS if is_undecided else RECOMMENDATION,
        title=Message(
            _title(path, outlook, is_short=is_little, is_vain=is_vain, is_one_way=bool(way_beside_other(evidence))),
            {"bdp": format_quantity(bdp, "B"), "window": format_quantity(window, "B"), **way_beside_other(evidence)},
        ),
        why=tuple(reasons),
        against=outlook.objections,
        value=float(bdp),
        unit="B",
        low=float(bdp),
        high=max(float(window), knee or 0.0),
        formula=f"{path.bdp_formula}; W = {ADVISED} · BDP = {window:,} B",
        evidence=path.trials,
        present=present,
        predicted=None if is_little else outlook.rate,
        predicted_interval=None if is_little else outlook.interval,
        predicted_unit="bit/s",
        # What the path holds is known as it is; only the advice is doubted.
        confidence=path.trust if is_vain else outlook.trust(path.trust),
        applies_when=Message(_("One TCP stream is to fill the path.")),
        limits=(
            Message(_("Without loss and with idle ends; cross traffic leaves less than the capacity.")),
            Message(
                _("It is where a sweep of windows starts, not where it ends: kernels use a part of a buffer only.")
            ),
            Message(
                _("A window beyond this gains nothing: the rest waits in the bottleneck's queue and adds delay.")
            ),
        ),
        source="RFC 6349, sections 3.2 and 3.3.1",
        missing=()
        if is_swept or is_little or is_vain
        else (Message(_("From which window on the rate really grows no more.")),),
        proposals=() if is_swept or is_little or is_vain else (_sweep(path),),
        proof=Proof("iperf3-tcp", "goodput", {"window": 0, "streams": 1}, {"window": window, "streams": 1})
        if present
        and not is_little
        and window <= _most_asked(evidence)
        and not (outlook.in_the_way or outlook.is_open)
        else None,
    )


def _title(path: PathReading, outlook: Outlook, *, is_short: bool, is_vain: bool, is_one_way: bool) -> str:
    """Return the conclusion; where nothing measured tells the capacity it holds as far as the links are described."""
    if is_short:
        stated = _("If the links carry what is said of them, the path holds %(bdp)s: any window is enough")
        measured = _("The path holds %(bdp)s: any window is enough")
    elif outlook.is_open:
        stated = _(
            "If the links carry what is said of them, the path holds %(bdp)s; of the windows measured one asked for"
            " had more than the kernel's own"
        )
        measured = _("The path holds %(bdp)s; of the windows measured one asked for had more than the kernel's own")
    elif outlook.is_untried:
        stated = _(
            "If the links carry what is said of them, the path holds %(bdp)s; what a window of %(window)s gains is"
            " untried"
        )
        measured = _("The path holds %(bdp)s; what a window of %(window)s gains is untried")
    elif outlook.is_vain:
        stated = measured = _("The path holds %(bdp)s; a larger window than was asked for gains nothing")
    elif is_vain:
        stated = _(
            "If the links carry what is said of them, the path holds %(bdp)s; a larger window gains nothing now"
        )
        measured = _("The path holds %(bdp)s; a larger window gains nothing now")
        if is_one_way:
            stated = _(
                "If the links carry what is said of them, the path holds %(bdp)s; from %(sender)s to %(receiver)s a"
                " larger window gains nothing now"
            )
            measured = _("The path holds %(bdp)s; from %(sender)s to %(receiver)s a larger window gains nothing now")
    else:
        stated = _(
            "If the links carry what is said of them, the path holds %(bdp)s: give one stream a window of %(window)s"
        )
        measured = _("The path holds %(bdp)s: give one stream a window of %(window)s")
    return stated if path.capacity.is_stated else measured


def way_beside_other(evidence: Evidence) -> dict[str, str]:
    """Return between which roles data went, where the other way was measured, too: what gains nothing may gain there.

    {} where it was not.
    """
    is_both = any(item.is_back != evidence.is_back for item in evidence.beside)
    return {"sender": evidence.sender, "receiver": evidence.receiver} if is_both else {}


def present_rate(evidence: Evidence) -> float | None:
    """Return the goodput (bit/s) of one stream with the automatic window and the nodes' own settings."""
    present = read_present(evidence)
    return present.rate if present is not None and present.streams == 1 else None


def _most_asked(evidence: Evidence) -> int:
    """Return the largest window (B) that a program may ask for on both nodes, 0 where their kernels did not say."""
    maxima = [sysctl.read_sysctls(evidence, role).get(name, "") for role in sysctl.ROLES for name in MAXIMA]
    return min(MOST_ASKED, *(int(value) if value.isdigit() else 0 for value in maxima))


def _printed_knee(evidence: Evidence) -> float | None:
    """Return the window (B) from which on the rate grows no more, as a publication prints it of one stream."""
    knees = (
        trend.knee
        for trend in evidence.trends
        if (trend.metric, trend.factor, trend.shape) == ("goodput", "window", "saturates")
        and trend.fixed.get("streams", 1) == 1
    )
    return next((knee for knee in knees if knee), None)


def _sweep(path: PathReading) -> Proposal:
    """Return the sweep of windows from a quarter of the BDP to four times it (RFC 6349, section 5.1)."""
    windows = rfc6349.windows_to_test(path.capacity.value, path.rtt.value)
    return Proposal("iperf3-tcp", {"streams": "1"}, {"window": ", ".join(canonical_text(w, "size") for w in windows)})
