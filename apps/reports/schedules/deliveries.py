"""A delivery step by step: freeze the report, have its files rendered, mail them; each step may be repeated."""

import logging
from datetime import datetime, timedelta

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils import translation

from apps.accounts.mail_quotas import MailsUsedUp
from apps.accounts.models import User
from apps.bench.text import Message, _
from apps.campaigns import queries as campaigns
from apps.campaigns.models import Campaign
from apps.core import clock, isolation, leases, queue, turns
from apps.core.errors import ConflictError
from apps.core.shutdown import put_off
from apps.reports import queries, services
from apps.reports.files import services as rendering
from apps.reports.models import Delivery, Edition, Rendering
from apps.reports.schedules import report_mail, resumption
from apps.reports.schedules.errors import Undeliverable
from apps.reports.schedules.hindrances import NotYet, Unmailed, Vanished

logger = logging.getLogger(__name__)
State = Delivery.State

DELIVER = "deliver"
_ASKED = turns.TurnFields("schedule__team", "schedule__saved_by", "look_at")
LOOK_AGAIN = timedelta(seconds=5)
# What fails is tried again after this, each time twice as long: an hour and a half in all.
WAIT = timedelta(minutes=1)
MOST_ATTEMPTS = 7
LONGEST_WAIT = WAIT * 2 ** (MOST_ATTEMPTS - 2)
# Mails that are used up are there again on the next day.
A_DAY = timedelta(days=1)


def resume_deliveries(*, now: datetime) -> None:
    """Ask for a worker if a delivery is due and none is at it."""
    first = _ready(now).order_by("look_at").values_list("pk", flat=True)[: turns.MOST_TRIED]
    if any(not leases.is_held(DELIVER, pk) for pk in first):
        queue.remind(queue.DELIVER)


def carry_out_next(*, now: datetime) -> bool:
    """Take the next step of the delivery whose turn it is; True if more may wait."""
    pieces = turns.Pieces(_ready(now), _ASKED, lambda pk: carry_on(delivery_id=pk, now=now))
    return turns.take_next(pieces, now=now)


def carry_on(*, delivery_id: int, now: datetime) -> bool:
    """Take the next step of a delivery; False if another worker is at it or its time has not come."""
    with leases.hold(DELIVER, delivery_id) as is_ours:
        rows = [delivery_id] if is_ours else []
        results = isolation.for_each(
            DELIVER, rows, lambda pk: _take_turn(pk, now), now=now, atomic=False, of=Delivery
        )
    return is_ours and False not in results


def _take_turn(delivery_id: int, now: datetime) -> bool:
    """Take the next step of a delivery that is ours; False if it waits for none now."""
    lost = _due(now).filter(leases.lost_worker("claimed_at"), pk=delivery_id).exists()
    with put_off() as claim:
        if not _due(now).filter(pk=delivery_id).update(claimed_at=now):
            return False
        try:
            claim.begun()
            _take_step(delivery_id, now, lost=lost)
        finally:
            Delivery.objects.filter(pk=delivery_id).update(claimed_at=None)
    return True


def _take_step(delivery_id: int, now: datetime, *, lost: bool) -> None:
    """Take a step; one at which a worker was `lost` is another attempt, and after the first waits for its turn."""
    delivery = Delivery.objects.select_related(
        "schedule__team", "schedule__saved_by", "schedule__report__team", "edition__report__team"
    ).get(pk=delivery_id)
    if lost and delivery.attempts:
        _try_again(delivery, now)
        return
    if lost:
        delivery.attempts = 1
        delivery.save(update_fields=["attempts"])
    try:
        if delivery.state == State.WAITING:
            _freeze(delivery, now)
        else:
            _send(delivery, now)
    except Undeliverable as error:
        _end(delivery, State.FAILED, now, error.message)
    except Exception as error:
        isolation.give_back(error, delivery, lambda: None)
        logger.exception("Delivery %s failed", delivery.pk)
        _try_again(delivery, now)


