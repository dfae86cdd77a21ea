"""One setting on its path, and the form of what is said of its limit."""

from dataclasses import dataclass

from apps.bench.rules.base import DIAGNOSIS, Alternative, FindingDraft, Proof, Proposal
from apps.bench.rules.tcp import lost
from apps.bench.rules.tcp.growth import Growth
from apps.bench.rules.tcp.path import PathReading
from apps.bench.rules.tcp.present import Present
from apps.bench.rules.tcp.scatter import Scatter
from apps.bench.text import Message, _
from apps.bench.units import canonical_text

RULE, VERSION = "tcp-limit", 12
# A larger window shows that the smaller one was the limit, if the rate grows by this; that it was not, by less.
GREW, STAYED = 1.2, 1.1
# Rates this near the best are as good.
NEAR = 0.98
# A rate of this share of what TCP can have of the path fills it.
FULL = 0.92


@dataclass(frozen=True)
class Case:
    """What is judged: the present setting on its path, the settings beside it, and how rates scatter and grow.

    `lost_by_udp` is what datagrams lost below the capacity, None where they could not show what TCP lost. `is_single`
    says that segments were lost one by one, as the laws of loss suppose, and not in bursts. `refutation` is what was
    measured, besides larger windows, that the present one as the limit does not explain. `multiple` are streams that
    surely have more together; where they have no more the pace `is_shared`.
    """

    present: Present
    path: PathReading
    larger: tuple[Present, ...]
    scatter: Scatter
    growth: Growth | None = None
    lost_by_udp: float | None = None
    is_single: bool = True
    refutation: Message | None = None
    multiple: Present | None = None
    is_shared: bool = False

    @property
    def rtt(self) -> float:
        """Return the path's own RTT (s)."""
        return self.path.rtt.value

    @property
    def better(self) -> Present | None:
        """Return the least of the larger windows with which the rate is the best, if it grew by more than chance."""
        best = max((item.rate for item in self.larger), default=0.0)
        own = self.present.point.values("goodput")
        grown = [
            item
            for item in self.larger
            if item.rate >= max(NEAR * best, GREW * self.present.rate)
            and (not self.is_repeated or self.scatter.is_less(own, item.point.values("goodput")))
        ]
        return min(grown, key=lambda item: item.point.parameters["window"], default=None)

    @property
    def is_repeated(self) -> bool:
        """Return whether repetitions tell how far rates scatter."""
        return any(len(item.trials) > 1 for item in (self.present, *self.larger))

    @property
    def loss_verdict(self) -> str:
        """Return whether loss explains the rate as well as a window does: one of `lost`'s words."""
        return lost.lost_instead(self.present, self.better, self.rtt)

    @property
    def is_vain(self) -> bool:
        """Return whether larger windows gave no more."""
        return bool(self.larger) and all(item.rate < STAYED * self.present.rate for item in self.larger)

    @property
    def is_refuted(self) -> bool:
        """Return whether larger windows gave no more, or other settings refute it and no larger one had more."""
        return self.is_vain or (self.refutation is not None and self.better is None)


def make_draft(
    case: Case,
    subject: str,
    *,
    title: Message,
    why: tuple[Message, ...],
    formula: str,
    confidence: float,
    kind: str = DIAGNOSIS,
    value: float | None = None,
    unit: str = "",
    predicted: float | None = None,
    interval: tuple[float, float] | None = None,
    alternatives: tuple[Alternative, ...] = (),
    missing: tuple[Message, ...] = (),
    proposals: tuple[Proposal, ...] = (),
    proof: Proof | None = None,
    limits: tuple[Message, ...] = (),
    also: tuple[int, ...] = (),
) -> FindingDraft:
    """Return the finding with this subject, resting on the case's trials and `also` these."""
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=kind,
        subject=subject,
        title=title,
        why=(case.path.rtt.source, *why),
        value=value,
        unit=unit,
        formula=formula,
        evidence=tuple(sorted({*case.path.trials, *case.present.trials, *also})),
        present=case.present.rate,
        predicted=predicted,
        predicted_interval=interval,
        predicted_unit="bit/s",
        confidence=confidence,
        applies_when=Message(
            _("Streams = %(streams)s with the kernel's automatic window, as measured."),
            {"streams": case.present.streams},
        ),
        limits=(
            Message(_("The limit of one moment: other traffic, other settings or another path move it.")),
            *limits,
        ),
        source="RFC 6349; Mathis, Semke, Mahdavi, Ott (1997)",
        alternatives=alternatives,
        missing=missing,
        proposals=proposals,
        proof=proof,
    )


def proof_of(better: Present) -> Proof:
    """Return the comparison of the kernel's own window with the one that had more."""
    parameters = {"window": better.point.parameters["window"], "streams": better.streams}
    return Proof("iperf3-tcp", "goodput", {**parameters, "window": 0}, parameters)


def rates_around(rate: float) -> str:
    """Return half, once and twice a rate (bit/s), for a sweep of UDP's offered load."""
    return ", ".join(canonical_text(max(1_000_000, round(rate * share, -6)), "rate") for share in (0.5, 1.0, 2.0))
