"""What becomes of datagrams, and what probes tell, on a path that is known."""

from dataclasses import dataclass

from benchmarks.truth.worlds.tcp import FRAMING, Host, Way, line_rate

# IPv4 and UDP take so much of a packet.
UDP_HEADERS = 28


@dataclass(frozen=True)
class Arrived:
    """What was really offered and arrived (bit/s of payload), the share lost, and what beside the path lost it."""

    offered: float
    goodput: float
    loss: float
    jitter_s: float
    sender_full: bool
    receiver_full: bool


def payload_rate(client: Host, server: Host, way: Way, length: int) -> float:
    """Return the payload (bit/s) in datagrams of `length` B that the path carries."""
    return line_rate(client, server, way) * length / (length + UDP_HEADERS + FRAMING)


def offer(client: Host, server: Host, way: Way, rate: float, length: int, drain_bps: float) -> Arrived:
    """Return what becomes of an offered load; the receiver takes no more than `drain_bps` out of its socket."""
    sent = min(rate, client.flow_bps)
    most = min(payload_rate(client, server, way, length), way.shaper_bps, way.policer_bps)
    through = min(sent, most) * (1 - way.loss)
    got = min(through, drain_bps)
    share = min(sent / most, 1.5)
    return Arrived(
        offered=sent,
        goodput=got,
        loss=max(0.0, 1 - got / sent),
        jitter_s=2e-5 * (1 + 4 * share**4),
        sender_full=client.flow_bps < rate,
        receiver_full=drain_bps < through,
    )
