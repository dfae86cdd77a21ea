"""Collective buffers that are no multiple of the file system's block, so that two ranks write to one."""

import math

from apps.bench.rules.base import RECOMMENDATION, Evidence, FileSystemFacts, FindingDraft, Point, Proof
from apps.bench.rules.mpi.settings import KEPT
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "mpi-collective-buffer", 2
SIZE = "collective_size"


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return, for each file system, the buffer to try where the best of those measured with cuts its blocks.

    Where a buffer that cuts none was measured beside it nothing is left to try: the two are compared.
    """
    whole: list[Point] = []
    cutting: list[Point] = []
    for point in evidence.points:
        facts = evidence.file_systems.get(point.file_system)
        size = point.parameters.get(SIZE)
        if point.tool != "btio" or point.parameters.get("subtype", "full") != "full" or not point.values("io_rate"):
            continue
        if facts and facts.block_size_bytes and size:
            (cutting if size % facts.block_size_bytes else whole).append(point)
    compared = {_circumstances(point) for point in whole}
    by_system: dict[str, list[Point]] = {}
    for point in cutting:
        if _circumstances(point) not in compared:
            by_system.setdefault(point.file_system, []).append(point)
    best = (max(by_system[name], key=_order) for name in sorted(by_system))
    return [_draft(point, evidence.file_systems[point.file_system]) for point in best]


def _circumstances(point: Point) -> str:
    """Return all but the size of the buffers, as a key."""
    others = sorted((name, repr(value)) for name, value in point.parameters.items() if name != SIZE)
    return repr((point.file_system, others, sorted(point.roles.items())))


def _order(point: Point) -> tuple[float, tuple[int, ...]]:
    return point.mean("io_rate") or 0.0, point.trials("io_rate")


def _draft(point: Point, facts: FileSystemFacts) -> FindingDraft:
    size, block = point.parameters[SIZE], facts.block_size_bytes or 1
    # The multiple of the block that is next above what was measured.
    buffer_size = math.ceil(size / block) * block
    params = {
        "name": facts.name,
        "size": format_quantity(size, "B"),
        "block": format_quantity(block, "B"),
        "wanted": format_quantity(buffer_size, "B"),
    }
    fixed = {name: point.parameters[name] for name in KEPT["btio"] if name in point.parameters}
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION,
        subject=facts.name[:200],
        title=Message(_("Collective buffers of %(size)s cut the blocks of %(name)s: try %(wanted)s"), params),
        why=(
            Message(_("%(size)s is no multiple of %(block)s: two ranks write to one block and wait for it."), params),
        ),
        value=float(buffer_size),
        unit="B",
        formula=f"{size:,} mod {block:,} = {size % block:,} B",
        evidence=point.trials("io_rate"),
        change=_hints(f"cb_buffer_size {buffer_size}", f"striping_unit {block}"),
        undo=_hints(f"cb_buffer_size {size}"),
        confidence=0.45,
        applies_when=Message(_("Full MPI-IO through ROMIO's two phases.")),
        limits=(Message(_("How much it gains is not known before it is measured.")),),
        side_effects=(Message(_("Each collecting rank takes so much memory.")),),
        source="Thakur, Choudhary, 1996; Open MPI and ROMIO documentation",
        proof=Proof("btio", "io_rate", fixed, {**fixed, SIZE: buffer_size}, file_system=point.file_system),
    )


def _hints(*lines: str) -> str:
    """Return the commands that write a file of hints for ROMIO, and have programs read it."""
    arguments = " ".join(f"'{line}'" for line in lines)
    return f"printf '%s\\n' {arguments} > romio-hints && export ROMIO_HINTS=$PWD/romio-hints\n"
