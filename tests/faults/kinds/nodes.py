"""Faults of nodes: of agents, of the tools that they run, and of agents with one identity."""

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from random import Random

from apps.agents.models import LOST_AFTER
from launch.local_agents import LocalAgent
from tests.faults.site import Site, processes_of
from tests.launch.watching import wait_for

# Silence that proves that an agent is gone, and what it takes to be noticed.
_LOST_S = LOST_AFTER.total_seconds() + 6
_TOOL_WITHIN_S = 20.0
OUTLIVED = "the tool outlived its agent"


def kill_agent(site: Site, draw: Random) -> Iterator[str]:
    """End an agent in the middle of its jobs; it is started again at once."""
    yield from _end_agent(site, draw, signal.SIGKILL)


def restart_agent(site: Site, draw: Random) -> Iterator[str]:
    """Ask an agent to end; it is started again at once."""
    yield from _end_agent(site, draw, signal.SIGTERM)


def pause_agent(site: Site, draw: Random) -> Iterator[str]:
    """Stop an agent for some seconds, not so long that it is taken for lost."""
    yield from _pause_agent(site, draw, draw.uniform(2, 20))


def lose_agent(site: Site, draw: Random) -> Iterator[str]:
    """Stop an agent for so long that it is taken for lost, and let it go on as if nothing had been."""
    yield from _pause_agent(site, draw, draw.uniform(_LOST_S, _LOST_S + 8))


def lose_agent_with_live_tool(site: Site, draw: Random) -> Generator[str, None, str]:
    """End an agent whose tool lives on, leave it away until it is taken for lost, and start it again."""
    agent = site.agents[draw.choice(sorted(site.nodes))]
    site.tally.hold(agent.name)
    try:
        has_tool = wait_for(lambda: site.tally.is_alive(agent.name), _TOOL_WITHIN_S)
        agent.hold()
        _signal(agent.pid, signal.SIGKILL)
        yield agent.name
        time.sleep(_LOST_S)
        outlived = has_tool and site.tally.is_alive(agent.name)
    finally:
        agent.release()
        # The agent ends what is left over, before that comes to its end by itself.
        wait_for(lambda: not site.tally.is_alive(agent.name), _TOOL_WITHIN_S)
        site.tally.let_go(agent.name)
    return OUTLIVED if outlived else ""


def kill_tool(site: Site, draw: Random) -> Iterator[str]:
    """End the process of a tool in the middle of a measurement."""
    name = draw.choice(sorted(site.nodes))
    for pid in _tools_of(site, name)[:1]:
        _signal(pid, signal.SIGKILL)
    yield name


def pause_tool(site: Site, draw: Random) -> Iterator[str]:
    """Stop the processes of a node's tools for some seconds."""
    name = draw.choice(sorted(site.nodes))
    pids = _tools_of(site, name)
    for pid in pids:
        _signal(pid, signal.SIGSTOP)
    try:
        yield name
        time.sleep(draw.uniform(2, 8))
    finally:
        for pid in pids:
            _signal(pid, signal.SIGCONT)


def clone_agent(site: Site, draw: Random) -> Iterator[str]:
    """Start a second agent in a copy of an agent's folder, as a cloned machine or a restored backup does."""
    name = draw.choice(sorted(site.nodes))
    copy = f"{name}-copy-{draw.randrange(10_000)}"
    folder = site.agents[name].local.folder
    # What is removed in mid-copy was never there.
    with contextlib.suppress(shutil.Error):
        shutil.copytree(folder, folder.with_name(copy), symlinks=True, ignore=_jobs)
    folder.with_name(copy).chmod(0o711)
    site.add_agent(copy, LocalAgent(folder.with_name(copy)))
    site.agents[copy].start()
    try:
        yield name
        time.sleep(draw.uniform(6, 25))
    finally:
        site.agents.pop(copy).stop()


def set_clock_back(site: Site, draw: Random) -> Iterator[str]:
    """Set an agent's clock back in the middle of its jobs, maybe end the agent meanwhile, and set it right again."""
    agent = site.agents[draw.choice(sorted(site.nodes))]
    wait_for(lambda: site.tally.is_alive(agent.name), _TOOL_WITHIN_S)
    agent.set_clock(-draw.choice((1.0, 60.0, 3600.0, 86_400.0)))
    try:
        yield agent.name
        for _time in range(draw.randint(1, 3)):
            time.sleep(draw.uniform(1, 6))
            if draw.random() < 0.5:
                _signal(agent.pid, draw.choice((signal.SIGKILL, signal.SIGTERM)))
    finally:
        agent.set_clock(0.0)
    time.sleep(draw.uniform(0, 3))
    if draw.random() < 0.5:
        _signal(agent.pid, signal.SIGKILL)


def _jobs(folder: str, names: list[str]) -> list[str]:
    return names if Path(folder).name == "work" else []


def _end_agent(site: Site, draw: Random, number: signal.Signals) -> Iterator[str]:
    agent = site.agents[draw.choice(sorted(site.nodes))]
    pid = agent.pid
    _signal(pid, number)
    wait_for(lambda: agent.pid != pid, 30)
    yield agent.name


def _pause_agent(site: Site, draw: Random, seconds: float) -> Iterator[str]:
    agent = site.agents[draw.choice(sorted(site.nodes))]
    pid = agent.pid
    _signal(pid, signal.SIGSTOP)
    try:
        yield agent.name
        time.sleep(seconds)
    finally:
        _signal(pid, signal.SIGCONT)


def _tools_of(site: Site, name: str) -> list[int]:
    """Return the processes of a node's tools, waiting a while for one."""
    place = site.root / "tools" / name
    wait_for(lambda: processes_of(place), _TOOL_WITHIN_S)
    return processes_of(place)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
