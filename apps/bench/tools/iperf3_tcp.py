"""iperf3 over TCP: how fast one or several connections move data, and which window they really had."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.network import rfc6349
from apps.bench.outputs import pacing
from apps.bench.outputs.documents import Json, number, objects
from apps.bench.outputs.reconstruction import keep_valid
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
    TrialEstimate,
    Value,
)
from apps.bench.tools import _pairs, _transports
from apps.bench.tools._iperf3 import options, recovery, series
from apps.bench.tools._iperf3.document import Iperf3Document, figures, read_document

# Below this a kernel refuses an MSS (TCP_MIN_MSS); above, iperf3 does (MAX_MSS).
LEAST_MSS, MOST_MSS = 88, 9216

# The two names of sums of the opposite direction came with this version; before, they overwrote the forward ones.
BOTH_WAYS_SINCE = "3.11"


class Iperf3Tcp(Tool):
    """iperf3 with TCP streams."""

    slug = "iperf3-tcp"
    name = "iperf3 TCP"
    summary = _("Achievable bandwidth of TCP connections, with window, RTT and retransmits.")
    programs = ("iperf3",)
    transport = "tcp"
    minimum_version = "3.7"
    opening = recovery.OPENING
    signatures = recovery.SIGNATURES
    roles = _pairs.ROLES
    parameters = (
        _transports.window(_("Socket buffer to ask for on both ends (-w); 0 leaves it to the kernel's autotuning.")),
        options.STREAMS,
        options.DURATION,
        options.OMIT,
        options.DIRECTION,
        Parameter(
            "congestion",
            "text",
            _("Congestion control"),
            help=_("Such as cubic or bbr, as the sender's kernel offers; empty takes the system's default."),
            default="",
        ),
        Parameter(
            "mss",
            "size",
            _("MSS"),
            help=_("Largest TCP segment (-M); 0 takes what the path's MTU allows."),
            default=0,
            zero=_("not given"),
            unit="B",
            minimum=0,
            maximum=MOST_MSS,
            advanced=True,
        ),
        _transports.pace(),
        options.PORT,
        options.INTERVAL,
        *rfc6349.PARAMETERS,
    )
    metrics = (
        Metric("goodput", _("Goodput"), "bit/s", True, primary=True, axis="rate", has_zero=True),
        Metric("sent_rate", _("Sent rate"), "bit/s", True, axis="rate", has_zero=True),
        Metric("goodput_reverse", _("Goodput in reverse"), "bit/s", True, axis="rate", has_zero=True),
        Metric("sent_rate_reverse", _("Sent rate in reverse"), "bit/s", True, axis="rate", has_zero=True),
        Metric("retransmits", _("Retransmits"), "count", False, axis="count"),
        Metric("retransmits_reverse", _("Retransmits in reverse"), "count", False, axis="count"),
        Metric("window_granted", _("Socket buffer granted"), "B", None, axis="size"),
        Metric("window_observed", _("Window observed, per stream"), "B", None, axis="size"),
        Metric("cwnd_max", _("Max congestion window, per stream"), "B", None, axis="size"),
        Metric("min_rtt", _("Min RTT under load"), "s", False, axis="time"),
        Metric("mean_rtt", _("Mean RTT under load"), "s", False, axis="time"),
        Metric("max_rtt", _("Max RTT under load"), "s", False, axis="time"),
        Metric("fairness", _("Fairness of the streams (Jain)"), "1", True, axis="ratio"),
        Metric("cpu_local", _("Processor load of the client"), "%", False, axis="load"),
        Metric("cpu_remote", _("Processor load of the server"), "%", False, axis="load"),
        *rfc6349.METRICS,
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse fractions of a second, an MSS no kernel takes, and names that are no congestion control's."""
        errors = options.check_whole_seconds(params)
        if 0 < params["mss"] < LEAST_MSS:
            errors["mss"] = Message(_("Give at least %(least)s B, or 0 for the path's own."), {"least": LEAST_MSS})
        if not re.fullmatch(r"([a-z][a-z0-9_-]{0,14})?", str(params["congestion"] or "")):
            errors["congestion"] = Message(_("Give the name of one congestion control, for example cubic."))
        return errors

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return a server for one test and a client that reports in JSON."""
        own: list[str] = []
        if params["window"]:
            own += ["-w", options.whole(params["window"])]
        if params["mss"]:
            own += ["-M", options.whole(params["mss"])]
        if params["congestion"]:
            own += ["-C", str(params["congestion"])]
        if params["pace"]:
            own += ["-b", options.whole(params["pace"] / params["streams"])]
        return options.make_plan(params, nodes, own)

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time and, at most, the bytes: a window-limited connection sends less than the capacity."""
        return options.make_estimate(params, capacity_bps)

    def recognises(self, output: Output) -> bool:
        """Return whether an output is iperf3's, and of TCP as far as it tells."""
        return super().recognises(output) and recovery.protocol_of(output) in ("TCP", "")

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv and the report say was asked for."""
        return keep_valid(self, recovery.recover_parameters(output))

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the client's report as a reading; ToolFailure for anything that is not a complete result."""
        document = read_document(outputs)
        document.require_protocol("TCP")
        document.require_version(self.minimum_version)
        if params["direction"] == options.BOTH:
            document.require_version(BOTH_WAYS_SINCE)
        document.require_duration("sum_received", params["duration"])
        samples = _read_rates(document, params)
        granted = _read_granted(document)
        samples |= _read_streams(document, params)
        if params["window"] and granted.get("send_buffer") and granted.get("receive_buffer"):
            samples["window_granted"] = min(granted["send_buffer"], granted["receive_buffer"])
        for metric, key in (("cpu_local", "host_total"), ("cpu_remote", "remote_total")):
            samples[metric] = document.number("end", "cpu_utilization_percent", key)
        return Reading(
            samples=figures(samples),
            series=series.read_series(document, params, {"mean_rtt": "rtt", "window_observed": "snd_wnd"}),
            requested=dict(params),
            granted=granted,
            observed=_read_observed(document, samples),
            flags=(
                *_pairs.window_flags(params["window"], samples.get("window_granted")),
                *series.read_flags(document, params),
                *_limit_flags(samples, params),
            ),
            tool_version=document.version,
        )


