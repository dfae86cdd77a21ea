"""The options of iperf3 that both tools offer, the commands they make, and what they cost."""

import dataclasses
from collections.abc import Mapping, Sequence

from apps.bench.outputs import texts
from apps.bench.text import Message, _
from apps.bench.toolkit import NodeRef, Parameter, Params, Plan, TrialEstimate, ways
from apps.bench.tools import _pairs, _transports

FORWARD, REVERSE, BOTH = _pairs.FORWARD, _pairs.REVERSE, ways.BOTH

DURATION = Parameter(
    "duration",
    "duration",
    _("Duration"),
    help=_("How long to measure, after the omitted seconds; whole seconds."),
    default=10.0,
    unit="s",
    minimum=1,
    maximum=3600,
)
OMIT = Parameter(
    "omit",
    "duration",
    _("Omit"),
    help=_("Seconds at the start that do not count, so that slow start is left out; whole seconds."),
    default=1.0,
    unit="s",
    minimum=0,
    maximum=60,
)
STREAMS = _transports.streams()
# Both ways at once is one result only here.
DIRECTION = dataclasses.replace(_pairs.DIRECTION, choices=(*_pairs.DIRECTION.choices, (BOTH, _("both ways at once"))))
PORT = _pairs.port_parameter(5201)
INTERVAL = Parameter(
    "interval",
    "duration",
    _("Report interval"),
    help=_("Time between the points of the rate over time."),
    default=1.0,
    unit="s",
    minimum=0.1,
    maximum=3600,
    advanced=True,
    aside=True,
)

READY_PATTERN = r"Server listening on \d+"
CONNECT_TIMEOUT_S = 5
# A connection each stream costs a few RTTs, of which the longest paths on Earth have 0.3 s.
MARGIN_PER_STREAM_S = 0.5
# What a run takes beside the seconds it sends: two connections, one exchange of results.
OVERHEAD_S = 0.5


def check_whole_seconds(params: Params) -> dict[str, Message]:
    """Return a message for each time that iperf3 would cut to whole seconds without a word."""
    return {
        name: Message(_("iperf3 counts whole seconds here: write for example 10 s."))
        for name in ("duration", "omit")
        if params[name] != int(params[name])
    }


def make_plan(params: Params, nodes: Mapping[str, Sequence[NodeRef]], options: Sequence[str]) -> Plan:
    """Return the plan: a server for one test, then the client with the tool's own `options`."""
    client, server = _pairs.players(nodes)
    limit = params["duration"] + params["omit"] + _pairs.MARGIN_S + MARGIN_PER_STREAM_S * params["streams"]
    # Without --forceflush the line that says it listens stays in a buffer until the server ends.
    listen = ("iperf3", "-s", "-1", "-B", server.address, "-p", str(params["port"]), "--forceflush")
    send = _client_argv(params, server, client, options)
    return _pairs.server_then_client(listen, send, limit, READY_PATTERN, ends_by_itself=True)


def _client_argv(params: Params, server: NodeRef, client: NodeRef, options: Sequence[str]) -> tuple[str, ...]:
    argv = ["iperf3", "-c", texts.target_of(server, client), "-B", client.address, "-p", str(params["port"])]
    argv += ["-J", "--connect-timeout", str(CONNECT_TIMEOUT_S * 1000)]
    argv += ["-t", whole(params["duration"]), "-i", f"{params['interval']:g}"]
    if params["omit"]:
        argv += ["-O", whole(params["omit"])]
    if params["streams"] != 1:
        argv += ["-P", str(params["streams"])]
    if params["direction"] == REVERSE:
        argv.append("-R")
    if params["direction"] == BOTH:
        argv.append("--bidir")
    return (*argv, *options)


def whole(value: float) -> str:
    """Return a number as iperf3 takes it: digits only."""
    return str(round(value))


def make_estimate(params: Params, rate_bps: float | None, *, offered_bps: float = 0.0) -> TrialEstimate:
    """Return the time a run takes and, with a rate (bit/s), what it sends in each direction.

    `offered_bps` (bit/s, in each direction used) is what it sends whether or not the path carries it.
    """
    seconds = params["duration"] + params["omit"]
    traffic: dict[tuple[str, str], int] = {}
    if rate_bps is not None:
        amount = round(rate_bps * seconds / 8)
        if params["direction"] != REVERSE:
            traffic["client", "server"] = amount
        if params["direction"] != FORWARD:
            traffic["server", "client"] = amount
    streams = params["streams"] * (2 if params["direction"] == BOTH else 1)
    return TrialEstimate(seconds + OVERHEAD_S, traffic, offered_bps=offered_bps, streams=streams)
