"""Telemetry as lines over time: what went on on a node while its job ran."""

import itertools
from collections.abc import Callable, Iterator, Sequence

from apps.bench.telemetry.report import Telemetry
from apps.bench.telemetry.sockets import Socket
from apps.bench.telemetry.transport import senders_of
from apps.bench.text import _
from apps.bench.toolkit import SampleSeries

# What each chart shows; the streams of a chart are its lines.
LABELS = {
    "kernel_tcp_limits": _("What TCP waited for"),
    "kernel_tcp_window": _("TCP windows, mean"),
    "kernel_tcp_rtt": _("RTT of TCP, mean"),
    "kernel_nic_rate": _("Rate at the interface"),
    "kernel_retransmits": _("TCP segments sent again"),
    "kernel_losses": _("Packets dropped or in error"),
    "kernel_cpu": _("Processor load"),
    "kernel_disk_rate": _("Disk rate"),
    "kernel_disk_load": _("Disk utilisation"),
    "kernel_memory": _("Memory available"),
}
STREAMS = {
    "receiver_window": _("receiver's window"),
    "send_buffer": _("send buffer"),
    "congestion_window": _("congestion window"),
    "send_window": _("receiver's window (granted)"),
    "in": _("in"),
    "out": _("out"),
    "interface": _("interface"),
    "udp_buffer": _("UDP receive buffer"),
    "all": _("all processors"),
    "busiest": _("busiest processor"),
    "retransmits": _("sent again"),
    "available": _("available"),
    "rtt": _("RTT"),
    "read": _("read"),
    "written": _("written"),
}
# No clock of an agent tells two moments apart that are closer than this: nothing has a rate between them.
LEAST_STEP_S = 1e-6


def series_of(telemetry: Telemetry) -> tuple[SampleSeries, ...]:
    """Return the lines to draw; what did not happen (no disk, no drops) has none."""
    return (*transport_series(telemetry), *_node_series(telemetry))


def transport_series(telemetry: Telemetry) -> tuple[SampleSeries, ...]:
    """Return the lines of the connections that sent the job's data."""
    histories = list(senders_of(telemetry.listings).values())
    if not histories:
        return ()
    lines = []
    waited: dict[str, dict[float, list[float]]] = {}
    for history in histories:
        for (_before, earlier), (at, later) in itertools.pairwise(history):
            for stream, share in _limits_between(earlier, later).items():
                waited.setdefault(stream, {}).setdefault(at, []).append(share)
    lines += [_mean_line("kernel_tcp_limits", stream, "%", values) for stream, values in waited.items()]
    figures: tuple[tuple[str, str, str, Callable[[Socket], float | None]], ...] = (
        ("kernel_tcp_window", "congestion_window", "B", lambda socket: socket.congestion_window),
        ("kernel_tcp_window", "send_window", "B", lambda socket: socket.send_window),
        ("kernel_tcp_rtt", "rtt", "s", lambda socket: socket.rtt_s),
    )
    for metric, stream, unit, figure in figures:
        values: dict[float, list[float]] = {}
        for history in histories:
            for at, socket in history:
                if (value := figure(socket)) is not None:
                    values.setdefault(at, []).append(value)
        if values:
            lines.append(_mean_line(metric, stream, unit, values))
    return tuple(lines)


def _limits_between(earlier: Socket, later: Socket) -> dict[str, float]:
    """Return in which share (%) of its busy time between two moments a connection waited for what; {} if idle."""
    busy = later.busy_s - earlier.busy_s
    if busy <= 0:
        return {}
    receiver = min(1.0, max(0.0, later.receiver_limited_s - earlier.receiver_limited_s) / busy)
    buffer = min(1 - receiver, max(0.0, later.buffer_limited_s - earlier.buffer_limited_s) / busy)
    shares = {"receiver_window": receiver, "send_buffer": buffer, "congestion_window": 1 - receiver - buffer}
    return {name: 100 * share for name, share in shares.items()}


