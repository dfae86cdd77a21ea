"""The node that serves a run's file system, if its cache can be freed of what the clients wrote."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils import timezone

from apps.agents import queries as agents
from apps.campaigns.models import Trial
from apps.testbeds import queries as inventory

# How a mount over the network names where its files lie on the server: "host:/path", "[::1]:/path", "nfs://host/path".
_SOURCE = re.compile(r"(?:nfs://[^/]+|\[[^\]/]+\]:|[^:/]+:)(?P<path>/[^?]*)")


def server_of(
    trial: Trial, directories: Mapping[int, str], facts: Mapping[int, Mapping[str, Any]]
) -> tuple[int, str]:
    """Return the server's id and the folder there that all clients mount; (0, "") where it is not just one of ours.

    `directories` {client: where it mounts the file system}, `facts` {client: what its agent told}. The server's agent
    must be there to take a job; the clients must tell one source, and must not serve the files themselves.
    """
    file_system = trial.experiment.file_system
    servers = inventory.servers(file_system) if file_system else []
    if len(servers) != 1 or servers[0].team_id != trial.campaign.team_id or servers[0].pk in directories:
        return 0, ""
    folders = {_folder(facts.get(pk, {}).get("mounts"), directory) for pk, directory in directories.items()}
    if len(folders) != 1 or "" in folders or servers[0].pk not in agents.ready_nodes(timezone.now()):
        return 0, ""
    return servers[0].pk, folders.pop()


def _folder(mounts: object, directory: str) -> str:
    """Return the server's folder that is mounted at a path, "" if the mounts do not tell."""
    entries: Iterable[Any] = mounts if isinstance(mounts, list) else ()
    for entry in entries:
        if isinstance(entry, Mapping) and entry.get("target") == directory.rstrip("/"):
            match = _SOURCE.fullmatch(str(entry.get("source", "")))
            return match["path"].rstrip("/") if match else ""
    return ""
