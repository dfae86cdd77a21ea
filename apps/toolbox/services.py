"""Writes: a tool defined, changed (which makes a version), taken over, archived and taken back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.bench import custom, tools
from apps.bench.text import Message, _
from apps.core import messages
from apps.core.errors import ConflictError, by_field
from apps.core.names import check_seen_in
from apps.toolbox import files, queries
from apps.toolbox.models import LAST_TAKEN_OVER, MOST_VERSIONS, NOT_FREE, TeamTool, ToolEvent, ToolVersion


@transaction.atomic
def create_tool(*, team: Team, user: User, slug: str, definition: object, note: str = "") -> TeamTool:
    """Return a new tool with a first version; ValidationError names what is wrong ("definition.metrics.0.unit")."""
    rights.require(user, team, Role.MANAGER)
    tool = TeamTool(team=team, slug=slug.strip(), name="-")
    wrong: dict[str, Any] = {}
    try:
        tool.full_clean(exclude=["team", "name"])
        if tool.slug in {builtin.slug for builtin in tools.all_tools()}:
            wrong["slug"] = [str(NOT_FREE)]
    except ValidationError as error:
        wrong |= by_field(error)
    try:
        new_definition = checked(definition)
    except ValidationError as error:
        wrong |= by_field(error)
    if wrong:
        raise ValidationError(wrong)
    tool.name, tool.summary = new_definition.name, new_definition.summary
    tool.save()
    _add_version(tool, user, new_definition, 1, note)
    return tool


@transaction.atomic
def change_tool(
    *, tool: TeamTool, user: User, definition: object, note: str = "", based_on: int | None = None
) -> ToolVersion:
    """Return the next version of a tool; the versions there are stay as they are.

    `based_on` is the number of the version that was changed: if there is a later one by now, nothing is made.
    """
    rights.require(user, tool.team, Role.MANAGER)
    tool = TeamTool.objects.select_for_update(of=("self",)).select_related("team").get(pk=tool.pk)
    latest = queries.latest_version(tool)
    new_definition = checked(definition)
    if based_on is not None and based_on != latest.number:
        text = gettext("Someone made version %(number)s meanwhile: look at it, then change that one.")
        raise ConflictError(text % {"number": latest.number})
    if new_definition == queries.definition_of(latest):
        raise ValidationError(gettext("Nothing differs from version %(number)s.") % {"number": latest.number})
    tool.name, tool.summary = new_definition.name, new_definition.summary
    tool.save(update_fields=["name", "summary", "updated_at"])
    return _add_version(tool, user, new_definition, _next_number(tool, latest), note)


@transaction.atomic
def take_over(*, tool: TeamTool, user: User, number: int) -> ToolVersion:
    """Have a version that came with an archive be as one that the manager made; ToolVersion.DoesNotExist of none.

    A tool that came with it is offered from then on. ConflictError if its number is too high to go on from.
    """
    rights.require(user, tool.team, Role.MANAGER)
    tool = TeamTool.objects.select_for_update(of=("self",)).select_related("team").get(pk=tool.pk)
    version = tool.versions.select_related("tool").get(number=number)
    if not version.awaits_manager:
        return version
    if number > LAST_TAKEN_OVER:
        text = gettext(
            "Version %(number)s would leave too few numbers for later ones of the team, which has %(most)s: look at"
            " its definition, and make a version of your own of it."
        )
        raise ConflictError(text % {"number": number, "most": MOST_VERSIONS})
    is_first = not tool.versions.filter(awaits_manager=False).exists()
    tool.versions.filter(pk=version.pk).update(awaits_manager=False)
    version.awaits_manager = False
    latest = queries.definition_of(queries.latest_version(tool))
    tool.name, tool.summary = latest.name, latest.summary
    tool.archived_at = None if is_first else tool.archived_at
    tool.save(update_fields=["name", "summary", "archived_at", "updated_at"])
    _log(
        tool, user, Message(_("Version %(number)s, which came with an archive, was taken over."), {"number": number})
    )
    return version


@transaction.atomic
def archive_tool(*, tool: TeamTool, user: User, now: datetime) -> None:
    """Offer a tool no more; experiments that have it go on with it."""
    rights.require(user, tool.team, Role.MANAGER)
    if TeamTool.objects.filter(pk=tool.pk, archived_at=None).update(archived_at=now, updated_at=now):
        _log(tool, user, Message(_("It is archived: new experiments are not offered it.")))


@transaction.atomic
def restore_tool(*, tool: TeamTool, user: User, now: datetime) -> None:
    """Offer an archived tool again."""
    rights.require(user, tool.team, Role.MANAGER)
    if TeamTool.objects.filter(pk=tool.pk, archived_at__isnull=False).update(archived_at=None, updated_at=now):
        _log(tool, user, Message(_("It was taken back from the archive.")))


def checked(definition: object) -> custom.Definition:
    """Return a definition read from plain data; ValidationError names each wrong field below "definition"."""
    try:
        sound = definition if isinstance(definition, custom.Definition) else custom.read_definition(definition)
    except custom.DefinitionError as error:
        raise ValidationError(in_definition(error.errors)) from error
    check_seen_in("definition.name", sound.name)
    return sound


def in_definition(errors: Mapping[str, Message]) -> dict[str, list[str]]:
    """Return {field below "definition": [text]} for the reader."""
    return {f"definition.{name}" if name else "definition": [messages.render(text)] for name, text in errors.items()}


def _next_number(tool: TeamTool, latest: ToolVersion) -> int:
    """Return the first number beyond the latest version's that none has; archives may have brought later ones.

    ConflictError if there is none that an archive may have.
    """
    taken = set(tool.versions.values_list("number", flat=True))
    numbers = range(1 if latest.awaits_manager else latest.number + 1, MOST_VERSIONS + 1)
    number = next((number for number in numbers if number not in taken), None)
    if number is None:
        raise ConflictError(gettext("The tool has as many versions as one may have: define another tool."))
    return number


def _add_version(tool: TeamTool, user: User, definition: custom.Definition, number: int, note: str) -> ToolVersion:
    version = ToolVersion(
        tool=tool, number=number, definition=definition.as_json(), note=note.strip(), created_by=user
    )
    version.full_clean(exclude=["tool", "created_by"])
    version.save()
    _log(tool, user, Message(_("Version %(number)s was made."), {"number": number}))
    return version


def _log(tool: TeamTool, user: User, message: Message) -> None:
    ToolEvent.objects.create(tool=tool, user=user, message=message.as_json())


@transaction.atomic
def import_tool(*, team: Team, user: User, raw: bytes | str) -> TeamTool:
    """Return the tool of a file: a new one, or the team's of that short name with a next version if it differs."""
    rights.require(user, team, Role.MANAGER)
    slug, definition = files.read_file(raw)
    tool = TeamTool.objects.filter(team=team, slug=slug).first()
    if tool is None:
        return create_tool(team=team, user=user, slug=slug, definition=definition)
    change_tool(tool=tool, user=user, definition=definition, note=gettext("From a file."))
    tool.refresh_from_db()
    return tool
