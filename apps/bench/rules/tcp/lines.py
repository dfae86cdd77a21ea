"""What came through a path as the rate at the line: of payload with the headers that it takes at least."""

from apps.bench import network
from apps.bench.network import rfc6349
from apps.bench.rules.base import Evidence
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp import elsewhere, estimates, held
from apps.bench.rules.tcp.present import read_all
from apps.bench.rules.tcp.sweeps import is_tcp

JUMBO_MTU = 9000
# More than so many times what a link, or a means, is said to have is more than that.
EXCEEDS = 1.01


def of_tcp(evidence: Evidence, rate: float) -> float:
    """Return goodput (bit/s) of TCP at the line."""
    return rate / network.tcp_efficiency(_frame(evidence))


def of_others(evidence: Evidence, rate: float) -> float:
    """Return payload (bit/s) of another campaign at the line: of datagrams, which have the fewest headers."""
    return rate / network.udp_efficiency(_frame(evidence))


def of_datagrams(evidence: Evidence, rate: float) -> float:
    """Return payload (bit/s) of the loads of UDP at the line, of the longest datagrams there were."""
    mtu = evidence.path.mtu or JUMBO_MTU
    lengths = [
        length
        for point in estimates.udp_points(evidence)
        if isinstance(length := point.parameters.get("length"), int | float) and length > 0
    ]
    return rfc6349.line_rate_bps(rate, int(max(lengths)), mtu) if lengths else rate / network.udp_efficiency(mtu)


def of_whole(evidence: Evidence) -> float:
    """Return the highest load of UDP (bit/s) that came through whole at the line, 0 without any."""
    return of_datagrams(evidence, whole_of(evidence))


def whole_of(evidence: Evidence) -> float:
    """Return the highest load of UDP (bit/s of payload) that came through whole, 0 without any."""
    curve, _trials = estimates.loss_curve_of(evidence)
    return (curve.whole or 0.0) if curve else 0.0


@read_once
def is_dispersion_misled(evidence: Evidence) -> bool:
    """Return whether more came through than the spacing of packets tells: surely at the line, or as payload alone.

    Payload, by however little: no path holds less than the payload of what it carried.
    """
    dispersed = estimates.by_dispersion(evidence)
    if dispersed is None:
        return False
    best, moved = held.best_of(evidence), elsewhere.best_transfer(evidence)[0]
    by_others = evidence.elsewhere.rate_bps if evidence.elsewhere else 0.0
    payload = max(best.rate, moved, by_others, whole_of(evidence))
    is_of_tcp = best.point is not None and is_tcp(best.point)
    line = max(
        of_tcp(evidence, best.rate) if is_of_tcp else of_datagrams(evidence, best.rate),
        of_tcp(evidence, moved),
        of_others(evidence, by_others),
        of_whole(evidence),
    )
    return payload > dispersed.high or line > EXCEEDS * dispersed.high


def _frame(evidence: Evidence) -> int:
    """Return the size (B) of the packets that TCP sent, else what the links allow, else the largest usual."""
    is_seen = any(present.last_mss for present in read_all(evidence))
    return held.frame_of(evidence) if is_seen else evidence.path.mtu or JUMBO_MTU
