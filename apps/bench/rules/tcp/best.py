"""A setting that was measured and had more than what other rules propose for the same path."""

from collections.abc import Mapping
from typing import Any

from apps.bench.rules import pace
from apps.bench.rules.base import Evidence, FindingDraft, Proof
from apps.bench.rules.tcp import programs
from apps.bench.rules.tcp.bdp import present_rate
from apps.bench.rules.tcp.path import read_path
from apps.bench.rules.tcp.present import Present, is_plain, read_all, read_present
from apps.bench.rules.tcp.sweeps import MOST_SCATTER, SURELY, confidence_of, scatter_of
from apps.bench.rules.told import rest_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

RULE, VERSION = "tcp-best-setting", 5
# It had this much more than what is proposed.
BETTER = 1.05
# What one stream has of the path fills it: others gain what is left, at the cost of whoever shares it.
FILLED = 0.90
# What judges say of a window that the kernel's maxima cut: a larger one has more.
CAPPED = "window-capped"
# A rate this share below the best lies behind it.
FELL = 0.10


def conclude(evidence: Evidence, lead: FindingDraft | None) -> FindingDraft | None:
    """Return the best setting measured, None unless it surely had more than what `lead` promises.

    Where nothing promises anything it is the best of those that differ in one thing from how it is now, and surely
    had more. What its ends held counts as well where something is promised: it is said of what was measured here.
    """
    if lead is not None and lead.predicted and lead.predicted_unit != "bit/s":
        return None
    scatter = scatter_of(evidence)
    less = lead.predicted if lead is not None else None
    item = _best(evidence) if less else _beside_present(evidence)
    less = less or present_rate(evidence)
    if item is None or not less or item.rate < BETTER * less:
        return None
    rates = item.point.values("goodput")
    low, high = scatter.interval(rates)
    surely, _high = scatter.interval(rates, looked=len(read_all(evidence)))
    if surely <= less or scatter.share > MOST_SCATTER:
        # The best of several figures is above the others by chance now and then.
        return None
    window, streams = item.point.parameters.get("window") or 0, item.streams
    now, present = {"window": 0, "streams": 1}, present_rate(evidence)
    if not present or present >= surely or (window, streams) == (0, 1):
        return None
    params = {
        "setting": programs.words(window=window, streams=streams),
        "rate": format_quantity(item.rate, "bit/s"),
        "less": format_quantity(less, "bit/s"),
        "n": len(rates),
    }
    title = _("Of all settings measured on this path %(setting)s had the highest rate: %(rate)s")
    reason = _("What else is proposed for it had %(less)s (n = %(n)s of the best).")
    if lead is None or not lead.predicted:
        title = _("%(setting)s was faster than one stream with the automatic window: %(rate)s")
        reason = _("One stream with the automatic window had %(less)s beside it.")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        title=Message(title, params),
        why=(Message(reason, params), *_loss_beyond(evidence, item)),
        limits=_still_grows(evidence, item),
        value=item.rate,
        unit="bit/s",
        formula=f"X({params['setting']}) = {params['rate']} > {params['less']}",
        evidence=item.trials,
        change=programs.iperf3({"window": window, "streams": streams}),
        undo=programs.iperf3(),
        present=present,
        predicted=item.rate,
        predicted_interval=(low, high),
        predicted_unit="bit/s",
        confidence=confidence_of((len(rates) > 1, 0.2), base=0.6),
        applies_when=Message(_("Programs that set their socket buffers and open several connections.")),
        source="RFC 6349, section 5.1",
        proof=Proof("iperf3-tcp", "goodput", now, {"window": window, "streams": streams}),
    )


def _plain(evidence: Evidence) -> list[Present]:
    """Return what was measured with the nodes' own settings and congestion control."""
    return [
        item for item in read_all(evidence) if is_plain(item.point) and not programs.said_of(item.point.parameters)
    ]


def _best(evidence: Evidence) -> Present | None:
    return max(_plain(evidence), key=lambda item: item.rate, default=None)


def _beside_present(evidence: Evidence) -> Present | None:
    """Return the best setting of one window, or more streams, if it surely had more and nothing at the ends held it.

    Both were repeated, and their intervals lie apart: the best of several figures is above one by chance.
    """
    present, path = read_present(evidence), read_path(evidence)
    if present is None or present.streams != 1 or programs.said_of(present.point.parameters):
        return None
    if path is not None and not path.capacity.is_lower_bound and present.rate >= FILLED * path.ceiling_bps:
        return None
    near = [item for item in _plain(evidence) if not item.point.parameters.get("window") or item.streams == 1]
    item = max(near, key=lambda one: one.rate, default=None)
    if item is None:
        return None
    own, rates = present.point.values("goodput"), item.point.values("goodput")
    if pace.flags_of(present.point) or pace.flags_of(item.point) or CAPPED in item.point.warnings:
        return None
    scatter = scatter_of(evidence)
    is_apart = min(len(own), len(rates)) > 1 and scatter.interval(own)[1] < scatter.interval(rates)[0]
    return item if is_apart else None


def _loss_beyond(evidence: Evidence, best: Present) -> tuple[Message, ...]:
    """Return what the most streams, or the largest window, measured alike in all else surely lose."""
    for name in ("streams", "window"):
        fixed = _fixed_parameters(best, name)
        alike = [item for item in _plain(evidence) if _fixed_parameters(item, name) == fixed]
        last = max(alike, key=lambda item: item.point.parameters.get(name) or 0)
        is_more = (last.point.parameters.get(name) or 0) > (best.point.parameters.get(name) or 0)
        rates, best_rates = last.point.values("goodput"), best.point.values("goodput")
        if is_more and scatter_of(evidence).is_less(rates, best_rates, by=FELL):
            params = {
                "setting": programs.words(window=last.point.parameters.get("window") or 0, streams=last.streams),
                "rate": format_quantity(last.rate, "bit/s"),
                "share": percent(1 - last.rate / best.rate),
            }
            return (Message(_("More than that loses: %(setting)s had %(rate)s, %(share)s %% less."), params),)
    return ()


def _still_grows(evidence: Evidence, best: Present) -> tuple[Message, ...]:
    """Return that the largest number of streams, or window, still had surely more than the one before it."""
    remarks = []
    texts = {
        "streams": _(
            "The rate still grew at the largest number of streams tried, %(most)s: more may be faster still."
        ),
        "window": _("The rate still grew at the largest window tried, %(most)s: a larger one may be faster still."),
    }
    for name, text in texts.items():
        fixed, own = _fixed_parameters(best, name), best.point.parameters.get(name) or 0
        alike = {
            item.point.parameters.get(name) or 0: item
            for item in _plain(evidence)
            if _fixed_parameters(item, name) == fixed
        }
        # The automatic window is no size.
        before = [value for value in alike if 0 < value < own]
        if not before or max(alike) > own:
            continue
        rates, best_rates = alike[max(before)].point.values("goodput"), best.point.values("goodput")
        if scatter_of(evidence).is_less(rates, best_rates, by=SURELY):
            remarks.append(Message(text, {"most": format_quantity(own, "B") if name == "window" else own}))
    return tuple(remarks)


def _fixed_parameters(item: Present, name: str) -> Mapping[str, Any]:
    return rest_of(item.point.parameters, name)
