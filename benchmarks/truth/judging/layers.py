"""Judges of what lies beneath a file system: the layer that limits it, its share of the disks, what a cache gave."""

from typing import Any

from benchmarks.truth.judging.base import Case, Judgement, is_near, no, undecided, whether, yes
from benchmarks.truth.judging.growth import metric_of
from benchmarks.truth.worlds.base import Cell
from benchmarks.truth.worlds.credit import TRAIT
from benchmarks.truth.worlds.storage import CLIENT, DISK, NETWORK, SERVER, WAIT

TOOL = "iozone"


def cell_of(case: Case, rate: float | None = None) -> dict[str, Any]:
    """Return the setting of the file system's own figures nearest to a rate (B/s), of the best without one."""
    metric = metric_of(case)
    cells = [cell for cell in case.cells(TOOL) if "clients" in cell.parameters]
    if not cells:
        return {}
    target = rate or max(_mean(cell, metric) for cell in cells)
    return dict(min(cells, key=lambda cell: abs(_mean(cell, metric) - target)).parameters)


def _mean(cell: Cell, metric: str) -> float:
    return sum(trial.figures[metric] for trial in cell.trials) / len(cell.trials)


def limit(case: Case) -> Judgement:
    """Return whether the layer that is named holds the rate."""
    setting = cell_of(case, case.value)
    if not setting:
        return undecided("no figures of the file system")
    if TRAIT in case.world.traits and "if what lies beneath gave as much" in case.title:
        return undecided("the disks did not: their credit was used up")
    metric = metric_of(case)
    is_near_one = bool(case.world.near) and case.world.near in case.statement.subject
    limits = case.world.limit_near(metric) if is_near_one else case.world.limit(metric, setting)
    text = case.title.lower()
    layer = next((name for name, word in LAYERS if word in text), "")
    if not layer:
        return undecided(f"which layer is meant: {case.title}")
    if layer == NETWORK and CLIENT in limits and case.world.window_holds(is_near_one):
        return yes("the windows of its connections, which are of the network")
    truth = {NETWORK: {NETWORK}, DISK: {DISK, SERVER}, SERVER: {SERVER, CLIENT, WAIT}}[layer]
    if layer == DISK and case.world.share < 0.85 and DISK not in limits:
        return no("the file system itself takes a part of the disks' rate")
    if layer == SERVER and case.world.share >= 0.9 and limits <= {SERVER, DISK}:
        return no("the disks are the limit")
    return whether(bool(limits & truth), f"{', '.join(sorted(limits))} limits, not the {layer}")


LAYERS = ((SERVER, "itself is the limit"), (NETWORK, "network"), (NETWORK, "connections of"), (DISK, "disk"))


def share(case: Case) -> Judgement:
    """Return whether a rate has this share of what lies beneath it."""
    if "Not enough" in case.title:
        return yes("it says that it does not know")
    if case.world.near and case.world.near in case.clients(TOOL):
        return undecided("it rests on the client beside the servers, too")
    metric = metric_of(case)
    setting = cell_of(case)
    least = len(case.world.servers) * (_disk_then(case, metric) or case.world.disk[metric])
    if "let through" in case.title:
        least = min(least, case.world.carried(int(setting.get("clients", 1))))
    truth = case.world.rate(metric, setting) / least
    low, high = case.fields.get("low"), case.fields.get("high")
    if low is not None and high is not None and 0.97 * low <= truth <= 1.03 * high:
        return yes()
    return whether(is_near(case.value, truth), f"the share is {truth:.2f}, not {case.value:.2f}")


def _disk_then(case: Case, metric: str) -> float | None:
    """Return what a server's disks gave when they were measured alone, where that is said to be of another time."""
    alone = [cell.truth[metric] for cell in case.cells(TOOL) if "clients" not in cell.parameters]
    return alone[0] if alone and "at another time" in case.title else None


def cache(case: Case) -> Judgement:
    """Return whether a cache was measured, or disks gave more meanwhile where that is named, too."""
    if TRAIT in case.world.traits and "gave more meanwhile" in case.title:
        return yes("the disks did: they had credit")
    return whether("cached" in case.world.traits, "no cache was measured")
