"""What is still unmeasured of the layers of a path to data, and the experiments that measure it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from apps.bench.rules import measured
from apps.bench.rules.base import DISK, NETWORK, Evidence, Proposal
from apps.bench.rules.layers.asked import FILE, asked_of, settings_alike
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.disks import LOCAL, disks_under
from apps.bench.rules.layers.fullness import FULL, FULL_NETWORK, is_alike, is_over
from apps.bench.rules.layers.links import OF_ONE_SERVER
from apps.bench.rules.layers.questions import READ, Question
from apps.bench.rules.layers.titles import unlike_of
from apps.bench.rules.layers.verdicts import Verdict
from apps.bench.rules.shapes import TASKS, described
from apps.bench.rules.shapes.names import THREADS_OF
from apps.bench.text import Message, _
from apps.bench.units import percent_below

# What to measure, and the experiment that does, as far as one can.
Step = tuple[Message, Proposal | None]

_GIB, _MIB = 1024**3, 1024**2
# What a tool noted as free where it wrote, and so much of that is taken at most.
FREE, LEFT_FREE = "file_system_free", 0.9
# Repeated so often a mean is known, and two modes can be told from chance.
ENOUGH, FOR_MODES = 3, 8


def gaps(evidence: Evidence, verdict: Verdict) -> tuple[Step, ...]:
    """Return what to measure so that the verdict is decided or surer: of experiments those that nobody did."""
    question, level = verdict.question, verdict.level
    long_ago = {item.layer for item in verdict.apart}
    beneath = ((NETWORK, _of_network(verdict)), (DISK, _of_disks(evidence, verdict)))
    steps = [
        (message, _once_more(proposal) if layer in long_ago else proposal)
        for layer, own_steps in beneath
        for message, proposal in own_steps
    ]
    if not verdict.others:
        text = _("Another file system over the same path, such as NFS served by the same nodes.")
        steps.append((Message(text), _other(evidence, verdict)))
    if level.n < ENOUGH and not verdict.high:
        text = _("More repetitions: %(n)s of them tell nothing of how far the rate scatters.")
        repeated = Proposal(
            level.point.tool or "iozone",
            dict(level.point.parameters),
            {},
            dict(level.point.roles),
            question.facts.name,
            is_repetition=True,
        )
        steps.append((Message(text, {"n": level.n}), repeated if level.clients else None))
    return tuple(
        (message, proposal)
        for message, proposal in steps
        if proposal is None or not measured.is_measured(proposal, evidence, metric=level.metric)
    )


_AGAIN = {
    NETWORK: _("The network alone once more, right after the file system and for as long as that was measured."),
    DISK: _(
        "The disks alone once more, on the servers (%(servers)s), right after the file system and for as long as that"
        " was measured."
    ),
}


def again(verdict: Verdict, layer: Beneath) -> Message:
    """Return that a layer is to be measured again when the file system has just been: what it gives then decides."""
    return Message(_AGAIN[layer.layer], {"servers": ", ".join(verdict.question.facts.servers) or "?"})


def _of_network(verdict: Verdict) -> Iterator[Step]:
    network, share = verdict.network, verdict.of_network
    if network is not None and network in verdict.unsure:
        yield again(verdict, network), _once_more(_network(verdict.question, max(verdict.level.tasks, 1)))
    elif network is not None and network.is_other_way:
        text = _("The network alone the way that the data go (%(command)s): TCP was only measured the other way.")
        is_read = verdict.question.metric == READ
        message = Message(text, {"command": "iperf3 -R" if is_read else "iperf3"})
        yield message, _network(verdict.question, max(verdict.level.tasks, 1))
    elif network is None or network.is_stated or network.is_floor:
        text = _("The network alone between clients and servers, with as many flows as the file system opens.")
        yield Message(text), _network(verdict.question, max(verdict.level.tasks, 1))
    elif NETWORK in verdict.lacks and network.times > 1:
        text = _(
            "The network from %(times)s clients at once, or a description of the links that they share: what one has"
            " tells nothing of those."
        )
        yield Message(text, {"times": network.times}), None
    elif NETWORK in verdict.lacks and is_over(verdict.level, network):
        yield Message(_("The network alone once more: it carried less than what the file system moves.")), None
    elif NETWORK in verdict.lacks and share is not None:
        # Alone it was measured, and to the full: once more it would say the same.
        text = _(
            "How full the links are while files are written and read: at %(share)s %% of what the network carries"
            " alone it may be the limit or not."
        )
        yield Message(text, {"share": percent_below(share, FULL_NETWORK)}), None


def _of_disks(evidence: Evidence, verdict: Verdict) -> Iterator[Step]:
    question, level, disk, share = verdict.question, verdict.level, verdict.disk, verdict.of_disk
    servers: dict[str, object] = {"servers": ", ".join(question.facts.servers) or "?"}
    if disk is not None and disk in verdict.unsure:
        yield again(verdict, disk), _once_more(_disk(evidence, verdict, level.tasks))
    elif verdict.unlike and (disk is None or disk.is_stated):
        text = _("The disks alone, measured as this was (%(settings)s), on the servers (%(servers)s).")
        yield (
            Message(text, {**servers, **unlike_of(verdict)}),
            _disk(evidence, verdict, min(level.tasks, verdict.unlike.tasks or 1)),
        )
    elif disk is None or disk.is_stated or (disk.is_floor and DISK in verdict.lacks):
        proposal = _disk(evidence, verdict)
        text = _("The disks alone, on the servers (%(servers)s).")
        if proposal is None:
            text = _("The disks alone, on the servers (%(servers)s): which of them lie beneath it is not known.")
        elif "file_size" not in proposal.fixed:
            text = _("The disks alone, on the servers (%(servers)s); how much is free there is not known.")
        yield Message(text, servers), proposal
    elif DISK in verdict.lacks and not is_alike(level, disk):
        text = _("The disks alone with as many tasks at once (%(tasks)s), on the servers (%(servers)s).")
        yield Message(text, {**servers, "tasks": level.tasks}), _disk(evidence, verdict, level.tasks)
    elif DISK in verdict.lacks and is_over(level, disk):
        text = _("The disks alone once more, on the servers (%(servers)s): they gave less than the file system does.")
        yield Message(text, servers), _once_more(_disk(evidence, verdict, level.tasks))
    elif DISK in verdict.lacks and share is not None:
        text = _(
            "How busy the disks are meanwhile, on the servers (%(servers)s): at %(share)s %% of what they give alone"
            " they may be the limit or not."
        )
        yield Message(text, {**servers, "share": percent_below(share, FULL)}), None


def _once_more(proposal: Proposal | None) -> Proposal | None:
    return replace(proposal, is_repetition=True) if proposal else None


def _network(question: Question, flows: int) -> Proposal | None:
    clients, servers = sorted(question.clients), question.facts.servers
    if not clients or not servers:
        return None
    return Proposal(
        tool="iperf3-tcp",
        fixed={"direction": "reverse" if question.metric == READ else "forward"},
        factors={"streams": ", ".join(str(count) for count in sorted({1, min(flows, 128)}))},
        roles={"client": (clients[0],), "server": (servers[0],)},
    )


def _disk(evidence: Evidence, verdict: Verdict, tasks: int = 1) -> Proposal | None:
    """Return how to measure what lies beneath as the rate was, with so many tasks; None where it is not known.

    Of several file systems the first that nobody measured.

    Without a description of it nobody could write to it. What clients of NFS see free is free on the disk beneath.
    """
    question = verdict.question
    systems = {point.file_system: None for point in evidence.points if point.layer == DISK}
    disks = disks_under(evidence, question.facts, [*systems])
    disk = next((disk for disk in disks if disk.name not in systems), next(iter(disks), None))
    if disk is None:
        return None
    above = [question.facts.name] if len(disks) == 1 and question.facts.kind in OF_ONE_SERVER else []
    return _io(evidence, verdict, disk.name, disk.servers[:1], above, tasks)


def _other(evidence: Evidence, verdict: Verdict) -> Proposal | None:
    question = verdict.question
    servers = set(question.facts.servers)
    others = [
        facts
        for facts in evidence.file_systems.values()
        if facts.name != question.facts.name and facts.kind not in LOCAL and servers & set(facts.servers)
    ]
    clients = tuple(sorted(question.clients))
    return _io(evidence, verdict, others[0].name, clients) if others and clients else None


def _io(
    evidence: Evidence,
    verdict: Verdict,
    file_system: str,
    clients: tuple[str, ...],
    above: Sequence[str] = (),
    tasks: int = 1,
) -> Proposal:
    """Return a measurement that asks the same as a rate's, with files as large where so large ones fit.

    They take no more than was free when it was last looked at, there or through those `above`; where nobody looked,
    no more than all tasks wrote there before, which did fit.
    """
    point, metric = verdict.level.point, verdict.level.metric
    tool = point.tool if point.tool in THREADS_OF else "iozone"
    free = _free(evidence, file_system) or min(filter(None, (_free(evidence, name) for name in above)), default=0)
    room = (LEFT_FREE * free if free else _fitted(evidence, file_system)) / (max(len(clients), 1) * tasks)
    fitting = int(min(asked_of(point, metric).get(FILE) or 4 * _GIB, room)) // _MIB * _MIB
    # Where nobody knows what fits no size is named.
    fixed = {name: value for name, value in settings_alike(point, metric, tool).items() if name != FILE}
    fixed |= {FILE: fitting} if fitting else {}
    fixed |= {THREADS_OF[tool]: tasks} if tasks > 1 else {}
    fixed |= {"pattern": metric} if tool == "fio" else {}
    return Proposal(tool, fixed, {}, {"client": clients}, file_system)


def _free(evidence: Evidence, file_system: str) -> int:
    """Return what (B) was free on a file system at the last look, 0 where nobody looked."""
    looks = [point for point in evidence.points if point.file_system == file_system and point.observed.get(FREE)]
    last = max(looks, key=lambda point: point.at or 0.0, default=None)
    return int(last.observed[FREE]) if last else 0


def _fitted(evidence: Evidence, file_system: str) -> int:
    """Return the most (B) that one run wrote to a file system, 0 where none is known."""
    own = [described(point, evidence) for point in evidence.points if point.file_system == file_system]
    sizes = [int(settings.get("file_size") or 0) * int(settings.get(TASKS) or 1) for settings in own]
    return max(sizes, default=0)
