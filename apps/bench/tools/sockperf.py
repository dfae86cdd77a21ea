"""sockperf: the latency of messages with its percentiles, idle or under load, or the rate that a sender reaches."""

import math
import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import is_known, keep_valid, read_options
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
from apps.bench.tools import _pairs
from apps.bench.tools._transports import TCP, UDP

PING_PONG, UNDER_LOAD, THROUGHPUT = "ping-pong", "under-load", "throughput"
# It starts with a second of warm-up, of which it leaves 0.4 s out of its figures.
WARM_UP_S = 1.0

_NUMBER = r"(\d{1,15}(?:\.\d{1,9})?)"
_COLOURS = re.compile(r"\x1b\[[\d;]{0,8}m")
_LATENCY = re.compile(rf"^sockperf: Summary: (Latency|Round trip) is {_NUMBER} usec", re.M)
# Other measures of scatter follow the deviation in 3.8 and 3.10; old ones print "avg-lat".
_DEVIATION = re.compile(rf"avg-(?:lat|latency|rtt)={_NUMBER} \(std-dev={_NUMBER}[,)]")
_PERCENTILE = re.compile(rf"^sockperf: ---> percentile +{_NUMBER} += +{_NUMBER}\b", re.M)
_EXTREME = re.compile(rf"^sockperf: ---> <(MIN|MAX)> observation += +{_NUMBER}\b", re.M)
_TOTAL = re.compile(rf"^sockperf: \[(Total Run|Valid Duration)\] RunTime={_NUMBER} sec;.*?SentMessages=(\d{{1,15}}); "
                    r"ReceivedMessages=(\d{1,15})\b", re.M)  # fmt: skip
_LOST = re.compile(
    r"# dropped messages = (\d{1,15}); # duplicated messages = (\d{1,15}); # out-of-order messages = (\d{1,15})"
)
_SENT = re.compile(rf"^sockperf: Total of (\d{{1,15}}) messages sent in {_NUMBER} sec", re.M)
_RATE = re.compile(rf"^sockperf: Summary: Message Rate is {_NUMBER} \[msg/sec\]", re.M)
_MESSAGE_SIZE = re.compile(r"using msg-size=(\d{1,9})\.")
# What its units may be in bit/s: --increase_output_precision calls by G what it calls M without.
_FACTORS = {"M": (2**20,), "G": (1000 * 2**20, 2**20, 2**30)}
_BANDWIDTH = re.compile(rf"^sockperf: Summary: BandWidth is {_NUMBER} (?:MBps|GBps) \({_NUMBER} (M|G)bps\)", re.M)
_VERSION = re.compile(r"== version #(\d[\w.]{0,20})")
_SILENT = re.compile(r"No messages were received from the server")
_SERVER = re.compile(r"^sockperf: \[SERVER\] listen on:", re.M)
_WRONG = re.compile(r"^sockperf: '?-[^\n]*Invalid[^\n]*$|^Usage: sockperf", re.M)
_BROKE = re.compile(r"^sockperf: (?:ERROR|error|Exiting)[^\n]*$", re.M)
_BAD_ADDRESS = re.compile(r"^sockperf: '-i' Invalid address: [^\n]*$", re.M)
_OPTIONS = {
    "-i": "address", "--ip": "address", "-p": "port", "--port": "port", "-t": "duration", "--time": "duration",
    "-m": "message_size", "--msg-size": "message_size", "--mps": "message_rate", "--reply-every": "reply_every",
    "--client_ip": "own",
}  # fmt: skip


