"""What of findings rests on what agents told of their nodes' settings: readers of other teams get it not."""

from collections.abc import Mapping
from typing import Any

from apps.bench.sweep import setting_names

Record = Mapping[str, Any]

_LINES = ("change", "undo")
_ALL = ("why", "against", "formula", *_LINES)
# {rule: the members of its findings that say how nodes are set}. Titles name what to do, never what there is.
RULES: Mapping[str, tuple[str, ...]] = {
    "path-interface": _ALL,
    "storage-connections": _LINES,
    "storage-gpfs-client": _ALL,
    "storage-gpfs-sockets": _ALL,
    "storage-lustre-requests": _ALL,
    "storage-nfs-transfer": _ALL,
    "tcp-autotuning": _ALL,
    "tcp-bdp": ("against",),
    "tcp-buffer-maxima": _ALL,
    "tcp-congestion": _LINES,
    "tcp-mtu": _LINES,
    "tcp-pacing": _ALL,
    "tcp-path-mtu": _ALL,
    "tcp-sack": _ALL,
    "tcp-sysctl": _ALL,
    "tcp-timestamps": _ALL,
    "tcp-window-scaling": _ALL,
}


def for_others(record: Record, rule: str) -> dict[str, Any]:
    """Return a finding's record (as stored: `FindingDraft.as_json`) without what rests on settings of nodes."""
    left_out = RULES.get(rule, ())
    partial = {name: type(value)() if name in left_out else value for name, value in record.items()}
    if isinstance(proof := record.get("proof"), Mapping):
        partial["proof"] = proof_for_others(proof)
    if parts := record.get("parts"):
        partial["parts"] = [for_others(part, str(part.get("rule", ""))) for part in parts]
    return partial


def proof_for_others(proof: Record) -> dict[str, Any]:
    """Return a proof without settings of nodes: what is to be set may keep a part of what is."""
    return {
        name: {key: value for key, value in side.items() if not setting_names.is_setting(key)}
        if isinstance(side, Mapping)
        else side
        for name, side in proof.items()
    }
