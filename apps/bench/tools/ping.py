"""ping: the round-trip time of a path, and the share of probes that get lost."""

import math
import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import is_known, keep_valid, read_options
from apps.bench.text import Message, _
from apps.bench.toolkit import (
    Command,
    Flag,
    Metric,
    NodeRef,
    Output,
    Parameter,
    Params,
    Plan,
    Reading,
    SampleSeries,
    SampleValue,
    Stage,
    Tool,
    ToolFailure,
    ToolRole,
    TrialEstimate,
    Value,
)

# Older programs let only root probe faster than this.
FASTEST_FOR_ALL_S = 0.2
MARGIN_S = 10.0
# Headers beside the payload on the link: ICMP 8, IPv4 20 (IPv6: 40, not known before the address resolves).
HEADERS = 28

# iputils, busybox and inetutils, BSD and macOS; their IPv6 program names both ends.
_HEADER = re.compile(
    r"^PING (\S{1,255}?) ?\(\S+?\)(?: from \S+ \S+)?:? (\d{1,6})(?:\(\d{1,6}\) bytes of data| data bytes)"
    r"|^PING6\(\d{1,6}=40\+8\+(?P<payload6>\d{1,6}) bytes\) \S+ --> (?P<target6>\S{1,255})$",
    re.M,
)
_TIME = re.compile(r"packet loss, time (\d{1,12})ms")
_VALUED = {
    "-c": "count", "-i": "interval", "-s": "payload", "-W": "timeout", "-M": "discovery",
    "-I": "", "-w": "", "-t": "", "-Q": "", "-S": "", "-p": "", "-l": "", "-m": "", "-F": "", "-T": "", "-N": "",
}  # fmt: skip
_FLAGS = {
    "-f": "flood",
    "-A": "adaptive",
    "-n": "",
    "-q": "",
    "-D": "",
    "-v": "",
    "-O": "",
    "-U": "",
    "-4": "",
    "-6": "",
}
# A smaller payload has no room for the time at which it was sent.
SMALLEST_TIMED = 16
# What ping does unless told otherwise, which is slower than what this tool asks for.
USUAL_INTERVAL_S = 1.0

_COUNTS = re.compile(
    r"^(\d{1,9}) packets transmitted, (\d{1,9}) (?:packets )?received,(?: \+(?P<again>\d{1,9}) duplicates,)?.*?"
    r" (?P<lost>\d{1,3}(?:\.\d+)?)% packet loss",
    re.M,
)
_MS = r"(\d{1,9}(?:\.\d{1,6})?)"
_RTT = re.compile(
    rf"^(?:rtt|round-trip) min/avg/max(?P<names>/mdev|/stddev|/std-dev)? = {_MS}/{_MS}/{_MS}(?:/{_MS})? ms", re.M
)
_REPLY = re.compile(
    rf"^(?:\[[\d.]+\] )?\d+ bytes from .{{1,400}}?seq=(?P<number>\d{{1,9}}) .{{0,60}}?time=(?P<time>{_MS}) ms", re.M
)
_TOO_BIG = re.compile(
    r"(?:message too long, mtu[=:] ?|Frag needed and DF set \(mtu = |Packet too big: mtu=)(\d{1,9})"
)
_UNREACHABLE = re.compile(r"^From .*(?:[Uu]nreachable|No route|[Pp]rohibited|[Ff]iltered).*$", re.M)


