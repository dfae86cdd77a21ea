"""What workers do for imports: rows are the queue, one worker at a time has the lease of an import."""

import logging
import time
from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.db.models import Case, F, QuerySet, When
from django.utils import timezone

from apps.archive.imports import checks, grown, reader, sheets, store, uploads
from apps.archive.imports.containers import ContainerError
from apps.archive.imports.models import Import
from apps.archive.imports.recognition import storable
from apps.archive.imports.tables import TableError
from apps.bench.text import Message, _
from apps.core import expiry, isolation, leases, queue, races, turns
from apps.core.limits.owned import TooManyOwnedError
from apps.core.shutdown import ShuttingDown, WorkClaim, put_off

logger = logging.getLogger(__name__)

# A worker hands an import on after so long, for others to have their turn.
TURN_S = 45.0
ADVANCE_IMPORT, EXPIRE_IMPORTS = Import.WORK, "expire_imports"
_ASKED = turns.TurnFields("team", "created_by", "updated_at")

State = Import.State
# One more for each time that a worker did not let go of an import by itself.
_LOSSES = F("stuck") + Case(When(leases.lost_worker("claimed_at"), then=1), default=0)


def resume_imports(*, now: datetime) -> None:
    """Ask for work on imports that no worker is at: their message was lost, or their worker killed."""
    first = _ready(now).order_by("updated_at", "pk").values_list("pk", flat=True)[: turns.MOST_TRIED]
    if any(not leases.is_held(ADVANCE_IMPORT, pk) for pk in first):
        queue.remind(queue.BULKY)


def carry_out_next(*, now: datetime) -> bool:
    """Take the import on whose turn it is; True if more may wait."""
    return turns.take_next(pieces(now), now=now)


def pieces(now: datetime) -> turns.Pieces:
    """Return the imports that wait for a worker."""
    return turns.Pieces(_ready(now), _ASKED, lambda pk: advance_import(import_id=pk, now=now))


def before(imported: Import, *, now: datetime) -> int:
    """Return how many turns are before that of an import, at least; 0 if a worker is at it, or nothing is known."""
    return 0 if imported.claimed_at else turns.before(imported.pk, pieces(now))


def advance_import(*, import_id: int, now: datetime) -> bool:
    """Do the next step of an import; False if somebody else is at it, or there is nothing to do."""
    with leases.hold(ADVANCE_IMPORT, import_id) as is_ours:
        rows = [import_id] if is_ours else []
        outcomes = isolation.for_each(
            ADVANCE_IMPORT, rows, lambda pk: _take_turn(pk, now), now=now, atomic=False, of=Import
        )
    return is_ours and False not in outcomes


def _take_turn(import_id: int, now: datetime) -> bool:
    """Do the next step of an import that is ours; False if it waits for none."""
    with put_off() as claim:
        if not _to_do().filter(pk=import_id).update(claimed_at=now, stuck=_LOSSES):
            return False
        return _carry_out(Import.objects.select_related("created_by").get(pk=import_id), now, claim)


def _carry_out(imported: Import, now: datetime, claim: WorkClaim) -> bool:
    import_id, deadline = imported.pk, time.monotonic() + TURN_S
    was_storing = imported.state == State.STORING
    try:
        claim.begun()
        _advance(imported, lambda: time.monotonic() > deadline, now)
    except (ContainerError, TableError, reader.TooMuch, uploads.NotWhole) as error:
        _end(imported, State.REFUSED, error.message)
    except TooManyOwnedError as error:
        # What was read is good, and stored once there is room.
        _let_wait(imported, error.why)
    except FileNotFoundError as error:
        isolation.raise_if_gone(error, imported)
        _end(imported, State.REFUSED, Message(_("What was sent is no longer there: send it again.")))
    except (Exception, ShuttingDown) as error:
        isolation.give_back(error, imported, lambda: Import.objects.filter(pk=import_id).update(claimed_at=None))
        if was_storing and (races.is_lost(error) or races.is_collision(error)):
            races.note(error)
            text = _(
                "What this import refers to was deleted or changed meanwhile: choose its nodes again, and store it."
            )
            _let_wait(imported, Message(text))
            return True
        logger.exception("Import %s could not be carried on", import_id)
        text = _("Something went wrong on our side; the server's log has the details.")
        _end(imported, State.REFUSED, Message(text))
    else:
        # Behind the others of its team.
        Import.objects.filter(pk=import_id).update(claimed_at=None, stuck=0, updated_at=timezone.now())
    return True


