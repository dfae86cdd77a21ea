"""A file system that sends all of a client's data over one TCP connection, which alone cannot fill the path."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.bench.rules import pace
from apps.bench.rules.base import DISK, NETWORK, RECOMMENDATION, Evidence, FindingDraft, of_files
from apps.bench.rules.layers.alone import client_end, joins
from apps.bench.rules.layers.flows import number_of
from apps.bench.rules.layers.questions import READ, Level, Question
from apps.bench.rules.layers.verdicts import Verdict
from apps.bench.rules.shapes import CLIENTS
from apps.bench.rules.storage import allowed
from apps.bench.rules.storage.common import lost_instead, mount_again, rate
from apps.bench.rules.told import rest_of
from apps.bench.text import Message, _

RULE, VERSION = "storage-connections", 9
# The file system moves what one TCP stream does if it is within this of it; more streams must be this much faster.
LIKE_ONE, FASTER = 0.15, 1.5
# Of the best rate of several streams.
ENOUGH = 0.95


class Kind(NamedTuple):
    """How a kind of file system opens more connections: the most, the option, and the command that sets it.

    Without a command it is mounted anew.
    """

    maximum: int
    option: str
    command: str
    limit: str


KINDS = {
    "nfs": Kind(
        16,
        "nconnect",
        "",
        _("Linux from kernel 5.3 on. The first mount of a server decides for all: unmount every mount of it first."),
    ),
    "gpfs": Kind(
        8,
        "maxTcpConnsPerNodeConn",
        "mmchconfig maxTcpConnsPerNodeConn={}",
        _("IBM Storage Scale from 5.1.1 on; the daemons must be restarted (mmshutdown, mmstartup)."),
    ),
}


def conclude(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return the file systems that move as much as one TCP stream where several move more."""
    drafts = (_conclude(evidence, verdict, allowed.most_of_one(evidence, verdicts, verdict)) for verdict in verdicts)
    return [draft for draft in drafts if draft is not None]


def _conclude(evidence: Evidence, verdict: Verdict, most: float) -> FindingDraft | None:
    question, kind = verdict.question, KINDS.get(verdict.question.facts.kind)
    options = question.facts.options
    if kind is None or verdict.level in verdict.cached:
        return None
    now = number_of(options.get(kind.option))
    if (now or 1) > 1:
        return None
    if (verdict.layer in (NETWORK, DISK) or verdict.may_be_full) and not verdict.is_of_flows:
        # These hold the rate, and more connections would be held by them as well.
        return None
    level, together = _fewest(verdict)
    if together is not None and together < (1 + LIKE_ONE) * level.value:
        # More clients have more connections: where they have no more together, connections are not the limit.
        return None
    rates = _streams(evidence, question, level.clients)
    single = rates.get(1)
    best = max((value for value, _trials in rates.values()), default=0.0)
    if single is None or best < FASTER * single[0]:
        return None
    present = level.value / max(len(level.clients), 1)
    if abs(present / single[0] - 1) > LIKE_ONE or most > allowed.MORE * (1 + LIKE_ONE) * single[0]:
        # It is no connection that holds what one client had far more than.
        return None
    possible = {streams: value for streams, (value, _trials) in rates.items() if streams <= kind.maximum}
    # Of what was measured only: so many connections as nobody tried are no advice.
    best = max(possible.values())
    count = target = min(streams for streams, value in possible.items() if value >= ENOUGH * best)
    if target == 1 or best < FASTER * single[0]:
        return None
    rates_below = [value for streams, value in possible.items() if streams <= target]
    # All clients together get no more than the disks give, nor than more clients had: what is gained ends there.
    most_together = [*([verdict.disk.least] if verdict.disk else []), *([together] if together else [])]
    predicted = min([max(rates_below), *(value / max(len(level.clients), 1) for value in most_together)])
    if predicted <= present:
        return None
    trials = {trial for _value, own in rates.values() for trial in own} | {*verdict.level.trials, *level.trials}
    against = _against(verdict, level, together)
    params = {
        "name": question.facts.name,
        "metric": question.metric,
        "present": rate(present),
        "single": rate(single[0]),
        "best": rate(best),
        "streams": count,
    }
    change, undo = mount_again(options, nconnect=target), mount_again(options, nconnect=1)
    missing = kind.command and now is None
    if kind.command:
        # What is not known may be more: a line that sets it could lower it.
        change, undo = ("", "") if missing else (kind.command.format(target), kind.command.format(now))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION,
        question=of_files(question.facts.name),
        subject=question.subject[:200],
        title=Message(
            _("%(name)s moves what one TCP connection does (%(present)s): open %(count)s"),
            {**params, "count": target},
        ),
        why=(
            Message(_("One TCP stream over the same path reaches %(single)s, %(streams)s reach %(best)s."), params),
            Message(_("So its single connection is the limit, not the path.")),
        ),
        value=float(target),
        unit="count",
        formula=f"X = {rate(present)} ≈ X_1 = {rate(single[0])}; N = {count}: {rate(best)}",
        evidence=tuple(sorted(trials)),
        change=change,
        undo=undo,
        present=present,
        predicted=predicted,
        predicted_unit="B/s",
        confidence=0.5 if against else 0.7,
        applies_when=Message(_("Each client has one connection to each server.")),
        limits=(Message(kind.limit),),
        missing=(Message(_("What is set now: mmlsconfig maxTcpConnsPerNodeConn, on a client.")),) if missing else (),
        against=against,
        alternatives=(lost_instead(present),),
        side_effects=(
            Message(_("More connections take more memory on the servers and a larger share from other users.")),
        ),
        source="nfs(5), nconnect; IBM Storage Scale, multiple connections over TCP",
    )


