"""What the timetable looks at, part by part; each goes through its rows with `apps.core.isolation`."""

from datetime import datetime

from apps.accounts import invitations
from apps.agents import services as agents
from apps.archive import usage
from apps.archive.imports import uploads
from apps.archive.imports import work as imports
from apps.archive.incoming import services as incoming
from apps.archive.landing import kept
from apps.archive.retention import services as retention
from apps.campaigns import services as campaigns
from apps.campaigns import waits
from apps.core import editing, idle_transactions, isolation, queue, scratch
from apps.core.isolation import TimetablePart
from apps.reports.files import services as rendering
from apps.reports.schedules import deliveries
from apps.reports.schedules import services as schedules
from apps.tuning.analysis import queries as analyses
from workers import carry_out, clean_up, even_time, fences, past_times, reconcile, server_clock, stages

ANALYSE = "analyse"
# After an upgrade all findings are to be drawn anew: workers are not to be kept from those of new results.
RENEWED_AT_ONCE = 20


def schedule(*, now: datetime) -> None:
    """Start every trial that can start."""
    carry_out.schedule()
    campaigns.forget_claims()


def ask_for_analyses(*, now: datetime) -> None:
    """Ask for the analysis of every campaign that waits for one, also after a failure."""
    for campaign_id in analyses.due(now).filter(~isolation.waiting(ANALYSE, now)).values_list("pk", flat=True):
        queue.remind(queue.ANALYSE, campaign_id)


def renew_findings(*, now: datetime) -> None:
    """Ask for findings anew of outdated rules or evidence: of a few campaigns each time, of each team in turn."""
    rows = analyses.outdated().filter(~isolation.waiting(ANALYSE, now)).values_list("pk", flat=True)
    for campaign_id in rows[:RENEWED_AT_ONCE]:
        queue.remind(queue.ANALYSE, campaign_id)


# All of measuring that may be due or was missed: each second.
TICK = (
    # What the others would wait for.
    TimetablePart("end_idle_transactions", idle_transactions.end_idle_transactions),
    TimetablePart("note_clock_steps", server_clock.note_steps),
    even_time.dated(TimetablePart("launch_due", campaigns.launch_due)),
    TimetablePart("mark_lost_jobs", agents.mark_lost_jobs),
    TimetablePart("reconcile", reconcile.reconcile),
    TimetablePart("lift_fences", fences.lift_fences),
    TimetablePart(clean_up.REMOVE, clean_up.remove_what_is_left),
    TimetablePart("open_stages", stages.open_stages),
    TimetablePart("finish_campaigns", campaigns.finish_campaigns),
    TimetablePart("note_awaited_tools", campaigns.note_awaited_tools),
    TimetablePart("tell_waits", waits.tell_waits),
    TimetablePart("schedule", schedule),
    TimetablePart("ask_for_analyses", ask_for_analyses),
)
# All else that may be due or was missed, less often: it takes a processor that measurements need.
TEND = (
    TimetablePart("renew_findings", renew_findings),
    even_time.dated(TimetablePart(past_times.CORRECT, past_times.correct_times)),
    even_time.dated(TimetablePart("correct_dates", campaigns.correct_dates)),
    TimetablePart("resume_cancelling", campaigns.resume_cancelling),
    TimetablePart("resume_deletions", campaigns.resume_deletions),
    TimetablePart("resume_renderings", rendering.resume_renderings),
    even_time.dated(TimetablePart("start_due", schedules.start_due)),
    TimetablePart("resume_deliveries", deliveries.resume_deliveries),
    TimetablePart("resume_imports", imports.resume_imports),
    TimetablePart("resume_archives", incoming.resume),
    TimetablePart("resume_retention", retention.resume_retention),
)
# What takes long, and may be hours late.
RETAIN = (
    TimetablePart("expire_imports", imports.expire),
    TimetablePart("expire_archives", incoming.expire),
    TimetablePart("sweep_uploads", uploads.sweep),
    TimetablePart("sweep_archives", incoming.sweep),
    TimetablePart("sweep_renderings", rendering.sweep),
    TimetablePart("sweep_scratch", scratch.sweep),
    TimetablePart("forget_rows_set_aside", isolation.forget),
    TimetablePart("forget_changes", editing.forget_changes),
    TimetablePart("forget_invitations", invitations.forget),
    TimetablePart(kept.FORGET, kept.forget),
)
# What reads all that is stored.
COUNT = (TimetablePart("count_stored", usage.count_stored),)
