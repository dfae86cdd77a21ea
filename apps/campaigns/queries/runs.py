"""Runs that are under way."""

from collections.abc import Collection

from django.db.models import F, Func, IntegerField, QuerySet
from django.db.models.fields.json import KeyTransform

from apps.campaigns.models import Campaign, Run

# What the next step of a run depends on; to read no more than that halves the time it takes.
_FOR_A_STEP = (
    *("plan", "stage", "stopping", "state"),
    *("trial__lane__roles", "trial__lane__resources", "trial__campaign__state"),
)


def lock_open_run(pk: int) -> Run | None:
    """Return an open run with its trial, experiment, campaign and lane, locked; None if it has ended.

    To be called within a transaction. Whoever asks while another holds the run waits for it, a few milliseconds,
    and then sees what it left: so no change of a job goes unnoticed.
    """
    return _locked(pk).select_related("trial__experiment", "trial__campaign", "trial__lane").first()


def lock_open_run_for_step(pk: int) -> Run | None:
    """Return an open run, locked as by `lock_open_run`, with no more than its next step depends on."""
    return _locked(pk).select_related("trial__campaign", "trial__lane").only(*_FOR_A_STEP).first()


def _locked(pk: int) -> QuerySet[Run]:
    open_runs = Run.objects.filter(pk=pk, state__in=Run.OPEN_STATES)
    return open_runs.select_for_update(of=("self",), no_key=True)


def lock_open_runs(pks: Collection[int]) -> list[Run]:
    """Return those of the runs that are open, with their trials, locked in the order of their numbers.

    To be called within a transaction.
    """
    runs = Run.objects.select_for_update(of=("self",), no_key=True).select_related("trial")
    return list(runs.filter(pk__in=pks, state__in=Run.OPEN_STATES).order_by("pk"))


def open_runs() -> QuerySet[Run]:
    """Return the open runs without their plans, of which only `stages`, how many there are, is annotated.

    `is_cancelled` says whether the campaign was cancelled.
    """
    stages = Func(KeyTransform("stages", "plan"), function="jsonb_array_length", output_field=IntegerField())
    return (
        Run.objects.filter(state__in=Run.OPEN_STATES)
        .annotate(stages=stages, campaign_state=F("trial__campaign__state"))
        .defer("plan", "reason")
    )


def to_analyse() -> QuerySet[Campaign]:
    """Return the ended campaigns from whose results no conclusions were drawn yet."""
    ended = (Campaign.State.FINISHED, Campaign.State.CANCELLED)
    return Campaign.objects.filter(state__in=ended, analysed_at=None, launched_at__isnull=False).order_by(
        "finished_at"
    )
