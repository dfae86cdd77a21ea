"""The queue of files: asked for by people and schedules, rendered one after the other by a worker."""

import logging
import re
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone, translation

from apps.accounts.models import User
from apps.bench.text import Message, _
from apps.core import isolation, leases, programs, queue, scratch, turns, whole_files
from apps.core.shutdown import ShuttingDown, WorkClaim, put_off
from apps.reports import drafts, queries
from apps.reports.document import Document
from apps.reports.files.base import Imprint, RenderingError
from apps.reports.files.models import checksum_of, folder
from apps.reports.models import Edition, Rendering, Report

logger = logging.getLogger(__name__)
State = Rendering.State

RENDER = "render"
_ASKED = turns.TurnFields("report__team", "requested_by", "requested_at")
MOST_ATTEMPTS = programs.MOST_ATTEMPTS
SIGN_EVERY_S = 1.0
# Of whoever gave a sign within so long (s) it is known that they are at it.
ALIVE_S = 10.0
# Of the whole this share is done when the document is there.
_BUILT = 0.15
_HEX = re.compile(r"[0-9a-f]{32}")
# A file that no row names and that is older than this was left by a report that is gone.
LEFT_OVER_AFTER_S = 3600.0


class DraftSuperseded(Exception):
    """Somebody asked for the draft anew, or another worker took it over."""


def request_rendering(
    *, report: Report, edition: Edition | None, name: str, user: User | None, now: datetime
) -> Rendering:
    """Return the file of an edition, or of the report's draft as it is now; a worker makes it if need be.

    That of an edition is made once, and again if it failed or is not there whole; that of a draft anew each time.
    With the team's own the one for others is asked for where anybody reads the edition: who is not signed in cannot.
    """
    if edition is None:
        return _request(report, None, name, user, now, requested_by=user)
    is_others = not queries.reads_whole(edition, user)
    if not is_others and queries.editions_for(AnonymousUser()).filter(pk=edition.pk).exists():
        _request(report, edition, name, user, now, for_others=True)
    return _request(report, edition, name, user, now, for_others=is_others)


def _request(
    report: Report, edition: Edition | None, name: str, user: User | None, now: datetime, **whose: Any
) -> Rendering:
    rendering, is_new = Rendering.objects.get_or_create(
        report=report, edition=edition, format=name, **whose, defaults={"requested_by": user, "requested_at": now}
    )
    if is_new:
        queue.send(queue.RENDER)
        return rendering
    again = Rendering.objects.filter(pk=rendering.pk)
    if edition is not None and rendering.state == State.DONE and rendering.is_whole:
        return rendering
    if edition is not None:
        again = again.exclude(state__in=Rendering.OPEN_STATES)
    if again.update(
        state=State.WAITING, progress=0, attempts=0, error=None, requested_by=user, requested_at=now, finished_at=None
    ):
        queue.send(queue.RENDER)
        rendering.refresh_from_db()
    return rendering


def opened(rendering: Rendering) -> BinaryIO:
    """Open the file of a rendering; FileNotFoundError if there is none (yet).

    One that is not what was made is none, and goes: whoever asks has it made again.
    """
    if not rendering.is_whole and rendering.path.exists():
        logger.error("%s is not what was made of rendering %s any more: it is removed", rendering.path, rendering.pk)
        rendering.path.unlink(missing_ok=True)
    return rendering.path.open("rb")


def carry_out_next(*, now: datetime) -> bool:
    """Render the file whose turn it is, unless another worker is at work; True if more may wait."""
    if Rendering.objects.filter(state=State.WORKING).exists():
        return False
    return turns.take_next(pieces(now), now=now)


def pieces(now: datetime) -> turns.Pieces:
    """Return the files that wait for a worker."""
    waiting = Rendering.objects.filter(~isolation.waiting(RENDER, now), state=State.WAITING)
    return turns.Pieces(waiting, _ASKED, lambda pk: _try_turn(pk, now))


