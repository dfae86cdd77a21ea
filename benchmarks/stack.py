"""The whole service on a folder of its own, for one run of the benchmarks."""

import contextlib
import os
import secrets
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from launch import service
from launch.demo import agents, campaign, inventory
from launch.demo.ground import Ground
from launch.demo.rest import Rest

Json = dict[str, Any]
USER, TEAM = "bench", "Bench"


class BenchmarkError(RuntimeError):
    """A benchmark that cannot go on; the text says why."""


@dataclass(frozen=True)
class Stack:
    """A running service and a manager's REST client."""

    running: service.Service
    api: Rest

    def start_agents(self, place: Ground) -> dict[str, int]:
        """Describe the nodes of a ground, start their agents and return {node name: id}."""
        nodes = inventory.describe(self.api, place)
        for agent in agents.prepare(self.api, place, nodes, self.running.home.agents):
            self.running.supervisor.add(agent.process())
        campaign.wait_for_agents(self.api, set(nodes.values()))
        return nodes

    def carry_out(self, name: str, *experiments: Json, within_s: float = 90) -> list[Json]:
        """Launch a campaign, wait for its end and return the jobs that measured, in the order of their start."""
        # The commands by hand, which the figures are compared with, do not look at the path before and after.
        campaign = self.launch(name, *({"context": False, **body} for body in experiments))
        self.finish(campaign, within_s=within_s)
        runs = {run["id"] for run in self.api.every(f"runs/?campaign={campaign}")}
        jobs = self.api.every("jobs/?role=client")
        return sorted((job for job in jobs if job["run_ref"] in runs), key=lambda job: job["started_at"])

    def launch(self, name: str, *experiments: Json) -> int:
        """Launch a campaign and return its id."""
        campaign = self.api.post("campaigns/", {"name": name})
        for body in experiments:
            self.api.post("experiments/", {"campaign": campaign["id"], **body})
        self.api.post(f"campaigns/{campaign['id']}/launch/")
        return campaign["id"]

    def finish(self, campaign: int, *, within_s: float) -> None:
        """Wait for a campaign's end; BenchmarkError if a trial failed or it takes longer."""
        deadline = time.monotonic() + within_s
        while (document := self.api.get(f"campaigns/{campaign}/"))["state"] not in ("finished", "cancelled"):
            if time.monotonic() > deadline:
                raise BenchmarkError(
                    f"“{document['name']}” did not end within {within_s:g} s: {document['progress']}"
                )
            # Seldom, so that looking on does not slow it down.
            time.sleep(0.5)
        if document["progress"]["succeeded"] != document["progress"]["total"]:
            raise BenchmarkError(f"Trials of “{document['name']}” failed: {document['progress']}")


@contextlib.contextmanager
def started(binds: Sequence[str] = ()) -> Iterator[Stack]:
    """Start a service with servers of its own on a temporary folder; nothing of it is left at the end."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    with (
        tempfile.TemporaryDirectory(prefix="fathom-bench-") as name,
        mock.patch.dict(os.environ, environment, clear=True),
    ):
        folder = Path(name)
        # Jobs of agents run as another user, who has to pass through.
        folder.chmod(0o711)
        with service.Service(folder, binds=binds, with_agents=False, report=lambda _part, _text: None) as running:
            who = ("--username", USER)
            password = secrets.token_urlsafe(16)
            running.manage("create_account", *who, "--team", TEAM, "--role", "manager", f"--password={password}")
            yield Stack(running, Rest(running.address, running.manage("create_token", *who, "--name", "b").strip()))
