"""How many trials of campaigns were measured, failed, were not measured, run or wait: the one count of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from django.db.models import Count, Q
from django.utils.translation import gettext, gettext_lazy, ngettext

from apps.campaigns.models import Campaign, Trial

# What is said of so many trials; whoever counts trials says it in these words and this order.
OUTCOMES = {
    "measured": gettext_lazy("%(n)s measured"),
    "failed": gettext_lazy("%(n)s failed"),
    "not_measured": gettext_lazy("%(n)s not measured"),
    "running": gettext_lazy("%(n)s running"),
    "waiting": gettext_lazy("%(n)s waiting"),
}
OUTCOME_OF: dict[str, str] = {
    Trial.State.SUCCEEDED: "measured",
    Trial.State.FAILED: "failed",
    Trial.State.CANCELLED: "not_measured",
    Trial.State.RUNNING: "running",
    Trial.State.PENDING: "waiting",
}


@dataclass(frozen=True)
class BarSegment:
    """A part of the bar: one outcome, where it begins, and how many trials have it."""

    outcome: str
    start: int
    count: int

    @property
    def text(self) -> str:
        """Return the part in words, such as "12 measured"."""
        return str(OUTCOMES[self.outcome]) % {"n": f"{self.count:,}"}


@dataclass(frozen=True)
class Progress:
    """Trials, warm-ups included, by what became of them; each has one of the outcomes.

    `set_aside` are those measured that a person marked invalid, `warmups` those of any outcome that are warm-ups.
    """

    measured: int = 0
    failed: int = 0
    not_measured: int = 0
    running: int = 0
    waiting: int = 0
    set_aside: int = 0
    warmups: int = 0

    @classmethod
    def counted(cls, state: str, trials: int, *, campaign: str = "", set_aside: int = 0, warmups: int = 0) -> Self:
        """Return so many trials of a state, of a campaign that is in a state if that is known."""
        outcome = OUTCOME_OF[state]
        if state == Trial.State.PENDING and campaign == Campaign.State.CANCELLED:
            # Never going to be measured: it is being marked.
            outcome = "not_measured"
        return cls(**{outcome: trials}, set_aside=set_aside, warmups=warmups)

    @property
    def total(self) -> int:
        """Return how many trials there are."""
        return sum(getattr(self, outcome) for outcome in OUTCOMES)

    @property
    def carried_out(self) -> int:
        """Return how many were carried out, with a figure or without."""
        return self.measured + self.failed

    @property
    def outcomes(self) -> str:
        """Return the outcomes that occur, in words: "12 measured, 48 not measured"."""
        return ", ".join(segment.text for segment in self.segments)

    @property
    def segments(self) -> list[BarSegment]:
        """Return the outcomes that occur, one after the other."""
        return list(self._segments())

    def _segments(self) -> Iterator[BarSegment]:
        start = 0
        for outcome in OUTCOMES:
            if count := getattr(self, outcome):
                yield BarSegment(outcome, start, count)
                start += count

    @property
    def text(self) -> str:
        """Return all of it in words: "12 of 60 trials measured, 48 not measured"."""
        total = self.total
        first = ngettext("%(n)s of %(total)s trial measured", "%(n)s of %(total)s trials measured", total)
        parts = [first % {"n": f"{self.measured:,}", "total": f"{total:,}"}]
        parts += [segment.text for segment in self.segments if segment.outcome != "measured"]
        return ", ".join(parts)

    @property
    def remarks(self) -> list[str]:
        """Return what is to be known of these figures: how many are warm-ups, and how many a person set aside."""
        texts = []
        if self.warmups:
            texts.append(gettext("warm-ups among them: %(n)s") % {"n": f"{self.warmups:,}"})
        if self.set_aside:
            texts.append(gettext("marked invalid: %(n)s") % {"n": f"{self.set_aside:,}"})
        return texts

    def __add__(self, other: "Progress") -> "Progress":
        """Return the counts of both together."""
        return Progress(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})


def progress_of(campaign_ids: Iterable[int]) -> dict[int, Progress]:
    """Return the progress of each campaign, in one query."""
    return _progress("campaign", list(campaign_ids))


def progress_of_experiments(experiment_ids: Iterable[int]) -> dict[int, Progress]:
    """Return the progress of each experiment, in one query."""
    return _progress("experiment", list(experiment_ids))


def _progress(owner: str, pks: list[int]) -> dict[int, Progress]:
    rows = (
        Trial.objects.filter(**{f"{owner}__in": pks})
        .order_by()
        .values_list(owner, "campaign__state", "state")
        .annotate(
            trials=Count("pk"),
            set_aside=Count("pk", filter=Q(invalid_at__isnull=False, state=Trial.State.SUCCEEDED)),
            warmups=Count("pk", filter=Q(is_warmup=True)),
        )
    )
    counts = dict.fromkeys(pks, Progress())
    for pk, campaign, state, trials, set_aside, warmups in rows:
        counts[pk] += Progress.counted(state, trials, campaign=campaign, set_aside=set_aside, warmups=warmups)
    return counts
