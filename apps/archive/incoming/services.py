"""Writes: an archive taken, looked through, agreed to, and stored by a worker."""

import logging
import os
import time
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files import File
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts import quotas, rights
from apps.accounts.models import Role, Team, User
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.store.whole import refuse_known
from apps.archive.incoming import arrival, names, progress, queries
from apps.archive.incoming.models import IncomingArchive
from apps.archive.incoming.previews import preview_of
from apps.bench.text import Message, _
from apps.core import expiry, isolation, leases, messages, programs, queue, scratch, shutdown, turns
from apps.core.errors import ConflictError
from apps.core.limits.owned import TooManyOwnedError
from apps.core.numbers import next_number

logger = logging.getLogger(__name__)
State = IncomingArchive.State

TAKE_ARCHIVES, EXPIRE_ARCHIVES = IncomingArchive.WORK, "expire_archives"
_ASKED = turns.TurnFields("team", "created_by", "updated_at")
# A worker compares an archive with its sums for so long, and then lets others have their turn. It is stored at once.
TURN_S = 45.0
MOST_ATTEMPTS = 3


def take(*, team: Team, user: User, file: File) -> IncomingArchive:
    """Keep an archive that was sent; a worker looks through it. ValidationError if it is none by its first bytes.

    It is on the disk before the transaction begins that makes the row: that one waits for nothing.
    """
    rights.require(user, team, Role.OPERATOR)
    size = arrival.require_fit(file)
    _require_room(team, size)
    quotas.charge_upload(team)
    name = str(file.name or "archive.zip")[-200:].replace("\0", "")
    incoming = IncomingArchive(pk=next_number(IncomingArchive), team=team, created_by=user, name=name, size=size)
    arrival.keep(file, incoming.path)
    try:
        with transaction.atomic():
            # Others of the team may have stored meanwhile.
            _require_room(team, size)
            quotas.add_stored(team=team, size=size)
            incoming.save(force_insert=True)
    except ValidationError:
        scratch.remove(incoming.path)
        raise
    queue.send(queue.BULKY)
    return incoming


def _require_room(team: Team, size: int) -> None:
    if over := quotas.refusal_to_store(team, size):
        raise ValidationError({"archive": messages.render(over)})


@transaction.atomic
def agree(
    *, incoming: IncomingArchive, user: User, nodes: Mapping[str, str] | None = None, keep_ids: bool = False
) -> None:
    """Have an archive stored as was chosen; ConflictError if it waits for no decision, ValidationError if it
    has no such nodes, or who is no administrator gives it the ids that it says."""
    rights.require(user, incoming.team, Role.OPERATOR)
    names_chosen = {str(key): str(value) for key, value in (nodes or {}).items()}
    incoming = IncomingArchive.objects.get(pk=incoming.pk)
    ready = IncomingArchive.objects.filter(pk=incoming.pk, state__in=(State.READY, State.REFUSED))
    if not incoming.path.is_file() or not incoming.preview:
        raise ConflictError(gettext("There is nothing to decide: send the archive again."))
    names.refuse_strangers(incoming, names_chosen)
    if keep_ids and not user.is_superuser:
        text = gettext("Only an administrator gives an archive the permanent ids that it says.")
        raise ValidationError({"keep_ids": text})
    chosen = {"nodes": names_chosen, "keep_ids": keep_ids}
    begun = {"attempts": 0, "done": 0, "total": 0, "updated_at": timezone.now()}
    if not ready.update(state=State.AGREED, choices=chosen, reason=None, **begun):
        raise ConflictError(gettext("It waits for no decision: look at its state."))
    queue.send(queue.BULKY)


@transaction.atomic
def give_up(*, incoming: IncomingArchive, user: User) -> None:
    """Forget an archive that was sent; what was imported of it stays."""
    rights.require(user, incoming.team, Role.OPERATOR)
    rows = IncomingArchive.objects.filter(pk=incoming.pk).exclude(state__in=IncomingArchive.BUSY_STATES)
    if not rows.delete()[0]:
        raise ConflictError(gettext("A worker is at it: wait until it is done."))
    incoming.path.unlink(missing_ok=True)


def carry_out_next(*, now: datetime) -> bool:
    """Look through, or store, the archive whose turn it is and no worker is at; True if more may wait."""
    return turns.take_next(pieces(now), now=now)


