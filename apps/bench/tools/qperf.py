"""qperf: the one-way rate and the one-way latency of TCP or UDP messages."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import keep_valid, read_options
from apps.bench.outputs.scales import MIXED, scaled
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
from apps.bench.tools import _pairs, _transports
from apps.bench.tools._transports import TCP, UDP

BOTH, BANDWIDTH, LATENCY = "both", "bandwidth", "latency"
# How long (s) the client waits for the server to listen.
PATIENCE_S = 10

_TEST = re.compile(r"^(?P<test>[a-z]+(?:_[a-z]+)*):\n(?P<rows>(?: {4}[^\n]*+(?:\n|\Z))*+)", re.M)
_MESSAGE_SIZE = re.compile(r"^ {4}msg_size += +([\d.]{1,20}) (bytes|KiB|MiB)(?: \(([\d,]{1,20})\))?$", re.M)
_SIZES = {"bytes": 1, "KiB": 1024, "MiB": 1024**2}
_ROW = re.compile(r"^ {4}(\w+) += +([\d.,]{1,24})(?: ([^\s(]+))?", re.M)
_TEXT_ROW = re.compile(r"^ {4}(?:loc|rem)_qperf += +(\d[\w.]{0,20})$", re.M)
# Decimal in rates, binary in sizes, whatever it is asked; "ns/GB" and its like are costs and not read.
_FACTORS = {
    "bytes/sec": 1, "KB/sec": 1e3, "MB/sec": 1e6, "GB/sec": 1e9, "TB/sec": 1e12,
    "bytes": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
    "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "sec": 1, "min": 60, "/sec": 1, "K/sec": 1e3, "M/sec": 1e6,
    "Kb/sec": 1e3 / 8, "Mb/sec": 1e6 / 8, "Gb/sec": 1e9 / 8, "bits/sec": 1 / 8,
    "": 1, "thousand": 1e3, "million": 1e6, "billion": 1e9,
}  # fmt: skip
_UNCONNECTED = re.compile(r"^.*: failed to connect$", re.M)
_BUSY = re.compile(r"^unable to bind to listen port$", re.M)
_BROKE = re.compile(r"^.*(?:failed to receive|failed to send|timed out|server: |connection closed).*$", re.M | re.I)
_WRONG = re.compile(r"^.*: bad (?:test|option)[^\n]*$|^bad argument: .*$", re.M)
_OPTIONS = {
    "-t": "duration", "--time": "duration", "-m": "size", "--msg_size": "size", "-sb": "window",
    "--sock_buf_size": "window", "-lp": "port", "--listen_port": "port", "-ws": "patience", "-ip": "data_port",
    "-oo": "loop",
}  # fmt: skip


class Qperf(Tool):
    """qperf over sockets."""

    slug = "qperf"
    name = "qperf"
    summary = _("Rate and one-way latency of TCP or UDP messages; the latency is half the round trip.")
    programs = ("qperf",)
    transport = "tcp"
    roles = _pairs.ROLES
    parameters = (
        _transports.PROTOCOL,
        Parameter(
            "measure",
            "choice",
            _("Measure"),
            help=_("Over UDP the rate is all that the sender can send: choose the latency on shared links."),
            default=BOTH,
            choices=((BOTH, _("rate and latency")), (BANDWIDTH, _("rate")), (LATENCY, _("latency"))),
        ),
        Parameter(
            "duration", "duration", _("Duration"), help=_("How long each of the two takes; whole seconds."),
            default=5.0, unit="s", minimum=1, maximum=3600,
        ),
        Parameter(
            "message_size", "size", _("Message size"), default=0, unit="B", minimum=0, maximum=1024**3,
            zero=_("left to the program"),
            help=_("Bytes of each message; 0 takes its own: 64 KiB (UDP: 32 KiB) for rates, 1 B for latency."),
        ),
        _transports.window(
            _("Socket buffer to ask for on both ends; 0 leaves it to the kernel's autotuning."), maximum=1024**3
        ),
        _pairs.port_parameter(19765),
    )  # fmt: skip
    metrics = (
        Metric("goodput", _("Goodput"), "bit/s", True, primary=True, axis="rate"),
        Metric("sent_rate", _("Sent rate"), "bit/s", True, axis="rate"),
        Metric("loss", _("Datagram loss"), "fraction", False, axis="fraction"),
        Metric("latency", _("One-way latency (half the round trip)"), "s", False, axis="time"),
        Metric("message_rate", _("Messages per second"), "1/s", True, axis="frequency"),
    )
    signatures = (
        re.compile(
            r"^(?:tcp|udp|sctp)_(?:bw|lat):\n(?: {4}\w+ +=|[\w.:]+: failed to connect|getaddrinfo failed)", re.M
        ),
        re.compile(r"^ {4}loc_qperf +=|try: qperf --help", re.M),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse fractions of a second."""
        return _pairs.check_whole_seconds(params["duration"])

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return a server and a client; the server prints nothing, the client waits for it (-ws)."""
        client, server = _pairs.players(nodes)
        common = ["-lp", str(params["port"])]
        send = ["qperf", *common, "-ws", str(PATIENCE_S), "-uu", "-vvs", "-t", f"{params['duration']:.0f}"]
        if params["message_size"]:
            send += ["-m", str(params["message_size"])]
        if params["window"]:
            send += ["-sb", str(params["window"])]
        send += [texts.target_of(server, client), *_tests(params)]
        limit = len(_tests(params)) * (params["duration"] + 5) + PATIENCE_S + _pairs.MARGIN_S
        return _pairs.server_then_client(("qperf", *common), send, limit, None)

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time and, where rates are measured, the bytes; over UDP nothing but the sender limits them."""
        seconds = params["duration"] * len(_tests(params))
        is_rate, is_udp = params["measure"] != LATENCY, params["protocol"] == UDP
        traffic = (
            {("client", "server"): round(capacity_bps * params["duration"] / 8)} if capacity_bps and is_rate else {}
        )
        offered = (capacity_bps or 1e10) if is_rate and is_udp else 0.0
        return TrialEstimate(seconds + 1.0, traffic, offered_bps=offered, streams=1)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv says, in qperf's units (K binary, k decimal)."""
        options = read_options(output.argv, _OPTIONS, {})
        names = [name for name in output.argv[1:] if re.fullmatch(r"(tcp|udp)_(bw|lat)", name)]
        text = texts.read_text(output)
        names = names or [match["test"] for match in _TEST.finditer(text)]
        if not names:
            return keep_valid(self, {name: options.get(name) for name in ("duration", "port")})
        protocol = UDP if all(name.startswith("udp") for name in names) else TCP
        kinds = {name.partition("_")[2] for name in names if name.startswith(protocol)}
        measure = {frozenset({"bw"}): BANDWIDTH, frozenset({"lat"}): LATENCY}.get(frozenset(kinds), BOTH)
        return keep_valid(
            self,
            {
                "protocol": protocol,
                "measure": measure,
                "duration": options.get("duration"),
                "message_size": scaled(options.get("size"), MIXED) or _message_size(text),
                "window": scaled(options.get("window"), MIXED),
                "port": options.get("port"),
            },
        )

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the figures of the protocol's tests; those of the other protocol, if any, go into `observed`."""
        output = _pairs.client_output(outputs)
        text = texts.read_text(output)
        results = [(match["test"], _rows(match["rows"])) for match in _TEST.finditer(text)]
        names = [name for name, rows in results if rows]
        if len(names) > len(set(names)):
            raise failure("several-results", output, n=len(names))
        tests = {name: rows for name, rows in results if rows}
        required = _tests(params)
        if any(name not in tests for name in required):
            raise _explain(output, text, _pairs.server_output(outputs))
        samples: dict[str, float | None] = {}
        for name in required:
            samples |= _read_test(output, name, tests[name])
        others = {
            name: {key: value for key, value in rows.items() if key in ("bw", "send_bw", "recv_bw", "latency")}
            for name, rows in tests.items()
            if name not in required and name.endswith(("_bw", "_lat"))
        }
        version = _TEXT_ROW.search(text)
        return Reading(
            samples=_pairs.figures(samples),
            requested=dict(params),
            observed={"others": others} if others else {},
            flags=_flags(samples),
            tool_version=version[1] if version else "",
        )


