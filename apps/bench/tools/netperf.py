"""netperf: the time of a request and its response, or the rate of a TCP stream."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import is_known, keep_valid, read_options
from apps.bench.outputs.scales import MIXED, is_coarse, scaled, whole_seconds
from apps.bench.text import Message, _
from apps.bench.toolkit import (
    Flag,
    Metric,
    NodeRef,
    Output,
    Parameter,
    Params,
    Plan,
    Reading,
    Tool,
    ToolFailure,
    TrialEstimate,
    Value,
)
from apps.bench.tools import _netperf, _pairs, _transports

TCP_RR, UDP_RR, TCP_STREAM, TCP_MAERTS = "TCP_RR", "UDP_RR", "TCP_STREAM", "TCP_MAERTS"
STREAMS = (TCP_STREAM, TCP_MAERTS)
# What to report, by name: its columns change with the test and the version, an unknown name is left out.
KEYS = (
    "THROUGHPUT", "THROUGHPUT_UNITS", "ELAPSED_TIME", "PROTOCOL", "DIRECTION", "TRANSACTION_RATE", "RT_LATENCY",
    "MEAN_LATENCY", "MIN_LATENCY", "P50_LATENCY", "P90_LATENCY", "P99_LATENCY", "MAX_LATENCY", "STDDEV_LATENCY",
    "REQUEST_SIZE", "RESPONSE_SIZE", "LSS_SIZE_REQ", "LSS_SIZE", "LSS_SIZE_END", "RSR_SIZE_REQ", "RSR_SIZE",
    "RSR_SIZE_END", "TRANSPORT_MSS", "LOCAL_TRANSPORT_RETRANS", "REMOTE_TRANSPORT_RETRANS", "LOCAL_CPU_UTIL",
    "REMOTE_CPU_UTIL", "LOCAL_CONG_CONTROL", "REMOTE_CONG_CONTROL",
)  # fmt: skip
# The mean of the transactions must agree with their number in the time; else there was a time without any.
AGREEMENT = 0.2

_SERVER = re.compile(r"^Starting netserver with host ", re.M)
_OTHER = re.compile(
    r"^(?:MIGRATED )?(?!(?:TCP (?:STREAM|MAERTS|REQUEST/RESPONSE)|UDP REQUEST/RESPONSE) TEST)"
    r"((?:UDP|SCTP|DCCP|TCP) [A-Za-z/_ ]{2,40}) TEST from ",
    re.M,
)
_NO_SERVER = re.compile(r"^establish control: are you sure there is a netserver listening.*$", re.M)
_UNKNOWN = re.compile(r"^The test you requested .* is unknown to this netperf\.$", re.M)
_BROKE = re.compile(r"^.*(?:partial response received|remote error|recv_response|netperf: send_omni).*$", re.M)
_VALUED = {
    "-t": "test", "-l": "duration", "-H": "address", "-p": "port", "-s": "window", "-S": "remote_window",
    "-r": "sizes", "-d": "direction", "-k": "keys", "-L": "own", "-f": "units", "-Z": "passphrase",
}  # fmt: skip


class Netperf(Tool):
    """netperf and its netserver."""

    slug = "netperf"
    name = "netperf"
    summary = _("Time of a request and its response over TCP or UDP with percentiles, or the rate of a TCP stream.")
    programs = ("netperf", "netserver")
    transport = "tcp"
    backwards_at = ("test", TCP_MAERTS)
    roles = _pairs.ROLES
    parameters = (
        Parameter(
            "test",
            "choice",
            _("Test"),
            default=TCP_RR,
            choices=(
                (TCP_RR, _("TCP request and response")),
                (UDP_RR, _("UDP request and response")),
                (TCP_STREAM, _("TCP stream to the server")),
                (TCP_MAERTS, _("TCP stream to the client")),
            ),
        ),
        _pairs.duration_parameter(),
        Parameter(
            "request", "size", _("Request"), default=1, unit="B", minimum=1, maximum=65507,
            help=_("Bytes of each request; of streams it has no meaning."),
        ),
        Parameter(
            "response", "size", _("Response"), default=1, unit="B", minimum=1, maximum=65507,
            help=_("Bytes of each response; of streams it has no meaning."),
        ),
        _transports.window(
            _("Socket buffer to ask for on both ends (-s, -S); 0 leaves it to the kernel's autotuning."),
            maximum=1024**3
        ),
        _pairs.port_parameter(12865),
    )  # fmt: skip
    metrics = (
        Metric("rtt_mean", _("Mean transaction time"), "s", False, primary=True, axis="time"),
        Metric("rtt_min", _("Min transaction time"), "s", False, axis="time"),
        Metric("rtt_p50", _("Median transaction time"), "s", False, axis="time"),
        Metric("rtt_p90", _("Transaction time, 90th percentile"), "s", False, axis="time"),
        Metric("rtt_p99", _("Transaction time, 99th percentile"), "s", False, axis="time"),
        Metric("rtt_max", _("Max transaction time"), "s", False, axis="time"),
        Metric("rtt_deviation", _("Variation of the transaction time"), "s", False, axis="time", has_zero=True),
        Metric("transaction_rate", _("Transactions per second"), "1/s", True, axis="frequency"),
        Metric("goodput", _("Goodput"), "bit/s", True, axis="rate"),
        Metric("retransmits", _("Retransmits"), "count", False, axis="count"),
        Metric("window_granted", _("Socket buffer granted"), "B", None, axis="size"),
        Metric("cpu_local", _("Processor load of the client"), "%", False, axis="load"),
        Metric("cpu_remote", _("Processor load of the server"), "%", False, axis="load"),
    )
    opening = re.compile(r"^(?:MIGRATED )?[A-Z]\S{1,9} [A-Za-z/_ ]{2,40} ?TEST from ", re.M)
    signatures = (
        _netperf.BANNER,
        _SERVER,
        re.compile(r"^Netperf could not resolve|is unknown to this netperf", re.M),
        re.compile(r"^OMNI \S+ TEST from |^establish control: are you sure there is a netserver", re.M),
        re.compile(r"^THROUGHPUT=[\d.]+$|^(?:[A-Z][^,\n]{1,60},){0,80}Throughput,", re.M),
        _netperf.RR_ROW,
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse fractions of a second."""
        return _pairs.check_whole_seconds(params["duration"])

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return a server in the foreground and a client that reports named values."""
        client, server = _pairs.players(nodes)
        listen = ["netserver", "-D", "-L", server.address, "-p", str(params["port"])]
        send = ["netperf", "-H", texts.target_of(server, client), "-L", client.address, "-p", str(params["port"])]
        send += ["-l", f"{params['duration']:.0f}", "-c", "-C", "-j", "-t", params["test"]]
        # Whoever else reached the server could have it send files of its node, and to any address.
        if server.mark:
            listen += ["-Z", server.mark]
            send += ["-Z", server.mark]
        # Two digits stand behind the point, whatever the unit: of a slow path 10^6 bits/s would leave too few.
        send += ["-f", "k", "--"] if params["test"] in STREAMS else ["--"]
        if params["window"]:
            send += ["-s", str(params["window"]), "-S", str(params["window"])]
        if params["test"] not in STREAMS:
            send += ["-r", f"{params['request']},{params['response']}"]
        send += ["-k", ",".join(KEYS)]
        limit = params["duration"] + _pairs.MARGIN_S
        return _pairs.server_then_client(listen, send, limit, r"Starting netserver with host")

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time and, for a stream, at most the bytes; transactions wait for each other and send little."""
        sent: dict[tuple[str, str], int] = {}
        if capacity_bps and params["test"] in STREAMS:
            way = ("client", "server") if params["test"] == TCP_STREAM else ("server", "client")
            sent[way] = round(capacity_bps * params["duration"] / 8)
        return TrialEstimate(params["duration"] + 1.0, sent, streams=1)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv and the banner say."""
        text = texts.read_text(output)
        options = read_options(output.argv, _VALUED, {})
        values = next(iter(_values(output, text)), {})
        test = options.get("test") or _netperf.test_of(output, text, values)
        if test == "omni" or (test is None and is_known(output.argv)):
            test = _netperf.test_of(output, text, values) or TCP_STREAM
        request, _comma, response = options.get("sizes", "").partition(",")
        elapsed = _netperf.number(values, "ELAPSED_TIME")
        return keep_valid(
            self,
            {
                "test": test,
                "duration": options.get("duration") or whole_seconds(elapsed),
                "request": scaled(request, MIXED) or _netperf.number(values, "REQUEST_SIZE"),
                "response": scaled(response, MIXED) or _netperf.number(values, "RESPONSE_SIZE"),
                "window": scaled(options.get("window", "").partition(",")[0], MIXED),
                "port": options.get("port"),
            },
        )

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return transactions or a stream as they were reported by name, or in the older tables."""
        output = _pairs.client_output(outputs)
        text = texts.read_text(output)
        _pairs.refuse_server(output, text, _SERVER)
        if other := _OTHER.search(text):
            raise failure("unread-test", output, test=other[1])
        results = _values(output, text)
        if len(results) > 1:
            raise failure("several-results", output, n=len(results))
        values = results[0] if results else {}
        rate, unit = _netperf.number(values, "THROUGHPUT"), values.get("THROUGHPUT_UNITS", "")
        seconds = _netperf.number(values, "ELAPSED_TIME")
        if rate is None:
            raise _explain(output, text)
        test = read_options(output.argv, _VALUED, {}).get("test", "omni")
        if test not in (TCP_RR, UDP_RR, *STREAMS, "omni"):
            raise failure("unread-test", output, test=test)
        if _netperf.protocol_of(output, text, values) is None:
            raise failure("no-protocol", output)
        burst = _netperf.burst_of(output, text)
        is_transaction = unit == _netperf.TRANSACTIONS
        is_readable = is_transaction or unit in _netperf.RATES
        if not rate or not is_readable or is_transaction == (params["test"] in STREAMS):
            raise failure("unreadable", output)
        if not is_transaction and is_coarse(values["THROUGHPUT"]):
            raise failure("too-coarse", output, rate=f"{values['THROUGHPUT']} {unit}")
        if seconds is not None:
            _pairs.require_duration(output, seconds, params["duration"], is_asked=_is_timed(output))
        samples: dict[str, float | None] = {}
        if is_transaction:
            samples |= _read_transactions(values, rate, burst)
        else:
            samples["goodput"] = rate * _netperf.RATES[unit]
        sender = "REMOTE" if params["test"] == TCP_MAERTS else "LOCAL"
        samples["retransmits"] = _netperf.number(values, f"{sender}_TRANSPORT_RETRANS")
        for metric, side in (("cpu_local", "LOCAL"), ("cpu_remote", "REMOTE")):
            samples[metric] = _netperf.number(values, f"{side}_CPU_UTIL")
        granted_sizes: dict[str, float | str] = {
            name: value
            for name, key in (("send_buffer", "LSS_SIZE"), ("receive_buffer", "RSR_SIZE"))
            if (value := _netperf.number(values, key)) is not None
        }
        if params["window"] and len(granted_sizes) == 2:
            samples["window_granted"] = min(float(value) for value in granted_sizes.values())
        congestion = values.get(f"{sender}_CONG_CONTROL", "")
        if re.fullmatch(r"[a-z][a-z0-9_-]{0,14}", congestion):
            granted_sizes["congestion_sender"] = congestion
        observed = {
            name: value
            for name, key in (("mss", "TRANSPORT_MSS"), ("send_buffer_end", "LSS_SIZE_END"),
                              ("receive_buffer_end", "RSR_SIZE_END"))
            if (value := _netperf.number(values, key)) is not None
        }  # fmt: skip
        return Reading(
            samples=_pairs.figures(samples),
            requested=dict(params),
            granted=granted_sizes,
            observed=observed,
            flags=(*_flags(samples, values, params, burst), *_netperf.own_doubts(output, text)),
        )


