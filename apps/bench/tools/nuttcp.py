"""nuttcp: TCP or UDP rates, with both sides' statistics in one report."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import agreement, pacing, texts
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import is_known, keep_valid, read_options
from apps.bench.outputs.scales import BINARY, DECIMAL, scaled, whole_seconds
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
    SampleSeries,
    Tool,
    ToolFailure,
    TrialEstimate,
    Value,
)
from apps.bench.tools import _pairs, _transports
from apps.bench.tools._nuttcp import NuttcpReport, read_report
from apps.bench.tools._transports import TCP, UDP

# What the sender was limited to, verbose or as key=value; the whole is for all connections together.
_LIMIT = re.compile(r"^nuttcp-t: rate(?: limit = |_limit=)([\d.]{1,15})(?: |\s+rate_unit=)([KMG]?bps|pps)\b", re.M)
_BPS = {"bps": 1, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}
_OWN_SIDE = re.compile(r"^nuttcp-([tr]): ", re.M)
# With -v each side says how many connections it has, and from which data port on.
_CONNECTIONS = re.compile(r"^nuttcp-[tr]: buflen=\d{1,12}, nstream=(\d{1,5}), port=(\d{1,5}) ", re.M)
_VALUED = {
    "-T": "duration", "-w": "window", "-N": "streams", "-R": "rate", "-l": "length", "-P": "port", "-p": "data_port",
    "-i": "interval", "-n": "amount",
}  # fmt: skip
_SWITCHES = {"-u": "udp", "-r": "reverse"}
_REFUSED = re.compile(r"Error: connect: Connection refused")
_BROKE = re.compile(r"^.*(?:server aborted connection|Error: IO: |error from server|server not ready).*$", re.M)
_FRAGMENTS = re.compile(r'Warning[:=] ?"?IP[_ ]frags')
_WRONG = re.compile(r"^invalid .*$|^Usage: nuttcp", re.M)


class Nuttcp(Tool):
    """nuttcp with a one-shot server."""

    slug = "nuttcp"
    name = "nuttcp"
    summary = _("Rates of TCP or UDP, with the windows, retransmits and losses of both sides.")
    programs = ("nuttcp",)
    transport = "tcp"
    roles = _pairs.ROLES
    parameters = (
        _transports.PROTOCOL,
        _transports.window(
            _("Socket buffer to ask for on both ends, in whole KiB; 0 leaves it to the kernel's autotuning."),
            maximum=1024**3,
        ),
        _transports.streams(_("Connections at once; each takes a data port of its own.")),
        _pairs.duration_parameter(),
        _pairs.DIRECTION,
        _transports.offered_load(_("What to send over UDP, as payload, in whole kbit/s.")),
        _transports.datagram(minimum=32, default=1400),
        _transports.pace(),
        _pairs.port_parameter(5000),
        Parameter(
            "data_port",
            "integer",
            _("Data port"),
            help=_("The first port of the data connections; it must be free and open like the server's port."),
            default=5101,
            minimum=1024,
            maximum=65000,
            advanced=True,
            aside=True,
        ),
    )
    metrics = (
        Metric("goodput", _("Goodput"), "bit/s", True, primary=True, axis="rate"),
        Metric("sent_rate", _("Sent rate"), "bit/s", True, axis="rate"),
        Metric("retransmits", _("Retransmits"), "count", False, axis="count"),
        Metric("loss", _("Datagram loss"), "fraction", False, axis="fraction"),
        Metric("connect_rtt", _("RTT when connecting"), "s", False, axis="time"),
        Metric("window_granted", _("Socket buffer granted"), "B", None, axis="size"),
        Metric("cpu_sender", _("Processor load of the sender"), "%", False, axis="load"),
        Metric("cpu_receiver", _("Processor load of the receiver"), "%", False, axis="load"),
    )
    closing = frozenset(metric.name for metric in metrics)
    signatures = (
        re.compile(r"^nuttcp-[tr]: ", re.M),
        re.compile(r"^ *[\d.]+ MB / +[\d.]+ sec = +[\d.]+ Mbps", re.M),
        re.compile(r"^megabytes=[\d.]+ real_sec(?:onds)?=", re.M),
        re.compile(r"^bad hostname or address: |^Usage: nuttcp ", re.M),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse what its whole numbers of seconds, KiB and kbit/s can not say."""
        errors = _pairs.check_whole_seconds(params["duration"])
        if params["window"] % 1024:
            errors["window"] = Message(_("nuttcp takes whole KiB: write for example 64 KiB."))
        for name in ("rate", "pace"):
            if params[name] % 1000:
                errors[name] = Message(_("nuttcp takes whole kbit/s: write for example 100 Mbit/s."))
        return errors

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return a one-shot server and a client.

        The server prints nothing, and without both -1 and --nofork it leaves its process group for ever; so the
        client knocks again for some seconds (-a) until it is served.
        """
        client, server = _pairs.players(nodes)
        family = ["-6"] if ":" in server.address else []
        listen = ["nuttcp", "-1", "--nofork", *family, "-P", str(params["port"])]
        send = ["nuttcp", "-a", "-v", "-fparse", *family, "-P", str(params["port"]), "-p", str(params["data_port"])]
        send += ["-T", f"{params['duration']:.0f}", "-i", "1"]
        if params["direction"] == _pairs.REVERSE:
            send.append("-r")
        if params["streams"] != 1:
            send += ["-N", str(params["streams"])]
        if params["window"]:
            send += ["-w", str(params["window"] // 1024)]
        if params["protocol"] == UDP:
            send += ["-u", "-R", str(params["rate"] // 1000), "-l", str(params["length"])]
        elif params["pace"]:
            send += ["-R", str(params["pace"] // 1000)]
        send.append(texts.target_of(server, client))
        limit = params["duration"] + _pairs.MARGIN_S
        return _pairs.server_then_client(listen, send, limit, None, ends_by_itself=True)

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time and the bytes: an offered load is sent whether or not the path carries it."""
        way = ("client", "server") if params["direction"] == _pairs.FORWARD else ("server", "client")
        return _transports.make_estimate(params, capacity_bps, way)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv says in nuttcp's units: KiB of window, kbit/s of rate unless it has a letter."""
        text = texts.read_text(output)
        options = read_options(output.argv, _VALUED, _SWITCHES)
        report = read_report(text)
        connections = _CONNECTIONS.search(text)
        window, limit = options.get("window", ""), _limit(options, text)
        is_udp = "udp" in options or report.packets is not None
        is_tcp = not is_udp and (is_known(output.argv) or report.rtt is not None or report.retransmits is not None)
        return keep_valid(
            self,
            {
                "protocol": UDP if is_udp else TCP if is_tcp else None,
                "window": scaled(window + ("k" if window[-1:].isdigit() else ""), BINARY),
                "streams": options.get("streams") or (connections[1] if connections else None),
                "duration": _asked_s(output, text)
                or (None if "amount" in options else whole_seconds(report.seconds)),
                "direction": _direction(output, text, options),
                "rate": limit or None,
                "pace": limit if is_tcp and (is_known(output.argv) or _OWN_SIDE.search(text)) else None,
                "length": scaled(options.get("length"), BINARY),
                "port": options.get("port"),
                "data_port": options.get("data_port") or (connections[2] if connections else None),
            },
        )

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the receiver's rate as goodput, with what both sides told; ToolFailure without a full report."""
        output = _pairs.client_output(outputs)
        text = texts.read_text(output)
        report = read_report(text)
        if report.rate_bps is None or not report.seconds or "classic" in text:
            raise _explain(output, text, report)
        if not report.rate_bps:
            raise failure("no-reply", output, address=output.argv[-1] if output.argv else "-")
        if report.results > 1:
            raise failure("several-results", output, n=report.results)
        computed = (report.megabytes or 0.0) * 2**20 * 8 / report.seconds
        # Seconds are printed with two digits.
        if abs(computed - report.rate_bps) > (0.01 + 0.006 / report.seconds) * max(computed, report.rate_bps):
            raise failure("contradictory", output, first=f"{report.rate_bps:.6g}", second=f"{computed:.6g}")
        _pairs.require_duration(
            output, report.seconds, params["duration"], is_asked=_asked_s(output, text) is not None
        )
        samples: dict[str, float | None] = {
            "goodput": report.rate_bps,
            "sent_rate": report.sent_bps,
            "retransmits": report.retransmits,
            "connect_rtt": report.rtt,
            "cpu_sender": report.cpu_sender,
            "cpu_receiver": report.cpu_receiver,
        }
        if report.packets is not None:
            if not report.packets or (report.dropped or 0) > report.packets:
                raise failure("unreadable", output)
            samples["loss"] = (report.dropped or 0) / report.packets
        buffers = {
            name: value
            for name, value in (("send_buffer", report.send_buffer), ("receive_buffer", report.receive_buffer))
            if value
        }
        if params["window"] and len(buffers) > 1:
            samples["window_granted"] = min(buffers.values())
        series: tuple[SampleSeries, ...] = ()
        if report.intervals:
            times = tuple(round(time, 3) for time, _rate in report.intervals)
            series = (
                SampleSeries("goodput", "sum", "bit/s", times, tuple(rate for _time, rate in report.intervals)),
            )
        return Reading(
            samples=_pairs.figures(samples),
            series=series,
            requested=dict(params),
            granted=buffers,
            observed={"mss": report.mss} if report.mss else {},
            flags=(*_flags(output, text, samples, params), *_agreement(report)),
            tool_version=report.version,
        )