def _due(now: datetime) -> QuerySet[Delivery]:
    # What is to wait for longer than anything does was written by a clock that was ahead.
    longest = Q(state=State.LIMITED, look_at__gt=now + A_DAY + clock.AHEAD)
    longest |= ~Q(state=State.LIMITED) & Q(look_at__gt=now + LONGEST_WAIT + clock.AHEAD)
    has_come = Q(look_at__lte=now) | longest
    return Delivery.objects.filter(has_come, state__in=Delivery.OPEN_STATES)


def _ready(now: datetime) -> QuerySet[Delivery]:
    return _due(now).filter(~isolation.waiting(DELIVER, now))


def _freeze(delivery: Delivery, now: datetime) -> None:
    """Freeze the report and ask for its files."""
    schedule = delivery.schedule
    user = schedule.saved_by
    if user is None or not user.is_active:
        raise _gone()
    try:
        with translation.override(schedule.language), transaction.atomic():
            edition = _edition_of(delivery, user, now)
            if edition is None:
                _end(delivery, State.SKIPPED, now, Message(_("Nothing was measured since the last delivery.")))
                return
            delivery.edition = edition
            delivery.state, delivery.look_at = State.RENDERING, now
            delivery.save(update_fields=["edition", "mailed", "state", "look_at"])
    except (PermissionDenied, Http404):
        raise _without_rights(user) from None
    except ConflictError as error:
        # It may be concluded in a moment, or once somebody has mended what failed.
        _try_again(delivery, now, NotYet(" ".join(error.messages)))
        return
    except ValidationError as error:
        raise Undeliverable(Message("%(why)s", {"why": " ".join(error.messages)})) from error
    _request_files(delivery, delivery.edition, user, now)
    queue.send(queue.DELIVER)


def _gone() -> Undeliverable:
    text = _("The account that the schedule acts for is gone: save the schedule again, and it acts for you.")
    return Undeliverable(Message(text))


def _without_rights(user: User) -> Undeliverable:
    text = _("%(user)s, for whom the schedule acts, may not write for the team any more: save the schedule again.")
    return Undeliverable(Message(text, {"user": user.get_username()}))


def _edition_of(delivery: Delivery, user: User, now: datetime) -> Edition | None:
    """Return the edition to deliver; None if a series measured nothing since the last one was delivered.

    One that was frozen before and reached nobody, or not all, is delivered to whom it did not reach.
    """
    schedule = delivery.schedule
    report = schedule.report
    if report is None:
        latest = _latest(schedule.series_id, user)
        if latest is None or resumption.is_delivered(schedule=schedule, campaign=latest):
            return None
        earlier = resumption.to_resume(schedule=schedule, campaign=latest)
        if earlier is not None and earlier.edition is not None:
            delivery.mailed = earlier.mailed
            return earlier.edition
        report = services.begin_report(campaign=latest, user=user, language=schedule.language)
    return services.freeze_report(report=report, user=user, now=now)


def _latest(series: int | None, user: User) -> Campaign | None:
    """Return the latest campaign of a series that has ended; it cannot be frozen until conclusions were drawn."""
    ended = Campaign.objects.filter(series=series, state=Campaign.State.FINISHED, deleting_at=None)
    return campaigns.visible(ended, user).select_related("team").order_by("-launched_at", "-pk").first()


def _request_files(delivery: Delivery, edition: Edition, user: User | None, now: datetime) -> None:
    for name in delivery.schedule.formats:
        rendering.request_rendering(report=edition.report, edition=edition, name=name, user=user, now=now)