def _fewest(verdict: Verdict) -> tuple[Level, float | None]:
    """Return what the fewest clients had that were measured alike, and the most that more of them had together.

    What many share may be the limit of their server; None where no more of them were measured.
    """
    own, cached = verdict.level, {trial for level in verdict.cached for trial in level.trials}
    fixed = rest_of(own.point.parameters, CLIENTS)
    levels = [own]
    if verdict.high is None:
        levels += [
            level
            for level in verdict.question.levels()
            if rest_of(level.point.parameters, CLIENTS) == fixed and not cached & {*level.trials}
        ]
    fewest = min(levels, key=lambda level: len(level.clients))
    more = [level.value for level in levels if len(level.clients) > len(fewest.clients)]
    return fewest, max(more, default=None)


def _against(verdict: Verdict, level: Level, together: float | None) -> tuple[Message, ...]:
    """Return what was not measured and may be the limit instead: the disks, and the server that clients share."""
    unseen = []
    if not verdict.disk:
        unseen.append(Message(_("The disks were not measured alone, or not alike: they may be as slow.")))
    if len(level.clients) > 1 and together is None:
        text = _("Only %(clients)s clients at once were measured: their server may give no more to all together.")
        unseen.append(Message(text, {"clients": len(level.clients)}))
    return tuple(unseen)


def _streams(
    evidence: Evidence, question: Question, clients: Sequence[str]
) -> dict[int, tuple[float, tuple[int, ...]]]:
    """Return the best goodput (B/s) of each number of streams with the automatic window, and its trials.

    Of one client, the first of these that measured it: one beside the servers tells nothing of one far away.
    """
    ends = {client_end(point, question)[0] for point in evidence.points if joins(point, question)}
    own = next((client for client in clients if client in ends), "")
    best_rates: dict[int, tuple[float, tuple[int, ...]]] = {}
    for original in evidence.points:
        point = pace.undisturbed(original)
        is_reverse = point.goes_back("goodput")
        values = point.values("goodput")
        if not values or min(values) <= 0 or "loss" in point.metrics or point.parameters.get("window"):
            continue
        if not joins(point, question) or client_end(point, question)[0] != own or pace.flags_of(point):
            continue
        if is_reverse != (question.metric == READ) or not point.parameters.get("streams"):
            continue
        mean = (point.mean("goodput") or 0.0) / 8
        streams = point.parameters["streams"]
        if streams not in best_rates or mean > best_rates[streams][0]:
            best_rates[streams] = mean, point.trials("goodput")
    return best_rates
