"""irtt: round-trip time, one-way delays, IPDV and loss of isochronous UDP packets."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import texts
from apps.bench.outputs.documents import dig, number
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import keep_valid, read_options
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
from apps.bench.tools import _irtt, _pairs

# Headers of IPv4 (IPv6: 40) and UDP on the link.
HEADERS = 28
LEAST_LENGTH = 60
# It waits for stragglers three times the largest RTT, or 4 s if none came back.
WAIT_S = 4.0
# Delays of one direction that go below zero by more than clocks read are clocks that differ.
CLOCK_S = 50e-6

_SERVER = re.compile(r"^\[ServerStart\] starting IRTT server", re.M)
_ERROR = re.compile(r"^(?:Error|\[[A-Za-z]*Error\]|unknown flag): ?[^\n]*$|^unknown flag[^\n]*$", re.M)
_RESTRICTED = re.compile(r"^\[ServerRestriction\] [^\n]*$|ServerRestriction", re.M)
_VALUED = {"-i": "interval", "-d": "duration", "-l": "length", "-o": "file"}


class Irtt(Tool):
    """irtt, the isochronous round-trip tester."""

    slug = "irtt"
    name = "irtt"
    summary = _("Round-trip time, one-way delays, delay variation (IPDV) and loss in each direction, over UDP.")
    programs = ("irtt",)
    roles = _pairs.ROLES
    parameters = (
        _pairs.duration_parameter(),
        Parameter(
            "interval",
            "duration",
            _("Time between packets"),
            help=_("The server refuses less than 10 ms."),
            default=0.02,
            unit="s",
            minimum=0.01,
            maximum=60,
        ),
        Parameter(
            "length",
            "size",
            _("Payload"),
            help=_("Bytes of each packet, at least 60 for its own headers."),
            default=172,
            unit="B",
            minimum=LEAST_LENGTH,
            maximum=65507,
        ),
        _pairs.port_parameter(2112),
    )
    metrics = (
        Metric("rtt_min", _("Min RTT"), "s", False, axis="time"),
        Metric("rtt_mean", _("Mean RTT"), "s", False, axis="time"),
        Metric("rtt_median", _("Median RTT"), "s", False, primary=True, axis="time"),
        Metric("rtt_max", _("Max RTT"), "s", False, axis="time"),
        Metric("send_delay_min", _("Min delay to the server"), "s", False, axis="time"),
        Metric("send_delay_median", _("Median delay to the server"), "s", False, axis="time"),
        Metric("receive_delay_min", _("Min delay from the server"), "s", False, axis="time"),
        Metric("receive_delay_median", _("Median delay from the server"), "s", False, axis="time"),
        Metric("ipdv_mean", _("Mean delay variation (IPDV)"), "s", False, axis="time", has_zero=True),
        Metric("send_ipdv_mean", _("Mean IPDV to the server"), "s", False, axis="time", has_zero=True),
        Metric("receive_ipdv_mean", _("Mean IPDV from the server"), "s", False, axis="time", has_zero=True),
        Metric("loss", _("Packets lost"), "fraction", False, axis="fraction"),
        Metric("send_loss", _("Packets lost to the server"), "fraction", False, axis="fraction"),
        Metric("receive_loss", _("Packets lost from the server"), "fraction", False, axis="fraction"),
    )
    opening = re.compile(r"^\[Connecting\] connecting to \S+", re.M)
    signatures = (
        _SERVER,
        re.compile(r'"irtt": "'),
        re.compile(r"^\[Connecting\] connecting to \S+|^ +server proc\. time ", re.M),
    )

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return a server on the node's own address and a client that writes JSON to its stdout."""
        client, server = _pairs.players(nodes)
        port = params["port"]
        listen = ["irtt", "server", "-b", _with_port(server.address, port)]
        send = ["irtt", "client", "-Q", "-o", "-", "-i", _go(params["interval"]), "-d", _go(params["duration"])]
        send += ["-l", str(params["length"]), f"--local={_in_brackets(client.address)}"]
        send.append(_with_port(texts.target_of(server, client), port))
        limit = params["duration"] + WAIT_S + _pairs.MARGIN_S
        return _pairs.server_then_client(listen, send, limit, r"\[ListenerStart\] starting")

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time and the bytes, which come back as many."""
        amount = round(params["duration"] / params["interval"]) * (params["length"] + HEADERS)
        rate = 8 * (params["length"] + HEADERS) / params["interval"]
        both = {("client", "server"): amount, ("server", "client"): amount}
        return TrialEstimate(params["duration"] + 0.5, both, offered_bps=rate)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv says, else what the report's configuration does (ns)."""
        options, data = read_options(output.argv, _VALUED, {}), _irtt.load(output)
        config = {key: number(data, "config", "params", key) for key in ("interval", "duration", "length")}
        parameters: dict[str, Value] = {}
        for name in ("interval", "duration"):
            argv_value, value = _irtt.seconds_of(options.get(name, "")), config[name]
            parameters[name] = round(argv_value or (value or 0.0) / 1e9, 9) or None
        parameters["length"] = options.get("length") or config["length"]
        address = output.argv[-1] if output.argv else str(dig(data, "config", "remote_address") or "")
        port = re.search(r"(?:^[^:]*|\]):(\d{2,5})$", address)
        parameters["port"] = port[1] if port else None
        return keep_valid(self, parameters)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return delays and losses from the JSON report, or from the table; ToolFailure if nothing came back."""
        output = _pairs.client_output(outputs)
        text = texts.read_text(output)
        _pairs.refuse_server(output, text, _SERVER)
        data = _irtt.load(output)
        summary = _irtt.read_json(output, data) if data is not None else _irtt.read_table(output, text)
        if summary is None:
            raise _explain(output, text)
        declared = {metric.name for metric in self.metrics}
        samples = {name: value for name, value in summary.items() if name in declared}
        if data is not None:
            is_asked = bool(self.recover(output).get("duration"))
            seconds = (number(data, "stats", "duration") or 0.0) / 1e9
            # The last packet leaves one interval before the end.
            _pairs.require_duration(output, seconds + params["interval"], params["duration"], is_asked=is_asked)
        version_in_report = dig(data, "version", "irtt")
        version = (
            version_in_report
            if isinstance(version_in_report, str) and re.fullmatch(r"\d[\w.]{0,20}", version_in_report)
            else ""
        )
        return Reading(
            samples=_pairs.figures(samples),
            series=_irtt.series_of(data),
            requested=dict(params),
            granted=_irtt.granted_of(data),
            observed=_irtt.observed_of(data),
            flags=_flags(samples, params, _irtt.granted_of(data), text),
            tool_version=version,
        )


def _go(seconds: float) -> str:
    """Return a duration as Go reads it."""
    return f"{round(seconds * 1e6)}us"


def _in_brackets(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _with_port(address: str, port: int) -> str:
    return f"{_in_brackets(address)}:{port}"


def _flags(
    samples: Mapping[str, float | None], params: Params, granted: Mapping[str, float], text: str
) -> tuple[Flag, ...]:
    flags = _pairs.loss_flags(samples.get("loss"))
    there, back = samples.get("send_delay_min"), samples.get("receive_delay_min")
    if there is not None and back is not None and min(there, back) < -CLOCK_S:
        text_of_flag = _(
            "The clocks of the two nodes differ: the delays of one direction mean nothing, their sum does."
        )
        flags.append(Flag("clock-offset", "warning", Message(text_of_flag)))
    interval = granted.get("interval")
    if _RESTRICTED.search(text) or (interval and interval > 1.01 * params["interval"]):
        text_of_flag = _("The server restricted what was asked for: packets left every %(interval)s ms.")
        flags.append(
            Flag("restricted", "warning", Message(text_of_flag, {"interval": f"{1000 * (interval or 0):g}"}))
        )
    return tuple(flags)


def _explain(output: Output, text: str) -> ToolFailure:
    """Return why there is no report."""
    address = output.argv[-1] if output.argv else "-"
    if re.search(r"no such host", text):
        return failure("bad-host", output, address=address, said="no such host")
    if unknown := re.search(r"^unknown (?:shorthand )?flag: (\S{1,40})", text, re.M):
        return failure("unknown-option", output, option=unknown[1])
    if problem := texts.bad_option(output, text) or texts.system_error(output, text, address):
        return problem
    if re.search(r"no reply from server|OpenTimeout|\[NoReply\]", text):
        return failure("no-reply", output, address=address)
    if restricted := _RESTRICTED.search(text):
        return failure("bad-parameter", output, said=restricted[0][:200])
    if error := _ERROR.search(text):
        return failure("no-result", output, said=error[0][:200])
    is_begun = "{" in text or "[Connecting]" in text
    return failure("unreadable", output) if is_begun else texts.no_result(output, text)