def before(rendering: Rendering, *, now: datetime) -> int:
    """Return how many files are before one that waits, at least: that which is being made, and what it queues behind.

    0 if it waits not.
    """
    if rendering.state != State.WAITING:
        return 0
    # One whose worker was lost is at its place in the queue again.
    at_work = Rendering.objects.filter(state=State.WORKING, alive_at__gte=now - timedelta(seconds=ALIVE_S))
    return turns.before(rendering.pk, pieces(now)) + at_work.count()


def _try_turn(pk: int, now: datetime) -> bool:
    """Render a file that waits, and say whether it was begun with, whatever came of it."""
    outcomes = isolation.for_each(RENDER, [pk], lambda pk: _take_turn(pk, now), now=now, atomic=False, of=Rendering)
    return False not in outcomes


def _take_turn(pk: int, now: datetime) -> bool:
    """Render a file that waits; False if another worker has it, or is at another."""
    with leases.hold(RENDER, pk) as is_ours:
        return is_ours and _render(pk, now)


def _render(pk: int, now: datetime) -> bool:
    with put_off() as claim:
        claimed = _claim(pk, now)
        return claimed is not None and _render_claimed(claimed, claim)


def _render_claimed(claimed: Rendering, claim: WorkClaim) -> bool:
    try:
        claim.begun()
        _carry_out(claimed)
    except DraftSuperseded as error:
        isolation.raise_if_gone(error, claimed)
        logger.info("Rendering %s was asked for anew", claimed.pk)
    except RenderingError as error:
        logger.warning("Rendering %s failed: %s", claimed.pk, error)
        _end(claimed, State.FAILED, error=error.message.as_json())
    except programs.ProgramLostError:
        logger.warning("Rendering %s: its program was killed, attempt %s", claimed.pk, claimed.attempts)
        _lose(_ours(claimed), timezone.now())
    except (Exception, ShuttingDown) as error:
        isolation.give_back(
            error, claimed, lambda: _ours(claimed).update(state=State.WAITING, progress=0, attempts=F("attempts") - 1)
        )
        logger.exception("Rendering %s failed", claimed.pk)
        text = _("The file could not be made; the service's log says why.")
        _end(claimed, State.FAILED, error=Message(text).as_json())
    _remove_left_over()
    return True


def resume_renderings(*, now: datetime) -> None:
    """Have those rendered whose message was lost or whose worker was killed; the latter a few times at most."""
    working = Rendering.objects.filter(state=State.WORKING).values_list("pk", flat=True)
    isolation.for_each(RENDER, working, lambda pk: _take_up(pk, now), now=now)
    waiting = Rendering.objects.filter(~isolation.waiting(RENDER, now), state=State.WAITING)
    if waiting.exists() and not Rendering.objects.filter(state=State.WORKING).exists():
        queue.remind(queue.RENDER)


def _take_up(pk: int, now: datetime) -> None:
    """Have a file rendered again, or given up, if whoever was at it is gone."""
    with leases.hold(RENDER, pk) as is_free:
        if not is_free:
            return
        unfinished = Rendering.objects.filter(pk=pk, state=State.WORKING)
        _lose(unfinished.filter(leases.lost_worker("started_at")), now)
        unfinished.update(state=State.WAITING, progress=0, attempts=Greatest(F("attempts") - 1, 0))


def _lose(lost: QuerySet[Rendering], now: datetime) -> None:
    """Have a file rendered again whose worker, or a program of it, was lost, or given up after a few attempts."""
    given_up = lost.filter(attempts__gte=MOST_ATTEMPTS)
    given_up.update(state=State.FAILED, error=Message(programs.GIVEN_UP).as_json(), finished_at=now)
    lost.update(state=State.WAITING, progress=0)


