"""mtr: the route with loss and round-trip times of every hop."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench.outputs import texts
from apps.bench.outputs.documents import dig, printed_object
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
from apps.bench.tools import _mtr, _pairs

ICMP, UDP, TCP = "icmp", "udp", "tcp"
# How long it waits for the last answers; its own 5 s are longer than any path.
GRACE_S = 2.0
# From this share of a time on half a step of its last digit is worth a word.
COARSE = 0.02

_TIMES = ("rtt_s", "rtt_min", "rtt_mean", "rtt_max")
_UNRESOLVED = re.compile(r"^mtr: Failed to resolve host: .*$", re.M)
_REFUSED = re.compile(r"^mtr: non-root users .*$|^mtr(?:-packet)?: .*(?:privilege|Failure to open).*$", re.M)
_VALUED = {
    "-c": "count", "--report-cycles": "count", "-i": "interval", "--interval": "interval", "-s": "size",
    "--psize": "size", "-m": "max_hops", "--max-ttl": "max_hops", "-P": "port", "--port": "port", "-a": "own",
}  # fmt: skip
_SWITCHES = {"-u": "udp", "--udp": "udp", "-T": "tcp", "--tcp": "tcp"}


class Mtr(Tool):
    """mtr in JSON."""

    slug = "mtr"
    name = "mtr"
    summary = _("Loss and round-trip time of every hop of a path, probed again and again.")
    programs = ("mtr",)
    roles = (_pairs.ToolRole("client", _("From")), _pairs.ToolRole("server", _("To")))
    parameters = (
        Parameter(
            "count", "integer", _("Probes per hop"), default=10, unit="count", minimum=1, maximum=10_000
        ),
        Parameter(
            "interval",
            "duration",
            _("Time between rounds"),
            help=_("Less than 1 s needs root."),
            default=1.0,
            unit="s",
            minimum=0.1,
            maximum=60,
        ),
        Parameter(
            "method",
            "choice",
            _("Probes"),
            default=ICMP,
            choices=((ICMP, _("ICMP echo")), (UDP, "UDP"), (TCP, _("TCP SYN"))),
        ),
        Parameter(
            "port", "integer", _("TCP port"), help=_("Where TCP probes knock; an open port answers best."),
            default=80, minimum=1, maximum=65535, advanced=True,
        ),
        Parameter("size", "size", _("Packet size"), default=64, unit="B", minimum=28, maximum=4470, advanced=True),
        Parameter("max_hops", "integer", _("Max hops"), default=30, unit="count", minimum=1, maximum=255),
    )  # fmt: skip
    metrics = (
        Metric("hops", _("Hops"), "count", False, axis="count"),
        Metric("rtt_min", _("Min RTT to the end"), "s", False, axis="time"),
        Metric("rtt_mean", _("Mean RTT to the end"), "s", False, primary=True, axis="time"),
        Metric("rtt_max", _("Max RTT to the end"), "s", False, axis="time"),
        Metric("rtt_deviation", _("RTT variation (mdev)"), "s", False, axis="time", has_zero=True),
        Metric("loss", _("Probes lost"), "fraction", False, axis="fraction"),
    )
    opening = re.compile(r"^HOST: .*Loss%", re.M)
    signatures = (
        re.compile(r'"report": *\{\s*"mtr": *\{'),
        re.compile(r"^Start: .*\nHOST: .*Loss%", re.M),
        re.compile(r"^x 0 \d+\nh 0 ", re.M),
        re.compile(r"^mtr: Failed to resolve host|^Mtr_Version,|^<MTR SRC=", re.M),
    )

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return one command on the client."""
        client, server = _pairs.players(nodes)
        argv = [
            "mtr",
            "-n",
            "--json",
            "-c",
            str(params["count"]),
            "-i",
            f"{params['interval']:g}",
            "-G",
            f"{GRACE_S:g}",
        ]
        argv += ["-m", str(params["max_hops"]), "-s", str(params["size"])]
        if params["method"] == UDP:
            argv.append("-u")
        if params["method"] == TCP:
            argv += ["-T", "-P", str(params["port"])]
        argv += ["-a", client.address, texts.target_of(server, client)]
        return _pairs.one_command(argv, params["count"] * params["interval"] + GRACE_S + _pairs.MARGIN_S)

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time of a path whose end answers, and a bound on the bytes for ten hops."""
        amount = 10 * params["count"] * params["size"]
        return TrialEstimate(params["count"] * params["interval"] + GRACE_S, {("client", "server"): amount})

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv says, else what the report does; its packet size is a text."""
        options = read_options(output.argv, _VALUED, _SWITCHES)
        report = _mtr.read_report(texts.read_text(output), printed_object(output.stdout))
        method = UDP if "udp" in options else TCP if "tcp" in options else ICMP if is_known(output.argv) else None
        parameters: dict[str, Value] = {name: options.get(name) for name in ("interval", "max_hops", "port")}
        # Of what it was asked for, most forms tell only what was sent.
        probes = None if is_known(output.argv) else max((hop["sent"] for hop in report.hops), default=None)
        parameters |= {
            "count": options.get("count") or report.count or probes,
            "size": options.get("size") or report.size,
        }
        return keep_valid(self, {**{name: value for name, value in parameters.items() if value}, "method": method})

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the end's figures and every hop's; ToolFailure if the end did not answer (the exit status is 0)."""
        output = _pairs.client_output(outputs)
        text = texts.read_text(output)
        data = printed_object(output.stdout)
        report = _mtr.read_report(text, data)
        target, hops = output.argv[-1] if is_known(output.argv) else report.target, report.hops
        if not hops:
            raise _explain(output, text, target, data)
        numbers = [hop["hop"] for hop in hops]
        if numbers != sorted(set(numbers)):
            raise failure("unreadable", output)
        last = hops[-1]
        if not _is_end(last, target) or last["loss"] >= 1:
            answers = [address for hop in hops if hop["loss"] < 1 for address in hop["addresses"]]
            raise failure("not-reached", output, address=target or "-", last=answers[-1] if answers else "-")
        times = [last[name] for name in ("rtt_min", "rtt_mean", "rtt_max")]
        if times[1] is None:
            raise failure("unreadable", output)
        # Printed with three digits, or with one in the report for people; columns can be chosen.
        ordered = [time for time in times if time is not None]
        if any(one > other + 1e-4 for one, other in itertools.pairwise(ordered)):
            raise failure("contradictory", output, first=f"{times[0]} s", second=f"{times[2]} s")
        samples = {name: last[name] for name in ("rtt_min", "rtt_mean", "rtt_max", "rtt_deviation", "loss")}
        return Reading(
            samples=_pairs.figures({"hops": float(numbers[-1]), **samples}),
            requested=dict(params),
            observed={"hops": [_without_zeros(hop) for hop in hops]},
            flags=(*_flags(hops, params), *_coarse_flags(samples, report.step_s)),
        )


def _is_end(hop: Mapping[str, Any], target: str) -> bool:
    """Return whether a hop is the target, as far as names and addresses can be told to be the same.

    A name is answered by its address, and an address is printed by its name unless the program is told -n: where the
    two are of different kinds, or no target is known, the hop behind which mtr stopped is the end if it answered.
    """
    if not hop["addresses"]:
        return False
    answered, expected = hop["addresses"][0].partition("%")[0], target.partition("%")[0]
    if not expected or texts.is_address(answered) != texts.is_address(expected):
        return True
    return bool(answered.lower() == expected.lower() or not texts.is_address(expected))


def _without_zeros(hop: Mapping[str, Any]) -> dict[str, Any]:
    """Return a hop without the times that are less than the digits of the report can show."""
    return {name: None if name in _TIMES and not value else value for name, value in hop.items()}


def _flags(hops: Sequence[Mapping[str, Any]], params: Params) -> tuple[Flag, ...]:
    last = hops[-1]
    flags = _pairs.loss_flags(last["loss"])
    silent = sum(not hop["addresses"] or hop["loss"] >= 1 for hop in hops[:-1])
    if silent:
        text = _("%(n)s hops on the way did not answer; that alone is no loss.")
        flags.append(Flag("silent-hops", "info", Message(text, {"n": silent})))
    if last["sent"] < params["count"]:
        text = _("Only %(sent)s of %(count)s probes were sent to the end.")
        flags.append(
            Flag("few-probes", "warning", Message(text, {"sent": int(last["sent"]), "count": params["count"]}))
        )
    return tuple(flags)


def _coarse_flags(samples: Mapping[str, float | None], step_s: float) -> list[Flag]:
    """Say which times are hardly longer than the steps that they are printed in."""
    times = {name: time for name, time in samples.items() if name in _TIMES and time and step_s / 2 > COARSE * time}
    if not times:
        return []
    text = _("Times are printed to 0.1 ms only: these may be off by up to %(percent)s %%. mtr --json has finer ones.")
    percent = round(100 * step_s / 2 / min(time for time in times.values() if time))
    return [Flag("coarse-time", "warning", Message(text, {"percent": percent}), tuple(times))]


def _explain(output: Output, text: str, target: str, data: dict[str, Any] | None) -> ToolFailure:
    """Return why there is no hop at all."""
    if unresolved := _UNRESOLVED.search(text):
        return failure("bad-host", output, address=target, said=unresolved[0][:200])
    if refused := _REFUSED.search(text):
        return failure("permission", output, said=refused[0][:200])
    if problem := texts.bad_option(output, text) or texts.system_error(output, text, target):
        return problem
    if data is not None and dig(data, "report", "hubs") == []:
        return failure("undelivered", output, address=target, said="no hop answered")
    return failure("unreadable", output) if "{" in text or "HOST:" in text else texts.no_result(output, text)
