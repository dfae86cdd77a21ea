"""What a person does with an import: send files, say what columns mean, complete what was found, store, give up."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from django.core.files import File
from django.db import transaction

from apps.accounts import quotas
from apps.accounts.models import Team, User
from apps.archive.imports import columns, completion, duplicates, sheets, uploads
from apps.archive.imports.containers import printable
from apps.archive.imports.models import ColumnMapping, Import
from apps.bench.text import Message, _
from apps.bench.tools import UnknownTool
from apps.campaigns.errors import Refused, WrongState
from apps.core import queue
from apps.core.numbers import next_number
from apps.toolbox import queries as toolbox

MIB = 1024 * 1024
MOST_BYTES = 512 * MIB
MOST_FILES = 500

State = Import.State


def create_import(
    *, team: Team, user: User, kind: str, files: Sequence[File], name: str = "", measured_on: date | None = None
) -> Import:
    """Keep files that were sent and let a worker read them; Refused says what is wrong with them as a whole.

    They are on the disk before the transaction begins that makes the row: it waits for nothing.
    """
    _require_fit(kind, files)
    size = sum(file.size or 0 for file in files)
    _require_room(team, size)
    quotas.charge_upload(team)
    for file in files:
        file.name = printable(file.name or "")
    number = next_number(Import)
    records = uploads.keep(number, files)
    try:
        with transaction.atomic():
            # Others of the team may have stored meanwhile.
            _require_room(team, size)
            quotas.add_stored(team=team, size=size)
            imported = Import.objects.create(
                pk=number,
                team=team,
                created_by=user,
                kind=kind,
                name=(name.strip() or str(files[0].name))[:200],
                measured_on=measured_on,
                uploads=records,
            )
            queue.send(queue.BULKY)
    except Refused:
        uploads.remove(number)
        raise
    return imported


def _require_room(team: Team, size: int) -> None:
    if over := quotas.refusal_to_store(team, size):
        raise Refused({"files": over})


def _require_fit(kind: str, files: Sequence[File]) -> None:
    """Raise Refused if there are no files, too many, or too much in them."""
    if not files:
        raise Refused({"files": Message(_("Send at least one file."))})
    if len(files) > MOST_FILES:
        text = _("At most %(most)s files at once: pack more of them as zip or tar.gz.")
        raise Refused({"files": Message(text, {"most": MOST_FILES})})
    if kind == Import.Kind.TABLE and len(files) > 1:
        raise Refused({"files": Message(_("Send one table at a time."))})
    if sum(file.size or 0 for file in files) > MOST_BYTES:
        text = _("The files have more than %(most)s MiB together: send them in parts.")
        raise Refused({"files": Message(text, {"most": MOST_BYTES // MIB})})


@transaction.atomic
def map_columns(*, imported: Import, tool: str, mapping: columns.Mapped, sheets_chosen: Sequence[str] = ()) -> Import:
    """Say what the columns of a table mean, and let a worker read its rows; Refused names what is wrong.

    Of a workbook the chosen sheets are read, without a choice the first.
    """
    imported = _locked(imported, {State.MAPPING, State.READY})
    if imported.kind != Import.Kind.TABLE:
        raise WrongState(Message(_("Raw outputs have no columns.")))
    try:
        table_tool = toolbox.get_runnable_tool(tool, imported.team_id)
    except UnknownTool:
        raise Refused({"tool": Message(_("Choose one of the tools that are offered."))}) from None
    meanings = {
        header: {key: str(meaning.get(key, "")) for key in ("as", "name", "unit", "decimals")}
        for header, meaning in mapping.items()
    }
    picked = sheets.pick(imported, sheets_chosen)
    wrong = columns.check(table_tool, picked.headers, meanings)
    if wrong:
        raise Refused({name if name == "columns" else f"columns.{name}": message for name, message in wrong.items()})
    imported.mapping = {"tool": table_tool.slug, "columns": meanings, "sheets": picked.names}
    _begin(imported, State.WAITING)
    return imported


@transaction.atomic
def keep_mapping(*, imported: Import, user: User, name: str) -> ColumnMapping:
    """Keep what the columns of an import mean under a name, in the place of what it had before."""
    if not name.strip():
        raise Refused({"name": Message(_("Give the mapping a name."))})
    mapping, _created = ColumnMapping.objects.update_or_create(
        team=imported.team,
        name=name.strip()[:100],
        defaults={
            "tool": imported.mapping["tool"],
            "columns": imported.mapping["columns"],
            # The only sheet of a workbook is meant whatever it is called elsewhere.
            "sheets": imported.mapping["sheets"] if len(sheets.sheets_of(imported)) > 1 else [],
            "created_by": user,
        },
    )
    return mapping


@transaction.atomic
def complete_import(
    *, imported: Import, groups: Mapping[str, Mapping[str, Any]], name: str = "", measured_on: date | None = None
) -> Import:
    """Keep what was said of the groups; Refused names each wrong field."""
    imported = _locked(imported, {State.READY})
    imported.choices = completion.checked(imported, groups)
    imported.name = (name.strip() or imported.name)[:200]
    imported.measured_on = measured_on
    imported.reason = None
    imported.save(update_fields=["choices", "name", "measured_on", "reason", "updated_at"])
    # With other choices what failed may be read, and what was read may be otherwise.
    imported.items.update(problem=None, reading=None)
    if imported.kind == Import.Kind.TABLE:
        duplicates.mark_rows(imported)
    return imported


@transaction.atomic
def store_import(*, imported: Import, leave_out: bool = False) -> Import:
    """Let a worker store all of it, or with `leave_out` all that can be read; WrongState if there is nothing."""
    imported = _locked(imported, {State.READY})
    if not imported.choices:
        raise WrongState(Message(_("Say first on which nodes this was measured.")))
    included = [key for key, choice in imported.choices.items() if choice["include"]]
    count = imported.items.filter(
        refusal__isnull=True, problem__isnull=True, is_duplicate=False, group__in=included
    ).count()
    if not count:
        raise WrongState(Message(_nothing_left(imported)))
    imported.total, imported.leave_out = count, leave_out
    _begin(imported, State.STORING)
    return imported


@transaction.atomic
def discard_import(*, imported: Import) -> None:
    """Give an import up; what it became stays."""
    imported = _locked(imported, set(State))
    uploads.remove(imported.pk)
    imported.delete()


def _locked(imported: Import, states: set[Import.State]) -> Import:
    """Return the import as it is now, held; WrongState if its state does not allow this."""
    row = Import.objects.select_for_update(no_key=True).get(pk=imported.pk)
    if row.state not in states:
        text = _("This is not possible now: the import is “%(state)s”.")
        raise WrongState(Message(text, {"state": str(row.get_state_display())}))
    return row


def _nothing_left(imported: Import) -> str:
    if imported.items.filter(is_duplicate=True, trial__isnull=False).exists():
        return _("All of it is there already, measured between the same nodes: nothing is left to import.")
    return _("Nothing is left that could be imported.")


def _begin(imported: Import, state: Import.State) -> None:
    imported.state, imported.done, imported.stuck, imported.claimed_at, imported.reason = state, 0, 0, None, None
    imported.save()
    queue.send(queue.BULKY)
