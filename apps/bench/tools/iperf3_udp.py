"""iperf3 over UDP: what of an offered load arrives, how much is lost, and how evenly it comes."""

from collections.abc import Mapping, Sequence

from apps.bench.outputs import agreement
from apps.bench.outputs.documents import number
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import is_known, keep_valid
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


class Iperf3Udp(Tool):
    """iperf3 with UDP datagrams."""

    slug = "iperf3-udp"
    name = "iperf3 UDP"
    summary = _("Loss, jitter and order of datagrams at an offered load.")
    programs = ("iperf3",)
    transport = "udp"
    # Earlier reports give the sender's rate only.
    minimum_version = "3.11"
    opening = recovery.OPENING
    signatures = recovery.SIGNATURES
    roles = _pairs.ROLES
    parameters = (
        _transports.offered_load(_("What to send, over all streams together, as payload."), default=100_000_000),
        _transports.datagram(minimum=16),
        options.STREAMS,
        options.DURATION,
        options.OMIT,
        options.DIRECTION,
        Parameter(
            "window",
            "size",
            _("Socket buffer"),
            help=_("Socket buffer to ask for on both ends (-w); 0 leaves the system's default."),
            default=0,
            zero=_("the system's default"),
            unit="B",
            minimum=0,
            maximum=512 * 1024**2,
            advanced=True,
        ),
        options.PORT,
        options.INTERVAL,
    )
    metrics = (
        Metric("goodput", _("Goodput"), "bit/s", True, primary=True, axis="rate", has_zero=True),
        Metric("offered_load", _("Offered load"), "bit/s", None, axis="rate", has_zero=True),
        Metric("loss", _("Datagram loss"), "fraction", False, axis="fraction"),
        Metric("jitter", _("Jitter"), "s", False, axis="time", has_zero=True),
        Metric("out_of_order", _("Datagrams out of order"), "count", False, axis="count"),
        Metric("goodput_reverse", _("Goodput in reverse"), "bit/s", True, axis="rate", has_zero=True),
        Metric("offered_load_reverse", _("Offered load in reverse"), "bit/s", None, axis="rate", has_zero=True),
        Metric("loss_reverse", _("Datagram loss in reverse"), "fraction", False, axis="fraction"),
        Metric("jitter_reverse", _("Jitter in reverse"), "s", False, axis="time", has_zero=True),
        Metric("out_of_order_reverse", _("Datagrams out of order in reverse"), "count", False, axis="count"),
        Metric("cpu_local", _("Processor load of the client"), "%", False, axis="load"),
        Metric("cpu_remote", _("Processor load of the server"), "%", False, axis="load"),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse fractions of a second, which iperf3 would cut off."""
        return options.check_whole_seconds(params)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return a server for one test and a client that offers the load, an equal part on each stream."""
        each = params["rate"] / params["streams"]
        own = ["-u", "-b", options.whole(each), "-l", options.whole(params["length"])]
        if params["window"]:
            own += ["-w", options.whole(params["window"])]
        return options.make_plan(params, nodes, own)

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time and the bytes: the offered load is sent whether or not the path carries it."""
        return options.make_estimate(params, params["rate"], offered_bps=params["rate"])

    def recognises(self, output: Output) -> bool:
        """Return whether an output is iperf3's, and of UDP as far as it tells."""
        return super().recognises(output) and recovery.protocol_of(output) in ("UDP", "")

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv and the report say was asked for."""
        return keep_valid(self, recovery.recover_parameters(output))

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the client's report as a reading; ToolFailure for anything that is not a complete result."""
        document = read_document(outputs)
        document.require_protocol("UDP")
        document.require_version(self.minimum_version)
        document.require_duration("sum_sent", params["duration"])
        is_both = params["direction"] == options.BOTH
        samples = _read_direction(document, "", params["direction"] != options.REVERSE)
        if is_both:
            reverse = _read_direction(document, "_bidir_reverse", is_sending=False)
            samples |= {f"{metric}_reverse": value for metric, value in reverse.items()}
        for metric, key in (("cpu_local", "host_total"), ("cpu_remote", "remote_total")):
            samples[metric] = document.number("end", "cpu_utilization_percent", key)
        granted = {
            name: value
            for name, key in (("send_buffer", "sndbuf_actual"), ("receive_buffer", "rcvbuf_actual"))
            if (value := document.number("start", key)) is not None
        }
        is_told = is_known(document.output.argv) or document.get("start", "test_start", "target_bitrate") is not None
        offered_bps = params["rate"] if is_told else None
        flags = [flag for flag in series.read_flags(document, params) if flag.name != "sender-unseen"]
        return Reading(
            samples=figures(samples),
            series=series.read_series(document, params, {}),
            requested=dict(params),
            granted=granted,
            observed={name: samples[name] for name in ("offered_load", "goodput", "loss") if name in samples},
            flags=(
                *_pairs.load_flags(samples["offered_load"] or 0.0, offered_bps),
                *_agreement(document, ("goodput", "loss"), ""),
                *(_agreement(document, ("goodput_reverse", "loss_reverse"), "_bidir_reverse") if is_both else ()),
                *flags,
            ),
            tool_version=document.version,
        )


def _agreement(document: Iperf3Document, metrics: Sequence[str], suffix: str) -> list[Flag]:
    """Say when the bytes that arrived are not those of the datagrams that did."""
    name = f"sum_received{suffix}"
    lost, packets, seconds = (document.number("end", name, key) for key in ("lost_packets", "packets", "seconds"))
    length = document.number("start", "test_start", "blksize")
    arrived = packets - lost if packets is not None and lost is not None else None
    return agreement.datagram_flags(document.rate(name), arrived, length, seconds, metrics)


def _read_direction(document: Iperf3Document, suffix: str, is_sending: bool) -> dict[str, float | None]:
    """Return the figures of one direction; goodput and loss from what arrived, not from what was sent."""
    received = f"sum_received{suffix}"
    lost, packets = (document.number("end", received, key) for key in ("lost_packets", "packets"))
    jitter_ms = document.number("end", received, "jitter_ms")
    if lost is None or packets is None or jitter_ms is None or lost > packets:
        raise failure("unreadable", document.output)
    out_of_order = [
        value
        for stream in document.streams()
        if isinstance(udp := stream.get("udp"), dict) and (udp.get("sender") is True) == is_sending
        if (value := number(udp, "out_of_order")) is not None
    ]
    return {
        "goodput": document.rate(received),
        "offered_load": document.rate(f"sum_sent{suffix}"),
        "loss": lost / packets if packets else 1.0,
        "jitter": jitter_ms / 1000,
        "out_of_order": sum(out_of_order) if out_of_order else None,
    }
