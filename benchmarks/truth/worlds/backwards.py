"""The same transfers with the other end as the tools' client: data comes back from their server."""

import dataclasses

from apps.bench.toolkit import Tool
from benchmarks.truth.worlds.base import Cell, Setup, Trial
from benchmarks.truth.worlds.network import CLIENT, SERVER, NetworkWorld

ROLES = {CLIENT: (SERVER,), SERVER: (CLIENT,)}
# Figures of the tool's own end are those of the other one now.
OTHERS = {"cpu_local": "cpu_remote", "cpu_remote": "cpu_local"}


def turned(world: NetworkWorld) -> NetworkWorld:
    """Return a world, measured from its sender, in which the end that receives asked for the same data (`-R`)."""
    return dataclasses.replace(world, is_back=True, setups=tuple(map(_turned, world.setups)))


def _turned(setup: Setup) -> Setup:
    asked = dict([Tool.backwards_at]) if setup.tool.startswith("iperf3") else {}
    cells = [_cell(cell, asked) for cell in setup.cells]
    return dataclasses.replace(setup, roles=ROLES, cells=cells)


def _cell(cell: Cell, asked: dict[str, str]) -> Cell:
    return dataclasses.replace(cell, parameters={**cell.parameters, **asked}, trials=[_trial(t) for t in cell.trials])


def _trial(trial: Trial) -> Trial:
    return dataclasses.replace(trial, figures={OTHERS.get(name, name): v for name, v in trial.figures.items()})