class Ping(Tool):
    """ICMP echo from one node to another."""

    slug = "ping"
    name = "ping"
    summary = _("Round-trip time and loss of small packets; the min RTT is the path's own.")
    programs = ("ping",)
    closing = frozenset({"rtt_min", "rtt_mean", "rtt_max", "rtt_mdev", "loss"})
    opening = _HEADER
    signatures = (
        _HEADER, re.compile(r"^--- .{1,255} ping statistics ---$", re.M), re.compile(r"^ping: ", re.M),
    )  # fmt: skip
    roles = (ToolRole("client", _("From")), ToolRole("server", _("To")))
    parameters = (
        Parameter("count", "integer", _("Probes"), default=20, unit="count", minimum=1, maximum=100_000),
        Parameter(
            "interval",
            "duration",
            _("Time between probes"),
            help=_("Less than 0.2 s needs a recent ping or root."),
            default=FASTEST_FOR_ALL_S,
            unit="s",
            minimum=0.002,
            maximum=60,
        ),
        Parameter(
            "payload",
            "size",
            _("Payload"),
            help=_("Bytes of data in each probe; headers add 28 (IPv6: 48)."),
            default=56,
            unit="B",
            minimum=16,
            maximum=65507,
        ),
        Parameter(
            "dont_fragment",
            "boolean",
            _("Do not fragment"),
            help=_("Fail where the payload does not fit the path's MTU."),
            default=False,
            advanced=True,
        ),
        Parameter(
            "timeout",
            "duration",
            _("Wait for the last replies"),
            default=2.0,
            unit="s",
            minimum=0.1,
            maximum=60,
            advanced=True,
            aside=True,
        ),
    )
    metrics = (
        Metric("rtt_min", _("Min RTT"), "s", False, primary=True, axis="time"),
        Metric("rtt_mean", _("Mean RTT"), "s", False, axis="time"),
        Metric("rtt_max", _("Max RTT"), "s", False, axis="time"),
        Metric("rtt_mdev", _("RTT variation (mdev)"), "s", False, axis="time", has_zero=True),
        Metric("loss", _("Probes lost"), "fraction", False, axis="fraction"),
    )

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return one command on the client."""
        server, client = nodes["server"][0], nodes["client"][0]
        texts.refuse_mixed_families(server, client)
        count, interval, timeout = params["count"], params["interval"], params["timeout"]
        argv = ["ping", "-n", "-c", str(count), "-i", f"{interval:g}", "-s", str(params["payload"])]
        argv += ["-W", f"{timeout:g}", "-I", client.address]
        if params["dont_fragment"]:
            argv += ["-M", "do"]
        argv.append(texts.target_of(server, client))
        limit = count * interval + timeout + MARGIN_S
        return Plan(
            (Stage("measure", (Command(role="client", node_index=0, argv=tuple(argv), time_limit_s=limit),)),)
        )

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time without losses, and the bytes of the probes, which come back as many."""
        count = params["count"]
        amount = count * (params["payload"] + HEADERS)
        return TrialEstimate(
            max(count - 1, 0) * params["interval"] + 0.1,
            {("client", "server"): amount, ("server", "client"): amount},
        )

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv, the header and the summary say."""
        options = {name: text for name, text in read_options(output.argv, _VALUED, {}).items() if name}
        text = texts.read_text(output)
        raw: dict[str, Value] = {**options}
        if header := _HEADER.search(text):
            raw.setdefault("payload", int(header[2] or header["payload6"]))
        if counts := _COUNTS.search(text):
            raw.setdefault("count", int(counts[1]))
        raw.setdefault("interval", _spacing(output, text))
        if is_known(output.argv):
            raw["dont_fragment"] = options.get("discovery") == "do"
        return keep_valid(self, raw)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return RTTs and loss; ToolFailure if nothing came back or the report does not agree with itself."""
        output = texts.find_output(outputs, "client")
        texts.refuse_cut_short(output)
        text = texts.read_text(output)
        counts = _COUNTS.search(text)
        if not counts:
            raise _unstarted(output, text)
        probes, received, printed = int(counts[1]), int(counts[2]), float(counts["lost"])
        if not probes or received > probes or abs(100 * (1 - received / probes) - printed) > 1:
            raise failure("contradictory", output, first=f"{received}/{probes}", second=f"{printed:g} %")
        if not received:
            raise _silence(output, text)
        if probes != params["count"]:
            interval = params["interval"]
            raise failure("ended-early", output, seconds=probes * interval, wanted=params["count"] * interval)
        return _read(output, text, counts, params)


