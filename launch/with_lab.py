"""`make serve LAB=FILE`: the service and a lab together, its sites described and an agent on each of its nodes."""

from collections.abc import Sequence
from pathlib import Path

from launch import home, service, signals, supervisor
from launch.demo import agents, campaign, ground, inventory, run


class NoLabError(RuntimeError):
    """A lab that could not be built; the text says why."""


def serve(file: Path, *, port: int | None, binds: Sequence[str]) -> int:
    """Build the lab, serve until Ctrl-C, and take the lab down; NoLabError if it cannot be built."""
    own = home.Home(home.default_folder())
    supervisor.print_event("lab", f"building {file}")
    with ground.standing_lab(home.ROOT, own, file) as (state, reason):
        if state is None:
            raise NoLabError(reason)
        _serve(ground.of_lab(state), file, own, port=port, binds=binds)
    supervisor.print_event("fathom", "stopped")
    return 0


def _serve(place: ground.Ground, file: Path, own: home.Home, *, port: int | None, binds: Sequence[str]) -> None:
    running = service.Service(own, port=port, binds=[*binds, place.server_host], with_agents=False)
    with signals.stop_on_signals(running.supervisor), running:
        api = run.rest_of(running, run.account(running))
        running.supervisor.add(ground.lab_process(home.ROOT, own, file))
        nodes = inventory.describe(api, place)
        for agent in agents.prepare(api, place, nodes, running.home.agents):
            running.supervisor.add(agent.process())
        campaign.wait_for_agents(api, set(nodes.values()))
        supervisor.print_event("fathom", f"measuring {place.words}, from {', '.join(nodes)}")
        supervisor.print_event("fathom", f"serving at {running.address} (Ctrl-C stops it and takes the lab down)")
        running.wait()
