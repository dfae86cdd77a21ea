"""pchar: rate, latency and loss of every link of a path, from how the RTT grows with the packets' size."""

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
    ToolRole,
    TrialEstimate,
    Value,
)
from apps.bench.tools import _pairs

ICMP, UDP = "icmp", "udp"
LEAST_SIZE = 32
# How well the min RTTs must lie on a line: of a link of 10 Mbit/s it was 0.998, of one without a delay 0.003.
WORST_FIT, DOUBTFUL_FIT = 0.9, 0.98
USUAL_HOPS = 4
TIMEOUT_S = 3

_NUMBER = r"(\d{1,12}(?:\.\d{1,9})?)"
_HEADER = re.compile(r"^pchar to (\S+) \((\S+)\) using ", re.M)
_HOP = re.compile(r"^ ?(\d{1,3}): (\S+) \(\S+\)$", re.M)
_LOSS = re.compile(r"^ +Partial loss: +(\d{1,9}) / (\d{1,9}) ", re.M)
_FIT = re.compile(rf"^ +Partial char: +rtt = -?{_NUMBER} ms, \(b = (-?){_NUMBER} ms/B\), r2 = {_NUMBER}", re.M)
_LINK = re.compile(rf"^ +Hop char: +rtt = (-?[\d.]+|--\.---) ms, bw = (?:{_NUMBER}|--\.---) Kbps", re.M)
_PATH_HOPS = re.compile(r"^ +Path length: +(\d{1,3}) hops", re.M)
_PATH_RTT = re.compile(rf"^ +Path char: +rtt = {_NUMBER} ms", re.M)
_BOTTLENECK = re.compile(rf"^ +Path bottleneck: +{_NUMBER} Kbps", re.M)
_NOT_REACHED = re.compile(
    r"End of path not reached after \d+ hops|no probe responses|did not respond to initial test"
)
_PRIVILEGE = re.compile(r"^.*requ\w{3,6} root privil\w+.*$", re.M | re.I)
_VALUED = {
    "-R": "repetitions", "-I": "increment", "-m": "largest", "-g": "gap", "-H": "max_hops", "-p": "protocol",
    "-t": "timeout",
}  # fmt: skip


