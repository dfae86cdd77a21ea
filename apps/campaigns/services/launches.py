"""Campaigns launched: now, at a time, or at each date of a series."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.accounts.models import User
from apps.bench.text import Message, _
from apps.campaigns import definitions, errors, live, schedules
from apps.campaigns.models import Campaign, Experiment, ExperimentRole
from apps.campaigns.queries.visibility import has_lost_maker
from apps.campaigns.services import copies, trials
from apps.campaigns.services.campaigns import LONGEST_NAME, lock_campaign, require_writer
from apps.campaigns.services.events import Level, write_event, write_fault
from apps.campaigns.services.experiments import ATTEMPTS
from apps.campaigns.turns import sweep_turn
from apps.core import clock, isolation
from apps.core.row_versions import versions_of
from apps.testbeds.models import Cluster

State = Campaign.State
LAUNCH_DUE = "launch_due"
CORRECT_DATES = "correct_dates"


def launch_campaign(*, campaign: Campaign, user: User, now: datetime, digest: str = "") -> Campaign:
    """Start a draft now, or schedule it if it has a later `start_at` or a cron expression.

    errors.Refused names what is wrong with it, so that nothing is found out only at the date; errors.NotAsConfirmed
    if it is no longer what had the `digest` (`definitions.digest_of`) that somebody agreed to, "" for whatever it is.
    What it comes to is worked out in the person's turn, before the campaign is held; anew if it is changed by then.
    """
    for _attempt in range(ATTEMPTS):
        require_writer(campaign, user)
        # What is stored of a large one takes as long as what it comes to.
        with sweep_turn(user):
            # Others may change it while one waits: its version is read first, then all that this is to be of.
            version = _version_of(campaign)
            draft = Campaign.objects.get(pk=campaign.pk)
            _require_draft(draft)
            expanded = trials.expand_campaign(draft)
            if digest and digest != definitions.digest_of(definitions.parts_of(draft, expanded)):
                raise errors.NotAsConfirmed
            with transaction.atomic():
                held = lock_campaign(campaign, user)
                _require_draft(held)
                if _version_of(held) == version:
                    return start_expanded(held, expanded, user, now)
    raise errors.WrongState(
        Message(_("Others are changing the campaign at this moment: look at it again, then launch it."))
    )


def start_expanded(campaign: Campaign, expanded: trials.Expanded, user: User, now: datetime) -> Campaign:
    """Start a draft that comes to what is `expanded`, or schedule it; the campaign is held, or new."""
    first = _first_date(campaign, now)
    if first is None:
        trials.start_trials(campaign=campaign, expanded=expanded, now=now, who=user.get_username())
        return campaign
    trials.require_addresses(expanded)
    campaign.state, campaign.next_at = State.SCHEDULED, first
    campaign.save(update_fields=["state", "next_at", "updated_at"])
    text = _("Scheduled by %(user)s; the first start is at %(when)s.")
    values = {"user": user.get_username(), "when": f"{first.astimezone(UTC):%Y-%m-%d %H:%M} UTC"}
    write_event(campaign_id=campaign.pk, message=Message(text, values))
    live.publish(campaign.pk, "campaign")
    return campaign


def _require_draft(campaign: Campaign) -> None:
    if campaign.state != State.DRAFT:
        text = _("Only a draft can be launched: clone the campaign, or run again what failed.")
        raise errors.WrongState(Message(text))


def _version_of(campaign: Campaign) -> Any:
    """Return what tells whether somebody changed the dates, the experiments, who plays them, or their clusters."""
    experiments = Experiment.objects.filter(campaign=campaign.pk)
    roles = ExperimentRole.objects.filter(experiment__campaign=campaign.pk)
    clusters = Cluster.nodes.through.objects.filter(cluster__in=roles.values("cluster"))
    return versions_of(Campaign.objects.filter(pk=campaign.pk), experiments, roles, clusters)


def launch_due(*, now: datetime) -> list[Campaign]:
    """Launch what is due at `now`; a date missed while the service was down is made up for once.

    A date of a series whose last one has not ended is skipped, unless the series says otherwise.
    """
    due = Campaign.objects.filter(state=State.SCHEDULED, next_at__lte=now).order_by("next_at", "pk")
    pks = due.values_list("pk", flat=True)
    launched = isolation.for_each(LAUNCH_DUE, pks, lambda pk: _launch_one(pk, now), now=now, tell=write_fault)
    return [campaign for campaign in launched if campaign]


def correct_dates(*, now: datetime) -> None:
    """Choose anew the next dates of series that lie after their next dates: the clock was ahead when they were."""
    ahead = Campaign.objects.filter(state=State.SCHEDULED, next_at__gt=now + clock.AHEAD).exclude(cron="")
    pks = ahead.order_by("pk").values_list("pk", flat=True)
    isolation.for_each(CORRECT_DATES, pks, lambda pk: _correct_one(pk, now), now=now, tell=write_fault)


@transaction.atomic
def _correct_one(pk: int, now: datetime) -> None:
    rows = Campaign.objects.filter(pk=pk, state=State.SCHEDULED, next_at__gt=now + clock.AHEAD)
    campaign = rows.select_for_update(skip_locked=True, no_key=True).first()
    if campaign is None or campaign.next_at is None:
        return
    # Asked from a moment later: a machine whose clock is a little late must not repeat a date.
    first = next_start(campaign, now + clock.AHEAD)
    if first is not None and first < campaign.next_at:
        campaign.next_at = first
        campaign.save(update_fields=["next_at", "updated_at"])
        live.publish(campaign.pk, "campaign")


def next_start(campaign: Campaign, now: datetime) -> datetime | None:
    """Return the first date of the series after `now` and not before `start_at`, or `start_at` itself."""
    if not campaign.cron:
        return campaign.start_at
    after = max(now, campaign.start_at) if campaign.start_at else now
    return schedules.next_date(cron=campaign.cron, timezone=campaign.cron_timezone, after=after)


def _first_date(campaign: Campaign, now: datetime) -> datetime | None:
    """Return when the campaign starts for the first time, None for at once."""
    if not campaign.cron and (campaign.start_at is None or campaign.start_at <= now):
        return None
    return next_start(campaign, now)


@transaction.atomic
def _launch_one(pk: int, now: datetime) -> Campaign | None:
    due = Campaign.objects.filter(pk=pk, state=State.SCHEDULED, next_at__lte=now)
    campaign = due.select_for_update(skip_locked=True, no_key=True).first()
    if campaign is None:
        return None
    date = campaign.next_at or now
    if has_lost_maker(campaign):
        _pause_forsaken(campaign)
        return None
    if campaign.cron:
        campaign.next_at = next_start(campaign, now)
        unended = _unended(campaign)
        if unended is not None:
            _skip_for(campaign, date, unended)
            return None
        campaign.save(update_fields=["next_at", "updated_at"])
    try:
        with transaction.atomic():
            started = _next_occurrence(campaign, now) if campaign.cron else campaign
            trials.start_trials(campaign=started, expanded=trials.expand_campaign(started), now=now)
    except ValidationError as refused:
        _report_refusal(campaign, date, refused)
        return None
    return started


def _pause_forsaken(campaign: Campaign) -> None:
    """Start nothing in the name of somebody who may not; the team's managers see the campaign, and choose."""
    campaign.state, campaign.next_at = State.PAUSED, None
    campaign.skipped_dates += bool(campaign.cron)
    campaign.save(update_fields=["state", "next_at", "skipped_dates", "updated_at"])
    text = _(
        "Paused: it is private to %(user)s, who may no longer carry out campaigns in the team. "
        "A manager cancels it, or shows it to the team and resumes it."
    )
    values = {"user": campaign.created_by.get_username() if campaign.created_by else "–"}
    write_event(campaign_id=campaign.pk, level=Level.WARNING, message=Message(text, values))
    live.publish(campaign.pk, "campaign")


