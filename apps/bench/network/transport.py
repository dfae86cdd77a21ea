"""Formulae of transport over a path: BDP, header overhead, and what a window allows. None in means None out."""

import math

# A header of 14 B and a check sequence of 4 B, preamble and start of 8 B, and an idle gap of 12 B (IEEE 802.3).
ETHERNET_BYTES = 38
IPV4_BYTES = 20
TCP_BYTES = 20
TIMESTAMP_BYTES = 12
UDP_BYTES = 8
# Every IPv4 link carries datagrams of this size (RFC 791, section 3.2).
LEAST_MTU = 68


def bdp_bytes(capacity_bps: float | None, rtt_s: float | None) -> int | None:
    """Return the bandwidth-delay product in whole bytes: capacity (bit/s) x RTT (s) / 8 (RFC 6349, section 3.3.1)."""
    if capacity_bps is None or rtt_s is None:
        return None
    return round(capacity_bps * rtt_s / 8)


def tcp_efficiency(mtu: int, *, timestamps: bool = True) -> float:
    """Return TCP's goodput over Ethernet as a fraction of the line rate: (MTU - 52) / (MTU + 38).

    Without timestamps (MTU - 40) / (MTU + 38), as in RFC 6349, section 4.1.1; timestamps (RFC 7323) add 12 bytes.
    IPv4, full segments; `mtu` in bytes, ValueError if it is less than the 68 of IPv4.
    """
    return _payload_share(mtu, IPV4_BYTES + TCP_BYTES + (TIMESTAMP_BYTES if timestamps else 0))


def udp_efficiency(mtu: int) -> float:
    """Return UDP's goodput over Ethernet as a fraction of the line rate: (MTU - 28) / (MTU + 38).

    IPv4, datagrams that fill the MTU (bytes) and are not fragmented; ValueError if it is less than 68.
    """
    return _payload_share(mtu, IPV4_BYTES + UDP_BYTES)


def tcp_ceiling_bps(capacity_bps: float | None, mtu: int | None, *, timestamps: bool = True) -> float | None:
    """Return the most goodput (bit/s) that TCP can have of a capacity (bit/s): `tcp_efficiency` times it."""
    if capacity_bps is None or mtu is None:
        return None
    return capacity_bps * tcp_efficiency(mtu, timestamps=timestamps)


def udp_ceiling_bps(capacity_bps: float | None, mtu: int | None, datagram_bytes: int | None = None) -> float | None:
    """Return the most goodput (bit/s) that UDP can have of a capacity (bit/s), in datagrams of so much payload.

    Datagrams fill the MTU where no length is given: `udp_efficiency` times the capacity.
    """
    if capacity_bps is None or mtu is None:
        return None
    if datagram_bytes is None:
        return capacity_bps * udp_efficiency(mtu)
    return capacity_bps / line_bytes(datagram_bytes, mtu)


def line_bytes(datagram_bytes: int, mtu: int) -> float:
    """Return how many bytes each byte of a UDP datagram's payload takes of an Ethernet line, headers included.

    One that does not fit the MTU (B) is sent in fragments, each with an IP header of its own (RFC 791).
    """
    whole = datagram_bytes + UDP_BYTES
    # All fragments but the last carry a multiple of eight bytes.
    room = (mtu - IPV4_BYTES) // 8 * 8
    packets = 1 if whole <= mtu - IPV4_BYTES else math.ceil(whole / room)
    return (whole + packets * (IPV4_BYTES + ETHERNET_BYTES)) / datagram_bytes


def window_limited_bps(window_bytes: float | None, rtt_s: float | None, streams: int = 1) -> float | None:
    """Return the rate (bit/s) that windows (bytes) allow: streams x window x 8 / RTT (RFC 6349, section 3.3.1).

    At most a window is under way in each RTT (s). None also for an RTT of zero, at which a window limits nothing,
    and for one so short that no number holds the rate.
    """
    if window_bytes is None or not rtt_s:
        return None
    rate = streams * window_bytes * 8 / rtt_s
    return rate if math.isfinite(rate) else None


def most_bps(
    capacity_bps: float | None, rtt_s: float | None, window_bytes: float | None, streams: int = 1
) -> float | None:
    """Return the most (bit/s) that streams with a window asked for (bytes; 0 or None: the kernel's own) can move.

    Linux grants twice the buffer that is asked for (socket(7)), and none of it more than once in an RTT (s).
    """
    window_bps = window_limited_bps(2 * window_bytes if window_bytes else None, rtt_s, streams)
    return min(capacity_bps, window_bps) if capacity_bps is not None and window_bps is not None else capacity_bps


def _payload_share(mtu: int, header_bytes: int) -> float:
    if mtu < LEAST_MTU:
        raise ValueError(f"an MTU of {mtu} bytes is less than the {LEAST_MTU} that IPv4 needs")
    return (mtu - header_bytes) / (mtu + ETHERNET_BYTES)