def pieces(now: datetime) -> turns.Pieces:
    """Return the archives that wait for a worker."""
    return turns.Pieces(_due(now), _ASKED, lambda pk: _try_turn(pk, now))


def before(incoming: IncomingArchive, *, now: datetime) -> int:
    """Return how many turns are before that of an archive, at least; 0 if a worker is at it, or nothing is known."""
    if incoming.state not in IncomingArchive.DUE_STATES:
        return 0
    return turns.before(incoming.pk, pieces(now))


def _try_turn(pk: int, now: datetime) -> bool:
    """Take an archive on, and say whether it was begun with, whatever came of it."""
    with leases.hold(TAKE_ARCHIVES, pk) as is_ours:
        rows = [pk] if is_ours else []
        take = partial(_take_turn, now=now)
        outcomes = isolation.for_each(TAKE_ARCHIVES, rows, take, now=now, atomic=False, of=IncomingArchive)
    return is_ours and False not in outcomes


def _take_turn(pk: int, now: datetime) -> bool:
    """Take an archive on that is ours, for TURN_S until it is stored; False if it does not wait any more."""
    with shutdown.put_off() as claim:
        incoming = _claim(pk, now)
        return incoming is not None and _carry_out(incoming, now, claim)


def _carry_out(incoming: IncomingArchive, now: datetime, claim: shutdown.WorkClaim) -> bool:
    try:
        claim.begun()
        with incoming.path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != incoming.size:
                raise FileNotFoundError(incoming.path)
            _take_on(incoming, file, now)
    except (ArchiveError, TooManyOwnedError) as error:
        _refuse(incoming, error.message if isinstance(error, ArchiveError) else error.why)
    except FileNotFoundError as error:
        isolation.raise_if_gone(error, incoming)
        # What a power cut, or a disk, left of it is of no use, whatever was found in it before.
        incoming.path.unlink(missing_ok=True)
        gone = Message(_("The file is gone, or no longer whole: send the archive again."))
        _end(incoming, State.REFUSED, preview={}, reason=gone.as_json())
    except (Exception, shutdown.ShuttingDown) as error:
        isolation.give_back(error, incoming, lambda: _wait(incoming, attempts=F("attempts") - 1))
        logger.exception("Archive %s could not be imported", incoming.pk)
        _refuse(incoming, Message(_("The archive could not be imported; the service's log says why.")))
    return True


def _take_on(incoming: IncomingArchive, file: BinaryIO, now: datetime) -> None:
    """Compare the archive with its sums, in turns, and then do what it waits for."""
    archive, deadline = Archive(file, incoming.name), time.monotonic() + TURN_S
    sign = partial(progress.sign, incoming)
    done = archive.verify(sign, after=incoming.done, is_time_up=lambda: time.monotonic() > deadline)
    if done < archive.total:
        # Behind the others of its team; what was lost before this turn ended well is forgotten.
        _wait(incoming, done=done, total=archive.total, attempts=0)
    elif incoming.state == State.CHECKING:
        _look_through(incoming, archive)
    else:
        _store(incoming, archive, now)


def _wait(incoming: IncomingArchive, **values: Any) -> None:
    """Let an archive that is ours wait for its next turn."""
    waits = State.WAITING if incoming.state == State.CHECKING else State.AGREED
    busy = IncomingArchive.objects.filter(pk=incoming.pk, state=incoming.state)
    busy.update(state=waits, updated_at=timezone.now(), **values)


def resume(*, now: datetime) -> None:
    """Have those looked at whose message was lost or whose worker was killed, the latter a few times at most."""
    busy = IncomingArchive.objects.filter(state__in=IncomingArchive.BUSY_STATES).values_list("pk", flat=True)
    isolation.for_each(TAKE_ARCHIVES, busy, _take_up, now=now)
    if _due(now).exists():
        queue.remind(queue.BULKY)


def _take_up(pk: int) -> None:
    """Have an archive taken again, or given up, if whoever was at it is gone."""
    with leases.hold(TAKE_ARCHIVES, pk) as is_free:
        rows = IncomingArchive.objects.filter(pk=pk, state__in=IncomingArchive.BUSY_STATES)
        incoming = rows.first() if is_free else None
        if incoming is None:
            return
        is_lost = rows.filter(leases.lost_worker("alive_at")).exists()
        if is_lost and incoming.attempts >= MOST_ATTEMPTS:
            _refuse(incoming, Message(programs.GIVEN_UP))
        else:
            waits = State.WAITING if incoming.state == State.CHECKING else State.AGREED
            rows.update(state=waits, attempts=F("attempts") if is_lost else Greatest(F("attempts") - 1, 0))


