"""Whether as many measured at one time as were to, and whether the clocks can tell."""

from collections.abc import Sequence

from apps.bench.outputs.concurrency import LEAST_OVERLAP, MOST_SKEW_S
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Output, Params, Reading

# A node's clock that is further off than this (s) is worth knowing of: programs print its times.
CLOCK_OFF_S = 1.0


def count_flags(reading: Reading, params: Params) -> list[Flag]:
    """Return whether fewer clients or threads measured than were asked for."""
    flags = []
    clients = reading.observed.get("clients")
    clients_requested = params.get("clients")
    if isinstance(clients, list) and isinstance(clients_requested, int) and len(clients) < clients_requested:
        text = _("%(seen)s of %(asked)s clients gave a result.")
        flags.append(
            Flag("fewer-clients", "invalid", Message(text, {"seen": len(clients), "asked": clients_requested}))
        )
    threads, threads_requested = reading.observed.get("threads"), params.get("threads")
    if isinstance(threads, int) and isinstance(threads_requested, int) and threads < threads_requested:
        text = _("%(seen)s of %(asked)s threads took part.")
        flags.append(Flag("fewer-threads", "invalid", Message(text, {"seen": threads, "asked": threads_requested})))
    return flags


def clock_flags(reading: Reading, outputs: Sequence[Output]) -> list[Flag]:
    """Return whether the clocks are too unsure to tell who measured when, or far from the server's.

    Two starts and two ends lie on either side of the time in which all ran: each may be off by the uncertainty.
    """
    flags = []
    error = max((output.clock_error_s for output in outputs if output.clock_error_s is not None), default=0.0)
    overlap, together = reading.observed.get("overlap"), reading.observed.get("together_s")
    if overlap is not None and error > MOST_SKEW_S:
        unsure = isinstance(together, int | float) and 2 * error > (1 - LEAST_OVERLAP) * together
        text = _("The clocks are known to %(error)s ms only: how far the clients measured at one time is not sure.")
        severity = "invalid" if unsure else "warning"
        flags.append(Flag("clock-unsure", severity, Message(text, {"error": f"{1000 * error:.0f}"})))
    off = {
        output.node: output.clock_offset_s for output in outputs if abs(output.clock_offset_s or 0.0) > CLOCK_OFF_S
    }
    if off:
        node, offset = max(off.items(), key=lambda item: abs(item[1] or 0.0))
        text = _(
            "The clock of %(node)s is %(offset)s s off the server's: times in its raw output are off by as much."
        )
        flags.append(Flag("clock-off", "info", Message(text, {"node": node, "offset": f"{offset:+.1f}"})))
    return flags
