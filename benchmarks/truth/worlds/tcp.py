"""What TCP really reaches between two hosts: the least of what its parts allow, with its reason."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

WINDOW, LOSS, FLOW, PROCESSOR, PATH, READER = "window", "loss", "flow", "processor", "path", "receiver"
# What is left where every large packet vanishes and nobody probes (bit/s).
HOLE, STALLED = "black-hole", 1e4
RMEM, WMEM = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"
RMEM_MAX, WMEM_MAX = "net.core.rmem_max", "net.core.wmem_max"
SCALING, TUNING, SACK = "net.ipv4.tcp_window_scaling", "net.ipv4.tcp_moderate_rcvbuf", "net.ipv4.tcp_sack"
TIMESTAMPS = "net.ipv4.tcp_timestamps"
CONTROL, PROBING, NO_DISCOVERY = (
    "net.ipv4.tcp_congestion_control", "net.ipv4.tcp_mtu_probing", "net.ipv4.ip_no_pmtu_disc",
)  # fmt: skip
# The largest window that the header can carry without scaling.
LARGEST_UNSCALED = 65_535
# What a segment's IPv4 and TCP headers with timestamps take, and what Ethernet adds to a packet.
HEADERS, FRAMING = 52, 38
# The MTU that probing settles at, once large packets vanish.
PROBED = 1076
# A policer that drops leaves TCP this share of its rate.
POLICED = 0.9


@dataclass(frozen=True)
class Host:
    """One end: its interface (bit/s, B), what one flow and all together cost it (bit/s), and its kernel.

    `share` is the part of a socket's buffer that becomes window. What receives here, a program or its disk, takes
    `takes_bps` of all connections together; where that is the limit the kernel offers `offers` times what is on the
    way: its buffer is full, and does not grow. Something clamps each connection's window at `clamp` B, whatever its
    kernel lets it grow to: the program's own buffer, in place of which another may be asked for, or, where that
    `is_on_route`, a route or a box on the way that heeds no wish.
    """

    name: str
    nic_bps: float
    mtu: int
    flow_bps: float
    host_bps: float
    sysctls: Mapping[str, str]
    share: float = 0.65
    takes_bps: float = math.inf
    offers: float = 1.0
    clamp: float = math.inf
    is_on_route: bool = False

    def value(self, key: str, place: int = 0) -> int:
        """Return a number of a sysctl, of a triple the one at `place`."""
        return int(self.sysctls[key].split()[place])


@dataclass(frozen=True)
class Line:
    """One link as it really is: bit/s at the line, s, B."""

    name: str
    capacity_bps: float
    rtt_s: float
    mtu: int


@dataclass(frozen=True)
class Way:
    """The path: links, random loss of a packet, the bottleneck's queue (B), what each flow and all together may have.

    So many flows of `others` have their shares of it, too. Of packets a share comes `late`, out of order: TCP takes
    them for lost, sends them again and slows down, though none is. A shaper delays what is above, a policer drops
    it; in a black hole packets above the MTU vanish without a word. Flows of CUBIC and Reno that fill the path keep
    a queue of `standing` times the idle round trip, and each loses of that what its law asks for, no more.
    """

    lines: tuple[Line, ...]
    loss: float = 0.0
    queue_bytes: float = math.inf
    shaper_bps: float = math.inf
    policer_bps: float = math.inf
    aggregate_bps: float = math.inf
    others: int = 0
    late: float = 0.0
    standing: float = 0.0
    is_black_hole: bool = False

    @property
    def rtt_s(self) -> float:
        """Return the idle round trip."""
        return sum(line.rtt_s for line in self.lines)

    @property
    def mtu(self) -> int:
        """Return the largest packet that passes every link."""
        return min(line.mtu for line in self.lines)


@dataclass(frozen=True)
class Setting:
    """What a measurement asks for; `sysctls` {role: {key: value}} and `mtus` {role: B} are set, pace in bit/s."""

    window: int = 0
    streams: int = 1
    congestion: str = ""
    sysctls: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mtus: Mapping[str, int] = field(default_factory=dict)
    pace_bps: float = math.inf


@dataclass(frozen=True)
class Reached:
    """The mean goodput (bit/s), what sets it, what each part would allow, and what is seen of the connections."""

    rate: float
    limit: str
    terms: Mapping[str, float]
    window: float
    advertised: float
    granted: float | None
    mss: int
    first_mss: int
    rtt_s: float
    lost: float
    is_capped: bool
    at_sender: bool

    def is_limit(self, name: str, within: float = 0.1) -> bool:
        """Return whether this part sets the pace, or comes so near the one that does that both may be named."""
        return self.terms[name] <= (1 + within) * min(self.terms.values())


def efficiency(mtu: int) -> float:
    """Return TCP's share of the line's rate."""
    return (mtu - HEADERS) / (mtu + FRAMING)


def line_rate(client: Host, server: Host, way: Way) -> float:
    """Return the capacity of the path with both interfaces, at the line (bit/s)."""
    return min(client.nic_bps, server.nic_bps, way.aggregate_bps, *(line.capacity_bps for line in way.lines))


def reach(client: Host, server: Host, way: Way, setting: Setting) -> Reached:
    """Return what a transfer from the client to the server really reaches."""
    client, server = _changed(client, setting, "client"), _changed(server, setting, "server")
    first, mtu = _packets(client, server, way)
    stalls = mtu == 0
    mtu = mtu or 576
    mss = mtu - HEADERS
    share, rtt, streams = efficiency(mtu), way.rtt_s, setting.streams
    # The queue of others stands whatever this flow does.
    stood = (1 + way.standing) * rtt
    loaded = stood if way.others else rtt
    window, advertised, granted = _windows(client, server, setting)
    control = setting.congestion or client.sysctls[CONTROL]
    capacity = line_rate(client, server, way) * share
    each = {
        WINDOW: window * 8 / loaded,
        LOSS: _lossy(control, mss, rtt, way.loss + way.late),
        FLOW: share * min(way.shaper_bps, POLICED * way.policer_bps, setting.pace_bps),
        PROCESSOR: min(client.flow_bps, server.flow_bps),
    }
    terms = {name: streams * rate for name, rate in each.items()}
    terms[PROCESSOR] = min(terms[PROCESSOR], client.host_bps, server.host_bps)
    terms[PATH] = (
        capacity * (0.93 if control == "bbr" and way.loss else 1.0) * _filled(way, capacity, streams, control)
    )
    terms[PATH] *= streams / (streams + way.others)
    terms[READER] = server.takes_bps
    if stalls:
        terms[HOLE] = STALLED
    limit = min(terms, key=lambda name: terms[name])
    rate = terms[limit]
    lost = way.loss + way.late
    if limit == FLOW and way.policer_bps < way.shaper_bps and setting.pace_bps > way.policer_bps:
        lost = max(lost, 0.005)
    held = capacity * rtt / 8
    if (
        limit == PATH
        and way.standing
        and control != "bbr"
        and (way.others or streams * window >= (1 + way.standing) * held)
    ):
        loaded = stood
        lost += _sawtooth(control, mss, loaded, rate / streams)
    elif limit == PATH:
        lost = max(lost, 2e-5) if streams * window > held + way.queue_bytes else lost
        loaded += min(max(0.0, streams * window - held), way.queue_bytes, 4 * held) * 8 / capacity
    sender = _sent(client, setting)
    if limit == READER:
        on_the_way = server.offers * rate * rtt / 8 / streams
        advertised = min(advertised, max(on_the_way, 0 if setting.window else LARGEST_UNSCALED))
    return Reached(
        rate, limit, terms, window, advertised, granted, mss, first - HEADERS, loaded, lost,
        is_capped=granted is not None and granted < 2 * setting.window, at_sender=sender < advertised,
    )  # fmt: skip


def _changed(host: Host, setting: Setting, role: str) -> Host:
    changed = {**host.sysctls, **setting.sysctls.get(role, {})}
    return replace(host, sysctls=changed, mtu=setting.mtus.get(role, host.mtu))


def _packets(client: Host, server: Host, way: Way) -> tuple[int, int]:
    """Return the size of packets (B) at the beginning and in the end; 0 where large ones vanish for ever."""
    asked = min(client.mtu, server.mtu)
    if asked <= way.mtu:
        return asked, asked
    if not way.is_black_hole:
        return asked, way.mtu
    return asked, PROBED if client.value(PROBING) else 0


def _sent(client: Host, setting: Setting) -> float:
    if setting.window:
        return min(setting.window, client.value(WMEM_MAX)) * 2 * client.share
    return client.value(WMEM, 2) * client.share * 1.1


def _windows(client: Host, server: Host, setting: Setting) -> tuple[float, float, float | None]:
    """Return the window in use, the one advertised, and the buffer granted (B; None for an automatic one)."""
    granted = None
    if setting.window:
        granted = 2.0 * min(setting.window, client.value(WMEM_MAX), server.value(RMEM_MAX))
        advertised = min(setting.window, server.value(RMEM_MAX)) * 2 * server.share
    elif server.value(TUNING):
        advertised = server.value(RMEM, 2) * server.share
    else:
        advertised = min(server.value(RMEM, 1), server.value(RMEM, 2)) * server.share
    if not (client.value(SCALING) and server.value(SCALING)):
        advertised = min(advertised, LARGEST_UNSCALED)
    if server.is_on_route or not setting.window:
        advertised = min(advertised, server.clamp)
    return min(advertised, _sent(client, setting)), advertised, granted


def _lossy(control: str, mss: int, rtt: float, loss: float) -> float:
    """Return what random loss leaves to one flow: Reno's square root, CUBIC's three quarters, next to all to BBR."""
    if not loss or control == "bbr":
        return math.inf
    reno = 1.22 * mss * 8 / rtt / math.sqrt(loss)
    if control == "reno":
        return reno
    return max(reno, 1.054 * (rtt / loss) ** 0.75 * mss * 8 / rtt)


def _sawtooth(control: str, mss: int, rtt: float, rate: float) -> float:
    """Return the share of segments that a flow loses at a rate to the queue that it fills, by its control's law."""
    segments = rate * rtt / 8 / mss
    reno = (1.22 / segments) ** 2
    return reno if control == "reno" else max(reno, rtt * (1.054 / segments) ** (4 / 3))


def _filled(way: Way, capacity: float, streams: int, control: str) -> float:
    """Return the share that flows fill whose bottleneck's queue is shorter than the path is long."""
    held = capacity * way.rtt_s / 8
    if control == "bbr" or way.queue_bytes >= held:
        return 1.0
    # What backing off costs: half the window for Reno, three tenths for CUBIC, less with every flow more.
    least = 1 - (0.25 if control == "reno" else 0.15) / streams
    return least + (1 - least) * way.queue_bytes / held
