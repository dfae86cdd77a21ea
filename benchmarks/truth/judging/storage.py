"""Judges of what is said of file systems: their clients and records, the layer that limits, caches."""

from apps.bench.rules.storage.titles import LEVEL, OF_CLIENTS, OF_TASKS
from benchmarks.truth.judging import growth, layers
from benchmarks.truth.judging.advice import predicted
from benchmarks.truth.judging.base import (
    HARM,
    HARMFUL,
    NEAR,
    Case,
    Judgement,
    Rules,
    is_near,
    no,
    quantity,
    undecided,
    whether,
    yes,
)
from benchmarks.truth.judging.growth import ENOUGH, metric_of
from benchmarks.truth.judging.path import modes
from benchmarks.truth.worlds.storage import CLIENT, LOCAL, StorageWorld

TOOL = "iozone"
METRICS = ("write", "rewrite", "read", "reread")
# Rates that are farther apart than this show an effect.
EFFECT = 0.97
# A record size is the one to take if it gives so much of the best.
RECORD = 0.9


def _is_local(case: Case) -> bool:
    return case.statement.subject.startswith(LOCAL)


def _is_mixed(case: Case) -> bool:
    """Return whether the client beside the servers is set against those far away."""
    clients = case.clients(TOOL)
    return bool(case.world.near) and case.world.near in clients and case.world.clients[0] in clients


MIXED = "a client beside the servers is set against clients far away"


def _rates(case: Case, factor: str) -> dict[int, float]:
    metric = metric_of(case)
    return {
        int(cell.parameters[factor]): cell.truth[metric] for cell in case.cells(TOOL) if factor in cell.parameters
    }


def _clients(case: Case) -> Judgement:
    if _is_mixed(case):
        return no(MIXED)
    shapes = {text: shape for texts in (OF_CLIENTS, OF_TASKS) for shape, text in texts.items()}
    if "depends on" in case.title:
        return undecided("it names the figures of each setting, and advises nothing")
    shape, rates = shapes[case.title], _rates(case, "clients")
    if len(rates) < 2:
        return undecided("fewer than two numbers of clients")
    counts = sorted(rates)
    best, last, first = max(rates.values()), rates[counts[-1]], rates[counts[0]]
    if wrong := _wrong_ceiling(case, counts[-1]):
        return no(wrong)
    if any("poorly" in item["msgid"] for item in case.fields["why"]) and not growth.is_poor(case):
        return no(growth.SERVED)
    table = ", ".join(f"{count}: {rates[count] / 1e6:.4g} MB/s" for count in counts)
    if shape in ("flat", LEVEL):
        return whether(min(rates.values()) >= best / 1.1, f"it changes: {table}")
    if "is highest with" in case.title and rates.get(int(case.value), best) < ENOUGH * best:
        return no(f"it is not highest there: {table}")
    if shape in ("falls", "one-server", "peak", "peak-one-server"):
        return whether(last < EFFECT * best, f"it does not fall: {table}")
    if shape == "rises":
        if last < EFFECT * best or last <= first / EFFECT or rates[counts[-2]] >= EFFECT * last:
            return no(f"it does not grow to the end: {table}")
        if why := growth.stands_still(case, rates):
            return no(why)
        return _enough(case, metric_of(case), counts[-1])
    if shape == "nearly":
        further = growth.further(case, counts[-1])
        return whether(
            last > first / EFFECT and further <= last / growth.LITTLE, f"{further / 1e6:.4g} MB/s of more; {table}"
        )
    if shape == "unclear":
        return whether(last > first / EFFECT, f"it does not grow: {table}")
    knee = int(case.value)
    if rates.get(knee, best) < ENOUGH * best:
        return no(f"more clients add something: {table}")
    if last < ENOUGH * best:
        return no(f"it falls: {table}")
    fewer = [count for count in counts if count < knee and rates[count] >= EFFECT * best]
    return whether(not fewer, f"fewer saturate it: {table}")


def _enough(case: Case, metric: str, most: int) -> Judgement:
    """Return whether so few as are said cannot fill the network, and so many would if nothing else held them."""
    world: StorageWorld = case.world
    params = next((item["params"] for item in case.fields["why"] if "apiece" in item["params"]), None)
    if not params:
        return prediction(case)
    truth = world.carried(growth.EVERYBODY) / (world.rate(metric, {"clients": most}) / most)
    if not is_near(float(params["least"]), truth, NEAR + 1 / truth):
        return no(f"{truth:.1f} clients fill the network, not {params['least']}")
    return prediction(case)