class Pchar(Tool):
    """pchar over IPv4."""

    slug = "pchar"
    name = "pchar"
    summary = _("Rate, latency and loss of each link of a path, measured from one end; needs root.")
    programs = ("pchar",)
    roles = (ToolRole("client", _("From")), ToolRole("server", _("To")))
    parameters = (
        Parameter(
            "method",
            "choice",
            _("Probes"),
            help=_("A Linux node answers UDP to closed ports about once a second only, ICMP echo always."),
            default=ICMP,
            choices=((ICMP, _("ICMP echo")), (UDP, "UDP")),
        ),
        Parameter(
            "repetitions", "integer", _("Repetitions"), help=_("Probes of each size; the fastest counts."),
            default=8, unit="count", minimum=1, maximum=100,
        ),
        Parameter(
            "increment", "size", _("Step of the sizes"), default=200, unit="B", minimum=8, maximum=1000,
            help=_("From 32 B up to the largest size."),
        ),
        Parameter(
            "largest", "size", _("Largest size"), help=_("At most the path's MTU."), default=1500, unit="B",
            minimum=100, maximum=9000,
        ),
        Parameter(
            "gap", "duration", _("Time between probes"), default=0.25, unit="s", minimum=0.005, maximum=10,
            help=_("Routers answer some probes a second only: too short a gap looks like loss."),
        ),
        Parameter("max_hops", "integer", _("Max hops"), default=30, unit="count", minimum=1, maximum=255),
    )  # fmt: skip
    metrics = (
        Metric("capacity", _("Path capacity"), "bit/s", True, primary=True, axis="rate"),
        Metric("hops", _("Hops"), "count", False, axis="count"),
        Metric("rtt_min", _("RTT of an empty packet"), "s", False, axis="time"),
        Metric("fit", _("Fit of the slowest link (r²)"), "1", True, axis="ratio"),
        Metric("loss", _("Probes lost"), "fraction", False, axis="fraction"),
    )
    opening = _HEADER
    signatures = (re.compile(r"^pchar to \S+ \(\S+\) using |^ +Path bottleneck: +[\d.]+ Kbps", re.M),)

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse fewer than three sizes, through which any line goes."""
        if params["largest"] < LEAST_SIZE + 2 * params["increment"]:
            return {"increment": Message(_("Take a smaller step: at least three sizes are needed."))}
        return {}

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return one command on the client."""
        client, server = _pairs.players(nodes)
        _pairs.refuse_ipv6(self.name, client, server)
        protocol = {ICMP: "ipv4icmp", UDP: "ipv4udp"}[params["method"]]
        argv = ["pchar", "-n", "-p", protocol, "-R", str(params["repetitions"]), "-I", str(params["increment"])]
        argv += ["-m", str(params["largest"]), "-g", f"{params['gap']:g}", "-H", str(params["max_hops"])]
        argv += ["-t", str(TIMEOUT_S), "-l", client.address, server.address]
        # Half of the probes of a path of the usual length may be lost and waited for.
        limit = 2 * _probes(params) * (params["gap"] + TIMEOUT_S / 2) * USUAL_HOPS + _pairs.MARGIN_S
        return _pairs.one_command(argv, min(limit, 7200.0))

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time of a path of the usual length whose hops answer, and the bytes."""
        probes = USUAL_HOPS * _probes(params)
        amount = probes * (LEAST_SIZE + params["largest"]) // 2
        return TrialEstimate(probes * (params["gap"] + 0.01), {("client", "server"): amount})

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv says, or the head of the output."""
        text = texts.read_text(output)
        options = read_options(output.argv, _VALUED, {})
        sizes = re.search(r"^Packet size increments? from \d+ to (\d{1,5}) by (\d{1,5})$", text, re.M)
        times = re.search(r"^(\d{1,4}) repetition\(s\) per hop$", text, re.M)
        parameters: dict[str, Value] = {name: options.get(name) for name in ("gap", "max_hops")}
        parameters["increment"] = options.get("increment") or (sizes[2] if sizes else None)
        parameters["largest"] = options.get("largest") or (sizes[1] if sizes else None)
        parameters["repetitions"] = options.get("repetitions") or (times[1] if times else None)
        is_icmp = "icmp" in options.get("protocol", "") or "using ICMP" in text
        parameters["method"] = ICMP if is_icmp else UDP if is_known(output.argv) or "using UDP" in text else None
        return keep_valid(self, parameters)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the bottleneck of the links, or none of them if no link showed a rate; the end must be reached."""
        output = _pairs.client_output(outputs)
        text = texts.read_text(output)
        heads = _HEADER.findall(text)
        length, rtt = _PATH_HOPS.search(text), _PATH_RTT.search(text)
        if len(heads) > 1:
            raise failure("several-results", output, n=len(heads))
        if not heads or not length or not rtt or _NOT_REACHED.search(text):
            raise _explain(output, text)
        links = _links(text)
        if not links or len(links) != int(length[1]):
            raise failure("unreadable", output)
        rates = [link["rate"] for link in links if link["rate"]]
        stated_rate = _BOTTLENECK.search(text)
        if rates and (not stated_rate or abs(float(stated_rate[1]) * 1000 / min(rates) - 1) > 0.01):
            raise failure(
                "contradictory", output, first=f"{min(rates):.6g}", second=stated_rate[1] if stated_rate else "-"
            )
        lost, sent = (sum(link[key] or 0 for link in links) for key in ("lost", "sent"))
        slowest = min((link for link in links if link["rate"]), key=lambda link: link["rate"] or 0.0, default=None)
        samples = {
            "capacity": slowest["rate"] if slowest else None,
            "hops": float(length[1]),
            "rtt_min": float(rtt[1]) / 1000,
            "fit": slowest["fit"] if slowest else None,
            "loss": lost / sent if sent and lost <= sent else None,
        }
        return Reading(
            samples=_pairs.figures(samples),
            requested=dict(params),
            observed={"links": links},
            flags=_flags(samples),
        )


def _probes(params: Params) -> int:
    """Return the probes to one hop."""
    return int(params["repetitions"] * ((params["largest"] - LEAST_SIZE) // params["increment"] + 1))


def _links(text: str) -> list[dict[str, float | None]]:
    """Return each link: the rate (bit/s, None if the RTT did not grow), the fit, the RTT it adds (s), the probes."""
    heads = list(_HOP.finditer(text))
    links: list[dict[str, float | None]] = []
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        part = text[head.end() : following.start() if following else None]
        fit, link, loss = _FIT.search(part), _LINK.search(part), _LOSS.search(part)
        if not fit or not link or not loss:
            break
        rate = float(link[2]) * 1000 if link[2] else 0.0
        added = float(link[1]) / 1000 if re.fullmatch(r"-?\d{1,9}\.\d{1,9}", link[1], re.ASCII) else None
        links.append(
            {
                "link": float(int(head[1]) + 1),
                "rate": rate or None,
                "fit": float(fit[4]),
                "rtt": added,
                "lost": float(loss[1]),
                "sent": float(loss[2]),
            }
        )
    return links


def _flags(samples: Mapping[str, float | None]) -> tuple[Flag, ...]:
    flags = []
    fit, loss = samples["fit"], samples["loss"]
    if samples["capacity"] is None:
        text = _("The RTT does not grow with the size: the links are too fast to be told apart from noise.")
        flags.append(Flag("capacity-unknown", "warning", Message(text)))
    elif fit is not None and fit < DOUBTFUL_FIT:
        text = _("The RTTs do not lie on a line (r² = %(fit)s): the rate of the slowest link is a guess.")
        severity = "invalid" if fit < WORST_FIT else "warning"
        flags.append(Flag("capacity-uncertain", severity, Message(text, {"fit": f"{fit:.3f}"})))
    if loss:
        text = _("%(percent)s %% of the probes got no answer: routers limit these, take a longer gap.")
        flags.append(Flag("loss", "warning", Message(text, {"percent": f"{100 * loss:.3g}"})))
    return tuple(flags)


def _explain(output: Output, text: str) -> ToolFailure:
    """Return why there is no path."""
    address = output.argv[-1] if len(output.argv) > 1 else "-"
    if refused := _PRIVILEGE.search(text):
        return failure("permission", output, said=refused[0].strip()[:200])
    if _NOT_REACHED.search(text):
        answers = [problem[2] for problem in _HOP.finditer(text)]
        return failure("not-reached", output, address=address, last=answers[-1] if answers else "-")
    if problem := texts.bad_option(output, text) or texts.system_error(output, text, address):
        return problem
    return failure("unreadable", output) if _HEADER.search(text) else texts.no_result(output, text)
