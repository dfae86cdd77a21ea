"""traceroute: the hops of a path with their round-trip times, and where it ends."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.network import routes
from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import is_known, keep_valid, read_options
from apps.bench.text import Message, _
from apps.bench.toolkit import (
    Command,
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
    ToolRole,
    TrialEstimate,
    Value,
)

UDP, ICMP, TCP = "udp", "icmp", "tcp"
_VALUED = {
    "-m": "max_hops", "-q": "queries", "-w": "wait", "-p": "port",
    "--max-hops": "max_hops", "--queries": "queries", "--wait": "wait", "--port": "port",
    "-f": "", "-s": "", "-i": "", "-N": "", "-t": "", "-z": "",
}  # fmt: skip
_FLAGS = {"-I": "icmp", "--icmp": "icmp", "-T": "tcp", "--tcp": "tcp", "--mtu": "mtu", "-n": ""}
MARGIN_S = 10.0
PROBE_BYTES = 60

_HEADER = re.compile(r"^traceroute6? to \S+ \((\S+?)\),? (?:from \S+, )?(\d{1,3}) hops max", re.M)
_HOP = re.compile(r"^ {0,2}(\d{1,3}) {2,3}(\S.*)$", re.M)
# BSD's program continues a hop of several addresses on further lines.
_JOINT = re.compile(r"\n {4,8}(?=\S)")
_RTT = re.compile(r"(?<!\S)(\d{1,9}(?:\.\d{1,6})?) ?ms")
_MTU = re.compile(r"(?<!\S)F=(\d{1,6})(?!\S)")
_BLOCKED = re.compile(r"(?<!\S)!(?:[NHPXVCFSUT]|\d+)(?!\S)")
_IP = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+(?:%[\w.-]{1,40})?)"
_ADDRESS = re.compile(rf"(?<!\S){_IP}(?!\S)", re.ASCII)
# Without -n a name stands before each address, which is put in brackets; the name may look like an address itself.
_NAMED_ADDRESS = re.compile(rf"(?<!\S)\S{{1,255}} \(({_IP})\)(?!\S)", re.ASCII)


class Traceroute(Tool):
    """traceroute for Linux."""

    slug = "traceroute"
    name = "traceroute"
    summary = _("Hops of a path and the time to each of them.")
    programs = ("traceroute",)
    opening = _HEADER
    signatures = (
        _HEADER,
        re.compile(r"^traceroute6?: ", re.M),
        re.compile(r"^Usage:\s+traceroute |to use this traceroute method", re.M),
        re.compile(r"^(?:Bad option|Cannot handle|Specify \"host\") .*\((?:argc|missing)", re.M),
    )
    roles = (ToolRole("client", _("From")), ToolRole("server", _("To")))
    parameters = (
        Parameter(
            "method",
            "choice",
            _("Probes"),
            help=_("UDP needs no privilege; ICMP and TCP pass more firewalls but need root."),
            default=UDP,
            choices=((UDP, _("UDP")), (ICMP, _("ICMP echo")), (TCP, _("TCP SYN"))),
        ),
        Parameter(
            "port",
            "integer",
            _("TCP port"),
            help=_("Where TCP probes knock; an open port answers best."),
            default=80,
            minimum=1,
            maximum=65535,
            advanced=True,
        ),
        Parameter("max_hops", "integer", _("Max hops"), default=30, unit="count", minimum=1, maximum=255),
        Parameter("queries", "integer", _("Probes per hop"), default=3, unit="count", minimum=1, maximum=10),
        Parameter(
            "wait",
            "duration",
            _("Wait for each reply"),
            default=2.0,
            unit="s",
            minimum=0.1,
            maximum=60,
            advanced=True,
        ),
        Parameter(
            "discover_mtu",
            "boolean",
            _("Find the path MTU"),
            help=_("Send probes that must not be fragmented and note where the MTU falls; with UDP only."),
            default=False,
        ),
    )
    metrics = (
        Metric("hops", _("Hops"), "count", False, primary=True, axis="count"),
        Metric("rtt_min", _("Min RTT to the end"), "s", False, axis="time"),
        Metric("rtt_mean", _("Mean RTT to the end"), "s", False, axis="time"),
        Metric("rtt_max", _("Max RTT to the end"), "s", False, axis="time"),
        Metric("path_mtu", _("Path MTU"), "B", True, axis="size"),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse MTU discovery with probes that cannot do it."""
        if params["discover_mtu"] and params["method"] != UDP:
            return {"discover_mtu": Message(_("Choose UDP probes to find the path MTU."))}
        return {}

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return one command on the client."""
        server, client = nodes["server"][0], nodes["client"][0]
        texts.refuse_mixed_families(server, client)
        wait = params["wait"]
        argv = ["traceroute", "-n", "-m", str(params["max_hops"]), "-q", str(params["queries"]), "-w", f"{wait:g}"]
        if params["method"] == ICMP:
            argv.append("-I")
        if params["method"] == TCP:
            argv += ["-T", "-p", str(params["port"])]
        if params["discover_mtu"]:
            argv.append("--mtu")
        argv += ["-s", client.address, texts.target_of(server, client)]
        limit = params["max_hops"] * params["queries"] * wait + MARGIN_S
        return Plan(
            (Stage("measure", (Command(role="client", node_index=0, argv=tuple(argv), time_limit_s=limit),)),)
        )

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the usual time of a path whose hops answer, and a bound on the probes' bytes."""
        size = 65000 if params["discover_mtu"] else PROBE_BYTES
        return TrialEstimate(2.0, {("client", "server"): 3 * params["queries"] * size})

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv says, and the number of hops from the header."""
        options = read_options(output.argv, _VALUED, _FLAGS)
        header = _HEADER.search(texts.read_text(output))
        raw: dict[str, Value] = {"max_hops": header[2]} if header else {}
        if is_known(output.argv):
            raw["method"] = ICMP if "icmp" in options else TCP if "tcp" in options else UDP
            raw["discover_mtu"] = "mtu" in options
        return keep_valid(self, {**raw, **options})

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the hops and the RTT to the end; ToolFailure if the end did not answer (the exit status is 0)."""
        output = texts.find_output(outputs, "client")
        texts.refuse_cut_short(output)
        text = _JOINT.sub("  ", texts.read_text(output))
        header = _HEADER.search(text)
        target = texts.named_target(output, text, _HEADER)
        hops = {int(match[1]): match[2] for match in _HOP.finditer(text)} if header else {}
        if not header or not hops:
            match = texts.bad_option(output, text) or texts.system_error(output, text, target)
            raise match or (failure("unreadable", output) if header else texts.no_result(output, text))
        last = max(hops)
        addresses = _addresses(hops[last])
        if sorted(hops) != list(range(1, last + 1)):
            raise failure("unreadable", output)
        blocked = _BLOCKED.search(hops[last])
        if header[1] not in addresses:
            if blocked:
                raise texts.undelivered(output, target, f"{last}  {hops[last]}"[:200])
            raise failure("not-reached", output, address=target, last=_last_answer(hops))
        times = [float(value) / 1000 for value in _RTT.findall(hops[last])]
        if not times:
            raise failure("unreadable", output)
        samples = {
            "hops": float(last),
            "rtt_min": min(times),
            "rtt_mean": sum(times) / len(times),
            "rtt_max": max(times),
        }
        sizes = [int(value) for hop in sorted(hops) for value in _MTU.findall(hops[hop])]
        if sizes:
            samples["path_mtu"] = float(sizes[-1])
        return Reading(
            samples=tuple(SampleValue(name, value) for name, value in samples.items()),
            requested=dict(params),
            observed={
                "hops": [_describe_hop(hop, hops[hop]) for hop in sorted(hops)],
                "route": routes.as_json(routes.make_route((hop, _addresses(hops[hop])) for hop in hops)),
            },
        )


def _addresses(line: str) -> list[str]:
    """Return the addresses that answered at a hop, with or without their names."""
    return _NAMED_ADDRESS.findall(line) or _ADDRESS.findall(line)


def _describe_hop(number: int, line: str) -> dict[str, object]:
    """Return a hop's number, the addresses that answered, and its min RTT (s; None if silent)."""
    times = [float(value) / 1000 for value in _RTT.findall(line)]
    return {"hop": number, "addresses": _addresses(line), "rtt_s": min(times) if times else None}


def _last_answer(hops: Mapping[int, str]) -> str:
    for number in sorted(hops, reverse=True):
        addresses = _addresses(hops[number])
        if addresses:
            return addresses[-1]
    return "-"