def _claim(pk: int, now: datetime) -> Rendering | None:
    """Return a file that waits, ours now; None if it does not wait any more or another is being rendered."""
    try:
        with transaction.atomic():
            waiting = Rendering.objects.filter(pk=pk, state=State.WAITING)
            claimed = waiting.update(
                state=State.WORKING, attempts=F("attempts") + 1, started_at=now, alive_at=now, progress=0
            )
    except IntegrityError:
        return None
    return Rendering.objects.get(pk=pk) if claimed else None


def sweep(*, now: datetime) -> None:
    """Remove files that no rendering names, and folders of those that were killed, after a while."""
    paths = {path.stem: path for path in folder().glob("*")}
    names = {uuid.UUID(hex=stem): stem for stem in paths if _HEX.fullmatch(stem)}
    stems = {names[name] for name in Rendering.objects.filter(name__in=names).values_list("name", flat=True)}
    for stem in paths.keys() - stems:
        scratch.remove_if_left(paths[stem], now=now)


def _carry_out(rendering: Rendering) -> None:
    whole_files.make_folder(folder())
    with scratch.new_folder("report", within=folder()) as place:
        output = place / f"report.{rendering.format}"
        with translation.override(rendering.report.language):
            document, imprint = _document_of(rendering)
            sign = _sign(rendering)
            sign(_BUILT)
            rendering.kind.load()(document, imprint, output, lambda share: sign(_BUILT + (1 - _BUILT) * share))
        size, checksum = output.stat().st_size, checksum_of(output)
        # Under a new name, for somebody may be fetching the old file.
        old, rendering.name = rendering.path, uuid.uuid4()
        # The row that says it is there is on the disk at once.
        whole_files.put_in_place(output, rendering.path)
    ended = _end(rendering, State.DONE, progress=100, size=size, checksum=checksum, name=rendering.name)
    (old if ended else rendering.path).unlink(missing_ok=True)


def _document_of(rendering: Rendering) -> tuple[Document, Imprint]:
    edition, reader, address = rendering.edition, rendering.requested_by, settings.PUBLIC_URL.rstrip("/")
    if edition is not None:
        edition = edition.for_others() if rendering.for_others else edition
        came = edition.arrival.text if edition.arrival else ""
        imprint = Imprint(edition.number, edition.permanent_id, edition.checksum, edition.created_at, address, came)
        return edition.document, imprint
    if reader is None:
        raise RenderingError(Message(_("Whoever asked for this draft has no account any more: ask for it anew.")))
    try:
        document = drafts.build(rendering.report, reader)
    except ValidationError as error:
        raise RenderingError(Message(" ".join(error.messages))) from error
    return document, Imprint(None, "", "", timezone.now(), address)


def _sign(rendering: Rendering) -> Callable[[float], None]:
    """Return what keeps the row's progress while the file is made; Superseded if it is no longer ours."""
    last = time.monotonic()

    def sign(share: float) -> None:
        nonlocal last
        if time.monotonic() - last >= SIGN_EVERY_S:
            last = time.monotonic()
            percent = min(max(round(100 * share), 0), 99)
            if not _ours(rendering).update(progress=percent, alive_at=timezone.now()):
                raise DraftSuperseded

    return sign


def _ours(rendering: Rendering) -> QuerySet[Rendering]:
    return Rendering.objects.filter(pk=rendering.pk, state=State.WORKING, started_at=rendering.started_at)


def _end(rendering: Rendering, state: Rendering.State, **changes: Any) -> bool:
    """Keep how it ended; False if it is no longer ours."""
    return bool(_ours(rendering).update(state=state, finished_at=timezone.now(), **changes))


def _remove_left_over() -> None:
    """Remove files that no row names, such as those of deleted reports."""
    files = {
        path
        for path in folder().iterdir()
        if path.is_file() and time.time() - path.stat().st_mtime > LEFT_OVER_AFTER_S
    }
    paths = (
        {rendering.path for rendering in Rendering.objects.filter(state=State.DONE).only("name", "format")}
        if files
        else set()
    )
    for path in files - paths:
        path.unlink(missing_ok=True)
