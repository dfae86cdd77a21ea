"""The parameters of tools that send over TCP or UDP, and what a run of them sends."""

from apps.bench.text import _
from apps.bench.toolkit import Parameter, Params, TrialEstimate

TCP, UDP = "tcp", "udp"
PROTOCOL = Parameter("protocol", "choice", _("Protocol"), default=TCP, choices=((TCP, "TCP"), (UDP, "UDP")))
MIB = 1024**2


def window(text: str, *, maximum: int = 512 * MIB) -> Parameter:
    """Return the parameter of the socket buffer; `text` is its help, `maximum` in bytes."""
    return Parameter(
        "window", "size", _("Window"), help=text, default=0, zero=_("autotuned"), unit="B", minimum=0, maximum=maximum
    )


def streams(text: str = _("Connections at once.")) -> Parameter:
    """Return the parameter of how many connections to open; `text` is its help."""
    return Parameter("streams", "integer", _("Streams"), help=text, default=1, unit="count", minimum=1, maximum=128)


def offered_load(text: str, default: int = 10_000_000) -> Parameter:
    """Return the parameter of what to send over UDP; `text` is its help, `default` in bit/s."""
    return Parameter(
        "rate",
        "rate",
        _("Offered load"),
        help=text,
        default=default,
        unit="bit/s",
        minimum=1_000,
        maximum=400_000_000_000,
    )


def pace() -> Parameter:
    """Return the parameter of the limit that the sender keeps to, over all connections together (bit/s)."""
    return Parameter(
        "pace",
        "rate",
        _("Rate limit"),
        help=_("What TCP's sender may send at most, over all streams together; 0 for no limit."),
        default=0,
        zero=_("no limit"),
        unit="bit/s",
        minimum=0,
        maximum=400_000_000_000,
        advanced=True,
    )


def datagram(*, minimum: int, default: int = 1448) -> Parameter:
    """Return the parameter of a datagram's payload (B)."""
    return Parameter(
        "length",
        "size",
        _("Datagram payload"),
        help=_("Bytes in each datagram; with more than the path's MTU less 28 (IPv6: 48) each is fragmented."),
        default=default,
        unit="B",
        minimum=minimum,
        maximum=65507,
    )


def make_estimate(
    params: Params, capacity_bps: float | None, way: tuple[str, str] = ("client", "server")
) -> TrialEstimate:
    """Return the time and the bytes of one way: an offered load is sent whether or not the path carries it."""
    offered = params["rate"] if params["protocol"] == UDP else 0
    rate = offered or capacity_bps
    traffic = {way: round(rate * params["duration"] / 8)} if rate else {}
    return TrialEstimate(params["duration"] + 0.5, traffic, offered_bps=offered, streams=params["streams"])
