"""Mount and file-system options that keep less under way than the path holds."""

import math
from collections.abc import Callable, Sequence

from apps.bench import network
from apps.bench.rules.base import DISK, NETWORK, RECOMMENDATION, Evidence, FindingDraft, of_files
from apps.bench.rules.layers.beneath import one_path_bps, rtt_of
from apps.bench.rules.layers.flows import number_of
from apps.bench.rules.layers.questions import READ
from apps.bench.rules.layers.verdicts import Verdict
from apps.bench.rules.storage import allowed
from apps.bench.rules.storage.common import lost_instead, mount_again, rate
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

NFS, LUSTRE, GPFS = "storage-nfs-transfer", "storage-lustre-requests", "storage-gpfs-sockets"
VERSION = 7
MIB = 1024**2
Conclude = Callable[[Evidence, Sequence[Verdict]], list[FindingDraft]]
# Linux's largest NFS transfer.
MOST_TRANSFER = MIB
# What Lustre keeps under way for each stripe: requests, and bytes in each (lctl's defaults).
REQUESTS, REQUEST = 8, MIB
MOST_REQUESTS = 256
# A rate of this share of what is under way in each RTT is limited by it.
LIMITED = 0.80
LINE = "lctl set_param osc.*.max_rpcs_in_flight={}"


