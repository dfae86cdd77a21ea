"""Telemetry in a few figures, for the table under the charts."""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.bench.telemetry.report import Telemetry
from apps.bench.telemetry.transport import transport_of
from apps.bench.text import Message, _


@dataclass(frozen=True)
class TelemetryFigure:
    """One line of the table; `value` in the base unit."""

    name: str
    label: Message
    value: float
    unit: str


def summarise(telemetry: Telemetry) -> tuple[TelemetryFigure, ...]:
    """Return what a job's time comes to: means, totals and extremes of what its agent read."""
    return (*_transport(telemetry), *_network(telemetry), *_node(telemetry), *_disks(telemetry))


def _transport(telemetry: Telemetry) -> Iterator[TelemetryFigure]:
    transport = transport_of([telemetry.listings])
    if transport is None:
        return
    shares = (
        ("receiver_window_limited", _("TCP waited for the receiver's window"), transport.receiver_window_limited),
        ("send_buffer_limited", _("TCP waited for its send buffer"), transport.send_buffer_limited),
        ("congestion_window_limited", _("TCP's congestion window set the pace"), transport.congestion_window_limited),
    )
    for name, label, share in shares:
        if share is not None:
            yield TelemetryFigure(name, Message(label), 100 * share, "%")
    others = (
        ("connections", _("Connections that sent data"), transport.connections, "count"),
        ("cwnd_max", _("Max congestion window"), transport.cwnd_max, "B"),
        ("send_window_max", _("Max window of the receiver"), transport.send_window_max, "B"),
        ("send_buffer_max", _("Max send buffer"), transport.send_buffer_max, "B"),
        ("tcp_min_rtt", _("Min RTT that TCP saw"), transport.min_rtt, "s"),
        ("tcp_mean_rtt", _("Mean RTT that TCP saw"), transport.mean_rtt, "s"),
        ("socket_retransmits", _("Segments of the job sent again"), transport.retransmits, "count"),
    )
    for name, label, value, unit in others:
        if value is not None:
            yield TelemetryFigure(name, Message(label), value, unit)


def _network(telemetry: Telemetry) -> Iterator[TelemetryFigure]:
    nic, where = telemetry.nic, {"interface": telemetry.interface}
    figures = (
        ("rx_bytes", _("Received at %(interface)s"), "B"),
        ("tx_bytes", _("Sent at %(interface)s"), "B"),
        ("rx_packets", _("Packets received at %(interface)s"), "count"),
        ("tx_packets", _("Packets sent at %(interface)s"), "count"),
    )
    for name, label, unit in figures:
        if (value := telemetry.growth(nic.get(name))) is not None:
            yield TelemetryFigure(name, Message(label, where), value, unit)
    for name, label in (
        ("errors", _("Errors at %(interface)s")),
        ("drops", _("Drops at %(interface)s")),
    ):
        columns = [nic[key] for key in (f"rx_{name}", f"tx_{name}") if key in nic]
        if columns:
            total = sum(telemetry.growth(column) or 0.0 for column in columns)
            yield TelemetryFigure(name, Message(label, where), total, "count")
    if (again := telemetry.growth(telemetry.tcp.get("retransmits"))) is not None:
        yield TelemetryFigure("retransmits", Message(_("TCP segments sent again, whole node")), again, "count")
    if (full := telemetry.growth(telemetry.udp.get("receive_buffer_errors"))) is not None:
        yield TelemetryFigure("udp_buffer", Message(_("Datagrams lost to a full receive buffer")), full, "count")


def _node(telemetry: Telemetry) -> Iterator[TelemetryFigure]:
    load = cpu_load(telemetry)
    if load is not None:
        yield TelemetryFigure("cpu", Message(_("Mean processor load")), load, "%")
    if telemetry.core:
        yield TelemetryFigure("core", Message(_("Highest load of one processor")), max(telemetry.core), "%")
    if available := telemetry.memory.get("available"):
        yield TelemetryFigure("memory", Message(_("Min memory available")), min(available), "B")


def _disks(telemetry: Telemetry) -> Iterator[TelemetryFigure]:
    for name, disk in telemetry.disks.items():
        for key, label in (("read", _("Read from %(disk)s")), ("written", _("Written to %(disk)s"))):
            if (value := telemetry.growth(disk.get(key))) is not None:
                yield TelemetryFigure(f"{name}_{key}", Message(label, {"disk": name}), value, "B")
        if (busy := telemetry.growth(disk.get("busy"))) is not None:
            share = min(100.0, busy / 10 / telemetry.duration)
            yield TelemetryFigure(f"{name}_busy", Message(_("Utilisation of %(disk)s"), {"disk": name}), share, "%")


def cpu_load(telemetry: Telemetry) -> float | None:
    """Return the mean load (%) of all processors together, None if it was not read."""
    gains = {name: telemetry.growth(column) or 0.0 for name, column in telemetry.cpu.items()}
    whole = sum(gains.values())
    return 100 * (whole - gains.get("idle", 0.0) - gains.get("iowait", 0.0)) / whole if whole else None