class Sockperf(Tool):
    """sockperf with a server of its own."""

    slug = "sockperf"
    name = "sockperf"
    summary = _("One-way latency of messages with percentiles, idle or under load; half the round trip.")
    programs = ("sockperf",)
    roles = _pairs.ROLES
    parameters = (
        Parameter("protocol", "choice", _("Protocol"), default=UDP, choices=((UDP, "UDP"), (TCP, "TCP"))),
        Parameter(
            "mode",
            "choice",
            _("Mode"),
            help=_("Throughput counts what the sender sends; over UDP nobody tells what arrived."),
            default=PING_PONG,
            choices=(
                (PING_PONG, _("ping-pong")),
                (UNDER_LOAD, _("latency under load")),
                (THROUGHPUT, _("throughput")),
            ),
        ),
        _pairs.duration_parameter(5.0),
        Parameter(
            "message_size", "size", _("Message size"), default=64, unit="B", minimum=14, maximum=65507,
        ),
        Parameter(
            "message_rate", "integer", _("Messages per second"), default=10_000, unit="count", minimum=1,
            maximum=100_000_000, help=_("Under load and for throughput; ping-pong waits for each answer."),
        ),
        _pairs.port_parameter(11111),
    )  # fmt: skip
    metrics = (
        Metric("latency", _("Mean one-way latency (half the round trip)"), "s", False, primary=True, axis="time"),
        Metric("latency_min", _("Min one-way latency"), "s", False, axis="time"),
        Metric("latency_p50", _("Median one-way latency"), "s", False, axis="time"),
        Metric("latency_p90", _("One-way latency, 90th percentile"), "s", False, axis="time"),
        Metric("latency_p99", _("One-way latency, 99th percentile"), "s", False, axis="time"),
        Metric("latency_p999", _("One-way latency, 99.9th percentile"), "s", False, axis="time"),
        Metric("latency_max", _("Max one-way latency"), "s", False, axis="time"),
        Metric("latency_deviation", _("Variation of the one-way latency"), "s", False, axis="time", has_zero=True),
        Metric("loss", _("Messages lost"), "fraction", False, axis="fraction"),
        Metric("message_rate", _("Messages per second"), "1/s", True, axis="frequency"),
        Metric("sent_rate", _("Sent rate"), "bit/s", True, axis="rate"),
    )
    signatures = (re.compile(r"^sockperf(?:\[CLIENT\])?:? ", re.M),)

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse fractions of a second."""
        return _pairs.check_whole_seconds(params["duration"])

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return a server and a client of the mode; the version of 2021 speaks IPv4 only."""
        client, server = _pairs.players(nodes)
        _pairs.refuse_ipv6(self.name, client, server)
        common = ["-i", server.address, "-p", str(params["port"])]
        if params["protocol"] == TCP:
            common.append("--tcp")
        send = ["sockperf", params["mode"], *common, "--client_ip", client.address]
        send += ["-t", f"{params['duration']:.0f}", "-m", str(params["message_size"])]
        if params["mode"] != PING_PONG:
            send += ["--mps", str(params["message_rate"])]
        if params["mode"] == UNDER_LOAD:
            send += ["--reply-every", "1"]
        limit = params["duration"] + WARM_UP_S + _pairs.MARGIN_S
        return _pairs.server_then_client(("sockperf", "server", *common), send, limit, r"to block on socket")

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time and what is sent: at a set rate, which gives way to nobody, or one message at a time."""
        seconds = params["duration"] + WARM_UP_S
        if params["mode"] == PING_PONG:
            return TrialEstimate(seconds, streams=1)
        rate = 8 * params["message_rate"] * params["message_size"]
        offered = rate if params["protocol"] == UDP else 0
        amount = round(rate * seconds / 8)
        traffic = {("client", "server"): amount}
        if params["mode"] == UNDER_LOAD:
            traffic["server", "client"] = amount
        return TrialEstimate(seconds, traffic, offered_bps=offered, streams=1)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv says."""
        text = texts.read_text(output)
        options = read_options(output.argv, _OPTIONS, {"--tcp": "tcp"})
        modes = [mode for mode in (PING_PONG, UNDER_LOAD, THROUGHPUT) if mode in output.argv[1:2]]
        shorts = {"pp": PING_PONG, "ul": UNDER_LOAD, "tp": THROUGHPUT}
        modes += [mode for short, mode in shorts.items() if short in output.argv[1:2]]
        # Of latencies its report does not say whether they were measured by ping-pong or under load.
        summary = _SENT.search(text)
        mode = modes[0] if modes else THROUGHPUT if summary else None
        duration = options.get("duration") or (float(round(float(summary[2]))) if summary else None)
        is_tcp, is_udp = "tcp" in options or "# TCP" in text, "# UDP" in text or is_known(output.argv)
        rate = options.get("message_rate", "")
        return keep_valid(
            self,
            {
                "protocol": TCP if is_tcp else UDP if is_udp else None,
                "mode": mode,
                "duration": duration,
                "message_size": options.get("message_size"),
                "message_rate": rate if rate.isdigit() else None,
                "port": options.get("port"),
            },
        )

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return latencies or the sender's rate; ToolFailure without a summary, for it always exits with 0."""
        output = _pairs.client_output(outputs)
        text = _COLOURS.sub("", texts.read_text(output))
        _pairs.refuse_server(output, text, _SERVER)
        summaries = len(_LATENCY.findall(text)) + len(_RATE.findall(text))
        if summaries > 1:
            raise failure("several-results", output, n=summaries)
        latency = _LATENCY.search(text)
        samples = _read_latency(output, text) if latency else _read_throughput(output, text, params)
        if samples is None:
            raise _explain(output, text)
        version = _VERSION.search(text)
        return Reading(
            samples=_pairs.figures(samples),
            requested=dict(params),
            observed=_read_observed(text),
            flags=_flags(text, samples, params, params["message_rate"] if is_known(output.argv) else None),
            tool_version=version[1] if version else "",
        )