def _of_kind(
    kind: str,
    conclude: Callable[[Evidence, Verdict, float], FindingDraft | None],
    most_of: Callable[[Evidence, Sequence[Verdict], Verdict], float] = allowed.most_of_one,
) -> Conclude:
    """Return a rule over the file systems of a kind that fill neither disks nor network, if not their connections.

    It is told the most (B/s) that one client had, of whichever ways its setting allows for.
    """

    def conclude_all(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
        own_verdicts = [
            verdict
            for verdict in verdicts
            if verdict.question.facts.kind == kind
            and (verdict.is_of_flows or not (verdict.layer in (NETWORK, DISK) or verdict.may_be_full))
            and verdict.level not in verdict.cached
        ]
        drafts = [conclude(evidence, verdict, most_of(evidence, verdicts, verdict)) for verdict in own_verdicts]
        return [draft for draft in drafts if draft]

    return conclude_all


def _nfs(_evidence: Evidence, verdict: Verdict, most: float) -> FindingDraft | None:
    """Return larger transfers where the mount's are below Linux's largest."""
    facts = verdict.question.facts
    name = "rsize" if verdict.question.metric == READ else "wsize"
    size = number_of(facts.options.get(name))
    if size is None or size >= MOST_TRANSFER:
        return None
    sizes = {each: value for each in ("rsize", "wsize") if (value := number_of(facts.options.get(each)))}
    params = {
        "name": facts.name,
        "option": name,
        "size": format_quantity(size, "B"),
        "most": format_quantity(MIB, "B"),
    }
    return _draft(
        verdict,
        rule=NFS,
        title=Message(_("Have %(name)s move %(most)s with each request: set %(option)s"), params),
        why=(
            Message(_("It moves %(size)s with each request."), params),
            Message(_("Linux allows %(most)s, and each request costs a round trip."), params),
        ),
        value=float(MOST_TRANSFER),
        formula=f"{name} = {size:,} B < {MOST_TRANSFER:,} B",
        change=mount_again(facts.options, rsize=MIB, wsize=MIB),
        undo=mount_again(facts.options, **sizes),
        confidence=0.5,
        limit=_(
            "The server may grant less: look at /proc/mounts. Do not set async on the server for more rate: it may"
            " lose data."
        ),
        source="nfs(5)",
        against=allowed.against(verdict, most),
    )


def _lustre(evidence: Evidence, verdict: Verdict, most: float) -> FindingDraft | None:
    """Return more requests in flight where those there are (stripes x requests x size) limit the rate."""
    facts, rtt, flow = verdict.question.facts, rtt_of(evidence, verdict.question), _path_rate(verdict)
    stripes = number_of(facts.options.get("stripe_count"))
    if stripes is None or stripes < 1 or not rtt or not flow:
        return None
    requests = number_of(facts.options.get("max_rpcs_in_flight")) or REQUESTS
    # The default may have been raised: a line that sets what is not known could lower it.
    is_known = requests == number_of(facts.options.get("max_rpcs_in_flight"))
    size = number_of(facts.options.get("rpc_size")) or REQUEST
    under_way = stripes * requests * size
    in_flight, bdp = under_way / rtt, network.bdp_bytes(_one_bps(evidence, verdict), rtt) or 0
    clients = max(len(verdict.level.clients), 1)
    each = verdict.level.value / clients
    if each < LIMITED * in_flight or most > allowed.MORE * in_flight or under_way >= bdp:
        return None
    target = min(math.ceil(bdp / (stripes * size)), MOST_REQUESTS)
    params = {
        "name": facts.name,
        "wanted": target,
        "requests": requests,
        "bytes": format_quantity(under_way, "B"),
        "allowed": rate(in_flight),
        "bdp": format_quantity(bdp, "B"),
    }
    return _draft(
        verdict,
        rule=LUSTRE,
        title=Message(_("Allow clients of %(name)s %(wanted)s requests under way: the path holds %(bdp)s"), params),
        why=(
            Message(_("It has %(bytes)s under way."), params),
            Message(
                _("%(requests)s requests for each stripe allow %(allowed)s at this RTT, which is what it gives."),
                params,
            ),
        ),
        value=float(target),
        formula=f"W / RTT = {stripes} · {requests} · {size:,} B / RTT = {rate(in_flight)}; BDP / W1 = {target}",
        change=LINE.format(target) if is_known else "",
        undo=LINE.format(requests) if is_known else "",
        confidence=0.75,
        # Present and predicted are those of all clients together.
        predicted=min(flow, clients * target * stripes * size / rtt),
        limit=_(
            "On each client, where max_dirty_mb is to be four times what is under way or more; wide stripes are for"
            " large shared files, small files are best on one."
        ),
        missing=()
        if is_known
        else (Message(_("What is set now: lctl get_param osc.*.max_rpcs_in_flight, on a client.")),),
        source="Lustre wiki, Lustre Tuning; lctl(8)",
        unit="count",
    )


def _gpfs(evidence: Evidence, verdict: Verdict, most: float) -> FindingDraft | None:
    """Return sockets sized by the kernel where the daemon's own are smaller than the path holds."""
    facts, rtt, flow = verdict.question.facts, rtt_of(evidence, verdict.question), _path_rate(verdict)
    names = ("socketRcvBufferSize", "socketSndBufferSize")
    sizes = [size for name in names if (size := number_of(facts.options.get(name)))]
    if not sizes or not rtt or not flow:
        return None
    min_size, bdp = min(sizes), network.bdp_bytes(_one_bps(evidence, verdict), rtt) or 0
    if min_size >= bdp:
        return None
    each = verdict.level.value / max(len(verdict.level.clients), 1)
    is_refuted = most > allowed.MORE * min_size / rtt
    is_limit = each >= LIMITED * min_size / rtt and not is_refuted
    params = {"name": facts.name, "size": format_quantity(min_size, "B"), "bdp": format_quantity(bdp, "B")}
    text = _("Each client has %(each)s, and one such socket allows %(allowed)s: loss, or waiting, limits it there.")
    roomy = Message(text, {"each": rate(each), "allowed": rate(min_size / rtt)})
    old = ",".join(f"{name}={number_of(facts.options.get(name)) or 0}" for name in names)
    return _draft(
        verdict,
        rule=GPFS,
        title=Message(_("Leave the size of the sockets of %(name)s to the kernel: the path holds %(bdp)s"), params),
        why=(
            Message(_("They hold %(size)s."), params),
            Message(_("A size of 0 lets the kernel grow the window; one that is set switches that off."), params),
        ),
        value=0.0,
        formula=f"W / RTT = {min_size:,} B / {format_quantity(rtt, 's')} = {rate(min_size / rtt)}; BDP = {bdp:,} B",
        change="mmchconfig socketRcvBufferSize=0,socketSndBufferSize=0",
        undo=f"mmchconfig {old}",
        confidence=0.7 if is_limit else 0.4,
        # What a socket that left room would gain by more of it nobody knows.
        predicted=flow if is_limit else None,
        against=allowed.against(verdict, most) if is_refuted else () if is_limit else (roomy,),
        limit=_("The daemons must be restarted: connections keep the sizes they were opened with."),
        source="IBM Storage Scale, parameters for performance tuning",
    )


def _draft(
    verdict: Verdict,
    *,
    rule: str,
    title: Message,
    why: tuple[Message, ...],
    value: float,
    formula: str,
    change: str,
    undo: str,
    confidence: float,
    limit: str,
    source: str,
    predicted: float | None = None,
    unit: str = "B",
    against: tuple[Message, ...] = (),
    missing: tuple[Message, ...] = (),
) -> FindingDraft:
    disk = verdict.disk.least if verdict.disk else None
    ceiling = min(predicted, disk) if predicted and disk else predicted
    return FindingDraft(
        rule=rule,
        version=VERSION,
        kind=RECOMMENDATION,
        question=of_files(verdict.question.facts.name),
        subject=verdict.question.subject[:200],
        title=title,
        why=why,
        value=value,
        unit=unit,
        formula=formula,
        evidence=verdict.level.trials,
        change=change,
        undo=undo,
        present=verdict.level.value if ceiling else None,
        predicted=ceiling,
        predicted_unit="B/s",
        confidence=min(confidence, allowed.DOUBTED) if against else confidence,
        applies_when=Message(_("Neither the network nor the disks are full.")),
        limits=(Message(limit),),
        side_effects=(Message(_("It interrupts whoever uses the file system: do it when nobody does.")),),
        against=against,
        missing=missing,
        # What is under way in each RTT and what is lost of it leave rates that look alike.
        alternatives=(lost_instead(verdict.level.value),) if ceiling else (),
        source=source,
    )


def _one_bps(evidence: Evidence, verdict: Verdict) -> float | None:
    """Return what the path of one client holds (bit/s)."""
    if verdict.network is None:
        return None
    return one_path_bps(evidence, verdict.question, verdict.network, len(verdict.level.clients))


def _path_rate(verdict: Verdict) -> float | None:
    return verdict.network.wide or verdict.network.value if verdict.network else None


# The options that facts show to be too small, by the names of the rules.
RULES: dict[str, Conclude] = {
    NFS: _of_kind("nfs", _nfs),
    # As many requests are allowed for reading as for writing.
    LUSTRE: _of_kind("lustre", _lustre, lambda *own: allowed.most_either_way(*own).value),
    GPFS: _of_kind("gpfs", _gpfs),
}
