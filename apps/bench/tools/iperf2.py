"""iperf 2: the older iperf, over TCP or UDP, with its units made plain."""

import dataclasses
import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import pacing, texts
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import is_known, keep_valid, read_options
from apps.bench.outputs.scales import BINARY, MIXED, scaled, whole_seconds
from apps.bench.text import Message, _
from apps.bench.toolkit import (
    Flag,
    Metric,
    NodeRef,
    Output,
    Params,
    Plan,
    Reading,
    Tool,
    ToolFailure,
    TrialEstimate,
    Value,
)
from apps.bench.tools import _pairs, _transports
from apps.bench.tools._iperf2 import result
from apps.bench.tools._iperf2.report import (
    count_tests,
    has_head,
    is_in_both_forms,
    is_of_both_ways,
    is_reverse,
    read_report,
    scaled_rate,
)
from apps.bench.tools._transports import TCP, UDP

_OPTIONS = {
    "-c": "address", "--client": "address", "-t": "duration", "--time": "duration", "-P": "streams",
    "--parallel": "streams", "-w": "window", "--window": "window", "-b": "rate", "--bandwidth": "rate",
    "--fq-rate": "fq_rate",    "--isochronous": "pauses", "--burst-period": "pauses", "--near-congestion": "pauses",
    "-l": "length", "--len": "length", "-p": "port", "--port": "port", "-Z": "congestion", "-M": "mss", "-B": "bind",
    "-i": "interval", "-y": "style", "-f": "format",
    "-n": "amount", "--num": "amount",
}  # fmt: skip
_FLAGS = {
    "-u": "udp", "--udp": "udp", "-s": "server", "-e": "enhanced", "-R": "reverse", "--reverse": "reverse",
    "-d": "both", "--dualtest": "both", "-r": "both", "--tradeoff": "both", "--full-duplex": "both",
    "--bidir": "both", "--near-congestion": "pauses",
}  # fmt: skip
# What it sends at once unless told otherwise (B).
USUAL_WRITE, USUAL_DATAGRAM = 128 * 1024, 1470
_FQ = re.compile(r"^fair-queue socket pacing set to +([\d.]{1,15}) ([KMGT]?)bit/s", re.M)
_PORT = re.compile(r"^(?:Client connecting to \S{1,100}|Server listening on), ?(?:TCP|UDP) port (\d{1,5})\b", re.M)
_SIZE = re.compile(
    r"^TCP window size: +[\d.]{1,12} [KMG]?Byte \((?:default|WARNING: requested +([\d.]{1,12}) ([KMG]?)Byte)\)", re.M
)
_DATAGRAM = re.compile(r"^Sending (\d{1,6}) byte datagrams\b", re.M)
_LISTENING = re.compile(r"^Server listening on (?:TCP|UDP) port", re.M)
_VERSION = re.compile(r"^iperf version (2\.\S{1,20})|\(peer (2\.[\w.-]{1,20})\)", re.M)
_BAD_HOST = re.compile(r"^.*(?:Host name lookup failure|Temporary failure in name resolution).*$", re.M)
_TARGET = re.compile(
    r"^Client connecting to (\S{1,100}),|^\d{14}(?:\.\d+)?,(?:[^,\n]{1,60},\d{1,5},)?([^,\n]{1,60}),", re.M
)
_BROKE = re.compile(r"^.*(?:write failed|Connection reset by peer|Broken pipe).*$", re.M)