def expire(*, now: datetime) -> None:
    """Let go of archives that nobody decided on."""
    undecided = IncomingArchive.objects.filter(state__in=IncomingArchive.UNDECIDED_STATES).exclude(preview={})
    expiry.expire(undecided, _expire, work=EXPIRE_ARCHIVES, now=now)


def sweep(*, now: datetime) -> None:
    """Remove files that no row needs, after a while: of requests that never ended, and of what ended since."""
    files = (Path(settings.VAR_DIR) / "archives").glob("*.zip")
    archives = {int(path.stem): path for path in files if path.stem.isdecimal()}
    rows = IncomingArchive.objects.filter(pk__in=archives).exclude(state__in=(State.DONE, State.EXPIRED))
    numbers = set(rows.values_list("pk", flat=True))
    for path in (path for number, path in archives.items() if number not in numbers):
        scratch.remove_if_left(path, now=now)


_NEXT = {State.WAITING: State.CHECKING, State.AGREED: State.STORING}


def _due(now: datetime) -> QuerySet[IncomingArchive]:
    return IncomingArchive.objects.filter(
        ~isolation.waiting(TAKE_ARCHIVES, now), state__in=IncomingArchive.DUE_STATES
    )


def _claim(pk: int, now: datetime) -> IncomingArchive | None:
    incoming = IncomingArchive.objects.filter(pk=pk, state__in=IncomingArchive.DUE_STATES).first()
    if incoming is None:
        return None
    waiting = IncomingArchive.objects.filter(pk=pk, state=incoming.state)
    if not waiting.update(state=_NEXT[State(incoming.state)], attempts=F("attempts") + 1, alive_at=now):
        return None
    incoming.refresh_from_db()
    return incoming


def _look_through(incoming: IncomingArchive, archive: Archive) -> None:
    user = _sender(incoming)
    IncomingArchive.objects.filter(pk=incoming.pk).update(
        **queries.told_of(archive.permanent_id, incoming.team, user)
    )
    refuse_known(archive.permanent_id, incoming.team, user)
    _end(incoming, State.READY, preview=preview_of(archive, incoming.team))


def _sender(incoming: IncomingArchive) -> User:
    if incoming.created_by is None:
        raise ArchiveError("user", Message(_("Whoever sent it has no account here any more.")))
    return incoming.created_by


def _store(incoming: IncomingArchive, archive: Archive, now: datetime) -> None:
    user = _sender(incoming)
    total = archive.counts["trials"] + archive.counts["results"]
    # Whoever is killed between the two would leave a campaign because of which the archive is refused as known.
    with transaction.atomic():
        campaign = store(
            archive=archive,
            team=incoming.team,
            user=user,
            choices=Choices(incoming.choices.get("nodes", {}), keeps_ids=incoming.choices.get("keep_ids") is True),
            now=now,
            progress=lambda done: progress.sign(incoming, done, total),
        )
        _end(incoming, State.DONE, campaign=campaign, of_campaign=campaign.permanent_id)
    incoming.path.unlink(missing_ok=True)


def _expire(incoming: IncomingArchive) -> None:
    reason = expiry.reason()
    if incoming.reason:
        # It was decided on, and could not be stored: why stays to be read.
        reason = Message(_("%(what)s – %(remedy)s"), {"what": incoming.reason, "remedy": reason.as_json()})
    incoming.path.unlink(missing_ok=True)
    _end(incoming, State.EXPIRED, reason=reason.as_json())


def _refuse(incoming: IncomingArchive, message: Message) -> None:
    """Say why it is not stored; the file of one in which nothing was found is of no use any more."""
    if not incoming.preview:
        incoming.path.unlink(missing_ok=True)
    _end(incoming, State.REFUSED, reason=message.as_json())


def _end(incoming: IncomingArchive, state: State, **values: Any) -> None:
    IncomingArchive.objects.filter(pk=incoming.pk).update(state=state, updated_at=timezone.now(), **values)
    progress.forget(incoming)