def _read_latency(output: Output, text: str) -> dict[str, float | None] | None:
    """Return the latencies (s); with --full-rtt it prints round trips, which are halved."""
    mean, spread = _LATENCY.search(text), _DEVIATION.search(text)
    extremes = {name: float(value) for name, value in _EXTREME.findall(text)}
    at = {float(percent): float(value) for percent, value in _PERCENTILE.findall(text)}
    counts, totals = _LOST.search(text), {match[1]: match for match in _TOTAL.finditer(text)}
    if not mean or not spread or set(extremes) != {"MIN", "MAX"} or not counts or not totals.get("Valid Duration"):
        return None
    # Percentiles fall with the order in which they are printed, and all lie between the extremes.
    ordered = [extremes["MIN"], *(at[percent] for percent in sorted(at)), extremes["MAX"]]
    if ordered != sorted(ordered) or not extremes["MIN"] <= float(mean[2]) <= extremes["MAX"]:
        raise failure("contradictory", output, first=f"{ordered[0]:g}", second=f"{ordered[-1]:g}")
    scale = 1e-6 if mean[1] == "Latency" else 0.5e-6
    valid = totals["Valid Duration"]
    messages_sent, dropped = int(valid[3]), int(counts[1])
    if dropped > messages_sent:
        raise failure("contradictory", output, first=f"{dropped}", second=f"{messages_sent}")

    def percentile(percent: float) -> float | None:
        return at[percent] * scale if percent in at else None

    seconds = float(valid[2])
    return {
        "latency": float(mean[2]) * scale,
        "latency_min": extremes["MIN"] * scale,
        "latency_p50": percentile(50),
        "latency_p90": percentile(90),
        "latency_p99": percentile(99),
        "latency_p999": percentile(99.9),
        "latency_max": extremes["MAX"] * scale,
        "latency_deviation": float(spread[2]) * scale,
        "loss": dropped / messages_sent if messages_sent else None,
        "message_rate": messages_sent / seconds if seconds else None,
    }


