"""Store the tools that teams defined, of which an archive has results."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from apps.accounts.models import Team, User
from apps.archive.campaigns import form, records
from apps.archive.campaigns.form import ArchiveError, wrong
from apps.archive.campaigns.reader import Archive
from apps.bench import custom, tools
from apps.bench.text import Message, _
from apps.bench.toolkit import Tool
from apps.toolbox import queries as toolbox
from apps.toolbox.models import MOST_VERSIONS, NOT_FREE, VERSION_MARK, TeamTool, ToolVersion


@dataclass(frozen=True)
class ArchivedTool:
    """A version of a tool as an archive has it; `slug` is the tool's, without its version."""

    slug: str
    number: int
    note: str
    definition: custom.Definition

    @property
    def version_slug(self) -> str:
        """Return what experiments call it."""
        return f"{self.slug}{VERSION_MARK}{self.number}"


def tools_in(archive: Archive) -> Iterator[ArchivedTool]:
    """Yield the tools of an archive; ArchiveError names what is wrong."""
    for item in records.sequence(archive.json(form.TOOLS), form.TOOLS):
        data = records.mapping(item, form.TOOLS)
        slug = records.text(data.get("slug"), form.TOOLS, 40)
        number = records.whole(data.get("number"), form.TOOLS)
        if not 1 <= number <= MOST_VERSIONS:
            text = _("A version is a number from 1 to %(most)s.")
            raise wrong(f"{form.TOOLS}, {slug}", Message(text, {"most": MOST_VERSIONS}))
        note = records.text(data.get("note"), form.TOOLS, 300)
        try:
            definition = custom.read_definition(data.get("definition"))
        except custom.DefinitionError as error:
            field, problem = next(iter(error.errors.items()))
            raise wrong(f"{form.TOOLS}, {slug}, {field}", problem) from error
        yield ArchivedTool(slug, number, note, definition)


def compared(archive: Archive, team: Team) -> tuple[list[ArchivedTool], list[ArchivedTool]]:
    """Return the tools of an archive that the team has not, and those that are others under the same name there."""
    new, differing = [], []
    for item in tools_in(archive):
        version = _version_here(item, team)
        if version is None:
            new.append(item)
        elif toolbox.definition_of(version) != item.definition:
            differing.append(item)
    return new, differing


def store_tools(archive: Archive, team: Team, user: User) -> None:
    """Add the versions that the team has not; ArchiveError if it has one with another definition.

    They wait for a manager: nobody is offered, and nothing runs, a command that a manager has not looked at. Of other
    teams' tools nothing is asked but whether a short name is free, which is as true of whoever defines a tool.
    """
    for item in tools_in(archive):
        version = _version_here(item, team)
        if version is not None:
            if toolbox.definition_of(version) != item.definition:
                text = _("The tool “%(tool)s” is another one here: its results cannot stand beside those.")
                raise ArchiveError("tool", Message(text, {"tool": item.version_slug}))
            continue
        ToolVersion.objects.create(
            tool=TeamTool.objects.filter(team=team, slug=item.slug).first() or _new_tool(item, archive, team),
            number=item.number,
            note=item.note,
            definition=item.definition.as_json(),
            created_by=user,
            awaits_manager=True,
        )


def tool_of(slug: str, team: Team, place: str) -> Tool:
    """Return the tool that an archive names, of the service or of the team that takes it; ArchiveError if none is."""
    try:
        return toolbox.get_tool(slug, team)
    except tools.UnknownTool:
        text = _("This service has no tool “%(tool)s”: update it, or define the tool first.")
        raise wrong(place, Message(text, {"tool": slug})) from None


def _version_here(item: ArchivedTool, team: Team) -> ToolVersion | None:
    return ToolVersion.objects.filter(tool__team=team, tool__slug=item.slug, number=item.number).first()


def _new_tool(item: ArchivedTool, archive: Archive, team: Team) -> TeamTool:
    """Return a tool of the team, archived as of the archive; ArchiveError if its short name is not free."""
    tool = TeamTool(team=team, slug=item.slug, name=item.definition.name, summary=item.definition.summary)
    tool.archived_at = records.moment(archive.manifest.get("made_at"), form.MANIFEST)
    try:
        if item.slug in {builtin.slug for builtin in tools.all_tools()}:
            raise ValidationError(str(NOT_FREE))
        tool.full_clean(exclude=["team"])
    except ValidationError as error:
        raise wrong(f"{form.TOOLS}, {item.slug}", records.as_told(error)) from error
    tool.save()
    return tool