def _mean_line(metric: str, stream: str, unit: str, values: dict[float, list[float]]) -> SampleSeries:
    times = sorted(values)
    means = tuple(sum(values[at]) / len(values[at]) for at in times)
    return SampleSeries(metric=metric, stream=stream, unit=unit, times=tuple(times), values=means)


def _node_series(telemetry: Telemetry) -> Iterator[SampleSeries]:
    nic, cpu = telemetry.nic, telemetry.cpu
    for stream, name in (("in", "rx_bytes"), ("out", "tx_bytes")):
        if name in nic:
            yield _rates(telemetry, "kernel_nic_rate", stream, "bit/s", [8 * value for value in nic[name]])
    if telemetry.growth(telemetry.tcp.get("retransmits")):
        yield _gains(telemetry, "kernel_retransmits", "retransmits", telemetry.tcp["retransmits"])
    lost = [nic[name] for name in ("rx_errors", "rx_drops", "tx_errors", "tx_drops") if name in nic]
    if lost and any(telemetry.growth(column) for column in lost):
        total = [sum(values) for values in zip(*lost, strict=True)]
        yield _gains(telemetry, "kernel_losses", "interface", total)
    if telemetry.growth(telemetry.udp.get("receive_buffer_errors")):
        yield _gains(telemetry, "kernel_losses", "udp_buffer", telemetry.udp["receive_buffer_errors"])
    if "idle" in cpu:
        working = [column for name, column in cpu.items() if name not in ("idle", "iowait")]
        busy = [sum(values) for values in zip(*working, strict=True)] or [0.0] * len(telemetry.times)
        whole = [sum(values) for values in zip(*cpu.values(), strict=True)]
        yield _shares(telemetry, "kernel_cpu", "all", busy, whole)
    if telemetry.core:
        yield _line(telemetry, "kernel_cpu", "busiest", "%", telemetry.core[1:])
    for name, disk in telemetry.disks.items():
        for stream, column in (("read", disk.get("read")), ("written", disk.get("written"))):
            if column and telemetry.growth(column):
                yield _rates(telemetry, "kernel_disk_rate", f"{name} {stream}", "B/s", column)
        if "busy" in disk:
            steps_ms = [1000 * (at - telemetry.times[0]) for at in telemetry.times]
            yield _shares(telemetry, "kernel_disk_load", name, disk["busy"], steps_ms)
    if "available" in telemetry.memory:
        yield SampleSeries("kernel_memory", "available", "B", telemetry.times, telemetry.memory["available"])


def _line(telemetry: Telemetry, metric: str, stream: str, unit: str, values: Sequence[float]) -> SampleSeries:
    """Return what holds of the time until each moment but the first."""
    return SampleSeries(metric=metric, stream=stream, unit=unit, times=telemetry.times[1:], values=tuple(values))


def _rates(telemetry: Telemetry, metric: str, stream: str, unit: str, column: Sequence[float]) -> SampleSeries:
    pairs = zip(_steps(column), _steps(telemetry.times), strict=True)
    rates = [gain / seconds if seconds >= LEAST_STEP_S else 0.0 for gain, seconds in pairs]
    return _line(telemetry, metric, stream, unit, rates)


def _gains(telemetry: Telemetry, metric: str, stream: str, column: Sequence[float]) -> SampleSeries:
    return _line(telemetry, metric, stream, "count", _steps(column))


def _shares(
    telemetry: Telemetry, metric: str, stream: str, part: Sequence[float], whole: Sequence[float]
) -> SampleSeries:
    pairs = zip(_steps(part), _steps(whole), strict=True)
    values = [min(100.0, 100 * gain / amount) if amount > 0 else 0.0 for gain, amount in pairs]
    return _line(telemetry, metric, stream, "%", values)


def _steps(column: Sequence[float]) -> list[float]:
    return [max(0.0, later - earlier) for earlier, later in itertools.pairwise(column)]
