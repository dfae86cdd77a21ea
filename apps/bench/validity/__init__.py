"""Whether a measurement measured what it was to: rules over what was seen of it, each a flag with its reason.

A tool tells in `Reading.observed`, as far as it knows: `working_set` (B on each client), `direct_io`, `synced` (the
time of writing ends on the disk), `just_written` (files were laid out before reading), `uncached` and `freed`
(metrics of what was read past an empty cache of the client, or of the server), `measured_s` ({metric: s}), `overlap`
and `together_s` (share and time (s) for which all clients ran).
"""

from collections.abc import Sequence

from apps.bench.toolkit import AROUND, FILE_SERVER, Flag, Output, Params, Reading, Tool
from apps.bench.validity import caches, ceilings, concurrency, duration, steadiness, windows, words
from apps.bench.validity.flags import add_flags

__all__ = ["add_flags", "caches", "ceilings", "judge"]


def judge(reading: Reading, outputs: Sequence[Output], params: Params, tool: Tool) -> Reading:
    """Return the reading with the doubts of all rules; a doubt that the tool has raised itself is not repeated."""
    memory = caches.memory_of(output for output in outputs if output.role != FILE_SERVER)
    own = [output for output in outputs if not output.stage.startswith(AROUND)]
    flags: list[Flag] = [
        *caches.read_flags(reading, memory, params.get("page_pool") or 0),
        *caches.write_flags(reading, memory),
        *caches.direct_flags(reading, params),
        *duration.flags(reading, duration.longest_run_s(own), tool.metrics),
        *steadiness.flags(reading, tool.metrics),
        *windows.flags(reading, params),
        *concurrency.count_flags(reading, params),
        *concurrency.clock_flags(reading, outputs),
        *words.flags(own),
    ]
    observed = {"client_memory": memory} if memory and "working_set" in reading.observed else {}
    return add_flags(reading, flags, observed)
