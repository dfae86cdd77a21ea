"""Reads that a cache gave: what came again came faster than it first did, or the files were too small."""

from collections.abc import Collection

from apps.bench.rules.base import DISK, DOUBT, FILE_SYSTEM, Evidence, FileSystemFacts, FindingDraft, Point
from apps.bench.rules.layers.doubts import SURE
from apps.bench.rules.storage.common import rate
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "storage-cached-reads", 1
# What is read again this much faster than at first comes from memory.
AGAIN = 1.5
FLAGS = frozenset({"cached-read", "cached-write"})


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return the file systems of which figures are a client's memory's or page pool's."""
    drafts: dict[str, FindingDraft] = {}
    for name in sorted({point.file_system for point in evidence.points if point.file_system}):
        own = [p for p in evidence.points if p.file_system == name and p.layer in (DISK, FILE_SYSTEM)]
        pool = pool_of(evidence.file_systems.get(name))
        reasons = [(point, reason) for point in own for reason in _reasons(point, pool)]
        if reasons:
            drafts[name] = _draft(name, reasons)
    return list(drafts.values())


def _reasons(point: Point, pool: int) -> list[Message]:
    """Return why a point's figures are believed to be a cache's."""
    reasons = []
    if FLAGS & point.warnings:
        reasons.append(Message(_("The files were less than twice the client's memory, and no direct I/O was used.")))
    first, again = point.mean("read"), point.mean("reread")
    if first and again and again >= AGAIN * first:
        text = _("Reading again gives %(again)s, ×%(ratio)s of the first reading: it came from memory.")
        reasons.append(Message(text, {"again": rate(again), "ratio": f"{again / first:.1f}"}))
    size = _size(point)
    if fits(point, pool) and (first or point.mean("write")):
        text = _("The files (%(files)s) fit into the page pool (%(pool)s).")
        reasons.append(Message(text, {"files": format_quantity(size, "B"), "pool": format_quantity(pool, "B")}))
    return reasons


def fits(point: Point, pool: int) -> bool:
    """Return whether a client's files fit into a page pool (B; 0: none is known)."""
    return 0 < _size(point) <= pool


def pool_of(facts: FileSystemFacts | None) -> int:
    """Return the page pool (B) of a file system's clients, 0 where none is told."""
    return _pool(facts.options.get("pagepool") if facts else None)


def _size(point: Point) -> int:
    return (point.parameters.get("file_size") or 0) * (point.parameters.get("threads") or 1)


def _draft(name: str, reasons: list[tuple[Point, Message]]) -> FindingDraft:
    trials = {trial for point, _reason in reasons for metric in point.metrics for trial in point.trials(metric)}
    texts = {str(reason): reason for _point, reason in reasons}
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        subject=name[:200],
        title=Message(_("Some figures of %(name)s are a cache's: do not compare them with others"), {"name": name}),
        why=tuple(texts.values())[:5],
        formula=f"X_reread >= {AGAIN:g} · X_read",
        evidence=tuple(sorted(trials)),
        change=_direct({point.tool for point, _reason in reasons}),
        confidence=0.8,
        applies_when=Message(_("The figures are to stand for the file system, not for the clients' memory.")),
        limits=(Message(_("An application that reads its files again gains from the cache as these figures do.")),),
        source="IOzone documentation, file size; IOR user guide, effects of caching",
    )


def _direct(tools: Collection[str]) -> str:
    """Return the options of each program that measured, by which no cache of the client is used."""
    return "".join(f"{SURE[tool]}\n" for tool in sorted(tools) if tool in SURE)


def _pool(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