def _read_throughput(output: Output, text: str, params: Params) -> dict[str, float | None] | None:
    """Return the sender's rate; its "Mbps" is 2^20 bit, its "Gbps" that or a thousand times as much."""
    totals, rate, bandwidth = _SENT.search(text), _RATE.search(text), _BANDWIDTH.search(text)
    if not totals or not rate or not bandwidth or not float(totals[2]):
        return None
    is_asked = "duration" in read_options(output.argv, _OPTIONS, {"--tcp": "tcp"})
    _pairs.require_duration(output, float(totals[2]), params["duration"], is_asked=is_asked)
    messages_per_s = int(totals[1]) / float(totals[2])
    # Rates of whole messages, times of three digits.
    if not math.isclose(messages_per_s, float(rate[1]), rel_tol=0.01, abs_tol=2):
        raise failure("contradictory", output, first=f"{messages_per_s:g}", second=rate[1])
    size = _MESSAGE_SIZE.search(text)
    computed_bps = messages_per_s * 8 * int(size[1] if size else params["message_size"])
    if not size and not is_known(output.argv):
        # Nothing tells which of its units the rate is in.
        return {"message_rate": float(rate[1]), "sent_rate": None}
    candidates = [float(bandwidth[2]) * factor for factor in _FACTORS[bandwidth[3]]]
    bits = min(candidates, key=lambda value: abs(value - computed_bps))
    # Printed with three digits behind the point, of Gbit/s too.
    if not math.isclose(bits, computed_bps, rel_tol=0.02, abs_tol=0.001 * max(_FACTORS[bandwidth[3]])):
        raise failure("contradictory", output, first=f"{bits:.6g}", second=f"{computed_bps:.6g}")
    return {"message_rate": float(rate[1]), "sent_rate": bits}


def _read_observed(text: str) -> dict[str, float]:
    """Return the counts: messages sent and received, dropped, duplicated and out of order."""
    observed: dict[str, float] = {}
    for total in _TOTAL.finditer(text):
        if total[1] == "Valid Duration":
            observed |= {"duration": float(total[2]), "sent": int(total[3]), "received": int(total[4])}
    if counts := _LOST.search(text):
        names = ("dropped", "duplicated", "out_of_order")
        observed |= {name: int(value) for name, value in zip(names, counts.groups(), strict=True)}
    if totals := _SENT.search(text):
        observed |= {"sent": int(totals[1]), "duration": float(totals[2])}
    return observed


def _flags(text: str, samples: Mapping[str, float | None], params: Params, target: float | None) -> tuple[Flag, ...]:
    flags = []
    if samples.get("loss"):
        words = _("%(percent)s %% of the messages were lost; their time is not in the latency.")
        flags.append(Flag("loss", "warning", Message(words, {"percent": f"{100 * (samples['loss'] or 0):.3g}"})))
    if "sent_rate" in samples:
        flags.append(_pairs.receiver_unseen())
    observations = re.search(r"Total (\d{1,15}) observations", text)
    # A percentile needs observations beyond it.
    if observations and int(observations[1]) < 100:
        words = _("%(n)s observations are too few for the 99th percentile: measure longer.")
        flags.append(Flag("few-observations", "warning", Message(words, {"n": int(observations[1])})))
    rate = samples.get("message_rate")
    if params["mode"] != PING_PONG and rate is not None and target is not None and rate < 0.95 * target:
        words = _("The sender sent %(sent)s of the %(asked)s messages per second asked for.")
        values = {"sent": f"{rate:.0f}", "asked": target}
        flags.append(Flag("sender-too-slow", "warning", Message(words, values)))
    return tuple(flags)


def _explain(output: Output, text: str) -> ToolFailure:
    """Return why there is no summary."""
    address = read_options(output.argv, _OPTIONS, {}).get("address", "")
    if bad := _BAD_ADDRESS.search(text):
        return failure("bad-host", output, address=address, said=bad[0][:200])
    if problem := texts.bad_option(output, text) or texts.system_error(output, text, address):
        return problem
    if _SILENT.search(text):
        return failure("no-reply", output, address=address)
    if wrong := _WRONG.search(text):
        return failure("bad-parameter", output, said=wrong[0][:200])
    if broke := _BROKE.search(text):
        return failure("stopped", output, said=broke[0][:200])
    return failure("unreadable", output) if "sockperf" in text else texts.no_result(output, text)