def _read_rates(document: Iperf3Document, params: Params) -> dict[str, float | None]:
    """Return the rates of the direction asked for, or of both; the receiver's bytes are the goodput."""
    samples: dict[str, float | None] = {
        "goodput": document.rate("sum_received"),
        "sent_rate": document.rate("sum_sent"),
        "retransmits": document.number("end", "sum_sent", "retransmits"),
    }
    if params["direction"] == options.BOTH:
        samples["goodput_reverse"] = document.rate("sum_received_bidir_reverse")
        samples["sent_rate_reverse"] = document.rate("sum_sent_bidir_reverse")
        samples["retransmits_reverse"] = document.number("end", "sum_sent_bidir_reverse", "retransmits")
    return samples


def _limit_flags(samples: Mapping[str, float | None], params: Params) -> list[Flag]:
    """Say when the sender's own limit set the pace of either direction."""
    rates = [samples.get("goodput"), samples.get("goodput_reverse")]
    return pacing.held_flags(max((rate for rate in rates if rate), default=None), params.get("pace"), "bit/s")


def _read_granted(document: Iperf3Document) -> Json:
    """Return what the client's kernel granted: buffers (B), congestion controls, the MSS if one was set (B)."""
    numbers = {
        "send_buffer": document.number("start", "sndbuf_actual"),
        "receive_buffer": document.number("start", "rcvbuf_actual"),
        "mss": document.number("start", "tcp_mss"),
    }
    names = {
        "congestion_sender": document.get("end", "sender_tcp_congestion"),
        "congestion_receiver": document.get("end", "receiver_tcp_congestion"),
    }
    granted: Json = {key: value for key, value in numbers.items() if value is not None}
    return granted | {key: name for key, name in names.items() if isinstance(name, str) and name.isprintable()}


def _read_streams(document: Iperf3Document, params: Params) -> dict[str, float | None]:
    """Return what the client's kernel saw of the streams it sent on, and Jain's index of all streams' rates.

    Jain's fairness index is (sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984).
    """
    streams = document.streams()
    # The receiving streams carry figures, too, of the few bytes that went the other way: they mean nothing.
    sending = [] if params["direction"] == options.REVERSE else [s for s in streams if _is_sending(s)]

    def collect(key: str) -> list[float]:
        return [value for stream in sending if (value := number(stream, "sender", key))]

    windows, cwnds = collect("max_snd_wnd"), collect("max_snd_cwnd")
    minimum, mean, maximum = collect("min_rtt"), collect("mean_rtt"), collect("max_rtt")
    samples: dict[str, float | None] = {
        "window_observed": sum(windows) / len(windows) if windows else None,
        "cwnd_max": max(cwnds) if cwnds else None,
        "min_rtt": min(minimum) / 1e6 if minimum else None,
        "mean_rtt": sum(mean) / len(mean) / 1e6 if mean else None,
        "max_rtt": max(maximum) / 1e6 if maximum else None,
    }
    amounts = [number(stream, "receiver", "bytes") or 0.0 for stream in (sending or streams)]
    squares = sum(value * value for value in amounts)
    if len(amounts) > 1 and 0 < squares < float("inf"):
        samples["fairness"] = sum(amounts) ** 2 / (len(amounts) * squares)
    return samples


def _is_sending(stream: Json) -> bool:
    sender = stream.get("sender")
    return isinstance(sender, dict) and sender.get("sender") is True


def _read_observed(document: Iperf3Document, samples: Mapping[str, float | None]) -> Json:
    """Return what was seen on the wire: MSS, path MTU and window (B), the RTTs and the time of sending (s)."""
    pmtu = [
        value
        for interval in document.intervals()[-1:]
        for stream in objects(interval.get("streams"))
        if (value := number(stream, "pmtu"))
    ]
    observed = {
        "mss": document.number("start", "tcp_mss_default") or document.number("start", "tcp_mss"),
        "path_mtu": min(pmtu) if pmtu else None,
        "seconds": document.number("end", "sum_sent", "seconds"),
        **{name: samples.get(name) for name in ("window_observed", "cwnd_max", "min_rtt", "mean_rtt", "max_rtt")},
    }
    return {name: value for name, value in observed.items() if value is not None}