class Iperf2(Tool):
    """iperf, version 2."""

    slug = "iperf2"
    name = "iperf 2"
    summary = _("Rates of TCP or UDP streams with the older iperf, counted at the receiver.")
    programs = ("iperf",)
    transport = "tcp"
    # Earlier ones know no -e, which they report and then ignore.
    minimum_version = "2.0.13"
    roles = _pairs.ROLES
    parameters = (
        _transports.PROTOCOL,
        _transports.window(
            _("Socket buffer to ask for on both ends (-w); 0 leaves it to the kernel's autotuning.")
        ),
        _transports.streams(),
        _pairs.duration_parameter(),
        _transports.offered_load(_("What to send over UDP, over all streams together, as payload.")),
        _transports.datagram(minimum=60),
        _transports.pace(),
        _pairs.DIRECTION,
        _pairs.port_parameter(5001),
    )  # fmt: skip
    metrics = (
        Metric("goodput", _("Goodput"), "bit/s", True, primary=True, axis="rate"),
        Metric("sent_rate", _("Sent rate"), "bit/s", True, axis="rate"),
        Metric("loss", _("Datagram loss"), "fraction", False, axis="fraction"),
        Metric("jitter", _("Jitter"), "s", False, axis="time", has_zero=True),
        Metric("out_of_order", _("Datagrams out of order"), "count", False, axis="count"),
        Metric("retransmits", _("Retransmits"), "count", False, axis="count"),
        Metric("cwnd_max", _("Max congestion window, per stream"), "B", None, axis="size"),
        Metric("mean_rtt", _("Mean RTT under load"), "s", False, axis="time"),
        Metric("window_granted", _("Socket buffer granted"), "B", None, axis="size"),
        Metric("fairness", _("Fairness of the streams (Jain)"), "1", True, axis="ratio"),
    )
    opening = re.compile(r"^Client connecting to .*(?:TCP|UDP) port \d+", re.M)
    signatures = (
        re.compile(r"^\[ *(?:ID|\d+)\] Interval +Transfer +Bandwidth", re.M),
        re.compile(r"^(?:Client connecting to|Server listening on) .*(?:TCP|UDP) port \d+", re.M),
        re.compile(r"^\d{14},[^,\n]+,\d+,[^,\n]+,\d+,\d+,[\d.]+-[\d.]+,\d+,\d+", re.M),
        re.compile(r"^iperf version 2\.|^\S+: Host name lookup failure$|^iperf: unrecognized option", re.M),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse fractions of a second."""
        return _pairs.check_whole_seconds(params["duration"])

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return a server and a client, both reporting whole bytes: its -y C drops sums, dates and the receiver."""
        client, server = _pairs.players(nodes)
        common = ["-p", str(params["port"]), "-f", "b", "-e"]
        if params["window"]:
            common += ["-w", str(params["window"])]
        if ":" in server.address:
            common.append("-V")
        listen = ["iperf", "-s", "-B", server.address, *common]
        send = ["iperf", "-c", texts.target_of(server, client), "-B", client.address, *common]
        send += ["-t", f"{params['duration']:.0f}", "-i", "1"]
        if params["streams"] != 1:
            send += ["-P", str(params["streams"])]
        if params["direction"] == _pairs.REVERSE:
            send.append("-R")
        if params["protocol"] == TCP and params["pace"]:
            send += ["-b", str(round(params["pace"] / params["streams"]))]
        if params["protocol"] == UDP:
            # A server that reads less at once than a datagram holds counts only what it read.
            listen += ["-u", "-l", str(params["length"])]
            # Digits only: with a letter, 200M would be 200 times 2^20; and the rate is that of each stream.
            send += ["-u", "-b", str(round(params["rate"] / params["streams"])), "-l", str(params["length"])]
        limit = params["duration"] + _pairs.MARGIN_S + 0.5 * params["streams"]
        return _pairs.server_then_client(listen, send, limit, r"Server listening on (?:TCP|UDP) port \d+")

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time and the bytes: an offered load is sent whether or not the path carries it."""
        way = ("client", "server") if params["direction"] == _pairs.FORWARD else ("server", "client")
        return _transports.make_estimate(params, capacity_bps, way)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv says, in iperf's own units, and what the output shows."""
        text = texts.read_text(output)
        options = read_options(output.argv, _OPTIONS, _FLAGS)
        report = read_report(text)
        streams = scaled(options.get("streams"), MIXED) or max(len(report.finals), len(report.received)) or None
        ends = [line.end for line in report.finals or report.received]
        is_udp = "udp" in options or "UDP port" in text or report.is_of_datagrams
        is_tcp = not is_udp and (is_known(output.argv) or "TCP port" in text or report.is_of_segments)
        each, pacing_each = _rate_of(options, is_udp=is_udp), _paced(text)
        rate = each * (streams or 1)
        pace = (pacing.least(None if is_udp else each, pacing_each) or 0) * (streams or 1)
        return keep_valid(
            self,
            {
                "protocol": UDP if is_udp else TCP if is_tcp else None,
                "window": scaled(options.get("window"), MIXED) or _window_of(output, text),
                "streams": streams,
                "duration": options.get("duration") or whole_seconds(max(ends, default=None)),
                "rate": rate or None,
                "pace": pace if pace or is_known(output.argv) else None,
                "direction": _direction(output, text, options),
                "length": scaled(options.get("length"), MIXED) or _printed(_DATAGRAM, text) if is_udp else None,
                "port": options.get("port") or _printed(_PORT, text) or (5001 if is_known(output.argv) else None),
            },
        )

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the rates, the receiver's as goodput; ToolFailure where no test was carried out as asked."""
        output = _pairs.client_output(outputs)
        text = texts.read_text(output)
        # It tells of an option that it does not know, and goes on without.
        if unknown := texts.bad_option(output, text):
            raise unknown
        options = read_options(output.argv, _OPTIONS, _FLAGS)
        if is_of_both_ways(text) or "both" in options or is_in_both_forms(text):
            raise failure("several-results", output, n=2)
        if _LISTENING.search(text):
            return _read_server_alone(output, text, params)
        server = _pairs.server_output(outputs)
        report = read_report(text)
        if not report.finals and not report.received:
            raise _explain(output, text, server)
        _pairs.require_duration(
            output,
            max(line.end for line in report.finals or report.received),
            params["duration"],
            is_asked="duration" in options and "amount" not in options,
        )
        served = _read_served(server)
        if params["protocol"] == UDP and not (report.received or (served and served.received)):
            address = _target(output, text)
            raise texts.system_error(output, text, address) or failure("no-reply", output, address=address)
        if params["protocol"] == TCP and (broke := _BROKE.search(text)):
            raise failure("stopped", output, said=broke[0].strip()[:200])
        version = _VERSION.search(text + (texts.read_text(server) if server else ""))
        # Where the server sent, what the client counts is what arrived.
        is_back = _direction(output, text, options) == _pairs.REVERSE
        client, received = (None, report) if is_back and not report.received else (report, served)
        reading = result.make_reading(output, client, received, params, (version[1] or version[2]) if version else "")
        return dataclasses.replace(
            reading, flags=(*reading.flags, *_limit_flags(reading, options, params), *result.one_way_flags(text))
        )


def _direction(output: Output, text: str, options: Mapping[str, str]) -> str | None:
    """Return which way the data went; None where neither the command nor a head of the report tells."""
    if "reverse" in options or is_reverse(text):
        return _pairs.REVERSE
    return _pairs.FORWARD if is_known(output.argv) or has_head(text) else None


def _window_of(output: Output, text: str) -> int | None:
    """Return the socket buffer that was asked for, 0 for none; None where neither the command nor a head tells."""
    printed = _SIZE.search(text)
    if printed and printed[1]:
        return scaled(f"{printed[1]}{printed[2]}", BINARY)
    return 0 if printed or is_known(output.argv) else None


def _printed(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return int(match[1]) if match else None


def _rate_of(options: Mapping[str, str], *, is_udp: bool) -> int:
    """Return the rate (bit/s) of each stream that -b asks for, given in bits or packets a second; 0 without it."""
    rate_text = options.get("rate", "").partition(",")[0]
    if not rate_text.endswith("pps"):
        return scaled(rate_text, MIXED) or 0
    length = scaled(options.get("length"), MIXED) or (USUAL_DATAGRAM if is_udp else USUAL_WRITE)
    return (scaled(rate_text.removesuffix("pps"), MIXED) or 0) * 8 * length


def _paced(text: str) -> float | None:
    """Return the rate (bit/s) to which the kernel was told to pace each stream; the option's own unit has changed."""
    printed = _FQ.search(text)
    return scaled_rate(printed[1], printed[2]) if printed else None


def _limit_flags(reading: Reading, options: Mapping[str, str], params: Params) -> list[Flag]:
    """Say when something other than the path set the sender's pace."""
    if "pauses" in options:
        return pacing.paused_flags("--isochronous, --burst-period, --near-congestion")
    if params["protocol"] == UDP:
        return []
    if "fq_rate" in options and not params.get("pace"):
        return pacing.paused_flags("--fq-rate")
    rate = max(reading.value("goodput") or 0.0, reading.value("sent_rate") or 0.0)
    return pacing.held_flags(rate, params.get("pace"), "bit/s")


def _target(output: Output, text: str) -> str:
    address = read_options(output.argv, _OPTIONS, _FLAGS).get("address", "")
    match = _TARGET.search(text)
    return address or (match[1] or match[2] if match else "-")


def _read_served(server: Output | None) -> result.Iperf2Report | None:
    """Return what the server told of the one test it served, or None."""
    text = texts.read_text(server) if server else ""
    return read_report(text) if count_tests(text) == 1 else None


def _read_server_alone(output: Output, text: str, params: Params) -> Reading:
    """Return the reading of a server's log that was kept without its client's report."""
    tests = count_tests(text)
    if tests > 1:
        raise failure("several-results", output, n=tests)
    if not tests:
        raise texts.system_error(output, text, "") or texts.no_result(output, "")
    report = read_report(text)
    sent, served = (report, None) if is_reverse(text) else (None, report)
    return result.make_reading(output, sent, served, params, "")


def _explain(output: Output, text: str, server: Output | None) -> ToolFailure:
    """Return why there is no result, in the server's words if the client has none."""
    address = read_options(output.argv, _OPTIONS, _FLAGS).get("address", "")
    if bad := _BAD_HOST.search(text):
        return failure("bad-host", output, address=address, said=bad[0].strip()[:200])
    # The client's words would tell only that nobody answered.
    if server and server.signal in texts.CRASHES:
        return failure("signalled", server, signal=server.signal)
    if problem := texts.system_error(output, text, address):
        return problem
    if server and (problem := texts.system_error(server, texts.read_text(server), address)):
        return problem
    if "Client connecting to" in text or "," in text:
        return failure("unreadable", output)
    return texts.no_result(output, text)
