"""mtr: the route with loss and round-trip times of every hop."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench.text import Message, _
from apps.bench.tools import _outputs, _pairs
from apps.bench.tools._failures import failure
from apps.bench.tools._iperf3.document import dig, number, objects
from apps.bench.tools._recovery import keep_valid, read_options
from apps.bench.tools.base import (
    Estimate,
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
    Value,
)

ICMP, UDP, TCP = "icmp", "udp", "tcp"
# How long it waits for the last answers; its own 5 s are longer than any path.
GRACE_S = 2.0
NOBODY = "???"

_ROW = re.compile(
    r"^ *(?P<hop>\d{1,3})\.(?:\|--)? +(?P<host>\S+) +(?P<loss>\d{1,3}(?:\.\d+)?)% +(?P<sent>\d{1,9})"
    r" +(?P<last>[\d.]+) +(?P<avg>[\d.]+) +(?P<best>[\d.]+) +(?P<worst>[\d.]+) +(?P<deviation>[\d.]+) *$",
    re.M,
)
_RAW_HOST = re.compile(r"^h (\d{1,3}) (\S{1,60})$", re.M)
_RAW_PING = re.compile(r"^p (\d{1,3}) (\d{1,9})(?: \d+)?$", re.M)
_RAW_SENT = re.compile(r"^x (\d{1,3}) \d+$", re.M)
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
    roles = (_pairs.Role("client", _("From")), _pairs.Role("server", _("To")))
    parameters = (
        Parameter(
            "count", "integer", _("Probes per hop"), default=10, unit="count", minimum=1, maximum=10_000
        ),
        Parameter(
            "interval",
            "duration",
            _("Time between rounds"),
            help=_("Less than 1 s needs the right of root."),
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
        Parameter("max_hops", "integer", _("Most hops"), default=30, unit="count", minimum=1, maximum=255),
    )  # fmt: skip
    metrics = (
        Metric("hops", _("Hops"), "count", False, axis="count"),
        Metric("rtt_min", _("Least RTT to the end"), "s", False, axis="time"),
        Metric("rtt_mean", _("Mean RTT to the end"), "s", False, primary=True, axis="time"),
        Metric("rtt_max", _("Largest RTT to the end"), "s", False, axis="time"),
        Metric("rtt_deviation", _("Deviation of the RTT"), "s", False, axis="time"),
        Metric("loss", _("Probes lost"), "fraction", False, axis="fraction"),
    )
    signatures = (
        re.compile(r'"report": *\{\s*"mtr": *\{'),
        re.compile(r"^Start: .*\nHOST: .*Loss%", re.M),
        re.compile(r"^x 0 \d+\nh 0 ", re.M),
        re.compile(r"^mtr: Failed to resolve host|^Mtr_Version,", re.M),
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
        argv += ["-a", client.address, _outputs.target_of(server, client)]
        return _pairs.one_command(argv, params["count"] * params["interval"] + GRACE_S + _pairs.MARGIN_S)

    def estimate(self, params: Params, capacity_bps: float | None = None) -> Estimate:
        """Return the time of a path whose end answers, and a bound on the bytes for ten hops."""
        amount = 10 * params["count"] * params["size"]
        return Estimate(params["count"] * params["interval"] + GRACE_S, {("client", "server"): amount})

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv says, else what the report does; its packet size is a text."""
        options = read_options(output.argv, _VALUED, _SWITCHES)
        data = _load(output)
        said = {"count": number(data, "report", "mtr", "tests"), "size": dig(data, "report", "mtr", "psize")}
        method = UDP if "udp" in options else TCP if "tcp" in options else ICMP
        found: dict[str, Value] = {name: options.get(name) for name in ("interval", "max_hops", "port")}
        for name, value in said.items():
            found[name] = options.get(name) or (value if isinstance(value, str | float) else None)
        return keep_valid(self, {**found, "method": method})

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the end's figures and every hop's; ToolFailure if the end did not answer (the exit status is 0)."""
        output = _pairs.client_output(outputs)
        text = _outputs.read_text(output)
        data = _load(output)
        target = _target(output, data)
        hops = _of_json(data) if data is not None else (_of_report(text) or _of_raw(text))
        if not hops:
            raise _explain(output, text, target, data)
        numbers = [hop["hop"] for hop in hops]
        if numbers != sorted(set(numbers)):
            raise failure("unreadable", output)
        last = hops[-1]
        # A name is answered by its address: the end is then the last hop, if it answered at all.
        named = target and not _outputs.is_address(target)
        is_reached = last["addresses"] == [target.partition("%")[0]] or named
        if not is_reached or last["loss"] >= 1 or last["rtt_mean"] is None:
            answers = [address for hop in hops if hop["loss"] < 1 for address in hop["addresses"]]
            raise failure("not-reached", output, address=target, last=answers[-1] if answers else "-")
        times = [last[name] for name in ("rtt_min", "rtt_mean", "rtt_max")]
        # Printed with three digits, or with one in the report for people.
        if any(time is None for time in times) or not times[0] <= times[1] + 1e-4 <= times[2] + 2e-4:
            raise failure("contradictory", output, first=f"{times[0]} s", second=f"{times[2]} s")
        samples = {name: last[name] for name in ("rtt_min", "rtt_mean", "rtt_max", "rtt_deviation", "loss")}
        return Reading(
            samples=_pairs.figures({"hops": float(numbers[-1]), **samples}),
            requested=dict(params),
            observed={"hops": hops},
            flags=_flags(hops, params),
        )


def _load(output: Output) -> dict[str, Any] | None:
    text = output.stdout.decode("utf-8", "replace")
    start = text.find("{")
    try:
        data = json.JSONDecoder().raw_decode(text, start)[0] if start >= 0 else None
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _target(output: Output, data: dict[str, Any] | None) -> str:
    said = dig(data, "report", "mtr", "dst")
    if len(output.argv) > 1:
        return output.argv[-1]
    return said[:100] if isinstance(said, str) and said.isprintable() else ""


def _hop(hop: int, host: str, sent: float, loss: float, times: Sequence[float | None]) -> dict[str, Any]:
    """Return a hop in base units from a loss in per cent and times in ms: least, mean, largest, deviation."""
    least, mean, most, deviation = (time / 1000 if time is not None else None for time in times)
    figures = {"rtt_min": least, "rtt_mean": mean, "rtt_max": most, "rtt_deviation": deviation}
    addresses = [] if host == NOBODY else [host]
    # The number, the addresses and rtt_s are what traceroute tells of a hop, too.
    return {"hop": hop, "addresses": addresses, "rtt_s": least, "sent": sent, "loss": loss / 100, **figures}


def _of_json(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the hops of the report; a hop without its figures is left out."""
    hops = []
    for hub in objects(dig(data, "report", "hubs")):
        count, sent, loss = (number(hub, key) for key in ("count", "Snt", "Loss%"))
        host = hub.get("host")
        if not count or count > 255 or sent is None or loss is None or loss > 100 or not isinstance(host, str):
            return []
        if not host.isprintable():
            return []
        times = [number(hub, key) for key in ("Best", "Avg", "Wrst", "StDev")]
        hops.append(_hop(int(count), host[:100], sent, loss, times))
    return hops