def _wrong_ceiling(case: Case, clients: int) -> str:
    """Return what is wrong with what the network is said to carry, "" for nothing."""
    for item in case.fields["why"]:
        if "ceiling" not in item["params"]:
            continue
        ceiling, truth = quantity(item["params"]["ceiling"]) or 0.0, case.world.carried(clients)
        # The finding may mean those measured, all that mount it, or what more would share.
        counts = (clients, len(case.world.clients), *([growth.EVERYBODY] if "apiece" in item["params"] else []))
        if not any(is_near(ceiling, case.world.carried(count)) for count in counts):
            return f"the network carries {truth:.4g}, not {ceiling:.4g} B/s"
        if "it is full" in item["msgid"] and min(_terms(case, clients).values()) < 0.85 * truth:
            return f"the network is not full: {truth:.4g} B/s"
    return ""


def _terms(case: Case, clients: int) -> dict[str, float]:
    terms: dict[str, float] = case.world.terms(metric_of(case), clients)
    return terms


def _records(case: Case) -> Judgement:
    if _is_mixed(case):
        return no(MIXED)
    rates = _rates(case, "record_size")
    if "depends on" in case.title:
        return undecided("it names the figures of each setting, and advises nothing")
    if len(rates) < 2:
        return undecided("fewer than two sizes of records")
    best = max(rates.values())
    if "no effect" in case.title:
        return whether(min(rates.values()) >= best / 1.1, f"it has: {rates}")
    at = int(case.value)
    if at not in rates:
        return undecided("the size was not measured")
    if rates[at] < RECORD * best:
        return no(f"others give more: {rates}")
    if min(rates.values()) >= EFFECT * best:
        return no(f"the size makes no difference: {rates}")
    return prediction(case)


def prediction(case: Case) -> Judgement:
    """Return whether the rate predicted for the finding's own proof would be reached."""
    proof = case.fields.get("proof")
    if not proof or proof["tool"] != TOOL or not case.fields.get("predicted"):
        return yes()
    metric = "read" if "read" in proof["metric"] else "write"
    now, then = (case.world.rate(metric, proof[side]) for side in ("now", "then"))
    if case.fields["kind"] == "recommendation" and then < HARM * now:
        return Judgement(HARMFUL, f"{now:.4g} becomes {then:.4g} B/s")
    return predicted(case, case.world.rate("read" if "read" in proof["metric"] else "write", proof["then"]))


def _alike(case: Case) -> Judgement:
    return yes("clients are alike in this world")


def _connections(case: Case) -> Judgement:
    world: StorageWorld = case.world
    metric, setting = metric_of(case), layers.cell_of(case)
    single = len(world.servers) * world.window / world.rtt_s
    if CLIENT not in world.limit(metric, setting) or single > 1.1 * world.one_client(2**20, 1, False)[0]:
        return no(f"{', '.join(sorted(world.limit(metric, setting)))} limits, not the connection")
    return yes()


def _nodes(case: Case) -> Judgement:
    """Return whether one client alone gets little of what many get."""
    if "poor" in case.title and not growth.is_poor(case):
        return no(growth.SERVED)
    metric = metric_of(case)
    cells = [cell for cell in case.cells(TOOL) if "clients" in cell.parameters]
    best = max((cell.truth[metric] for cell in cells), default=0.0)
    alone = case.world.rate(metric, {"clients": 1})
    return whether(alone < 0.6 * best, f"one client alone gets {alone / best:.2f} of the best" if best else "nothing")


def _bottleneck(case: Case) -> Judgement:
    """Return whether the link named is the narrowest between one client and one server."""
    world: StorageWorld = case.world
    lines = {link.name: world.server_nic_bps if "server" in link.a else world.client_nic_bps for link in world.links}
    lines["A – B"] = world.wide_bps
    used = [rate for name, rate in lines.items() if name in ("A – B", "client1 – A", "server1 – B")]
    named = str(case.sentence["params"].get("link") or case.statement.subject).split(" / ")
    if not {*named} <= lines.keys():
        return undecided("no link of that name")
    own = min(lines[name] for name in named)
    if own > 1.001 * min(used):
        return no(f"{case.statement.subject} is not the slowest link")
    return whether("agree" in case.title, "all of the link can be had, by more than one connection")


def _streams(case: Case) -> Judgement:
    rates = {int(cell.parameters["streams"]): cell.truth["goodput"] for cell in case.cells("iperf3-tcp")}
    at, best = rates.get(int(case.value)), max(rates.values())
    if at is None:
        return undecided("the count was not measured")
    return whether(at >= ENOUGH * best, f"more streams give {best:.4g}, not {at:.4g}")


RULES: Rules = {
    "storage-clients": _clients,
    "storage-record-size": _records,
    "limiting-layer": layers.limit,
    "storage-share-of-disk": layers.share,
    "cache-effect": layers.cache,
    "storage-cached-reads": layers.cache,
    "storage-clients-alike": _alike,
    "storage-modes": modes,
    "storage-connections": _connections,
    "workload-nodes": _nodes,
    "path-bottleneck": _bottleneck,
    "tcp-streams": _streams,
}
