"""The rate a workload will get of a supply: measured, computed of it, between what was measured, or beyond it."""

from dataclasses import replace

from apps.bench.rules.base import Evidence
from apps.bench.rules.layers.links import stated_rate
from apps.bench.rules.workloads.bases import BEYOND, Predicted
from apps.bench.rules.workloads.counts import at_count
from apps.bench.rules.workloads.creations import with_files
from apps.bench.rules.workloads.described import Workload
from apps.bench.rules.workloads.records import at_record
from apps.bench.rules.workloads.supplies import Supply, grows
from apps.bench.text import Message, _
from apps.bench.units import format_quantity


def predict(evidence: Evidence, supply: Supply, workload: Workload) -> Predicted | None:
    """Return what a workload will get; None where the measurements do not carry it."""
    rate = _by_count(supply, workload)
    if rate is None:
        return None
    prediction = _within_network(evidence, supply, workload, with_files(evidence, supply.file_system, workload, rate))
    if workload.shared and not supply.settings.get("file_per_process") and supply.tool != "ior":
        text = _("Measured with a file for each task; the workload shares one, which may be slower.")
        prediction = replace(prediction, doubts=(*prediction.doubts, Message(text)))
    return prediction


def _by_count(supply: Supply, workload: Workload) -> Predicted | None:
    """Return the rate at the workload's number of nodes and tasks, with its records."""
    amounts = {count: at_record(records, workload.record_size) for count, records in supply.cells.items()}
    return at_count(amounts, workload.nodes, workload.tasks, grows=grows(supply))


def _within_network(evidence: Evidence, supply: Supply, workload: Workload, rate: Predicted) -> Predicted:
    """Return the rate no higher than the network carries for so many nodes, as far as its links are known."""
    facts = evidence.file_systems.get(supply.file_system)
    if not facts or not facts.servers or not supply.ends:
        return rate
    if rate.basis != BEYOND:
        return rate
    ceiling = stated_rate(evidence, supply.ends[: workload.nodes], facts)
    if ceiling and len(supply.ends) < workload.nodes:
        one = stated_rate(evidence, supply.ends[:1], facts) or ceiling
        # Nodes that have measured nothing share what the others share; where these share nothing each has its own.
        is_shared = len(supply.ends) > 1 and ceiling < 1.01 * one
        ceiling *= 1 if is_shared else workload.nodes / len(supply.ends)
    if ceiling is None or rate.high <= ceiling:
        return rate
    text = _("The network carries %(ceiling)s for these nodes, and no more.")
    return replace(
        rate,
        value=min(rate.value, ceiling),
        low=min(rate.low, ceiling),
        high=ceiling,
        why=(*rate.why, Message(text, {"ceiling": format_quantity(ceiling, "B/s")})),
    )