def _of_report(text: str) -> list[dict[str, Any]]:
    """Return the hops of the report for people, whose times have one digit."""
    rows = []
    for found in _ROW.finditer(text):
        times = [_float(found[name]) for name in ("best", "avg", "worst", "deviation")]
        loss = float(found["loss"])
        if loss > 100 or any(time is None for time in times):
            return []
        rows.append(_hop(int(found["hop"]), found["host"], float(found["sent"]), loss, times))
    return rows


def _of_raw(text: str) -> list[dict[str, Any]]:
    """Return the hops of the raw lines (x sent, h host, p time in µs), up to the first host that comes again."""
    hosts = {int(index): host for index, host in _RAW_HOST.findall(text)}
    sent = [int(index) for index in _RAW_SENT.findall(text)]
    times: dict[int, list[float]] = {}
    for index, micros in _RAW_PING.findall(text):
        times.setdefault(int(index), []).append(int(micros) / 1000)
    hops: list[dict[str, Any]] = []
    for index in sorted(hosts):
        if index not in times or not sent.count(index) or any(hop["addresses"] == [hosts[index]] for hop in hops):
            break
        values, tries = times[index], sent.count(index)
        mean = sum(values) / len(values)
        spread = (sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)) ** 0.5
        loss = 100 * max(0.0, 1 - len(values) / tries)
        hops.append(_hop(index + 1, hosts[index], tries, loss, (min(values), mean, max(values), spread)))
    return hops


def _float(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", text, re.ASCII) else None


def _flags(hops: Sequence[Mapping[str, Any]], params: Params) -> tuple[Flag, ...]:
    last = hops[-1]
    flags = _pairs.loss_flags(last["loss"])
    silent = sum(not hop["addresses"] or hop["loss"] >= 1 for hop in hops[:-1])
    if silent:
        said = _("%(n)s hops on the way did not answer; that alone is no loss.")
        flags.append(Flag("silent-hops", "info", Message(said, {"n": silent})))
    if last["sent"] < params["count"]:
        said = _("Only %(sent)s of %(count)s probes were sent to the end.")
        flags.append(
            Flag("few-probes", "warning", Message(said, {"sent": int(last["sent"]), "count": params["count"]}))
        )
    return tuple(flags)


def _explain(output: Output, text: str, target: str, data: dict[str, Any] | None) -> ToolFailure:
    """Return why there is no hop at all."""
    if unresolved := _UNRESOLVED.search(text):
        return failure("bad-host", output, address=target, said=unresolved[0][:200])
    if refused := _REFUSED.search(text):
        return failure("permission", output, said=refused[0][:200])
    if found := _outputs.bad_option(output, text) or _outputs.system_error(output, text, target):
        return found
    if data is not None and dig(data, "report", "hubs") == []:
        return failure("no-route", output, address=target, said="no hop answered")
    return failure("unreadable", output) if "{" in text or "HOST:" in text else _outputs.no_result(output, text)
