"""What limited TCP: the evidence of the connections themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from apps.bench.telemetry.sockets import Socket, SocketListing

# A connection that moved less than this share of what the busiest did carries no data but control.
LEAST_SHARE = 0.02
# Nothing can be said of connections that moved less than this (B).
LEAST_BYTES = 10_000


@dataclass(frozen=True)
class Transport:
    """The connections that sent a job's data, all together; None where their kernel did not say.

    The three shares are of the time in which they had something to send, 0 to 1, and make 1 together. Windows are
    the largest of one connection (B), RTTs in s, `rtt_mean` over all that was listed; `busy` is in s.
    """

    connections: int
    bytes_sent: int
    busy: float
    receiver_window_limited: float | None = None
    send_buffer_limited: float | None = None
    congestion_window_limited: float | None = None
    retransmits: int = 0
    bytes_retransmitted: int = 0
    min_rtt: float | None = None
    mean_rtt: float | None = None
    cwnd_max: int | None = None
    send_window_max: int | None = None
    send_buffer_max: int | None = None
    mss: int | None = None
    path_mtu: int | None = None
    congestion: str = ""

    def as_json(self) -> dict[str, object]:
        """Return what is known as plain JSON values."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "")}


def senders_of(listings: Iterable[SocketListing]) -> dict[tuple[str, str], list[tuple[float, Socket]]]:
    """Return {(local, peer): [(at, socket), …]} of the connections on which a job sent its data."""
    histories: dict[tuple[str, str], list[tuple[float, Socket]]] = {}
    for listing in listings:
        for socket in listing.sockets:
            histories.setdefault((socket.local, socket.peer), []).append((listing.at, socket))
    bytes_by_connection = {key: history[-1][1].bytes_sent for key, history in histories.items()}
    minimum = max(LEAST_BYTES, LEAST_SHARE * max(bytes_by_connection.values(), default=0))
    return {key: history for key, history in histories.items() if bytes_by_connection[key] >= minimum}


def transport_of(jobs: Sequence[Sequence[SocketListing]]) -> Transport | None:
    """Return what the connections of several jobs' listings say together; None if none of them sent data."""
    histories = [history for listings in jobs for history in senders_of(listings).values()]
    if not histories:
        return None
    last = [history[-1][1] for history in histories]
    every = [socket for history in histories for _at, socket in history]
    busy = sum(socket.busy_s for socket in last)
    receiver, buffer = _share(sum(s.receiver_limited_s for s in last), busy), 0.0
    buffer = min(_share(sum(s.buffer_limited_s for s in last), busy), 1 - receiver)
    rtts = [socket.rtt_s for socket in every if socket.rtt_s]
    return Transport(
        connections=len(histories),
        bytes_sent=sum(socket.bytes_sent for socket in last),
        busy=busy,
        receiver_window_limited=receiver if busy else None,
        send_buffer_limited=buffer if busy else None,
        congestion_window_limited=1 - receiver - buffer if busy else None,
        retransmits=sum(socket.retransmits for socket in last),
        bytes_retransmitted=sum(socket.bytes_retransmitted for socket in last),
        min_rtt=min((socket.min_rtt_s for socket in every if socket.min_rtt_s), default=None),
        mean_rtt=sum(rtts) / len(rtts) if rtts else None,
        cwnd_max=max((s.congestion_window for s in every if s.congestion_window), default=None),
        send_window_max=max((s.send_window for s in every if s.send_window), default=None),
        send_buffer_max=max((s.send_buffer for s in every if s.send_buffer), default=None),
        mss=min((socket.mss for socket in last if socket.mss), default=None),
        path_mtu=min((socket.pmtu for socket in last if socket.pmtu), default=None),
        congestion=last[0].congestion,
    )


def _share(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole > 0 else 0.0
