"""pathrate: the capacity of a path, from how far back-to-back packets are spread when they arrive."""

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
from apps.bench.tools import _estimators, _pairs

# Measured: 46 s (RTT 5 ms) and 68 s (136 ms) quick, about 15 min in full, half an hour on a busy path.
QUICK_S, QUICK_LIMIT_S = 60.0, 600.0
FULL_S, FULL_LIMIT_S = 900.0, 3600.0
# Trains of at most 50 packets, about 200 of them in the quick phase; 1000 pairs and 500 trains follow in full.
QUICK_BYTES, FULL_BYTES = 15_000_000, 60_000_000
# Above the first the estimates spread too much to be believed (quick mode on a link that delivers in batches gave
# 1550 to 1934 of 457 Mbit/s at 0.57); at 0.10 it was right.
WORST_VARIATION, DOUBTFUL_VARIATION = 0.3, 0.15

_NUMBER = r"(\d{1,9}(?:\.\d{1,6})?)"
_RATE = rf"{_NUMBER} ([kM])bps"
_FINAL = re.compile(rf"^Final capacity estimate : {{1,3}}{_RATE} {{1,3}}to {{1,3}}{_RATE}", re.M)
_VARIATION = re.compile(rf"^--> Coefficient of variation: {_NUMBER}\s*$", re.M)
_RTT = re.compile(rf"^\s*--> Average round-trip time: {_NUMBER}ms\s*$", re.M)
_RESOLUTION = re.compile(rf"^\s*--> Capacity Resolution: {{1,3}}{_RATE}", re.M)
_TRAIN = re.compile(r"^\s*--> Maximum train length: (\d{1,4}) packets", re.M)
_LOWER_BOUND = re.compile(r"will report lower bound|is a lower bound")
_COALESCENCE = re.compile(r"Detected Interrupt Coalescence")
_NOT_UNIMODAL = re.compile(r"WARNING: Phase II did not lead to unimodal distribution")
_ABORTED = re.compile(r"^(?:.*Too many losses.*|Sender sent terminate signal.*|.*control message failed.*)$", re.M)
_UNIT = {"k": 1e3, "M": 1e6}


class Pathrate(Tool):
    """pathrate_snd on one node, pathrate_rcv on the other."""

    slug = "pathrate"
    name = "pathrate"
    summary = _("Capacity of a path by packet dispersion, with its coefficient of variation as confidence.")
    programs = ("pathrate_rcv", "pathrate_snd")
    roles = _estimators.ROLES
    second_sends = True
    parameters = (
        Parameter(
            "quick",
            "boolean",
            _("Quick"),
            help=_("End after the first phase, about a minute, with a rough estimate; in full it takes 15 minutes."),
            default=True,
        ),
    )
    metrics = (
        Metric("capacity", _("Path capacity"), "bit/s", True, primary=True, axis="rate"),
        Metric("capacity_low", _("Path capacity, low end"), "bit/s", True, axis="rate", has_zero=True),
        Metric("capacity_high", _("Path capacity, high end"), "bit/s", True, axis="rate"),
        Metric("resolution", _("Resolution of the capacity"), "bit/s", False, axis="rate", has_zero=True),
        Metric("variation", _("Coefficient of variation"), "1", False, axis="ratio"),
        Metric("rtt_mean", _("Mean RTT"), "s", False, axis="time"),
    )
    opening = re.compile(r"^\tpathrate run from ", re.M)
    signatures = (
        re.compile(r"^\tpathrate run from |^--> Coefficient of variation: .*\n-+\nFinal capacity est", re.M),
    )

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return the sender, which serves until it is stopped, and the receiver, verbose for its warnings."""
        argv = ["pathrate_rcv", "-v", *(["-Q"] if params["quick"] else [])]
        limit = QUICK_LIMIT_S if params["quick"] else FULL_LIMIT_S
        return _estimators.make_plan(self.name, nodes, "pathrate_snd", argv, limit)

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the usual time and a bound on the bytes of the trains, which go to the receiver."""
        seconds, amount = (QUICK_S, QUICK_BYTES) if params["quick"] else (FULL_S, FULL_BYTES)
        return TrialEstimate(seconds, {("server", "client"): amount}, offered_bps=8 * amount / seconds)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return whether it was quick."""
        text = texts.read_text(output)
        quick = "quick" in _options(output) or "Requested Quick Termination" in text
        return keep_valid(self, {"quick": quick or (False if is_known(output.argv) else None)})

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the capacity's range and how sure it is; ToolFailure without a final estimate."""
        output, text = _estimators.receiver_of(outputs)
        final = _FINAL.findall(text)
        if not final:
            raise _explain(output, text)
        if len(final) > 1:
            raise failure("several-results", output, n=len(final))
        low, high = (float(final[0][i]) * _UNIT[final[0][i + 1]] for i in (0, 2))
        if not 0 <= low <= high or not high:
            raise failure("contradictory", output, first=f"{low:g}", second=f"{high:g}")
        variation, rtt = _VARIATION.search(text), _RTT.search(text)
        resolution = _RESOLUTION.search(text)
        samples = {
            "capacity": (low + high) / 2,
            "capacity_low": low,
            "capacity_high": high,
            "resolution": float(resolution[1]) * _UNIT[resolution[2]] if resolution else None,
            "variation": float(variation[1]) if variation else None,
            "rtt_mean": float(rtt[1]) / 1000 if rtt else None,
        }
        train = _TRAIN.search(text)
        return Reading(
            samples=_pairs.figures(samples),
            requested=dict(params),
            observed={"train_length": int(train[1])} if train else {},
            flags=_flags(text, samples["variation"]),
        )


def _options(output: Output) -> dict[str, str]:
    return read_options(output.argv, {"-s": "address"}, {"-Q": "quick"})


def _flags(text: str, variation: float | None) -> tuple[Flag, ...]:
    """Return the doubts that pathrate itself tells of, and those that its spread raises."""
    flags = []
    if variation is not None and variation > DOUBTFUL_VARIATION:
        text_of_flag = _(
            "The estimates vary by %(percent)s %%: packets seem to be delivered in batches, or the path is busy."
        )
        severity = "invalid" if variation > WORST_VARIATION else "warning"
        flags.append(
            Flag("capacity-uncertain", severity, Message(text_of_flag, {"percent": f"{100 * variation:.0f}"}))
        )
    if _LOWER_BOUND.search(text):
        text_of_flag = _("Too many measurements had to be ignored: the capacity is a lower bound.")
        flags.append(Flag("lower-bound", "warning", Message(text_of_flag)))
    if _COALESCENCE.search(text):
        flags.append(_estimators.coalescence())
    if _NOT_UNIMODAL.search(text):
        text_of_flag = _("The estimates have several modes: measure again later.")
        flags.append(Flag("several-modes", "warning", Message(text_of_flag)))
    return tuple(flags)


def _explain(output: Output, text: str) -> ToolFailure:
    """Return why there is no final estimate."""
    if problem := texts.system_error(output, text, _options(output).get("address", "")):
        return problem
    aborted = _ABORTED.search(text)
    if aborted:
        return failure("stopped", output, said=aborted[0].strip()[:200])
    return failure("unreadable", output) if "pathrate run from" in text else _pairs.why_none(output)
