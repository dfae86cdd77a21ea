"""What the kernel said, beside what the tool printed: the limits of TCP, and doubts about the node."""

import dataclasses
from collections.abc import Iterator, Sequence

from apps.bench.telemetry.charts import transport_series
from apps.bench.telemetry.report import Telemetry, read
from apps.bench.telemetry.transport import senders_of, transport_of
from apps.bench.text import Message, _
from apps.bench.toolkit import AROUND, Flag, Output, Params, Reading, Tool

# A processor this busy (%), in half of the readings or more, is likely to have set the pace.
FULL_LOAD = 97
# Fewer readings than this say little of a load.
LEAST_READINGS = 3


def judge(reading: Reading, outputs: Sequence[Output], params: Params, tool: Tool) -> Reading:
    """Add what limited TCP as `observed["tcp"]`, its course as series, and what the nodes suffered from as flags."""
    own = [output for output in outputs if not output.stage.startswith(AROUND)]
    telemetries = [
        (output, telemetry) for output in own if output.telemetry and (telemetry := read(output.telemetry))
    ]
    if not telemetries:
        return reading
    senders = [(output, telemetry) for output, telemetry in telemetries if senders_of(telemetry.listings)]
    transport = transport_of([telemetry.listings for _output, telemetry in senders])
    observed = dict(reading.observed)
    series = reading.series
    if transport is not None:
        nodes = list(dict.fromkeys(output.node for output, _found in senders))
        observed["tcp"] = {**transport.as_json(), "nodes": nodes}
    if len(senders) == 1:
        series = (*series, *transport_series(senders[0][1]))
    flags = [flag for output, telemetry in telemetries for flag in _flags(output, telemetry)]
    fresh = {(flag.name, flag.message.params.get("node")): flag for flag in flags}
    return dataclasses.replace(reading, observed=observed, series=series, flags=(*reading.flags, *fresh.values()))


def _flags(output: Output, telemetry: Telemetry) -> Iterator[Flag]:
    node = {"node": output.node}
    # The first reading tells of no time, the last mostly of what came after the end.
    during = telemetry.core[1:-1]
    if len(during) >= LEAST_READINGS and 2 * sum(load >= FULL_LOAD for load in during) >= len(during):
        text = _("A processor of %(node)s was fully busy: it may have set the pace.")
        yield Flag("processor-full", "info", Message(text, node))
    lost = telemetry.growth(telemetry.udp.get("receive_buffer_errors"))
    if lost:
        text = _("%(node)s dropped %(count)s datagrams because a socket's receive buffer was full.")
        yield Flag("receive-buffer-full", "warning", Message(text, {**node, "count": int(lost)}))
    for name, text in (
        ("errors", _("The interface %(interface)s of %(node)s counted %(count)s errors.")),
        ("drops", _("The interface %(interface)s of %(node)s dropped %(count)s packets.")),
    ):
        columns = [telemetry.nic[key] for key in (f"rx_{name}", f"tx_{name}") if key in telemetry.nic]
        count = sum(telemetry.growth(column) or 0.0 for column in columns)
        if count:
            values = {**node, "interface": telemetry.interface, "count": int(count)}
            yield Flag(f"interface-{name}", "warning", Message(text, values))
