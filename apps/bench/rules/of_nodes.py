"""What of findings rests on what agents told of their nodes' settings: readers of other teams get it not."""

from collections.abc import Mapping
from typing import Any

from apps.bench.rules.bearing import METRIC, PATTERN
from apps.bench.sweep import setting_names
from apps.bench.text import names_in

Record = Mapping[str, Any]

_LINES = ("change", "undo")
_ALL = ("why", "against", "formula", *_LINES)
# {rule: the members of its findings that say how nodes are set}. Titles name what to do, never what there is: of what
# a rule brings for all of its texts they keep what their own words say, and what flags are held against.
RULES: Mapping[str, tuple[str, ...]] = {
    "path-interface": _ALL,
    "storage-cached-reads": ("why",),
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
    partial = {name: type(value)() if name in left_out else _as_said(value) for name, value in record.items()}
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


def _as_said(value: Any) -> Any:
    """Return stored values whose messages, and those within them, bring nothing but what their words say."""
    if isinstance(value, list):
        return [_as_said(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {"msgid", "params"} and isinstance(value["params"], Mapping):
        names = {*names_in(str(value["msgid"])), METRIC, PATTERN}
        value = {**value, "params": {name: item for name, item in value["params"].items() if name in names}}
    return {name: _as_said(item) for name, item in value.items()}