def _unended(series: Campaign) -> Campaign | None:
    """Return the last of the series' campaigns that has not ended, if that is a reason to skip a date."""
    if series.overlap != Campaign.Overlap.SKIP:
        return None
    return series.occurrences.filter(state__in=Campaign.OPEN_STATES).order_by("-launched_at", "-pk").first()


def _skip_for(series: Campaign, date: datetime, unended: Campaign) -> None:
    text = _("The date %(when)s was skipped: “%(name)s” has not ended.")
    if unended.state == State.PAUSED:
        text = _("The date %(when)s was skipped: “%(name)s” has not ended, it is paused.")
    _skip(series, date, text, Level.WARNING, name=unended.name)


def _skip(series: Campaign, date: datetime, text: str, level: Level, **values: str) -> None:
    """Let a date pass, and say in the series' log why; the `text` has a place for `when`."""
    series.skipped_dates += 1
    series.save(update_fields=["next_at", "skipped_dates", "updated_at"])
    when = date.astimezone(ZoneInfo(series.cron_timezone))
    values["when"] = f"{when:%Y-%m-%d %H:%M} {series.cron_timezone}"
    write_event(campaign_id=series.pk, level=level, message=Message(text, values))
    live.publish(series.pk, "campaign")


def _next_occurrence(series: Campaign, now: datetime) -> Campaign:
    when = now.astimezone(ZoneInfo(series.cron_timezone))
    occurrence = copies.copy_campaign(
        campaign=series,
        name=f"{series.name[:LONGEST_NAME]} ({when:%Y-%m-%d %H:%M})",
        created_by=series.created_by,
        series=series,
    )
    text = _("Started “%(name)s”.")
    write_event(campaign_id=series.pk, message=Message(text, {"name": occurrence.name}))
    return occurrence


def _report_refusal(campaign: Campaign, date: datetime, refused: ValidationError) -> None:
    """Say in the log why a date passed without a start; a campaign without further dates is a draft again."""
    values = {"why": " ".join(refused.messages)}
    if campaign.cron:
        text = _(
            "The date %(when)s was skipped, for nothing could be started: %(why)s Mend it: the series starts by "
            "itself at its next date."
        )
        _skip(campaign, date, text, Level.ERROR, **values)
        return
    campaign.state, campaign.next_at = State.DRAFT, None
    campaign.save(update_fields=["state", "next_at", "updated_at"])
    text = _("Could not be started: %(why)s Mend it and launch the campaign again.")
    write_event(campaign_id=campaign.pk, level=Level.ERROR, message=Message(text, values))
    live.publish(campaign.pk, "campaign")
