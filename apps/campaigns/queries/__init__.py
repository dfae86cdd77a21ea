"""Reads of campaigns; see the modules."""

from apps.campaigns.queries.activities import RunUnderWay, activities_of, is_estimable, time_left_s
from apps.campaigns.queries.fences import Fence, fenced_beside, fenced_runs, fences_of, held_among
from apps.campaigns.queries.lanes import CLAIM, Startable, startable_lanes
from apps.campaigns.queries.listings import (
    attach_progress,
    campaigns_for,
    deletions_for,
    events_of,
    experiments_for,
    runs_for,
    trials_for,
)
from apps.campaigns.queries.offers import has_offers, offers_of, offers_to
from apps.campaigns.queries.previews import Preview, next_dates, preview_campaign, preview_experiment, text_of
from apps.campaigns.queries.progress import OUTCOME_OF, OUTCOMES, Progress, progress_of, progress_of_experiments
from apps.campaigns.queries.runs import lock_open_run, lock_open_run_for_step, lock_open_runs, open_runs, to_analyse
from apps.campaigns.queries.stages import due_stages, waiting, waiting_in
from apps.campaigns.queries.visibility import (
    can_write,
    counted,
    for_whole_team,
    readable,
    sees_whole,
    told_to,
    visible,
)

__all__ = [
    "CLAIM",
    "OUTCOMES",
    "OUTCOME_OF",
    "Fence",
    "Preview",
    "Progress",
    "RunUnderWay",
    "Startable",
    "activities_of",
    "attach_progress",
    "campaigns_for",
    "can_write",
    "counted",
    "deletions_for",
    "due_stages",
    "events_of",
    "experiments_for",
    "fenced_beside",
    "fenced_runs",
    "fences_of",
    "for_whole_team",
    "has_offers",
    "held_among",
    "is_estimable",
    "lock_open_run",
    "lock_open_run_for_step",
    "lock_open_runs",
    "next_dates",
    "offers_of",
    "offers_to",
    "open_runs",
    "preview_campaign",
    "preview_experiment",
    "progress_of",
    "progress_of_experiments",
    "readable",
    "runs_for",
    "sees_whole",
    "startable_lanes",
    "text_of",
    "time_left_s",
    "to_analyse",
    "told_to",
    "trials_for",
    "visible",
    "waiting",
    "waiting_in",
]