def _tests(params: Params) -> list[str]:
    # The latency first: behind the flood of udp_bw its message meets a full queue.
    kinds = {BOTH: ("lat", "bw"), BANDWIDTH: ("bw",), LATENCY: ("lat",)}[params["measure"]]
    return [f"{params['protocol']}_{kind}" for kind in kinds]


def _rows(text: str) -> dict[str, float]:
    """Return the rows whose units are known, in B, B/s, s and counts."""
    figures = {}
    for name, number, unit in _ROW.findall(text):
        digits = number.replace(",", "")
        if unit in _FACTORS and re.fullmatch(r"\d{1,18}(?:\.\d{1,6})?", digits, re.ASCII):
            figures[name] = float(digits) * _FACTORS[unit]
    return figures


def _read_test(output: Output, name: str, rows: Mapping[str, float]) -> dict[str, float | None]:
    """Return the figures of one test; ToolFailure if it passed nothing, which qperf shows as a result."""
    if name.endswith("_lat"):
        # A message that is never answered is shown as a latency of the whole time, or of 0. It may be lost, or come
        # from another of the server's addresses than was asked: it binds to none.
        if rows.get("loc_send_msgs") is not None and not rows.get("loc_recv_msgs"):
            raise failure("no-reply", output, address=_address(output))
        if not rows.get("latency"):
            raise failure("unreadable", output)
        return {"latency": rows["latency"]}
    received = rows.get("bw", rows.get("recv_bw"))
    if received is None:
        raise failure("unreadable", output)
    if not received:
        raise failure("no-reply", output, address=_address(output))
    messages_sent, arrived = rows.get("send_msgs"), rows.get("recv_msgs")
    if messages_sent and arrived is not None and arrived > 1.01 * messages_sent + 10:
        raise failure("contradictory", output, first=f"{arrived:g}", second=f"{messages_sent:g}")
    loss = (
        max(0.0, 1 - arrived / messages_sent) if name == "udp_bw" and messages_sent and arrived is not None else None
    )
    send_rate = rows.get("send_bw")
    return {
        "goodput": 8 * received,
        "sent_rate": 8 * send_rate if send_rate is not None else None,
        "loss": loss,
        "message_rate": rows.get("msg_rate"),
    }


