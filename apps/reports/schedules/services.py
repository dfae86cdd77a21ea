"""Writes: schedules kept, changed and due."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from apps.accounts import consent, mail_quotas, rights
from apps.accounts.addresses import each_once
from apps.accounts.mail_quotas import MailsUsedUp, Sender
from apps.accounts.models import Role, Team, User
from apps.bench.text import Message, _
from apps.campaigns import schedules
from apps.campaigns.errors import Refused
from apps.campaigns.models import Campaign
from apps.core import clock, isolation, queue
from apps.core.limits.policies import LimitExceededError
from apps.reports.files.formats import FORMATS
from apps.reports.models import Delivery, Report, Schedule

State = Delivery.State

START_DUE = "start_due"
CORRECT_DATES = "correct_delivery_dates"
MOST_RECIPIENTS = 50
# Each date makes an edition that is kept for ever.
LEAST_STEP = timedelta(hours=1)
# Out of turn a schedule that mails delivers no more often.
MAILED_AGAIN = timedelta(minutes=5)
# So many dates ahead tell how often a schedule is due.
TELLING_DATES = 30


@transaction.atomic
def save_schedule(
    *,
    schedule: Schedule,
    user: User,
    now: datetime,
    name: str,
    report: Report | None,
    series: Campaign | None,
    language: str,
    cron: str,
    cron_timezone: str,
    formats: Sequence[str],
    recipients: Sequence[str],
    is_active: bool = True,
) -> Schedule:
    """Keep a schedule, new or changed, which acts for this user from now on; Refused names what is wrong."""
    rights.require(user, schedule.team, Role.OPERATOR)
    check_dates(cron=cron, timezone=cron_timezone, now=now)
    _check_subject(schedule.team, report, series)
    schedule.name = name
    schedule.report, schedule.series = report, series
    # A management report is in the language that it was begun in.
    schedule.language = report.language if report else language
    schedule.cron, schedule.cron_timezone = cron, cron_timezone
    schedule.formats = _checked_formats(formats)
    schedule.recipients = check_recipients(recipients)
    schedule.is_active = is_active
    schedule.next_at = schedules.next_date(cron=cron, timezone=cron_timezone, after=now) if is_active else None
    schedule.saved_by = user
    schedule.full_clean()
    schedule.save()
    if _to_be_asked(schedule, now):
        queue.send(queue.ASK_RECIPIENTS, schedule.pk)
    return schedule


def check_dates(*, cron: str, timezone: str, now: datetime) -> None:
    """Raise Refused if the expression gives no dates, or more than one an hour."""
    schedules.check_schedule(cron=cron, timezone=timezone, now=now)
    dates = schedules.next_dates(cron=cron, timezone=timezone, after=now, count=TELLING_DATES)
    if any(later - earlier < LEAST_STEP for earlier, later in pairwise(dates)):
        text = _("That is more often than once an hour, and each date makes an edition: choose fewer dates.")
        raise Refused({"cron": Message(text)})


def check_recipients(addresses: Sequence[str]) -> list[str]:
    """Return mail addresses, each once however spelt; Refused names one that is none, or says there are too many."""
    recipients = each_once(address.strip() for address in addresses if address.strip())
    if len(recipients) > MOST_RECIPIENTS:
        text = _("Give %(most)s addresses at most; a mailing list is one.")
        raise Refused({"recipients": Message(text, {"most": MOST_RECIPIENTS})})
    for address in recipients:
        try:
            validate_email(address)
        except ValidationError:
            text = _("“%(address)s” is no mail address: write it as name@example.org.")
            raise Refused({"recipients": Message(text, {"address": address})}) from None
    return recipients


@transaction.atomic
def ask_again(*, schedule: Schedule, user: User, now: datetime) -> None:
    """Have those recipients asked anew who have not answered in a week; Refused if there are none."""
    rights.require(user, schedule.team, Role.OPERATOR)
    if not _to_be_asked(schedule, now):
        text = _("There is nobody to ask now: whoever has not answered is asked again after a week.")
        raise Refused({"recipients": Message(text)})
    queue.send(queue.ASK_RECIPIENTS, schedule.pk)


@transaction.atomic
def delete_schedule(*, schedule: Schedule, user: User) -> None:
    """Delete a schedule with the list of its deliveries; the editions that it made stay."""
    rights.require(user, schedule.team, Role.OPERATOR)
    schedule.delete()


@transaction.atomic
def deliver_now(*, schedule: Schedule, user: User, now: datetime) -> Delivery:
    """Deliver a schedule's report out of its turn; Refused while a delivery is under way.

    LimitExceededError if mails are used up, or the last that this schedule mailed is less than `MAILED_AGAIN` ago.
    """
    rights.require(user, schedule.team, Role.OPERATOR)
    Schedule.objects.select_for_update().get(pk=schedule.pk)
    if schedule.deliveries.filter(state__in=Delivery.OPEN_STATES).exists():
        text = _("A delivery is under way: wait for its end.")
        raise Refused({"state": Message(text)})
    if schedule.recipients:
        _require_mails(schedule, now)
    return _begin(schedule, now, now)


def _require_mails(schedule: Schedule, now: datetime) -> None:
    """Raise LimitExceededError where a schedule may not mail now."""
    latest = schedule.deliveries.filter(due_at__gt=now - MAILED_AGAIN, due_at__lte=now).order_by("-due_at").first()
    if latest:
        wait_s = math.ceil((latest.due_at + MAILED_AGAIN - now).total_seconds())
        text = _("This schedule has just delivered, and mails: deliver again in %(seconds)s s.")
        raise LimitExceededError(Message(text), wait_s)
    try:
        mail_quotas.require_left(sender=Sender(schedule.team, schedule.saved_by), now=now)
    except MailsUsedUp as used_up:
        raise used_up.as_limit(now) from used_up


def start_due(*, now: datetime) -> None:
    """Begin the deliveries that are due; dates missed while the service was down are made up for once."""
    ahead = Schedule.objects.filter(is_active=True, next_at__gt=now + clock.AHEAD).order_by("pk")
    isolation.for_each(CORRECT_DATES, ahead.values_list("pk", flat=True), lambda pk: _correct_one(pk, now), now=now)
    due = Schedule.objects.filter(is_active=True, next_at__lte=now).order_by("next_at", "pk")
    isolation.for_each(START_DUE, due.values_list("pk", flat=True), lambda pk: _start_one(pk, now), now=now)


@transaction.atomic
def _correct_one(pk: int, now: datetime) -> None:
    """Choose the next date anew if it lies after the next one: the clock was ahead when it was chosen."""
    rows = Schedule.objects.filter(pk=pk, is_active=True, next_at__gt=now + clock.AHEAD)
    schedule = rows.select_for_update(skip_locked=True, no_key=True).first()
    if schedule is None or schedule.next_at is None:
        return
    # Asked from a moment later: a machine whose clock is a little late must not repeat a date.
    after = now + clock.AHEAD
    first = schedules.next_date(cron=schedule.cron, timezone=schedule.cron_timezone, after=after)
    if first < schedule.next_at:
        schedule.next_at = first
        schedule.save(update_fields=["next_at", "updated_at"])


@transaction.atomic
def _start_one(pk: int, now: datetime) -> None:
    due = Schedule.objects.filter(pk=pk, is_active=True, next_at__lte=now)
    schedule = due.select_for_update(skip_locked=True, no_key=True).first()
    if schedule is None or schedule.next_at is None:
        return
    date = schedule.next_at
    schedule.next_at = schedules.next_date(cron=schedule.cron, timezone=schedule.cron_timezone, after=now)
    schedule.save(update_fields=["next_at", "updated_at"])
    # One that takes longer than its schedule's step must not have others queue up behind it.
    if not schedule.deliveries.filter(state__in=Delivery.OPEN_STATES).exists():
        _begin(schedule, date, now)


def _to_be_asked(schedule: Schedule, now: datetime) -> bool:
    return any(recipient.may_be_asked(now) for recipient in consent.recipients_of(schedule.team, schedule.recipients))


def _begin(schedule: Schedule, date: datetime, now: datetime) -> Delivery:
    delivery, _is_new = Delivery.objects.get_or_create(schedule=schedule, due_at=date, defaults={"look_at": now})
    queue.send(queue.DELIVER)
    return delivery


def _check_subject(team: Team, report: Report | None, series: Campaign | None) -> None:
    if (report is None) == (series is None):
        text = _("Choose a management report or a campaign series, one of the two.")
        raise Refused({"report": Message(text)})
    if report and (report.team_id != team.pk or report.kind != Report.Kind.MANAGEMENT):
        raise Refused({"report": Message(_("Choose a management report of the schedule's team."))})
    if series and (series.team_id != team.pk or not series.cron or series.deleting_at):
        text = _("Choose a series of the schedule's team: a campaign that repeats at dates.")
        raise Refused({"series": Message(text)})


def _checked_formats(formats: Sequence[str]) -> list[str]:
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        text = _("There is no format “%(name)s”; there are: %(known)s.")
        raise Refused({"formats": Message(text, {"name": unknown[0][:50], "known": ", ".join(FORMATS)})})
    return [name for name in FORMATS if name in formats]
