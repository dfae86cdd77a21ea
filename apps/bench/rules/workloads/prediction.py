"""The rate a workload will get of a supply: measured, computed of it, between what was measured, or beyond it."""

from dataclasses import replace

from apps.bench.rules.base import Evidence
from apps.bench.rules.bearing import METRICS_OF_PATTERNS
from apps.bench.rules.layers.beneath import Network
from apps.bench.rules.layers.questions import Question, Route
from apps.bench.rules.readings import read_once
from apps.bench.rules.workloads.bases import BEYOND, MEASURED, Predicted, weakest
from apps.bench.rules.workloads.ceilings import ceiling_of_nodes
from apps.bench.rules.workloads.counts import at_count
from apps.bench.rules.workloads.creations import with_files
from apps.bench.rules.workloads.described import Workload
from apps.bench.rules.workloads.records import at_record
from apps.bench.rules.workloads.supplies import Supply, falls, grows
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# The one tool whose tasks share a file or not, as it is told.
IOR = "ior"


def predict(evidence: Evidence, supply: Supply, workload: Workload) -> Predicted | None:
    """Return what a workload will get; None where the measurements do not carry it."""
    rate = _by_count(supply, workload)
    if rate is None:
        return None
    prediction = _within_network(evidence, supply, workload, with_files(evidence, supply.file_system, workload, rate))
    return _by_sharing(supply, workload, prediction)


def sharing_of(supply: Supply) -> bool | None:
    """Return whether all tasks used one file, None where nobody told; of a tool without a choice each has its own."""
    if supply.tool != IOR:
        return False
    is_own = supply.all_settings.get("file_per_process")
    return not is_own if isinstance(is_own, bool) else None


def _by_sharing(supply: Supply, workload: Workload, prediction: Predicted) -> Predicted:
    """Return a rate with the doubt in it where tasks shared a file and the workload's do not, or the other way round.

    How much faster files of their own are nobody measured: what one file for all had is not all that there is.
    """
    is_shared = sharing_of(supply)
    is_alone = not workload.shared and workload.nodes * workload.tasks < 2
    if is_alone or is_shared is workload.shared:
        return prediction
    text = _("Measured with a file for each task; the workload shares one, which may be slower.")
    if is_shared is None:
        text = _("Whether the tasks shared a file, or had one each, is not known: the workload may be unlike it.")
    elif is_shared:
        text = _("Measured with one file for all tasks; the workload has one for each, which may be faster.")
        prediction = replace(prediction, basis=weakest(prediction.basis, BEYOND))
    return replace(prediction, doubts=(*prediction.doubts, Message(text)))


def _by_count(supply: Supply, workload: Workload) -> Predicted | None:
    """Return the rate at the workload's number of nodes and tasks, with its records."""
    amounts = {count: at_record(records, workload.record_size) for count, records in supply.cells.items()}
    return at_count(amounts, workload.nodes, workload.tasks, grows=grows(supply), falls=falls(supply))


def _within_network(evidence: Evidence, supply: Supply, workload: Workload, rate: Predicted) -> Predicted:
    """Return the rate no higher than the network carries for so many nodes, as far as it is known.

    What was measured and is no more than a few percent above that stays as it was measured.
    """
    facts = evidence.file_systems.get(supply.file_system)
    if not facts or not facts.servers or not supply.ends:
        return rate
    network = ceiling_of_nodes(evidence, supply.ends, facts, workload.nodes)
    own = _measured_ceiling(evidence, supply, workload)
    ceiling = min((value for value in (network.value if network else None, own) if value), default=None)
    if ceiling is None:
        return rate
    is_above = rate.basis == MEASURED and rate.value > ceiling
    most = rate.value if is_above else ceiling
    rate = replace(rate, ceiling=max(most, network.bound if network else 0.0))
    if rate.high <= most:
        return rate
    reasons = [Message(_("The network carries %(ceiling)s for these nodes, and no more."), {
        "ceiling": format_quantity(ceiling, "B/s")
    })]  # fmt: skip
    if network and ceiling == network.value < network.bound:
        text = _(
            "Nodes that measured nothing are taken to have links as those that did, and to share what lies behind."
        )
        reasons.append(Message(text))
    return replace(
        rate,
        value=min(rate.value, most),
        low=min(rate.low, most),
        high=most,
        why=rate.why if is_above else (*rate.why, *reasons),
    )


def _measured_ceiling(evidence: Evidence, supply: Supply, workload: Workload) -> float | None:
    """Return what TCP was measured to carry (B/s) for the workload's nodes where that is shown to be all, or None."""
    ends = supply.ends[: workload.nodes]
    if len(ends) < workload.nodes:
        return None
    # The way that the data go is that of the pattern.
    way = METRICS_OF_PATTERNS[workload.pattern][1]
    return _ceiling_by_tcp(evidence, supply.file_system, way, ends, supply.path)


@read_once
def _ceiling_by_tcp(evidence: Evidence, name: str, way: str, ends: tuple[str, ...], path: Route) -> float | None:
    question = Question(evidence.file_systems[name], way, frozenset(ends), (), *path)
    beneath = Network(evidence, question).beneath(ends)
    if beneath is None or beneath.is_stated or beneath.is_floor or beneath.times > 1:
        return None
    return beneath.interval[1] if beneath.interval else beneath.value
