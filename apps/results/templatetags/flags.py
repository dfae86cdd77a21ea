"""The flags of trials, for lists that show trials of whatever app."""

from collections.abc import Iterable

from django import template

from apps.campaigns.models import Trial
from apps.results import doubts
from apps.results.doubts import Doubts, Mark

register = template.Library()


@register.simple_tag
def flags_of_trials(trials: Iterable[Trial]) -> Doubts:
    """Return the flags of all trials of a list, in one query."""
    return doubts.doubts_of_trials(trial.pk for trial in trials)


@register.filter
def mark_of(trial_doubts: Doubts, trial: Trial) -> Mark | None:
    """Return the mark of one trial, None if it has no flag."""
    return trial_doubts.about([trial.pk])