def _direction(output: Output, text: str, options: Mapping[str, str]) -> str | None:
    """Return which way the data went: the command says it, or the side of which a verbose report tells first."""
    own = _OWN_SIDE.search(text)
    if "reverse" in options or (own and own[1] == "r"):
        return _pairs.REVERSE
    return _pairs.FORWARD if own or is_known(output.argv) else None


def _asked_s(output: Output, text: str) -> str | None:
    """Return the time (s) that it was told to run for, by the command or as -fparse says; None if by none of them.

    With an amount of data (-n) it ends when that has been sent.
    """
    options = read_options(output.argv, _VALUED, _SWITCHES)
    if "amount" in options:
        return None
    printed = re.search(r"\btime_limit=(\d{1,6}(?:\.\d{1,3})?)\b", text)
    return options.get("duration") or (printed[1] if printed else None)


def _limit(options: Mapping[str, str], text: str) -> int:
    """Return the rate (bit/s) that the sender was limited to, as it was printed or else asked for; 0 for no limit."""
    length = scaled(options.get("length"), BINARY) or 0
    if printed := _LIMIT.search(text):
        return round(float(printed[1]) * _BPS.get(printed[2], 8 * length))
    rate_text = options.get("rate", "").removeprefix("i").removeprefix("u").partition("/")[0]
    if rate_text.endswith("p"):
        return (scaled(rate_text[:-1], DECIMAL) or 0) * 8 * length
    return scaled(rate_text + ("k" if rate_text[-1:].isdigit() else ""), DECIMAL) or 0


