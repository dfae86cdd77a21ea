"""pathload: the available bandwidth of a path, from the rate at which the delay of a packet stream begins to grow."""

import re
from collections.abc import Mapping, Sequence

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
    TrialEstimate,
    Value,
)
from apps.bench.tools import _estimators, _pairs

# Measured: 21 s (1 Gbit/s, RTT 5 ms) and 25 s (457 Mbit/s, 136 ms).
USUAL_S, LIMIT_S = 25.0, 300.0
# A fleet is 12 streams of 100 packets; the two recorded runs sent 237 and 11 MB.
USUAL_BYTES = 240_000_000
LOG = "pathload.log"

_NUMBER = r"(\d{1,9}(?:\.\d{1,6})?)"
_RANGE = re.compile(rf"^Available bandwidth range : {_NUMBER} - {_NUMBER} \(Mbps\)", re.M)
_ABOVE = re.compile(rf"^(?:Avail-bw >|Available bandwidth is greater than) {_NUMBER} \(Mbps\)", re.M)
_RESULT = re.compile(r"^\s*\*{5}  RESULT \*{5}", re.M)
_OUT_OF_RANGE = re.compile(r"^Avail-bw [<>] (?:minimum|maximum) sending rate\.?$", re.M)
_FLEET = re.compile(rf"^Receiving Fleet (\d{{1,6}}), Rate {_NUMBER}Mbps$", re.M)
_LATENCY = re.compile(rf"^Measurement latency is {_NUMBER} sec", re.M)
_OVERHEAD = re.compile(r"^Overhead : (\d{1,15}) bytes", re.M)
_SWITCHES = re.compile(r"terminated due to frequent CS")
_COALESCENCE = re.compile(r"Interrupt coalescion detected|has interrupt coalescence enabled")
_NOT_KEPT = re.compile(r"Actual probing rate != desired probing rate")
_SILENT = re.compile(r"^pathload_snd did not respond.*$|^Unable to connect to .*$", re.M)


class Pathload(Tool):
    """pathload_snd on one node, pathload_rcv on the other."""

    slug = "pathload"
    name = "pathload"
    summary = _("Available bandwidth of a path by self-loading periodic streams.")
    programs = ("pathload_rcv", "pathload_snd")
    roles = _estimators.ROLES
    second_sends = True
    parameters = (
        Parameter(
            "resolution",
            "rate",
            _("Resolution"),
            help=_("How narrow the range is to become (-w); 0 leaves it to the program."),
            default=0,
            zero=_("left to the program"),
            unit="bit/s",
            minimum=0,
            maximum=10_000_000_000,
        ),
    )
    metrics = (
        Metric("available_bandwidth", _("Available bandwidth"), "bit/s", True, primary=True, axis="rate"),
        Metric("available_low", _("Available bandwidth, low end"), "bit/s", True, axis="rate", has_zero=True),
        Metric("available_high", _("Available bandwidth, high end"), "bit/s", True, axis="rate"),
        Metric("probe_bytes", _("Bytes of the probes"), "B", False, axis="size"),
    )
    opening = re.compile(r"^Receiver .* starts measurements (?:at|on) sender ", re.M)
    signatures = (
        re.compile(r"^Receiver .* starts measurements (?:at|on) sender ", re.M),
        re.compile(r"\*{5}  RESULT \*{5}\s+Avail"),
    )

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return the sender, which ends after one measurement, and the receiver with its detailed log."""
        argv = ["pathload_rcv", "-o", LOG]
        if params["resolution"]:
            argv += ["-w", f"{params['resolution'] / 1e6:g}"]
        return _estimators.make_plan(
            self.name, nodes, "pathload_snd", argv, LIMIT_S, ends_by_itself=True, collect=(LOG,)
        )

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the usual time and bytes; the streams are short, so that the mean rate is what others feel."""
        return TrialEstimate(USUAL_S, {("server", "client"): USUAL_BYTES}, offered_bps=8 * USUAL_BYTES / USUAL_S)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the resolution asked for."""
        resolution = _options(output).get("resolution")
        return keep_valid(self, {"resolution": f"{resolution} Mbit/s" if resolution else None})

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the range of the available bandwidth, or its lower bound; ToolFailure if it found neither."""
        output, text = _estimators.receiver_of(outputs)
        results = len(_RESULT.findall(text))
        if results > 1:
            raise failure("several-results", output, n=results)
        bounds, above = _RANGE.search(text), _ABOVE.search(text)
        if not results or not (bounds or above):
            raise _explain(output, text)
        samples: dict[str, float | None] = {}
        if bounds:
            low, high = float(bounds[1]) * 1e6, float(bounds[2]) * 1e6
            if not 0 < low <= high:
                raise failure("contradictory", output, first=f"{low:g}", second=f"{high:g}")
            samples = {"available_bandwidth": (low + high) / 2, "available_low": low, "available_high": high}
        elif above:
            samples = {"available_low": float(above[1]) * 1e6}
        overhead, latency, fleets = _OVERHEAD.search(text), _LATENCY.search(text), _FLEET.findall(text)
        samples["probe_bytes"] = float(overhead[1]) if overhead else None
        observed = {
            "fleets": len(fleets) or None,
            "fleet_rates": [float(rate) * 1e6 for _number, rate in fleets] or None,
            "duration": float(latency[1]) if latency else None,
        }
        log = output.collected.get(LOG, b"").decode("utf-8", "replace")
        return Reading(
            samples=_pairs.figures(samples),
            requested=dict(params),
            observed={name: value for name, value in observed.items() if value is not None},
            flags=_flags(f"{text}\n{log}", is_bound=not bounds),
        )


def _options(output: Output) -> dict[str, str]:
    return read_options(output.argv, {"-s": "address", "-w": "resolution"}, {})


def _flags(text: str, *, is_bound: bool) -> tuple[Flag, ...]:
    """Return the doubts that pathload itself tells of."""
    flags = []
    if is_bound:
        text_of_flag = _("No upper end was found: the available bandwidth is more than this.")
        flags.append(Flag("lower-bound", "warning", Message(text_of_flag)))
    if _SWITCHES.search(text):
        text_of_flag = _(
            "The program was often interrupted by others while it sent or received: run it on idle nodes."
        )
        flags.append(Flag("context-switches", "warning", Message(text_of_flag)))
    if _COALESCENCE.search(text):
        flags.append(_estimators.coalescence())
    if _NOT_KEPT.search(text):
        text_of_flag = _("The sender could not keep the rates asked of it.")
        flags.append(Flag("sender-too-slow", "warning", Message(text_of_flag)))
    return tuple(flags)


def _explain(output: Output, text: str) -> ToolFailure:
    """Return why there is no range."""
    outside = _OUT_OF_RANGE.search(text)
    if outside:
        return failure("out-of-range", output, said=outside[0])
    address = _options(output).get("address", "")
    if problem := texts.system_error(output, text, address):
        return problem
    silent = _SILENT.search(text)
    if silent:
        return failure("no-reply", output, address=address)
    return failure("unreadable", output) if "starts measurements" in text else _pairs.why_none(output)
