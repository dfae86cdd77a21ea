"""Collective buffers that are no multiple of the file system's block, so that two ranks write to one (rule R22)."""

from apps.bench.rules.base import RECOMMENDATION, Evidence, FindingDraft, Proof
from apps.bench.rules.mpi.choices import KEPT
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "mpi-collective-buffer", 1
# What ROMIO and its users take where nothing speaks against it.
USUAL = 16 * 1024**2


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return, for each file system, the buffer to try where the one measured with cuts its blocks."""
    found: dict[str, FindingDraft] = {}
    for point in evidence.points:
        facts = evidence.file_systems.get(point.file_system)
        size = point.parameters.get("collective_size")
        if point.tool != "btio" or point.parameters.get("subtype", "full") != "full" or not point.values("io_rate"):
            continue
        if not facts or not facts.block_size_bytes or not size or size % facts.block_size_bytes == 0:
            continue
        block = facts.block_size_bytes
        wanted = max(USUAL // block, 1) * block
        shown = {
            "name": facts.name,
            "size": format_quantity(size, "B"),
            "block": format_quantity(block, "B"),
            "wanted": format_quantity(wanted, "B"),
        }
        fixed = {name: point.parameters[name] for name in KEPT["btio"] if name in point.parameters}
        found.setdefault(
            facts.name,
            FindingDraft(
                rule=RULE,
                version=VERSION,
                kind=RECOMMENDATION,
                subject=facts.name[:200],
                title=Message(_("Collective buffers of %(size)s cut the blocks of %(name)s: try %(wanted)s"), shown),
                why=(
                    Message(
                        _("%(size)s is no multiple of %(block)s: two ranks write to one block and wait for it."),
                        shown,
                    ),
                ),
                value=float(wanted),
                unit="B",
                formula=f"{size:,} mod {block:,} = {size % block:,} B",
                evidence=point.trials("io_rate"),
                change=f"cb_buffer_size={wanted}\nstriping_unit={block}",
                undo=f"cb_buffer_size={size}",
                confidence=0.45,
                applies_when=Message(_("Full MPI-IO through ROMIO's two phases.")),
                limits=(Message(_("How much it gains is not known before it is measured.")),),
                side_effects=(Message(_("Each collecting rank takes so much memory.")),),
                source="Thakur, Choudhary, 1996; Open MPI and ROMIO documentation",
                proof=Proof(
                    "btio", "io_rate", fixed, {**fixed, "collective_size": wanted}, file_system=point.file_system
                ),
            ),
        )
    return list(found.values())