def _values(output: Output, text: str) -> list[dict[str, str]]:
    """Return the values of each result in a text; the command tells the unit where the text does not."""
    unit = read_options(output.argv, _VALUED, {}).get("units", "m" if is_known(output.argv) else "")
    return _netperf.read_values(text, unit)


def _is_timed(output: Output) -> bool:
    """Return whether a command asks for a time: a length that is negative is one in bytes or transactions."""
    return "-" not in read_options(output.argv, _VALUED, {}).get("duration", "-")


def _read_transactions(values: Mapping[str, str], rate: float, burst: int | None) -> dict[str, float | None]:
    """Return the times (s) of transactions; netperf gives them in µs. Of several at once the rate tells no time."""
    names = {"rtt_min": "MIN", "rtt_p50": "P50", "rtt_p90": "P90", "rtt_p99": "P99", "rtt_max": "MAX"}
    times = {metric: _netperf.number(values, f"{key}_LATENCY") for metric, key in names.items()}
    times["rtt_deviation"] = _netperf.number(values, "STDDEV_LATENCY")
    mean = _netperf.number(values, "RT_LATENCY")
    samples = {metric: value / 1e6 if value is not None else None for metric, value in times.items()}
    by_rate = 1 / rate if burst == 0 else None
    return {"rtt_mean": mean / 1e6 if mean else by_rate, "transaction_rate": rate, **samples}


