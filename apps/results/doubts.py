"""The flags of figures, for wherever the figures are shown: how many are flagged, with which flags, and why."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import BooleanField, Count, Func, QuerySet, Value
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bench.toolkit import bears_on, is_invalid
from apps.core import messages
from apps.results.models import Result, Sample

# What speaks for a figure, or only says where it is from, is no doubt about it.
NO_DOUBTS = ("verified", "published")
# From the gravest on.
SEVERITIES = ("invalid", "warning", "info")
# Whether a result has a doubt that bears on a metric, of the columns of a query.
BEARS = """({flags} <> '[]' AND EXISTS (
    SELECT FROM jsonb_array_elements({flags}) f WHERE f->>'name' <> ALL(%(no_doubts)s)
        AND (coalesce(nullif(f->'metrics', 'null'), '[]') = '[]' OR f->'metrics' ? {metric})))"""
# The same of any metric, as a path into the flags.
_IN_DOUBT = "$[*] ? ({})".format(" && ".join(f'@.name != "{name}"' for name in NO_DOUBTS))
# The metric of flags that are asked of trials, whatever these measured.
ANY_METRIC = ""

Json = dict[str, Any]


class Raised(NamedTuple):
    """One flag of some figures: how grave it is at worst, of how many, and what the first of their trials says."""

    name: str
    severity: str
    n: int
    trial: int
    text: str


@dataclass(frozen=True)
class Mark:
    """What is to be seen beside figures: how many `of` them are `flagged`, and with what, the most frequent first.

    They are figures of one metric, or where `is_of_trials` whole trials.
    """

    flagged: int
    of: int
    flags: tuple[Raised, ...]
    is_of_trials: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """Return {name of a flag: how many figures have it}, as REST and files give it."""
        return {item.name: item.n for item in self.flags}

    @property
    def names(self) -> str:
        """Return the flags' names with how many figures have each: "processor-full × 3, suspect-rtt × 1"."""
        return ", ".join(f"{item.name} × {item.n}" if self.of > 1 else item.name for item in self.flags)

    @property
    def summary(self) -> str:
        """Return "3 of 5 figures flagged", or of a single one "flagged"."""
        if self.of == 1:
            return _("flagged")
        values = {"flagged": self.flagged, "of": self.of}
        if self.is_of_trials:
            return ngettext(
                "%(flagged)s of %(of)s trial flagged", "%(flagged)s of %(of)s trials flagged", self.of
            ) % (values)
        return ngettext("%(flagged)s of %(of)s figure flagged", "%(flagged)s of %(of)s figures flagged", self.of) % (
            values
        )

    @property
    def text(self) -> str:
        """Return it as one line, for tooltips, charts and the columns of reports."""
        return f"{self.summary}: {self.names}"

    @property
    def severity(self) -> str:
        """Return the gravest severity: invalid, warning or info."""
        return _gravest(item.severity for item in self.flags)


@dataclass(frozen=True)
class Doubts:
    """The flags that bear on figures, {(trial, metric): flags as stored}; figures without any are not in it."""

    raised: Mapping[tuple[int, str], Sequence[Json]] = field(default_factory=dict)

    def is_flagged(self, trial: int, metric: str = ANY_METRIC) -> bool:
        """Say whether a trial's figure of a metric has a flag."""
        return (trial, metric) in self.raised

    def about(self, trials: Collection[int], metric: str = ANY_METRIC) -> Mark | None:
        """Return the mark of the figures that trials have of a metric; None if none of them is flagged."""
        if not self.raised:
            return None
        by_flag: dict[str, list[tuple[int, Json]]] = defaultdict(list)
        flagged = 0
        for trial in trials:
            flags = self.raised.get((trial, metric), ())
            flagged += bool(flags)
            for flag in {item["name"]: item for item in flags}.values():
                by_flag[flag["name"]].append((trial, flag))
        if not flagged:
            return None
        by_number = sorted(by_flag.items(), key=lambda item: (-len(item[1]), item[0]))
        flags_of = tuple(_raised(name, members) for name, members in by_number)
        return Mark(flagged, len(trials), flags_of, is_of_trials=metric == ANY_METRIC)

    def names_of(self, trials: Iterable[int], metric: str) -> Counter[str]:
        """Return how many of the trials' figures have each flag."""
        return Counter(
            name
            for trial in trials
            for name in dict.fromkeys(flag["name"] for flag in self.raised.get((trial, metric), ()))
        )