def expire(*, now: datetime) -> None:
    """Let go of imports that nobody decided on."""
    undecided = Import.objects.filter(state__in=Import.UNDECIDED_STATES)

    def let_go(imported: Import) -> None:
        _end(imported, State.EXPIRED, expiry.reason())

    expiry.expire(undecided, let_go, work=EXPIRE_IMPORTS, now=now)


def _advance(imported: Import, is_time_up: Callable[[], bool], now: datetime) -> None:
    """Do what comes next, for as long as time is left."""
    if imported.state == State.STORING:
        _store(imported, is_time_up, now)
        return
    if imported.kind == Import.Kind.TABLE:
        if imported.stuck >= reader.MOST_LOSSES:
            lost = _("Workers were lost while they read this table, twice: send it in parts, or a workbook as CSV.")
            raise TableError(lost)
        if not imported.mapping:
            sheets.read_head(imported)
            _enter(imported, State.MAPPING)
            return
        sheets.read_rows(imported)
    else:
        _enter(imported, State.READING)
        if not reader.read_on(imported, is_time_up=is_time_up):
            return
    reader.finish(imported)
    _enter(imported, State.READY)
    if imported.kind == Import.Kind.OUTPUTS:
        # The items have all that is needed; a table's columns may yet be given another meaning.
        uploads.remove(imported.pk)


def _store(imported: Import, is_time_up: Callable[[], bool], now: datetime) -> None:
    if imported.stuck >= reader.MOST_LOSSES:
        _let_wait(
            imported, Message(_("Workers were lost while they stored this, twice: store it again, or in parts."))
        )
        return
    if not checks.check_on(imported, is_time_up=is_time_up):
        return
    failed = imported.items.filter(problem__isnull=False).count()
    if failed and not imported.leave_out:
        text = _("Nothing was imported: %(count)s cannot be read with what is known of them. See why below.")
        _let_wait(imported, Message(text, {"count": failed}))
        return
    with transaction.atomic():
        imported.campaign = store.store(imported, now)
        already = grown.told(imported)
        imported.reason = already.as_json() if already else None
        imported.save(update_fields=["campaign", "reason", "updated_at"])
        _enter(imported, State.DONE)
    uploads.remove(imported.pk)


def _let_wait(imported: Import, why: Message) -> None:
    """Have a person look at an import again that could not be stored."""
    Import.objects.filter(pk=imported.pk).update(
        state=State.READY, reason=storable(why.as_json()), claimed_at=None, stuck=0, updated_at=timezone.now()
    )


def _enter(imported: Import, state: Import.State) -> None:
    imported.state = state
    imported.save(update_fields=["state", "updated_at"])


def _end(imported: Import, state: Import.State, message: Message) -> None:
    """End an import of which nothing is taken."""
    imported.items.all().delete()
    uploads.remove(imported.pk)
    Import.objects.filter(pk=imported.pk).update(
        state=state,
        reason=storable(message.as_json()),
        claimed_at=None,
        groups=[],
        total=0,
        done=0,
        updated_at=timezone.now(),
    )


def _ready(now: datetime) -> QuerySet[Import]:
    return _to_do().filter(~isolation.waiting(ADVANCE_IMPORT, now))


def _to_do() -> QuerySet[Import]:
    return Import.objects.filter(state__in=Import.WORKING_STATES)