def _flags(samples: Mapping[str, float | None]) -> tuple[Flag, ...]:
    loss = samples.get("loss")
    if not loss or loss < 0.01:
        return ()
    text = _("%(percent)s %% of the datagrams were lost: the sender overran the path or the receiver.")
    return (Flag("loss", "warning", Message(text, {"percent": f"{100 * loss:.1f}"})),)


def _address(output: Output) -> str:
    """Return the host: the first word that is neither an option, its value, nor a test."""
    words = iter(output.argv[1:])
    for word in words:
        if word in _OPTIONS:
            next(words, "")
        elif not word.startswith("-"):
            return word
    return ""


def _explain(output: Output, text: str, server: Output | None) -> ToolFailure:
    """Return why a test has no result; if nobody listened, what the server said of it."""
    address = _address(output)
    # Whoever holds the port may take the client's connection: the server's words tell more.
    if server and (busy := _BUSY.search(texts.read_text(server))):
        return failure("port-busy", server, said=busy[0])
    if _UNCONNECTED.search(text):
        return failure("refused", output, address=address)
    if problem := texts.bad_option(output, text) or texts.system_error(output, text, address):
        return problem
    if wrong := _WRONG.search(text):
        return failure("bad-parameter", output, said=wrong[0].strip()[:200])
    if broke := _BROKE.search(text):
        return failure("stopped", output, said=broke[0].strip()[:200])
    return failure("unreadable", output) if _TEST.search(text) else texts.no_result(output, text)


def _message_size(text: str) -> float | None:
    """Return the size (B) that a report tells with -v, if its tests have the same."""
    sizes = {
        float(size[3].replace(",", "")) if size[3] else float(size[1]) * _SIZES[size[2]]
        for size in _MESSAGE_SIZE.finditer(text)
    }
    return sizes.pop() if len(sizes) == 1 else None