def _send(delivery: Delivery, now: datetime) -> None:
    """Mail the files once all are there; what could not be rendered is told, not waited for.

    However long it was held up: whoever lost their rights meanwhile mails no more.
    """
    user = delivery.schedule.saved_by
    if user is None or not report_mail.may_act(delivery.schedule):
        raise _without_rights(user) if user and user.is_active else _gone()
    edition = delivery.edition
    assert edition is not None
    if not queries.editions_for(user).filter(pk=edition.pk).exists():
        text = _("%(user)s, for whom the schedule acts, does not see all that this edition tells of any more.")
        raise Undeliverable(Message(text, {"user": user.get_username()}))
    rows = Rendering.objects.filter(edition=edition, for_others=False, format__in=delivery.schedule.formats)
    files = {item.format: item for item in rows}
    if files.keys() != set(delivery.schedule.formats):
        _request_files(delivery, edition, user, now)
    if files.keys() != set(delivery.schedule.formats) or any(item.is_open for item in files.values()):
        Delivery.objects.filter(pk=delivery.pk).update(look_at=now + LOOK_AGAIN)
        return
    done = [item for item in files.values() if item.state == Rendering.State.DONE]
    if gone := sorted(item.format for item in done if not item.is_whole):
        # As after a restore: the files of reports are in no dump.
        _request_files(delivery, edition, user, now)
        _try_again(delivery, now, Vanished(", ".join(gone)))
        return
    outcome = report_mail.mail_all(delivery, edition, list(files.values()), now)
    if outcome.used_up:
        _hold(delivery, outcome.used_up)
    elif outcome.put_off:
        _try_again(delivery, now, Unmailed("; ".join([*outcome.refused, *outcome.put_off])))
    else:
        failed = [item.format for item in files.values() if item.state == Rendering.State.FAILED]
        _end(delivery, _state_after(delivery, outcome), now, _together(_notes(failed, outcome)))


def _state_after(delivery: Delivery, outcome: report_mail.Outcome) -> Delivery.State:
    if delivery.mailed or not delivery.schedule.recipients:
        return State.DONE
    return State.FAILED if outcome.refused else State.UNMAILED


def _notes(failed: list[str], outcome: report_mail.Outcome) -> list[Message]:
    """Return what the delivery's row says of files that are missing, and of whoever was not mailed."""
    texts = (
        (failed, _("These files could not be made: %(names)s. The edition's page says why."), ", "),
        (
            outcome.refused,
            _("The mail server refused these addresses: %(who)s. The edition is in the report's page."),
            "; ",
        ),
        (
            outcome.not_agreed,
            _("Not mailed, for their owners have not agreed to it: %(who)s. Above stands how each is."),
            ", ",
        ),
    )
    remarks = [(between.join(names), text) for names, text, between in texts if names]
    return [Message(text, {"names": names, "who": names}) for names, text in remarks]


def _hold(delivery: Delivery, used_up: MailsUsedUp) -> None:
    """Go on when more mails may be sent; whoever has it already is not mailed again."""
    text = _("Not sent to all: %(why)s. It is tried again by itself.")
    note = Message(text, {"why": used_up.message.as_json()}).as_json()
    Delivery.objects.filter(pk=delivery.pk).update(state=State.LIMITED, look_at=used_up.until, note=note)


def _try_again(delivery: Delivery, now: datetime, why: "Unmailed | Vanished | NotYet | None" = None) -> None:
    """Look at it again later, a few times; `why` is what the mail server said, or what is not concluded yet."""
    attempts = delivery.attempts + 1
    params = {"why": str(why)} if why else {}
    if attempts >= MOST_ATTEMPTS:
        text = why.given_up if why else _("It was given up after several attempts; the service's log says why.")
        _end(delivery, State.FAILED, now, Message(text, params))
        return
    note = Message(why.again, params) if why else None
    Delivery.objects.filter(pk=delivery.pk).update(
        state=State.RENDERING if delivery.state == State.LIMITED else delivery.state,
        attempts=attempts,
        look_at=now + WAIT * 2 ** (attempts - 1),
        note=note.as_json() if note else None,
    )


def _together(notes: list[Message]) -> Message | None:
    if len(notes) < 2:
        return notes[0] if notes else None
    *first, last = notes
    together = _together(first)
    assert together is not None
    return Message("%(first)s %(second)s", {"first": together.as_json(), "second": last.as_json()})


def _end(delivery: Delivery, state: Delivery.State, now: datetime, note: Message | None) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(
        state=state, note=note.as_json() if note else None, ended_at=now, look_at=now
    )
