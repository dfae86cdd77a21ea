"""What limits a transfer now: the path, the window or a clamp of it, loss, the receiver, or a processor."""

from apps.bench import statistics
from apps.bench.rules import pace
from apps.bench.rules.base import NO_CHANGE, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp import estimates, growth, held, lost, members
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.rules.tcp.present import Present, is_plain, read_all, read_present
from apps.bench.rules.tcp.sweeps import confidence_of, scatter_of
from apps.bench.rules.tcp.verdict import loss, receiver, refuted, window
from apps.bench.rules.tcp.verdict.case import FULL, GREW, RULE, VERSION, Case, make_draft
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

__all__ = ["PATH", "PROCESSOR", "RULE", "VERSION", "conclude"]

PATH, PROCESSOR = "path", "processor"
# What judges say of a processor that was busy all the time.
FLAGS = frozenset({"processor-full", pace.BUSY_FLAG})


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return what limits the automatic window's rate; None where nothing decides."""
    path, present = read_path(evidence), read_present(evidence)
    if path is None or present is None:
        return None
    scatter = scatter_of(evidence)
    udp_loss = estimates.lost_by_datagrams(evidence, path.most_bps, present.lost_share or 0.0)
    udp_share = udp_loss[0] if udp_loss else None
    is_single = lost.come_singly(present, read_all(evidence), path.rtt.value)
    larger, grown = _larger(evidence, present, path), growth.read_growth(evidence)
    refutation = refuted.by_measurements(evidence, path, present)
    multiple, is_shared = refuted.multiple_of(evidence, present), bool(refuted.shared_by_streams(evidence, present))
    case = Case(present, path, larger, scatter, grown, udp_share, is_single, refutation, multiple, is_shared)
    if path.capacity.is_open or present.rate < FULL * path.ceiling_bps or not _is_steady(present):
        return _processor(case) or receiver.conclude(case) or window.conclude(case) or loss.conclude(case)
    return _full(case, () if path.capacity.is_stated else members.limits_of_one_flow(evidence))


def _is_steady(present: Present) -> bool:
    """Return whether the repetitions scatter no more than on a line that is full; a single one cannot tell."""
    summary = statistics.summarise(present.point.values("goodput"))
    return (summary.cv or 0.0) <= held.STEADY


def _larger(evidence: Evidence, present: Present, path: PathReading) -> tuple[Present, ...]:
    """Return the measurements of as many streams with explicit windows larger than what was under way."""
    implied = present.window(path.rtt.longest)
    return tuple(
        item
        for item in read_all(evidence)
        if item.streams == present.streams
        and is_plain(item.point)
        and (item.point.parameters.get("window") or 0) > GREW * implied
        and item.congestion in ("", present.congestion or item.congestion)
    )


def _full(case: Case, limits: tuple[Message, ...]) -> FindingDraft:
    present, path = case.present, case.path
    rate = format_quantity(present.rate, "bit/s")
    share = percent(present.rate / path.ceiling_bps)
    text = _(
        "%(rate)s are %(share)s %% of what TCP can have of the path: more needs a faster path, not other settings."
    )
    return make_draft(
        case,
        PATH,
        kind=NO_CHANGE,
        title=Message(_("The path is the limit, and it is filled: %(rate)s"), {"rate": rate}),
        why=(path.capacity.source, Message(text, {"rate": rate, "share": share})),
        formula=f"X = {rate} = {share} % of η · C = {format_quantity(path.ceiling_bps, 'bit/s')}",
        confidence=confidence_of((len(present.trials) > 1, 0.2), (path.capacity.trust > 0.8, 0.15), base=0.6),
        limits=limits,
    )


def _processor(case: Case) -> FindingDraft | None:
    load = pace.busy_load(case.present.point)
    if load is None or not FLAGS & pace.flags_of(case.present.point):
        return None
    text = _("A processor was fully busy during the run (%(load)s %% of one): it set the pace, not the path.")
    return make_draft(
        case,
        PROCESSOR,
        title=Message(_("A processor is the limit: %(rate)s"), {"rate": format_quantity(case.present.rate, "bit/s")}),
        why=(Message(text, {"load": f"{load:.0f}"}),),
        formula=f"X = {format_quantity(case.present.rate, 'bit/s')} < η · C",
        confidence=0.6,
        missing=(Message(_("Whether several streams on several processors, or larger frames, carry more.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4"}),),
    )
