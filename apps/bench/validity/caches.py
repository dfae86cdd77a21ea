"""Whether a file system was measured, or the memory before it.

Files of twice the memory or more, direct I/O, or a dropped cache are what the field asks for (IOzone's documentation,
"file size"; IOR's user guide, "how do I avoid the effects of caching").
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Output, Params, Reading
from apps.bench.toolkit.doubts import CACHED_BY_SERVER

# Files of so many times the memory leave no more than a small part of it cached.
ENOUGH = 2.0

_READS = re.compile(r"(?:^|_)(?:re|f|ref|p)?read(?:_|$)")
_WRITES = re.compile(r"(?:^|_)(?:re|f|ref|p)?write(?:_|$)")
# Figures of reads and writes together.
_BOTH = frozenset({"rate", "mixed"})


def memory_of(outputs: Iterable[Output]) -> int | None:
    """Return the memory (B) of the largest node as its agent told, None if none did."""
    sizes = [size for output in outputs if (size := ram_of(output.facts)) is not None]
    return max(sizes, default=None)


def read_flags(reading: Reading, memory: int | None, page_pool: int) -> list[Flag]:
    """Return whether what was read may have come from the client's memory or page pool (B)."""
    observed = reading.observed
    uncached = observed.get("uncached") or ()
    metrics = [metric for metric in _metrics(reading, _READS) if metric not in uncached]
    if not metrics or not observed.get("working_set") or observed.get("direct_io"):
        return []
    room = max(memory or 0, page_pool)
    if not room:
        text = _("The client's memory is not known, nor therefore whether what was read came from it.")
        return [Flag("memory-unknown", "info", Message(text), tuple(metrics))]
    share = _share(observed, room)
    if share is None or share >= ENOUGH:
        return []
    text = _(
        "The files (%(files)s) are less than %(factor)s times the client's memory (%(memory)s): some of what was read"
        " may have come from it."
    )
    if share <= 1:
        text = _(
            "The files (%(files)s) fit into the client's memory (%(memory)s): what was read came from it. Use larger"
            " files or direct I/O, or empty the cache first."
        )
    return [_flag("cached-read", share, text, observed, room, metrics)]


def write_flags(reading: Reading, memory: int | None) -> list[Flag]:
    """Return whether what was written may have stayed in the client's memory (B)."""
    observed = reading.observed
    metrics = _metrics(reading, _WRITES)
    share = _share(observed, memory or 0)
    if not metrics or observed.get("direct_io") or observed.get("synced") is not False:
        return []
    if share is None or share >= ENOUGH:
        return []
    text = _(
        "The files (%(files)s) are less than %(factor)s times the client's memory (%(memory)s), and writing was not"
        " timed to its end on the disk."
    )
    if share <= 1:
        text = _(
            "The files (%(files)s) fit into the client's memory (%(memory)s), and writing was not timed to its end on"
            " the disk: memory was measured. Synchronise the writes, or use direct I/O."
        )
    return [_flag("cached-write", share, text, observed, memory or 0, metrics)]


def server_flags(reading: Reading, memory: int | None) -> list[Flag]:
    """Return whether what was read may have come from the memory (B, all together) of the file system's servers.

    What the clients wrote just before is there; direct I/O and an emptied cache are the clients' own. `just_written`
    in `observed` tells of files that were laid out before reading, `freed` of metrics read after the servers' caches
    were freed of them.
    """
    observed = reading.observed
    freed = observed.get("freed") or ()
    metrics = [metric for metric in _metrics(reading, _READS) if metric not in freed]
    if not metrics or not (_metrics(reading, _WRITES) or observed.get("just_written")):
        return []
    clients = observed.get("clients")
    count = len(clients) if isinstance(clients, list) and clients else 1
    share = _share(observed, memory or 0)
    if share is None or count * share >= ENOUGH:
        return []
    text = _(
        "The files (%(files)s) were written just before they were read, and the servers of the file system have"
        " %(memory)s of memory: what was read may have come from it, and not from the disks."
    )
    values = {
        "files": units.format_quantity(count * int(observed["working_set"]), "B"),
        "memory": units.format_quantity(memory or 0, "B"),
    }
    return [Flag(CACHED_BY_SERVER, "warning", Message(text, values), tuple(metrics))]


def direct_flags(reading: Reading, params: Params) -> list[Flag]:
    """Return whether direct I/O was asked for and not used."""
    if params.get("direct") is not True or reading.observed.get("direct_io") is not False:
        return []
    text = _("Direct I/O was asked for, and the program did not use it.")
    return [Flag("direct-io-not-used", "invalid", Message(text))]


def ram_of(facts: Mapping[str, Any]) -> int | None:
    """Return the memory (B) of a node as its agent's facts tell it, None if they do not."""
    memory = facts.get("memory")
    size = memory.get("ram_bytes") if isinstance(memory, Mapping) else None
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else None


def _metrics(reading: Reading, pattern: re.Pattern[str]) -> list[str]:
    """Return the metrics of a kind; those of reads and writes together belong to it if there are any of it."""
    names = [sample.metric for sample in reading.samples]
    own = [name for name in names if pattern.search(name)]
    return [name for name in names if name in own or (own and name in _BOTH)]


def _share(observed: Mapping[str, Any], room: int) -> float | None:
    size = observed.get("working_set")
    return size / room if room and isinstance(size, int | float) and size > 0 else None


def _flag(name: str, share: float, text: str, observed: Mapping[str, Any], room: int, metrics: Sequence[str]) -> Flag:
    values = {
        "files": units.format_quantity(int(observed["working_set"]), "B"),
        "memory": units.format_quantity(room, "B"),
        "factor": f"{ENOUGH:g}",
    }
    return Flag(name, "invalid" if share <= 1 else "warning", Message(text, values), tuple(metrics))
