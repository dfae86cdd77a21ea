"""bing: the rate of each link of a path, from the RTTs of ICMP packets of ten sizes to both of its ends."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench.outputs import texts
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
    ToolRole,
    TrialEstimate,
    Value,
)
from apps.bench.tools import _pairs

# Each probe waits for its answer; rounds send those again whose RTT fits badly: at most some 100 packets a second.
MOST_BPS = 1_000_000
# What it prints lies in a buffer of 4 KiB, and is lost when it is stopped: three rounds or so fill it.
LEAST_S = 10
# A line through two points has the correlation 1.
LEAST_POINTS, WORST_FIT = 3, 0.9

_NUMBER = r"(\d{1,400}(?:\.\d{1,6})?)"
_FIRST_HOST = re.compile(r"^ 0 \S+ ", re.M)
_ROUND = re.compile(r"^Round (\d{1,6}) ", re.M)
# Number, host, RTT of an empty packet, correlation and points; of a host without a line either is blank or has
# 309 digits.
_HOST = re.compile(
    r"^ ?(\d{1,3}) (\S{1,60}) +[-\d.]{1,400} (?:ms|us|s), *(?:(\d\.\d{1,3})|[-\d.]{1,400})/ *(\d{1,3}|--) ?,[^\n]*$",
    re.M,
)
_LINK = re.compile(
    rf"^ \| +(?:{_NUMBER}([KMG]?)b/s|-+\.-+ b/s), *(?:[\d.]+|-+\.-+) (?:us|ms|s) \([^)\n]*\)[^\n]*$", re.M
)
_UNIT = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
# Of sizes whose RTTs are the same but for a rounding error; no link is as fast (bit/s).
_NO_RATE = 1e15
_PRIVILEGE = re.compile(r"^(?:socket: Operation not permitted|bing: error: cannot open ICMP module)$", re.M)
_BAD_HOST = re.compile(r"^bing: error: unknown host (\S{1,100})$", re.M)
_UNREACHED = re.compile(r"^bing: warning: route check step failed.*$|^ttl=\d+ probe_res=(?:-1|0) ", re.M)


class Bing(Tool):
    """bing over IPv4."""

    slug = "bing"
    name = "bing"
    summary = _("Rate of each link of a path by ICMP packets of several sizes, from one end; needs root.")
    programs = ("bing",)
    roles = (ToolRole("client", _("From")), ToolRole("server", _("To")))
    parameters = (
        Parameter(
            "duration", "duration", _("Duration"), default=30.0, unit="s", minimum=LEAST_S, maximum=3600,
            help=_("The program goes on until it is stopped; the probes whose RTT fits badly are sent again."),
        ),
        Parameter(
            "largest", "size", _("Largest size"), help=_("At most the path's MTU less 28."), default=1472, unit="B",
            minimum=100, maximum=8972,
        ),
    )  # fmt: skip
    metrics = (
        Metric("capacity", _("Path capacity"), "bit/s", True, primary=True, axis="rate"),
        Metric(
            "capacity_by_differences",
            _("Path capacity, from differences of single sizes"),
            "bit/s",
            True,
            axis="rate",
        ),
        Metric("fit", _("Fit of the slowest link's far end (r)"), "1", True, axis="ratio"),
        Metric("hops", _("Hops"), "count", False, axis="count"),
    )
    opening = re.compile(r"^Found \d+ key hosts$", re.M)
    signatures = (
        re.compile(r"^Found \d+ key hosts\n|^Round \d+ hinvalid: ", re.M),
        re.compile(r"^bing: (?:error|warning): ", re.M),
    )

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return one command that its time limit ends: the program knows no other end."""
        client, server = _pairs.players(nodes)
        _pairs.refuse_ipv6(self.name, client, server)
        argv = ("bing", "-n", "-S", str(params["largest"]), server.address)
        return _pairs.one_command(argv, params["duration"])

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time of a path that answers, and a bound on the bytes of the echoes."""
        amount = round(MOST_BPS * params["duration"] / 8)
        both = {("client", "server"): amount, ("server", "client"): amount}
        return TrialEstimate(params["duration"], both, offered_bps=MOST_BPS)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the largest size."""
        return keep_valid(self, {"largest": read_options(output.argv, {"-S": "largest"}, {}).get("largest")})

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the slowest link of the last whole round; that it was stopped is the way it ends."""
        output = texts.find_output(outputs, "client")
        text = output.stdout.decode("utf-8", "replace")
        block, rounds = _last_round(text)
        hosts = _HOST.findall(block)
        links = _links(block, hosts) if block else []
        if not links or [int(host[0]) for host in hosts] != list(range(len(links) + 1)):
            raise _explain(output, is_begun=bool(block))
        target = output.argv[-1] if len(output.argv) > 1 else ""
        if texts.is_address(target) and hosts[-1][1] != target:
            raise failure("not-reached", output, address=target, last=hosts[-1][1])
        slowest = min((link for link in links if link["rate"]), key=lambda link: link["rate"], default=None)
        differences = [link["rate_by_differences"] for link in links if link["rate_by_differences"]]
        samples = {
            "capacity": slowest["rate"] if slowest else None,
            "capacity_by_differences": min(differences, default=None),
            "fit": slowest["fit"] if slowest else None,
            "hops": float(len(links)),
        }
        return Reading(
            samples=_pairs.figures(samples),
            requested=dict(params),
            observed={"links": links, "hosts": [host[1] for host in hosts], "rounds": rounds},
            flags=_flags(slowest),
        )


def _last_round(text: str) -> tuple[str, int]:
    """Return what was printed of the last whole round, and its number; "" and 0 if there is none."""
    starts = [first.start() for first in _FIRST_HOST.finditer(text)]
    for start, end in reversed(list(itertools.pairwise([*starts, len(text)]))):
        if last := _ROUND.search(text, start, end):
            return text[start : last.start()], int(last[1])
    return "", 0


def _links(block: str, hosts: Sequence[tuple[str, ...]]) -> list[dict[str, Any]]:
    """Return each link: its rate (bit/s) by the lines of its two ends, and by the differences of single sizes.

    Of the two the first rests on more sizes. `fit` and `points` are those of the line of the farther end.
    """
    rates = [float(match[1]) * _UNIT[match[2]] if match[1] else None for match in _LINK.finditer(block)]
    rows = [rate if rate is not None and rate < _NO_RATE else None for rate in rates]
    if len(rows) != 2 * (len(hosts) - 1):
        return []
    return [
        {
            "rate": by_ends,
            "rate_by_differences": by_differences,
            "fit": float(host[2]) if host[2] else None,
            "points": int(host[3]) if host[3].isdigit() else 0,
        }
        for by_differences, by_ends, host in zip(rows[::2], rows[1::2], hosts[1:], strict=True)
    ]


def _flags(slowest: Mapping[str, Any] | None) -> tuple[Flag, ...]:
    flags = []
    if slowest is None:
        text = _("The RTT does not grow with the size: the links are too fast to be told apart from noise.")
        flags.append(Flag("capacity-unknown", "warning", Message(text)))
    elif slowest["points"] < LEAST_POINTS or (slowest["fit"] or 0) < WORST_FIT:
        text = _("The slowest link's rate rests on %(n)s sizes whose RTTs hardly lie on a line: measure longer.")
        flags.append(Flag("capacity-uncertain", "warning", Message(text, {"n": slowest["points"]})))
    return tuple(flags)


def _explain(output: Output, *, is_begun: bool) -> ToolFailure:
    """Return why there is no round."""
    text = texts.read_text(output)
    address = output.argv[-1] if len(output.argv) > 1 else "-"
    if refused := _PRIVILEGE.search(text):
        return failure("permission", output, said=refused[0])
    if bad := _BAD_HOST.search(text):
        return failure("bad-host", output, address=bad[1], said=bad[0][:200])
    if problem := texts.bad_option(output, text) or texts.system_error(output, text, address):
        return problem
    if _UNREACHED.search(text):
        return failure("no-reply", output, address=address)
    return failure("unreadable", output) if is_begun else texts.no_result(output, text)
