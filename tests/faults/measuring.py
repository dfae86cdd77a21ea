"""The campaign that faults hit: several lanes, a background server, repetitions, and an experiment that waits."""

from pathlib import Path
from typing import Any

from launch.demo.rest import Rest
from tests.faults.tally import ALONE, CLIENT, SERVER

Json = dict[str, Any]
_STEPS = {"name": "steps", "kind": "integer", "label": "Steps", "default": 3, "minimum": 1, "maximum": 300}
_TOKEN = {"name": "token", "label": "Token", "unit": "B", "better": "neither", "where": r"^token: (\d+)$"}
_COMMON: Json = {"parameters": [_STEPS], "metrics": [_TOKEN], "arguments": ["{steps}"], "takes_s": 1}
TOOLS: dict[str, Json] = {
    "fault-alone": {**_COMMON, "name": "Alone", "parts": "alone", "program": ALONE, "time_limit_s": 60},
    "fault-pair": {
        **_COMMON,
        "name": "Pair",
        "parts": "server",
        "program": CLIENT,
        "server_program": SERVER,
        "server_arguments": ["300"],
        "ready": "listening",
        "time_limit_s": 60,
    },
}
# No fault may cost a trial, only attempts.
_PATIENT: Json = {"repetitions": 2, "max_attempts": 20, "retry_wait_s": 0, "context": False}

# What the agents must be allowed for the campaign that writes files.
WRITERS = ("df", "fio", "rm")
_WRITING: Json = {"engine": "psync", "direct": "no", "file_size": "1 MiB", "duration": "3 s", "ramp": "0 s"}


def define_tools(api: Rest) -> None:
    """Give the team the tools."""
    for slug, definition in TOOLS.items():
        api.post("team-tools/", {"slug": slug, "definition": definition})


def launch(api: Rest, nodes: dict[str, int]) -> int:
    """Define the campaign on three nodes and launch it; return its id."""
    campaign = int(api.post("campaigns/", {"name": "Faults"})["id"])
    first, second, third = nodes.values()
    pairs = [("client", first), ("client", second), ("server", second), ("server", third)]
    _add(api, campaign, "pairs", "fault-pair", pairs, "2, 5")
    each = [("node", node) for node in nodes.values()]
    alone = _add(api, campaign, "each", "fault-alone", each, "3, 6")
    _add(api, campaign, "after", "fault-alone", [("node", first), ("node", second)], "2", after=alone)
    api.post(f"campaigns/{campaign}/launch/")
    return campaign


def launch_small(api: Rest, nodes: dict[str, int]) -> int:
    """Launch a campaign of two trials that ends within seconds; return its id."""
    campaign = int(api.post("campaigns/", {"name": "Before"})["id"])
    _add(api, campaign, "before", "fault-alone", [("node", next(iter(nodes.values())))], "1")
    api.post(f"campaigns/{campaign}/launch/")
    return campaign


def launch_writing(api: Rest, nodes: dict[str, int], folder: Path) -> int:
    """Define a campaign that writes small files to a shared folder from two nodes and launch it; return its id."""
    mount = folder
    while not mount.is_mount():
        mount = mount.parent
    first, second, _third = nodes.values()
    cluster = api.post("clusters/", {"name": "Writers", "nodes": [first, second]})["id"]
    place = {"name": "Shared", "kind": "other", "mount_path": str(mount), "mounts": [{"cluster": cluster}]}
    body = {
        "campaign": (campaign := int(api.post("campaigns/", {"name": "Files"})["id"])),
        "name": "files",
        "tool": "fio",
        "roles": [{"role": "client", "node": node} for node in (first, second)],
        "file_system": api.post("file-systems/", place)["id"],
        "fixed": {**_WRITING, "folder": str(folder.relative_to(mount))},
        **_PATIENT,
    }
    api.post("experiments/", body)
    api.post(f"campaigns/{campaign}/launch/")
    return campaign


def _add(
    api: Rest, campaign: int, name: str, tool: str, players: list[tuple[str, int]], steps: str, **others: Any
) -> int:
    body = {
        "campaign": campaign,
        "name": name,
        "tool": f"{tool}.v1",
        "roles": [{"role": role, "node": node} for role, node in players],
        "factors": [{"name": "steps", "expression": steps}],
        **_PATIENT,
        **others,
    }
    return int(api.post("experiments/", body)["id"])