def _read(output: Output, text: str, counts: re.Match[str], params: Params) -> Reading:
    received, again = int(counts[2]), int(counts["again"] or 0)
    loss = 1 - received / int(counts[1])
    summary = _RTT.search(text)
    header = _HEADER.search(text)
    if not summary and not (header and int(header[2] or header["payload6"]) < SMALLEST_TIMED):
        raise failure("unreadable", output)
    rtts = _read_rtts(output, summary) if summary else {}
    replies = list(_REPLY.finditer(text))
    # Replies are printed with three digits: they must agree with the summary to one per cent. Duplicates count in it.
    minimum = min((float(reply["time"]) / 1000 for reply in replies), default=0.0)
    if (
        rtts
        and len(replies) == received + again
        and not math.isclose(minimum, rtts["rtt_min"], rel_tol=0.01, abs_tol=2e-6)
    ):
        raise failure("contradictory", output, first=f"{minimum} s", second=f"{rtts['rtt_min']} s")
    spacing = params["interval"] if is_known(output.argv) and not _is_flood(output) else _spacing(output, text)
    return Reading(
        samples=tuple(SampleValue(name, value) for name, value in {**rtts, "loss": loss}.items()),
        # Without the command, only a summary with a time tells how far apart the probes were.
        series=_series(replies, spacing) if spacing is not None else (),
        requested=dict(params),
        observed={"received": received},
        flags=_flags(loss, again),
    )


def _is_flood(output: Output) -> bool:
    """Return whether the probes were to leave as fast as answers come back, and not by a clock (-f, -A)."""
    return bool({"flood", "adaptive"} & read_options(output.argv, _VALUED, _FLAGS).keys())


def _spacing(output: Output, text: str) -> float | None:
    """Return the time (s) between probes that the command or the summary tells; None where neither does."""
    if is_known(output.argv) and not _is_flood(output):
        return USUAL_INTERVAL_S
    counts, time = _COUNTS.search(text), _TIME.search(text)
    if not counts or not time or int(counts[1]) < 2:
        return None
    mean = int(time[1]) / 1000 / (int(counts[1]) - 1)
    return round(mean, 1 if mean >= FASTEST_FOR_ALL_S / 2 else 4)


def _read_rtts(output: Output, summary: re.Match[str]) -> dict[str, float]:
    """Return the summary's times (s); busybox prints no deviation."""
    minimum, mean, maximum, deviation = summary.groups()[1:]
    if not float(minimum) <= float(mean) <= float(maximum):
        raise failure("contradictory", output, first=minimum, second=mean)
    texts_by_name = {"rtt_min": minimum, "rtt_mean": mean, "rtt_max": maximum, "rtt_mdev": deviation}
    return {name: float(text) / 1000 for name, text in texts_by_name.items() if text is not None}


def _series(replies: Sequence[re.Match[str]], interval: float) -> tuple[SampleSeries, ...]:
    """Return the first answer to each probe over time; some programs number the probes from 0."""
    first: dict[int, float] = {}
    for reply in replies:
        first.setdefault(int(reply["number"]), float(reply["time"]) / 1000)
    if not first:
        return ()
    start = 0 if min(first) == 0 else 1
    times = tuple(round((number - start) * interval, 6) for number in sorted(first))
    return (SampleSeries("rtt_mean", "", "s", times, tuple(first[number] for number in sorted(first))),)


def _flags(loss: float, again: int) -> tuple[Flag, ...]:
    flags = []
    if loss:
        lost = Message(_("%(percent)s %% of the probes were lost."), {"percent": f"{100 * loss:.3g}"})
        flags.append(Flag("loss", "warning", lost))
    if again:
        text = _("%(n)s answers came more than once; their times are in the mean and the max RTT.")
        flags.append(Flag("duplicates", "warning", Message(text, {"n": again})))
    return tuple(flags)


def _unstarted(output: Output, text: str) -> ToolFailure:
    """Return why a program printed no summary."""
    problem = texts.bad_option(output, text) or texts.system_error(output, text, _target(output, text))
    if problem:
        return problem
    return failure("unreadable", output) if "PING" in text else texts.no_result(output, text)


def _silence(output: Output, text: str) -> ToolFailure:
    """Return why none of the probes came back."""
    too_big = _TOO_BIG.findall(text)
    if too_big:
        return failure("too-big", output, mtu=min(too_big, key=int))
    unreachable = _UNREACHABLE.search(text)
    if unreachable:
        return texts.undelivered(output, _target(output, text), unreachable[0].strip()[:200])
    return failure("no-reply", output, address=_target(output, text))


def _target(output: Output, text: str) -> str:
    return texts.named_target(output, text, _HEADER)
