"""What the probes around a run and the interface during it say of the run: whether it measured what it meant to."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from apps.bench import telemetry, tools
from apps.bench.context.bracket import AFTER, BEFORE, GROUPS, PING
from apps.bench.network import routes
from apps.bench.text import Message, _
from apps.bench.toolkit import AROUND, Flag, Output, Params, Reading, Tool, ToolFailure

Json = dict[str, Any]

# Min RTTs that differ by more than both of these (share, s) are those of different paths, or of one with a queue.
SHIFT, LEAST_SHIFT_S = 0.1, 1e-3
# What frames add to the payload, at most, and what answers to it (acknowledgements) come to.
HEADERS, ANSWERS = 1.1, 0.05
# Segments are of this size where nothing is known of them (B).
USUAL_MSS = 1448
# Traffic of others is worth a word above this share of the run's own, and above this rate (B/s).
FOREIGN, LEAST_FOREIGN = 0.05, 1e6
# Everything on the machine meets on it, the service included: nobody can tell whose traffic it is.
LOOPBACK = "lo"


def judge(reading: Reading, outputs: Sequence[Output], params: Params, tool: Tool) -> Reading:
    """Return the reading with `observed["context"]` {"before", "after"} and a flag for each sign of a disturbance.

    Each of both holds rtt_min and rtt_mean (s), loss (0 to 1) and route, as far as the probes told.
    """
    sightings = {name: _look(outputs, stage) for name, stage in (("before", BEFORE), ("after", AFTER))}
    context = {name: look for name, look in sightings.items() if look}
    flags = [*_compare(sightings["before"], sightings["after"]), *_foreign(reading, outputs, params, tool)]
    if not context and not flags:
        return reading
    observed = {**reading.observed, "context": context} if context else reading.observed
    return replace(reading, observed=observed, flags=(*reading.flags, *flags))


def _look(outputs: Sequence[Output], stage: str) -> Json:
    """Return what the probes of a stage told; nothing of those that failed."""
    look: Json = {}
    for output in outputs:
        if output.stage != stage or not output.argv:
            continue
        slug = output.argv[0]
        try:
            if slug == "ping":
                look |= _ping(output)
            elif slug in ("tracepath", "traceroute"):
                look |= _route(output, slug)
        except ToolFailure as failure:
            if slug == "ping" and failure.code == "no-reply":
                look["loss"] = 1.0
    return look


def _ping(output: Output) -> Json:
    tool = tools.get("ping")
    reading = tool.parse([replace(output, role=tool.roles[0].name)], tool.clean(PING))
    return {name: reading.value(name) for name in ("rtt_min", "rtt_mean", "loss")}


def _route(output: Output, slug: str) -> Json:
    tool = tools.get(slug)
    observed = tool.parse([replace(output, role=tool.roles[0].name)], tool.clean({})).observed
    return {"route": observed["route"]}


def _compare(before: Json, after: Json) -> list[Flag]:
    """Return the flags of what changed from before the run to after it, and of loss in either."""
    flags = []
    old, new = routes.from_json(before.get("route")), routes.from_json(after.get("route"))
    if old and new and (difference := routes.compare(old, new)).is_change:
        flags.append(Flag("suspect-route", "warning", difference.message))
    first, second = before.get("rtt_min"), after.get("rtt_min")
    if first and second and abs(second - first) > max(LEAST_SHIFT_S, SHIFT * min(first, second)):
        text = _("The min RTT was %(before)s ms before the run and %(after)s ms after it.")
        values = {"before": f"{1000 * first:.3g}", "after": f"{1000 * second:.3g}"}
        flags.append(Flag("suspect-rtt", "warning", Message(text, values)))
    losses = [look["loss"] for look in (before, after) if "loss" in look]
    # A path that answers no probe at all has a firewall on it.
    if any(losses) and not all(loss == 1 for loss in losses):
        text = _("%(percent)s %% of the probes before and after the run were lost.")
        percent = 100 * sum(losses) / len(losses)
        flags.append(Flag("suspect-loss", "warning", Message(text, {"percent": f"{percent:.0f}"})))
    return flags


def _foreign(reading: Reading, outputs: Sequence[Output], params: Params, tool: Tool) -> list[Flag]:
    """Return a flag for each node whose interface carried more than the run's own traffic."""
    if tool.group not in GROUPS or len(tool.roles) < 2:
        return []
    own = tool.estimate(params, _rate_of(reading, tool)).bytes_sent
    again = _sent_again(reading)
    flags: dict[str, Flag] = {}
    for output in outputs:
        telemetry_of_node = (
            telemetry.read(output.telemetry) if output.telemetry and not output.stage.startswith(AROUND) else None
        )
        if telemetry_of_node is None or telemetry_of_node.interface in ("", LOOPBACK) or not own:
            continue
        sent_bytes = sum(amount for (sender, _to), amount in own.items() if sender == output.role)
        received = sum(amount for (_from, receiver), amount in own.items() if receiver == output.role)
        grown = [telemetry_of_node.growth(telemetry_of_node.nic.get(name)) for name in ("tx_bytes", "rx_bytes")]
        if None in grown:
            continue
        out, into = (value or 0.0 for value in grown)
        beside = max(0.0, out - HEADERS * (sent_bytes + again) - ANSWERS * received)
        beside += max(0.0, into - HEADERS * (received + again) - ANSWERS * sent_bytes)
        if beside > max(FOREIGN * (sent_bytes + received), LEAST_FOREIGN * telemetry_of_node.duration):
            text = _("%(interface)s of %(node)s carried %(megabytes)s MB of other traffic during the run.")
            values = {
                "interface": telemetry_of_node.interface,
                "node": output.node,
                "megabytes": f"{beside / 1e6:.1f}",
            }
            flags[output.node] = Flag("suspect-foreign-traffic", "warning", Message(text, values))
    return list(flags.values())


def _sent_again(reading: Reading) -> float:
    """Return how many bytes the run sent more than once, as the tool or the kernel counted them."""
    kernel = reading.observed.get("tcp") or {}
    mss = reading.observed.get("mss") or kernel.get("mss")
    segments = (reading.value("retransmits") or 0.0) + (reading.value("retransmits_reverse") or 0.0)
    kernel_bytes = kernel.get("bytes_retransmitted")
    return max(
        segments * (mss if isinstance(mss, int | float) else USUAL_MSS),
        kernel_bytes if isinstance(kernel_bytes, int | float) else 0.0,
    )


def _rate_of(reading: Reading, tool: Tool) -> float | None:
    """Return the rate (bit/s) at which the run sent, for the tool to say how many bytes that were."""
    rates = [
        value * {"bit/s": 1, "B/s": 8}[metric.unit]
        for metric in tool.metrics
        if (metric.primary or metric.name == "sent_rate") and metric.unit in ("bit/s", "B/s")
        if (value := reading.value(metric.name))
    ]
    return max(rates, default=None)
