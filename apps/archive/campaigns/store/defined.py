"""Store the tools that teams defined, of which an archive has results."""

from django.core.exceptions import ValidationError

from apps.accounts.models import Team, User
from apps.archive.campaigns import form, records
from apps.archive.campaigns.form import ArchiveError, wrong
from apps.archive.campaigns.reader import Archive
from apps.bench import custom
from apps.bench.text import Message, _
from apps.toolbox.models import TeamTool, ToolVersion


def store_tools(archive: Archive, team: Team, user: User) -> None:
    """Add the versions that are not here; ArchiveError if one is here with another definition, or is another team's.

    They are archived, so that nobody is offered a tool for new measurements that a manager has not looked at.
    """
    for item in records.sequence(archive.json(form.TOOLS), form.TOOLS):
        data = records.mapping(item, form.TOOLS)
        slug = records.text(data.get("slug"), form.TOOLS, 40)
        number = records.whole(data.get("number"), form.TOOLS)
        note = records.text(data.get("note"), form.TOOLS, 300)
        try:
            definition = custom.read_definition(data.get("definition"))
        except custom.DefinitionError as error:
            field, problem = next(iter(error.errors.items()))
            raise wrong(f"{form.TOOLS}, {slug}, {field}", problem) from error
        tool = TeamTool.objects.filter(slug=slug).first()
        version = tool and tool.versions.filter(number=number).first()
        if version:
            if custom.read_definition(version.definition) != definition:
                text = _("The tool “%(tool)s” is another one here: its results cannot stand beside those.")
                raise ArchiveError("tool", Message(text, {"tool": version.slug}))
            continue
        if tool is not None and tool.team_id != team.pk:
            text = _("The tool “%(tool)s” belongs to another team here, in another version.")
            raise ArchiveError("tool", Message(text, {"tool": slug}))
        if tool is None:
            tool = TeamTool(team=team, slug=slug, name=definition.name, summary=definition.summary)
            tool.archived_at = records.moment(archive.manifest.get("made_at"), form.MANIFEST)
            try:
                tool.full_clean(exclude=["team"])
            except ValidationError as error:
                raise wrong(form.TOOLS, records.as_told(error)) from error
            tool.save()
        ToolVersion.objects.create(
            tool=tool, number=number, note=note, definition=definition.as_json(), created_by=user
        )
