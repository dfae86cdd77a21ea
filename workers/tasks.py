"""The tasks: each fetches what it needs and makes one call inward; a lost one is made good by the next look."""

from celery import shared_task
from django.utils import timezone

from apps.archive.retention import services as retention
from apps.archive.search import entries
from apps.campaigns import services as campaigns
from apps.core import isolation, queue
from apps.reports.files import services as rendering
from apps.reports.schedules import deliveries, report_mail
from workers import analysis, bulky, carry_out, closure, even_time, stages, timetable


@shared_task
def tick() -> None:
    """Look at all of measuring that may be due or was missed."""
    isolation.carry_out(timetable.TICK)


@shared_task
def tend() -> None:
    """Look at all else that may be due or was missed."""
    isolation.carry_out(timetable.TEND)


@shared_task
def schedule() -> None:
    """Start what can start."""
    carry_out.schedule()


@shared_task
def job_changed(run_ref: int) -> None:
    """Take a run on after one of its jobs changed."""
    carry_out.advance(run_ref, leaves_end=True)


@shared_task
def close_run(run_ref: int) -> None:
    """Read what an ended run's commands printed: a look of the timetable came upon it."""
    closure.close_waiting(run_ref, now=timezone.now())


@shared_task
def open_stages() -> None:
    """Make the trials of experiments whose turn has come."""
    stages.open_stages(now=timezone.now())


@shared_task
def cancel_leftovers() -> None:
    """Mark trials of cancelled campaigns that nobody will carry out any more, and come back if there are more."""
    if campaigns.cancel_leftovers(now=timezone.now()):
        queue.send(queue.CANCEL_LEFTOVERS)


@shared_task(time_limit=analysis.LIMIT_S)
def analyse(campaign_id: int) -> None:
    """Draw conclusions from the results of an ended campaign."""
    now = timezone.now()

    def draw(pk: int) -> bool:
        return analysis.analyse_campaign(campaign_id=pk, now=now)

    isolation.for_each(timetable.ANALYSE, [campaign_id], draw, now=now, tell=campaigns.write_fault, atomic=False)


@shared_task
def index_archive() -> None:
    """Index what was measured, described or said since, and come back if there is more."""
    if entries.index_due(now=timezone.now()) == entries.BATCH:
        queue.send(queue.INDEX)


@shared_task
def retain() -> None:
    """Let go of what nobody decided on or came to no end, pack and drop by the rules; come back if need be.

    Nothing of it comes back: after a step of the clock, or an outage, it waits until time has gone on evenly.
    """
    if not even_time.has_passed(timezone.now()):
        return
    isolation.carry_out(timetable.RETAIN, is_long=True)
    if retention.carry_out(now=timezone.now()):
        queue.send(queue.RETAIN)


@shared_task(time_limit=3600)
def count_stored() -> None:
    """Count what each team has stored."""
    isolation.carry_out(timetable.COUNT, is_long=True)


# Its programs have limits of their own, and a row that gives no sign is taken up again.
@shared_task(time_limit=900)
def render() -> None:
    """Render the file whose turn it is, and come back for the next."""
    if rendering.carry_out_next(now=timezone.now()):
        queue.send(queue.RENDER)


@shared_task(time_limit=900)
def deliver() -> None:
    """Take the next step of a scheduled report, freeze it or mail its files, and come back for the next."""
    if deliveries.carry_out_next(now=timezone.now()):
        queue.send(queue.DELIVER)


@shared_task(time_limit=900)
def ask_recipients(schedule_id: int) -> None:
    """Ask those recipients of a schedule who have not agreed to mail."""
    report_mail.ask_recipients(schedule_id=schedule_id, now=timezone.now())


@shared_task(time_limit=bulky.LIMIT_S)
def take_bulky() -> None:
    """Take an import, an archive, a deletion or a reading on, whose turn it is, and come back for the next."""
    if bulky.take_next(now=timezone.now()):
        queue.send(queue.BULKY)