def _flags(
    samples: Mapping[str, float | None], values: Mapping[str, str], params: Params, burst: int | None
) -> tuple[Flag, ...]:
    flags = _pairs.window_flags(params["window"], samples.get("window_granted"))
    if burst:
        text = _("%(n)s transactions were under way at once: their rate is not that of one after the other.")
        flags.append(Flag("burst", "warning", Message(text, {"n": burst + 1})))
    mean, measured = samples.get("rtt_mean"), _netperf.number(values, "MEAN_LATENCY")
    if mean and measured is not None and mean > (1 + AGREEMENT) * measured / 1e6 + 2e-6:
        text = _("For %(percent)s %% of the time no transaction ended: an answer got lost, and none repeats it.")
        share = {"percent": f"{100 * (1 - measured / 1e6 / mean):.0f}"}
        flags.append(Flag("stalled", "invalid", Message(text, share)))
    return tuple(flags)


def _explain(output: Output, text: str) -> ToolFailure:
    """Return why there is no result."""
    address = read_options(output.argv, _VALUED, {}).get("address", "")
    if problem := texts.bad_option(output, text) or texts.system_error(output, text, address):
        return problem
    if _NO_SERVER.search(text):
        return failure("refused", output, address=address)
    if unknown := _UNKNOWN.search(text):
        return failure("bad-parameter", output, said=unknown[0])
    if broke := _BROKE.search(text):
        return failure("stopped", output, said=broke[0].strip()[:200])
    return failure("unreadable", output) if " TEST from " in text else texts.no_result(output, text)
