"""The flags of trials, for lists that show trials of whatever app."""

from collections.abc import Iterable
from typing import Any

from django import template

from apps.campaigns.models import Trial
from apps.results import doubts
from apps.results.doubts import Doubts, Mark
from apps.results.told import told_among

register = template.Library()


@register.simple_tag
def flags_of_trials(trials: Iterable[Trial]) -> Doubts:
    """Return the flags of all trials of a list, in one query."""
    return doubts.doubts_of_trials(trial.pk for trial in trials)


@register.simple_tag
def told_of_rows(rows: Iterable[Any]) -> frozenset[int]:
    """Return the trials, of all that rows rest on, that only an archive says were measured, in one query."""
    return told_among(trial for row in rows for trial in row.trials)


@register.filter
def rests_on(row: Any, trials: frozenset[int]) -> bool:
    """Say whether a row rests on any of the trials."""
    return not trials.isdisjoint(row.trials)


@register.filter
def mark_of(trial_doubts: Doubts, trial: Trial) -> Mark | None:
    """Return the mark of one trial, None if it has no flag."""
    return trial_doubts.about([trial.pk])
