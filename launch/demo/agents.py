"""Real agents for the demo's nodes: downloaded from the server, enrolled with one-time tokens, run as processes."""

import json
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from apps.core.whole_files import write_whole
from launch import local_agents
from launch.demo.ground import Ground, Place
from launch.demo.rest import AGAIN_S, Rest, act
from launch.local_agents import LocalAgent

# An enrolment is asked for so often.
_ATTEMPTS = 3


class AgentError(RuntimeError):
    """An agent that could not be enrolled."""


def prepare(api: Rest, ground: Ground, nodes: dict[str, int], folder: Path) -> list[LocalAgent]:
    """Enrol an agent below `folder` for each node that has none there; return those to start.

    They start with the service from its next start on.
    """
    program = local_agents.fetch_program(api.base, folder)
    server = f"http://{ground.server_host}:{api.base.rpartition(':')[2]}"
    enrolled = {agent["node"] for agent in api.every("agents/") if not agent["retired_at"]}
    for place in ground.places:
        home = folder / place.name
        if nodes[place.name] in enrolled and (home / "agent.json").exists():
            _point_at(home / "agent.json", server)
        else:
            _enrol(api, place, nodes[place.name], home, program, server)
    agents = [LocalAgent(folder / place.name, place.prefix) for place in ground.places]
    for agent, place in zip(agents, ground.places, strict=True):
        agent.allow(place.rules)
        agent.call_at(int(server.rpartition(":")[2]))
        agent.keep()
    return agents


def _point_at(config: Path, server: str) -> None:
    """Tell an enrolled agent where the server is now: the port may be another than last time."""
    settings = json.loads(config.read_text(encoding="utf-8"))
    if settings["server"] != server:
        settings["server"] = server
        write_whole(config, json.dumps(settings, indent=2))


def _enrol(api: Rest, place: Place, node: int, home: Path, program: Path, server: str) -> None:
    for agent in api.every(f"agents/?node={node}"):
        if not agent["retired_at"]:
            act(api, f"agents/{agent['id']}/", "retire", lambda row: row["retired_at"])
    # Of two tokens one is used.
    token = api.post("enrolment-tokens/", {"node": node}, find=lambda: None)["token"]
    (home / "agent.json").unlink(missing_ok=True)
    argv = [*place.prefix, sys.executable, str(program), "enrol", "--server", server, "--token", token]
    argv += ["--node", place.name]
    argv += [] if local_agents.is_loopback(urlsplit(server).hostname or "") else ["--insecure"]
    for _attempt in range(_ATTEMPTS):
        done = subprocess.run([*argv, "--dir", str(home)], capture_output=True, text=True, check=False)
        if not done.returncode:
            return
        # Where only the answer was lost, the same command again is answered; the service is asked whether it goes on.
        time.sleep(AGAIN_S)
        api.get(f"agents/?node={node}")
    raise AgentError(f"The agent of {place.name} could not be enrolled: {done.stderr.strip()}")