def doubts_of(experiments: Iterable[int], metrics: Iterable[str]) -> Doubts:
    """Return the flags of the figures that experiments have of metrics, in one query."""
    rows = Sample.objects.filter(experiment__in=list(experiments), metric__in=list(metrics))
    flagged = rows.exclude(result__flags=[]).order_by("trial_id", "metric")
    return from_flags(flagged.values_list("trial_id", "metric", "result__flags"))


def doubts_of_figures(trials: Iterable[int], metric: str) -> Doubts:
    """Return the flags of the figures that trials have of a metric, in one query."""
    flagged = Sample.objects.filter(trial__in=list(trials), metric=metric).exclude(result__flags=[])
    return from_flags(flagged.order_by("trial_id").values_list("trial_id", "metric", "result__flags"))


def doubts_of_trials(trials: Iterable[int]) -> Doubts:
    """Return the flags of trials, whatever they measured, in one query."""
    rows = Result.objects.filter(trial__in=list(trials)).exclude(flags=[]).order_by("trial_id", "pk")
    return from_flags((trial, ANY_METRIC, flags) for trial, flags in rows.values_list("trial_id", "flags"))


def results_in_doubt() -> QuerySet[Result]:
    """Return the results with a flag that is a doubt."""
    return Result.objects.exclude(flags=[]).filter(
        Func("flags", Value(_IN_DOUBT), function="jsonb_path_exists", output_field=BooleanField())
    )


def doubtful_trials(campaigns: Iterable[int]) -> dict[int, int]:
    """Return {campaign: how many of its trials are flagged} of those where some are, in one query."""
    rows = results_in_doubt().filter(trial__campaign__in=list(campaigns)).order_by().values("trial__campaign")
    return dict(rows.annotate(n=Count("trial", distinct=True)).values_list("trial__campaign", "n"))


@dataclass(frozen=True)
class Behind:
    """The flags of trials with the metrics that each measured: {trial: [(flags as stored, metrics)]}.

    A trial without any flag is not in it.
    """

    found: Mapping[int, Sequence[tuple[Sequence[Json], frozenset[str]]]] = field(default_factory=dict)

    def bearing(self, trials: Iterable[int], metrics: Collection[str] = ()) -> Doubts:
        """Return the doubts of trials by which something rests on figures of these metrics.

        Of a trial that measured one of them only the flags that bear on it; of another all, as where none is named:
        it is there for what else it measured.
        """
        rows = []
        for trial in trials:
            for flags, measured in self.found.get(trial, ()):
                own = measured.intersection(metrics)
                bear = [flag for flag in flags if not own or any(bears_on(flag, metric) for metric in own)]
                rows.append((trial, ANY_METRIC, bear))
        return from_flags(rows)


def doubts_behind(trials: Iterable[int]) -> Behind:
    """Return the flags of trials, and which metrics each of these measured, in one query."""
    rows = Result.objects.filter(trial__in=list(trials)).exclude(flags=[]).order_by("trial_id", "pk")
    by_trial: dict[int, list[tuple[Sequence[Json], frozenset[str]]]] = defaultdict(list)
    for trial, flags, metrics in rows.annotate(measured=ArrayAgg("samples__metric")).values_list(
        "trial_id", "flags", "measured"
    ):
        by_trial[trial].append((flags, frozenset(filter(None, metrics))))
    return Behind(by_trial)


def from_flags(rows: Iterable[tuple[int, str, Sequence[Json]]]) -> Doubts:
    """Return the doubts of (trial, metric, flags of its result)."""
    by_figure: dict[tuple[int, str], list[Json]] = {}
    for trial, metric, flags in rows:
        bearing = [
            flag
            for flag in flags
            if flag["name"] not in NO_DOUBTS and (metric == ANY_METRIC or bears_on(flag, metric))
        ]
        if bearing:
            by_figure.setdefault((trial, metric), []).extend(bearing)
    return Doubts(by_figure)


def shown_samples() -> QuerySet[Sample]:
    """Return the figures that are shown: those that count, and those that are left out for a reason.

    What warmed up is neither.
    """
    return Sample.objects.filter(trial__is_warmup=False)


def reasons_of(flags: Iterable[Json], metric: str) -> tuple[str, ...]:
    """Return the names of those of a result's flags for which its figure of a metric does not count."""
    return tuple(flag["name"] for flag in flags if is_invalid(flag, metric))


def _raised(name: str, members: Sequence[tuple[int, Json]]) -> Raised:
    trial, first = members[0]
    severity = _gravest(flag["severity"] for _trial, flag in members)
    return Raised(name, severity, len(members), trial, messages.render(first.get("message", "")))


def _gravest(severities: Iterable[str]) -> str:
    return min(severities, key=lambda name: SEVERITIES.index(name) if name in SEVERITIES else len(SEVERITIES))
