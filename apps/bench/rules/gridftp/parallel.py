"""What parallel streams gain over one stream, with the window tuned and without."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench import model, statistics
from apps.bench.rules.base import (
    NO_CHANGE,
    RECOMMENDATION,
    Alternative,
    Evidence,
    FindingDraft,
    Proof,
    Proposal,
    Ratio,
)
from apps.bench.rules.gridftp.transfers import METRIC, OPTIONS, TOOLS, Transfer, read_choices, read_transfers, words
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.rules.tcp.scatter import read_scatter
from apps.bench.rules.tcp.sweeps import confidence_of
from apps.bench.text import Message, _

RULE, VERSION = "gridftp-parallel", 8
# Streams that gain less than this over one gain nothing worth their harm to others.
GAIN = 1.05
# Untuned streams are as good as one tuned within this.
ALIKE = (0.8, 1.25)
# Fewer repetitions than this tell no interval of a ratio.
LEAST_REPEATED = 3
# The counts to try where only their gain is printed (fasterdata.es.net, and the GridFTP paper).
RANGE = "2, 4, 8"


@dataclass(frozen=True)
class Gain:
    """A ratio from `low` to `high` (infinite where only a least is known) of several streams to one."""

    low: float
    high: float
    streams: int
    trials: tuple[int, ...]
    tool: str
    then: Mapping[str, Any]
    now: Mapping[str, Any]
    present: float | None = None
    predicted: float | None = None
    is_held: bool = False
    # Whether chance alone seldom gives so much to the best of as many as were tried.
    is_sure: bool = True

    @property
    def middle(self) -> float:
        """Return the geometric middle of the interval, its low end where there is no high one."""
        return math.sqrt(self.low * self.high) if math.isfinite(self.high) else self.low


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return what streams gain on top of a tuned window; None unless one tuned stream and several were measured."""
    tuned = _measured_gain(evidence, is_tuned=True) or _printed_gain(evidence, is_tuned=True)
    if tuned is None or tuned.high < tuned.low:
        return None
    untuned = _measured_gain(evidence, is_tuned=False) or _printed_gain(evidence, is_tuned=False)
    gains = tuned.middle >= GAIN and tuned.low > 1 and tuned.is_sure
    if not gains and (tuned.middle >= GAIN or tuned.is_held):
        # Chance could have made it, or an end was at its limit: no word in either direction.
        return None
    reasons = [_gain_reason(tuned), *(read_choices(evidence).remarks if tuned.trials else ())]
    if untuned and ALIKE[0] <= untuned.middle <= ALIKE[1]:
        text = _(
            "Streams without a tuned window come close to one stream with it (×%(ratio)s): both fill the window."
        )
        reasons.append(Message(text, {"ratio": f"{untuned.middle:.2f}"}))
    trials = tuple(sorted({*tuned.trials, *(untuned.trials if untuned else ())}))
    # How many streams had the gain that is printed nobody says.
    is_told = bool(tuned.trials)
    params = {"streams": tuned.streams, "percent": f"{100 * (tuned.middle - 1):.0f}"}
    if not gains:
        return FindingDraft(
            rule=RULE,
            version=VERSION,
            kind=NO_CHANGE,
            title=Message(_("With a tuned window parallel streams gain nothing")),
            why=(*reasons, Message(_("One stream fills the path already, or its disks do not give more."))),
            value=tuned.middle,
            unit="1",
            formula=f"X(N) / X(1) = {tuned.middle:.2f} < {GAIN}",
            evidence=trials,
            confidence=confidence_of((len(trials) > 2, 0.2), base=0.6),
            applies_when=Message(_("A window of about the BDP or more, without loss.")),
            source="RFC 6349, section 5.1",
        )
    title = _("Use several parallel streams with the tuned window: %(percent)s %% or more over one")
    if is_told:
        title = _("Use %(streams)s parallel streams with the tuned window: %(percent)s %% more than one")
    compared = _(
        "With the tuned window %(streams)s parallel streams have %(percent)s %% more than one, of those tried"
    )
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION,
        title=Message(title, params),
        compared_title=Message(compared, params),
        why=tuple(reasons),
        value=tuned.middle,
        unit="1",
        low=tuned.low,
        high=tuned.high if math.isfinite(tuned.high) else None,
        formula=f"X(N) / X(1) >= {tuned.low:.2f}; of a shallow queue at most {1 / model.shallow_share(1):.2f}",
        evidence=trials,
        change=_command(tuned.then, tuned.streams) if is_told else "",
        undo=_command(tuned.now, 1) if is_told else "",
        present=tuned.present,
        predicted=tuned.predicted,
        predicted_unit="B/s",
        confidence=confidence_of((bool(tuned.trials), 0.15), (untuned is not None, 0.1), base=0.55),
        applies_when=Message(_("Large files.")),
        limits=(Message(_("Where one stream fills the path, as on clean paths with a long queue, it is nothing.")),),
        side_effects=(Message(_("Several streams take more than one share of a path that others use.")),),
        source="Altman, Barman, Tuffin, Vojnović, Parallel TCP Sockets (2006); RFC 6349, section 5.1",
        alternatives=(
            Alternative(
                Message(_("The window was still too small for one stream.")),
                Message(_("Sweep -tcp-bs with one stream up to four times the BDP.")),
                Proposal(tuned.tool, {"streams": "1"}, {"window": "512 KiB, 1 MiB, 2 MiB, 4 MiB"}),
            ),
            Alternative(
                Message(_("One process or processor moves no more; several do.")),
                Message(_("Look at the processors' load during one stream, and try -cc with one stream each.")),
                Proposal(tuned.tool, {"streams": "1", "files": "8"}, {"concurrency": "1, 2, 4"}),
            ),
        ),
        missing=()
        if is_told
        else (Message(_("The rates themselves, and of how many streams: only a ratio is printed.")),),
        proposals=() if is_told else (Proposal(tuned.tool, dict(_plain(tuned.now)), {"streams": f"1, {RANGE}"}),),
        proof=Proof(tuned.tool, METRIC, dict(tuned.now), dict(tuned.then)) if is_told else None,
    )


