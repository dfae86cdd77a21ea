"""tracepath: the hops of a path, and the largest packet it carries whole."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.network import routes
from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import keep_valid, read_options
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
    SampleValue,
    Stage,
    Tool,
    ToolFailure,
    ToolRole,
    TrialEstimate,
    Value,
)

# Each hop is asked up to ten times, a second each, before the program goes on (tracepath.c).
SECONDS_PER_HOP = 10.0
MARGIN_S = 10.0

# With -b a name stands before the address, which is put in brackets.
_WHO = r"(?:\S{1,255} \()?([\w.:%-]{1,80})\)?"
_HOP = re.compile(rf"^ ?(\d{{1,3}}):\s+{_WHO}\s+([\d.]{{1,12}})ms(.*)$", re.M | re.ASCII)
_RESUME = re.compile(r"^\s+Resume: pmtu (\d{1,6})(?: hops (\d{1,3}))?(?: back (\d{1,3}))?\s*$", re.M)
# Without an argv the hop that was reached is the only one that names the other end.
_REACHED = re.compile(
    r"^ ?\d{1,3}:\s+(?:\S{1,255} \()?([\w.:%-]{1,80})\)?\s+[\d.]{1,12}ms(?: \S+){0,4}? ?reached", re.M | re.ASCII
)
_BLOCKED = re.compile(r"!(?:[NHPASX]|\S+)")


class Tracepath(Tool):
    """tracepath with UDP probes, which needs no privilege."""

    slug = "tracepath"
    name = "tracepath"
    summary = _("Hops and path MTU, without a privilege.")
    programs = ("tracepath",)
    opening = re.compile(r"^ ?1\?: \[LOCALHOST\]", re.M)
    signatures = (
        re.compile(r"^ ?1\?: \[LOCALHOST\]", re.M),
        re.compile(r"^[ \t]+(?:Resume|Too many hops): pmtu \d", re.M),
        re.compile(r"^(?:tracepath6?: |Usage\s+tracepath )", re.M),
    )
    roles = (ToolRole("client", _("From")), ToolRole("server", _("To")))
    parameters = (
        Parameter("max_hops", "integer", _("Max hops"), default=30, unit="count", minimum=1, maximum=255),
        Parameter(
            "length",
            "size",
            _("First packet length"),
            help=_("Bytes of the first probe; 0 starts with the largest (65535, IPv6: 128000)."),
            default=0,
            zero=_("the largest"),
            unit="B",
            minimum=0,
            maximum=65535,
            advanced=True,
        ),
    )
    metrics = (
        Metric("path_mtu", _("Path MTU"), "B", True, primary=True, axis="size"),
        Metric("hops", _("Hops"), "count", False, axis="count"),
        Metric("rtt_min", _("RTT of the last hop"), "s", False, axis="time"),
    )

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return one command on the client."""
        server, client = nodes["server"][0], nodes["client"][0]
        texts.refuse_mixed_families(server, client)
        argv = ["tracepath", "-n", "-m", str(params["max_hops"])]
        if params["length"]:
            argv += ["-l", str(params["length"])]
        argv.append(texts.target_of(server, client))
        limit = params["max_hops"] * SECONDS_PER_HOP + MARGIN_S
        return Plan(
            (Stage("measure", (Command(role="client", node_index=0, argv=tuple(argv), time_limit_s=limit),)),)
        )

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the usual time of a path whose hops answer, and a bound on the probes' bytes."""
        return TrialEstimate(2.0, {("client", "server"): 65535 * 10})

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv says; the output tells nothing of it."""
        options = read_options(output.argv, {"-m": "max_hops", "-l": "length", "-p": ""}, {"-n": "", "-b": ""})
        return keep_valid(self, options)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the path MTU and the hops; ToolFailure if the probes did not reach the other node."""
        output = texts.find_output(outputs, "client")
        texts.refuse_cut_short(output)
        text = texts.read_text(output)
        target = texts.named_target(output, text, _REACHED)
        resume = _RESUME.search(text)
        hops = [(int(match[1]), match[2], match[3], match[4]) for match in _HOP.finditer(text)]
        if not resume:
            match = texts.bad_option(output, text) or texts.system_error(output, text, target)
            raise match or (failure("unreadable", output) if hops else texts.no_result(output, text))
        end_hops = [hop for hop in hops if hop[3].strip().startswith("reached")]
        if not resume[2] or not end_hops:
            raise _unreached(output, text, hops, target)
        number, address, rtt_ms, _rest = end_hops[-1]
        if number != int(resume[2]) or not _is_number(rtt_ms) or not int(resume[1]):
            raise failure("contradictory", output, first=number, second=resume[0].strip())
        samples = {"path_mtu": float(resume[1]), "hops": float(number), "rtt_min": float(rtt_ms) / 1000}
        flags = []
        if address != target and texts.is_address(target):
            flags.append(
                Flag(
                    "answered-by-other",
                    "warning",
                    Message(
                        _("%(other)s answered for %(address)s: a firewall, or another of its interfaces."),
                        {"other": address, "address": target},
                    ),
                )
            )
        if resume[3] and resume[3] != resume[2]:
            message = Message(
                _("The way back has %(back)s hops, the way there %(hops)s."), {"back": resume[3], "hops": resume[2]}
            )
            flags.append(Flag("asymmetric", "info", message))
        return Reading(
            samples=tuple(SampleValue(name, value) for name, value in samples.items()),
            requested=dict(params),
            observed={
                "hops": _list_hops(hops),
                "route": routes.as_json(routes.make_route((hop, [address]) for hop, address, _rtt, _rest in hops)),
            },
            flags=tuple(flags),
        )


def _list_hops(hops: Sequence[tuple[int, str, str, str]]) -> list[dict[str, object]]:
    """Return each hop's number, address and last RTT (s)."""
    listed = {
        number: {"hop": number, "address": address, "rtt_s": float(rtt_ms) / 1000}
        for number, address, rtt_ms, _rest in hops
        if _is_number(rtt_ms)
    }
    return [listed[number] for number in sorted(listed)]


def _unreached(output: Output, text: str, hops: Sequence[tuple[int, str, str, str]], target: str) -> ToolFailure:
    """Return why the probes did not arrive."""
    if "send failed" in text:
        return failure("no-route", output, address=target, said="send failed")
    for _number, address, _rtt, rest in hops:
        if _BLOCKED.match(rest.strip()):
            return texts.undelivered(output, target, f"{address} {rest.strip()[:20]}")
    return failure("not-reached", output, address=target, last=hops[-1][1] if hops else "-")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", text) is not None
