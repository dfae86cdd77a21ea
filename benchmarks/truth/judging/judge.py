"""Which judge a statement goes to."""

from benchmarks.truth import figures as drawn
from benchmarks.truth import panels
from benchmarks.truth.judging import advice, figures, messages, path, storage, tcp, transfers
from benchmarks.truth.judging.base import Case, Judge, Judgement, undecided
from benchmarks.truth.statements import FINDING, Statement
from benchmarks.truth.store import Stored
from benchmarks.truth.worlds.base import World

BY_FAMILY = {
    "network": {**tcp.RULES, **path.RULES, **transfers.RULES},
    "storage": storage.RULES,
    "messages": messages.RULES,
}
# Rules whose statements no world decides, and why; all others have a judge.
UNJUDGED = {
    "undecided-layer": "it says that it does not know",
    "path-silence": "it counts runs in which nothing arrived, which no world has",
    "storage-silence": "it counts runs in which nothing was written or read, which no world has",
    "path-route": "what traceroute printed of each run, set side by side: the worlds have one route",
    "storage-gpfs-client": "its figures are the arithmetic of layers that are judged, of options that agents tell",
    "storage-gpfs-sockets": "options of mounts that agents tell, which no world has",
    "storage-lustre-requests": "options of mounts that agents tell, which no world has",
    "storage-nfs-transfer": "options of mounts that agents tell, which no world has",
    "workload-best": "several file systems side by side; the worlds have one",
    "mpi-distance": "switches between many nodes; the worlds have two nodes",
    "mpi-ranks": "BT-IO, of which nothing is simulated",
    "mpi-node-placement": "BT-IO, of which nothing is simulated",
    "mpi-core-placement": "BT-IO, of which nothing is simulated",
    "mpi-file-system-block": "BT-IO, of which nothing is simulated",
    "mpi-collective": "BT-IO and IOR, of which nothing is simulated",
    "mpi-collective-nodes": "IOR, of which nothing is simulated",
    "mpi-collective-size": "IOR, of which nothing is simulated",
    "mpi-collective-buffer": "IOR, of which nothing is simulated",
}
BY_SOURCE = {drawn.SENTENCE: figures.SENTENCES, drawn.CONTRAST: figures.CONTRASTS, panels.UDP: figures.UDP}


def judge(world: World, stored: Stored, statement: Statement) -> Judgement:
    """Return what is true of a statement in its world."""
    case = Case(world, stored, statement)
    rule = _judge_of(world, statement)
    if rule is None:
        return undecided(UNJUDGED.get(statement.rule, "no judge knows this"))
    claim = rule(case)
    if statement.source == FINDING and world.family == "network":
        return advice.worse(claim, advice.judge_network(case))
    return claim


def _judge_of(world: World, statement: Statement) -> Judge | None:
    if statement.source == panels.PREDICTION:
        return figures.prediction
    rules = BY_SOURCE.get(statement.source) or BY_FAMILY[world.family]
    return rules.get(statement.rule)
