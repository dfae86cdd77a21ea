"""Read what was sent, file by file: each becomes items, or is refused with its reason."""

import logging
import time
import zlib
from collections.abc import Callable, Iterator

from django.db import transaction
from django.utils import timezone

from apps.archive.imports import duplicates, groups, uploads
from apps.archive.imports.containers import ContainerEntry, Meter, UnpackingLimits, read_entries
from apps.archive.imports.models import Import, ImportItem
from apps.archive.imports.recognition import OutputReading, look_at, storable, unread
from apps.bench.text import Message, _
from apps.core import cpu_time
from apps.toolbox import queries as toolbox

logger = logging.getLogger(__name__)
MIB = 1024 * 1024
# What all that was sent for an import may come to; what is passed by on the way to a file is unpacked once more.
LIMITS = UnpackingLimits(entries=20_000, total_bytes=1024 * MIB, entry_bytes=16 * MIB)
MOST_ITEMS = 10_000
# A file at which workers were lost so often is not read again.
MOST_LOSSES = 2


class TooMuch(Exception):
    """More than one import may hold, or a worker can bear; `message` says what to do."""

    def __init__(self, text: str = _("This holds more than %(most)s measurements: send it in parts.")) -> None:
        self.message = Message(text, {"most": MOST_ITEMS})
        super().__init__(str(self.message))


def read_on(imported: Import, *, is_time_up: Callable[[], bool]) -> bool:
    """Read further files of an import and say whether that was the last; ContainerError or TooMuch end it.

    One is read in any case: to pass by those that are done takes time, too.
    """
    # More were lost than at a file: on the way to it.
    if imported.stuck > MOST_LOSSES:
        raise TooMuch(_("Workers were lost while they unpacked this, again and again: send its files in parts."))
    places = groups.NodesByName(imported.team_id)
    position = imported.items.count()
    done = imported.done
    for number, entry in enumerate(_entries(imported)):
        if number < done:
            continue
        if number > done and is_time_up():
            return False
        if imported.stuck >= MOST_LOSSES and number == done:
            entry = ContainerEntry(entry.name, refusal=Message(_("Reading this file took too long, twice.")))
        items = list(_items(imported, entry, places, position))
        position += len(items)
        if position > MOST_ITEMS:
            raise TooMuch
        _keep(imported, items, number + 1)
    return True


@transaction.atomic
def finish(imported: Import) -> None:
    """Look for what is there already, put the rest into groups, and hand it to whoever sent it."""
    duplicates.mark(imported)
    imported.groups = groups.group(imported)
    imported.total = imported.done = imported.items.count()
    nothing = None if imported.groups else _why_nothing(imported)
    imported.reason = nothing.as_json() if nothing else None
    imported.save(update_fields=["groups", "total", "done", "reason", "updated_at"])


def _why_nothing(imported: Import) -> Message:
    """Return why an import is left without anything to be imported; each of its items has its own reason."""
    if not imported.total:
        return Message(_("No file is in it."))
    if not imported.items.exclude(is_duplicate=True).exists():
        return Message(_("All of it is there already: nothing is left to import."))
    return Message(_("Nothing in it can be imported: what was found has the reason of each."))


def _entries(imported: Import) -> Iterator[ContainerEntry]:
    """Yield the files of what was sent; TooMuch when to unpack them, those that are done as well, takes too long."""
    entries, remaining_s = _unpacked(imported), cpu_time.READING_S
    while remaining_s > 0:
        began = time.process_time()
        try:
            with cpu_time.limited(remaining_s):
                entry = next(entries, None)
        except cpu_time.OutOfTimeError:
            break
        remaining_s -= time.process_time() - began
        if entry is None:
            return
        yield entry
    raise TooMuch(_("To unpack this takes too long: send its files in parts, and without empty folders."))


def _unpacked(imported: Import) -> Iterator[ContainerEntry]:
    meter = Meter(LIMITS)
    for number, name in uploads.names(imported):
        with uploads.opened(imported, number) as file:
            yield from read_entries(file, name, meter)


@transaction.atomic
def _keep(imported: Import, items: list[ImportItem], done: int) -> None:
    ImportItem.objects.bulk_create(items)
    imported.done, imported.stuck = done, 0
    # A claim that is renewed is not taken for that of a worker who is lost.
    imported.claimed_at = timezone.now()
    imported.save(update_fields=["done", "stuck", "claimed_at", "updated_at"])


def _items(
    imported: Import, entry: ContainerEntry, places: groups.NodesByName, position: int
) -> Iterator[ImportItem]:
    if entry.refusal is not None:
        yield ImportItem(source=imported, position=position, file=entry.name, refusal=entry.refusal.as_json())
        return
    try:
        with cpu_time.limited():
            outputs = look_at(entry.content, imported.zone)
    except cpu_time.OutOfTimeError:
        outputs = [unread(entry.content, Message(_("Reading this file takes too long.")))]
    except Exception:
        # Whatever a file made of us, those beside it are read.
        logger.exception("A file of import %s could not be read", imported.pk)
        text = _("Reading this file went wrong on our side; the server's log has the details.")
        outputs = [unread(entry.content, Message(text))]
    for offset, reading in enumerate(outputs):
        item = ImportItem(source=imported, position=position + offset, file=entry.name, place=offset + 1)
        yield _refused(item, reading) if reading.refusal else _described(item, reading, places)


def _refused(item: ImportItem, reading: OutputReading) -> ImportItem:
    assert reading.refusal is not None
    item.tool, item.refusal = reading.tool[:50], storable(reading.refusal.as_json())
    return item


def _described(item: ImportItem, reading: OutputReading, places: groups.NodesByName) -> ImportItem:
    output = reading.output
    item.tool, item.group = reading.tool, groups.key_of(reading.tool, item.file)
    item.told, item.values, item.measured_at = storable(reading.told), reading.values, reading.measured_at
    item.roles = places.cast(toolbox.get_tool(reading.tool), reading.ends)
    item.digest = reading.digest
    item.command = {
        "argv": storable(output.argv),
        "exit_code": output.exit_code,
        "signal": output.signal,
        "timed_out": output.timed_out,
        "bytes": len(output.stdout),
    }
    item.stdout_z, item.stderr_z = zlib.compress(output.stdout), zlib.compress(output.stderr)
    return item