def _command(setting: Mapping[str, Any], streams: int) -> str:
    options = {**OPTIONS, **{name: value for name, value in setting.items() if name in OPTIONS}, "streams": streams}
    return " ".join(["globus-url-copy", "-vb", *words(options), "SOURCE", "DESTINATION"]) + "\n"


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(value) for name, value in options.items() if name != "streams"}


def _gain_reason(gain: Gain) -> Message:
    if not math.isfinite(gain.high):
        text = _("Several streams with the tuned window have ×%(low)s or more of one stream with it.")
        return Message(text, {"low": f"{gain.low:.2f}"})
    text = _("%(streams)s streams with the tuned window have ×%(low)s to ×%(high)s of one stream with it.")
    return Message(text, {"streams": gain.streams, "low": f"{gain.low:.2f}", "high": f"{gain.high:.2f}"})


def _printed_gain(evidence: Evidence, *, is_tuned: bool) -> Gain | None:
    """Return the ratio that a publication prints: of several streams, tuned or not, to one that is tuned."""
    for ratio in evidence.ratios:
        of, to = ratio.of, ratio.to
        if ratio.tool not in TOOLS or ratio.metric != METRIC or to.get("streams") != 1 or not to.get("window"):
            continue
        if of.get("streams") not in (None, 1) and bool(of.get("window")) == is_tuned:
            return _gain_of(ratio)
    return None


def _gain_of(ratio: Ratio) -> Gain:
    return Gain(ratio.low, ratio.high, int(ratio.of["streams"]), ratio.trials, ratio.tool, ratio.of, ratio.to)


def _measured_gain(evidence: Evidence, *, is_tuned: bool) -> Gain | None:
    """Return the ratio of the best of several streams to the best single one, with its window or a smaller one.

    The tuned window is that of the fastest single stream: an explicit one, or the kernel's own.
    """
    transfers = read_transfers(evidence)
    singles = [t for t in transfers if t.options["streams"] == 1]
    single = _single(singles, transfers)
    if single is None or not _is_tuned(single, singles, read_path(evidence)):
        return None
    others = [t for t in transfers if t.options["streams"] > 1 and _alike(t, single)]
    if is_tuned:
        several = [t for t in others if t.options["window"] == single.options["window"]]
    else:
        several = [t for t in others if _is_smaller(t, single, transfers)]
    best = max(several, key=lambda t: t.rate.mean, default=None)
    if best is None or best.is_scattered or single.is_scattered:
        return None
    one, many = list(single.rates.values()), list(best.rates.values())
    difference = statistics.compare_two(one, many)
    ratio = best.rate.mean / single.rate.mean
    low, high = difference.ratio_low or 0.0, difference.ratio_high or math.inf
    if len(one) < LEAST_REPEATED or len(many) < LEAST_REPEATED:
        # Of so few repetitions no interval is known: 5 % to either side, which is a habit.
        low, high = 0.95 * ratio, 1.05 * ratio
    trials = tuple(sorted({*single.rates, *best.rates}))
    return Gain(
        low, high, best.options["streams"], trials, best.tool, best.options, single.options,
        single.rate.mean, best.rate.mean, single.is_held or best.is_held,
        read_scatter([*t.rates.values()] for t in transfers).is_less(one, many, looked=len(several)),
    )  # fmt: skip


def _single(singles: list[Transfer], transfers: list[Transfer]) -> Transfer | None:
    """Return the tuned single stream: of the fastest, the one with whose window most others were measured."""
    best_rate = max((t.rate.mean for t in singles), default=0.0)
    fastest = [t for t in singles if t.rate.mean >= best_rate / GAIN]
    return max(
        fastest,
        key=lambda t: (sum(o.options["window"] == t.options["window"] for o in transfers), t.rate.mean),
        default=None,
    )


def _is_tuned(single: Transfer, singles: list[Transfer], path: PathReading | None) -> bool:
    """Return whether the fastest single stream is known to have window enough: a larger one gained nothing, or a BDP.

    The kernel's own window counts as larger than any.
    """
    window = single.options["window"]
    larger = [t for t in singles if t is not single and (window and (t.options["window"] or math.inf) > window)]
    smaller = [t for t in singles if t.options["window"] and (t.options["window"] < (window or math.inf))]
    if path is not None and window >= path.most_bytes:
        return True
    return bool(larger) or (not window and bool(smaller))


def _alike(transfer: Transfer, single: Transfer) -> bool:
    names = ("concurrency", "pipelining", "data_nodes", "block_size")
    return all(transfer.options[name] == single.options[name] for name in names)


def _is_smaller(transfer: Transfer, single: Transfer, transfers: list[Transfer]) -> bool:
    """Return whether a window is untuned: one with which a single stream is slower than the tuned one."""
    alone = next((t for t in transfers if t.options == {**transfer.options, "streams": 1}), None)
    return alone is not None and alone.rate.mean < single.rate.mean / GAIN