def _agreement(report: NuttcpReport) -> list[Flag]:
    """Say when the bytes that arrived are not those of the datagrams that did."""
    arrived = (report.packets or 0) - (report.dropped or 0)
    rounding = 0.006 / report.seconds if report.seconds else 0.0
    metrics = ("goodput", "loss")
    return agreement.datagram_flags(report.rate_bps, arrived, report.length, report.seconds, metrics, rounding)


def _flags(output: Output, text: str, samples: Mapping[str, float | None], params: Params) -> tuple[Flag, ...]:
    flags = _pairs.window_flags(params["window"], samples.get("window_granted"))
    if params["protocol"] == UDP:
        flags += _pairs.load_flags(samples.get("sent_rate"), params["rate"] if is_known(output.argv) else None)
    else:
        flags += pacing.held_flags(samples.get("goodput"), params.get("pace"), "bit/s")
    if _FRAGMENTS.search(text):
        text_of_flag = _("The datagrams are larger than the path's MTU: one lost fragment loses the whole.")
        flags.append(Flag("fragments", "warning", Message(text_of_flag)))
    return tuple(flags)


def _explain(output: Output, text: str, report: NuttcpReport) -> ToolFailure:
    """Return why there is no result; without its server it tries an old mode that no receiver confirms."""
    address = output.argv[-1] if output.argv else ""
    if _REFUSED.search(text) or "classic" in text:
        return failure("refused", output, address=address)
    if problem := texts.system_error(output, text, address):
        return problem
    wrong = _WRONG.search(text)
    if wrong:
        return failure("bad-parameter", output, said=wrong[0][:200])
    broke = _BROKE.search(text)
    if broke:
        return failure("stopped", output, said=broke[0].strip()[:200])
    is_begun = report.intervals or "nuttcp-" in text
    return failure("unreadable", output) if is_begun else texts.no_result(output, text)
