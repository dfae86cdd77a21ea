"""Judges of what is said of messages between processes: placement, pairs, ports."""

from benchmarks.truth.judging.base import Case, Judgement, Rules, is_near, no, undecided, whether, yes
from benchmarks.truth.worlds.messages import LARGEST, OTHER, PORTS, SAME, SMALLEST, MessagesWorld

# A ratio of placements below this is no reason to bind.
WORTH = 1.15


def _affinity(case: Case) -> Judgement:
    truth = _of_one_socket(case)
    if "in two sockets are" in case.title:
        truth = 1 / truth
    if case.fields["kind"] == "recommendation" or case.fields["is_comparison"]:
        if truth < WORTH:
            return no(f"placement makes ×{truth:.2f}")
        return whether(is_near(case.value, truth), f"the ratio is {truth:.2f}, not {case.value:.2f}")
    if case.fields["kind"] == "doubt":
        return undecided("it says that it does not know")
    return whether(1 / 1.45 <= truth <= 1.45, f"placement makes ×{truth:.2f}")


def _of_one_socket(case: Case) -> float:
    """Return how many times as fast partners in one socket are as those in two: in latency, or in bandwidth."""
    world: MessagesWorld = case.world
    if _is_latency(case):
        return world.time(OTHER, SMALLEST) / world.time(SAME, SMALLEST)
    return world.rate(SAME, LARGEST) / world.rate(OTHER, LARGEST)


def _is_latency(case: Case) -> bool:
    proof, metric = case.fields.get("proof"), case.sentence["params"].get("metric")
    return bool(proof and proof["tool"] == "osu-latency") or metric == "latency"


def _contention(case: Case) -> Judgement:
    world: MessagesWorld = case.world
    counts = sorted(int(cell.parameters["pairs"]) for cell in case.cells("mpi-contention"))
    rates = {count: world.aggregate(count) for count in counts}
    best, last = max(rates.values()), rates[counts[-1]]
    table = ", ".join(f"{count}: {rate / 1e9:.3g} GB/s" for count, rate in rates.items())
    if "unevenly" in case.title:
        return no("all pairs have the same")
    if "do not get more" in case.title:
        return no("the messages fill the port")
    if "evenly" in case.title or "the same together, however many" in case.title:
        return whether(min(rates.values()) >= best / 1.1, f"not the same for all: {table}")
    if "lose" in case.title:
        return whether(last < 0.97 * best, f"they lose nothing: {table}")
    if "do not fill" in case.title:
        return whether(last > rates[counts[-2]] / 0.97, f"it does not grow to the end: {table}")
    knee = case.sentence["params"].get("knee")
    at = rates.get(int(float(knee or 0)))
    if at is None:
        return undecided("the knee was not measured")
    fewer = [count for count in counts if count < int(float(knee)) and rates[count] >= 0.97 * best]
    return whether(at >= 0.93 * best and last >= 0.93 * best and not fewer, f"the knee is elsewhere: {table}")


def _port(case: Case) -> Judgement:
    world: MessagesWorld = case.world
    kind = world.nodes[0].interconnect
    if "not believable" in case.title:
        return no("no rate is above what the port carries")
    best = max(world.aggregate(int(cell.parameters["pairs"])) for cell in case.cells("mpi-contention"))
    truth = best / PORTS[kind]
    share = case.value if case.value <= 1.5 else case.value / 100
    return whether(is_near(share, truth, 0.2), f"the share is {truth:.2f}, not {share:.2f}")


def _known(case: Case) -> Judgement:
    return yes("read off the figures")


RULES: Rules = {"mpi-affinity": _affinity, "mpi-contention": _contention, "mpi-port-bound": _port}
