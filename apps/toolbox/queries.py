"""Reads: the tool of a slug, the tools of a team, and where they are used."""

import functools
import re
from collections.abc import Iterable

from django.conf import settings
from django.db.models import CharField, Exists, Func, IntegerField, Max, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Cast
from django.utils.module_loading import import_string

from apps.accounts import rights
from apps.accounts.models import Team, User
from apps.bench import custom, tools
from apps.bench.text import _
from apps.bench.toolkit import Tool
from apps.toolbox.models import VERSION_MARK, TeamTool, ToolVersion
from apps.toolbox.uses import Permit, Use

_VERSIONED = re.compile(r"(?P<slug>[a-z0-9-]{1,40})\.v(?P<number>[1-9]\d{0,8})", re.ASCII)


def get_tool(slug: str, team: Team | int | None = None) -> Tool:
    """Return the tool of a slug, whether it came with the service or a team defined it.

    With a `team`, or its number, other teams' tools do not exist. tools.UnknownTool names the tools there are.
    """
    match = _VERSIONED.fullmatch(slug)
    if not match:
        return tools.get(slug)
    rows = ToolVersion.objects.filter(tool__slug=match["slug"], number=int(match["number"]))
    if team is not None:
        rows = rows.filter(tool__team=team)
    pk = rows.values_list("pk", flat=True).first()
    if pk is None:
        raise tools.UnknownTool(f"no tool is called {slug!r}")
    return _made(pk)


# Why nothing is launched with it, nor drafted.
NOT_TAKEN_OVER = _(
    "“%(tool)s” came with an archive and runs nothing yet: a manager of the team looks at it and takes it over on "
    "its page."
)


class NotTakenOverError(tools.UnknownTool):
    """A version that came with an archive, and that no manager of the team has taken over: it runs nothing."""


def get_runnable_tool(slug: str, team_id: int) -> Tool:
    """Return a tool that the team's nodes may run; UnknownTool, or NotTakenOverError which is one, of any other."""
    tool = get_tool(slug, team_id)
    if awaiting_of([slug], team_id):
        raise NotTakenOverError(f"no manager has taken {slug!r} over")
    return tool


def awaiting_of(slugs: Iterable[str], team_id: int) -> list[str]:
    """Return which of these tools came with an archive and wait for a manager of the team."""
    return sorted(version.slug for version in _awaiting(slugs) if version.tool.team_id == team_id)


def awaiting_tools(slugs: Iterable[str]) -> dict[str, int]:
    """Return {slug: its tool} of those of these versions, of whatever team, that wait for a manager."""
    return {version.slug: version.tool_id for version in _awaiting(slugs)}


def is_awaiting(slug: OuterRef) -> Exists:
    """Return the condition that a slug is that of a version which came with an archive and waits for a manager."""
    name = Func(slug, Value(VERSION_MARK), Value(1), function="split_part", output_field=CharField())
    number = Func(slug, Value(r"\.v([0-9]{1,9})$"), function="substring", output_field=CharField())
    versions = ToolVersion.objects.filter(awaits_manager=True, tool__slug=name)
    return Exists(versions.filter(number=Cast(number, IntegerField())))


def get_tool_of(slug: str, user: User) -> Tool:
    """Return the tool of a slug if it came with the service or belongs to a team of the user; or UnknownTool."""
    tool = get_tool(slug)
    if VERSION_MARK in slug:
        owners = rights.visible(TeamTool.objects.filter(slug=slug.rpartition(VERSION_MARK)[0]), user)
        if not owners.exists():
            raise tools.UnknownTool(f"no tool is called {slug!r}")
    return tool


def tools_for(team: Team, *, also: str = "") -> list[Tool]:
    """Return what a team may choose from: the tools of the service, and of its own the latest versions.

    Archived ones, and versions that wait for a manager, are left out; `also` is the slug of one that is chosen
    already, be it archived or an older version.
    """
    offered = [_made(version) for version in _latest_of(TeamTool.objects.filter(team=team, archived_at=None))]
    chosen = {tool.slug: tool for tool in (*tools.all_tools(), *offered)}
    if also and also not in chosen:
        try:
            chosen[also] = get_tool(also, team)
        except tools.UnknownTool:
            pass
    return list(chosen.values())


def tools_of(user: User) -> list[Tool]:
    """Return the tools of the service and, of all teams of the user, those that are not archived."""
    own = rights.visible(TeamTool.objects.filter(archived_at=None), user)
    return [*tools.all_tools(), *(_made(version) for version in _latest_of(own))]


def team_tools() -> QuerySet[TeamTool]:
    """Return tools with the number of their latest version as `latest`: None while all wait for a manager.

    `awaiting` is the number of the latest that waits for one, None if none does.
    """
    return TeamTool.objects.select_related("team").annotate(
        latest=_last_number(awaits_manager=False), awaiting=_last_number(awaits_manager=True)
    )


def versions_of(tool: TeamTool) -> QuerySet[ToolVersion]:
    """Return the versions of a tool, the latest first, with their authors."""
    return tool.versions.select_related("tool", "created_by").order_by("-number")


def latest_version(tool: TeamTool) -> ToolVersion:
    """Return the version that new experiments use; of a tool of which all wait for a manager, the last of them."""
    return versions_of(tool).order_by("awaits_manager", "-number")[0]


def made_of(version: ToolVersion) -> Tool:
    """Return a version as a tool."""
    return _made(version.pk)


def definition_of(version: ToolVersion) -> custom.Definition:
    """Return the definition of a version."""
    return custom.restore_definition(version.definition)


def uses_of(versions: Iterable[ToolVersion], user: User) -> dict[str, list[Use]]:
    """Return {slug of a version: where it is used}, of what the user may see.

    Tools know nothing of campaigns: TOOL_USES names a function that does.
    """
    slugs = [version.slug for version in versions]
    uses: dict[str, list[Use]] = import_string(settings.TOOL_USES)(slugs=slugs, user=user)
    return uses


def permits_of(team: Team, programs: Iterable[str] | None = None) -> list[Permit]:
    """Return which programs the team's nodes allow, those named or all: one row for each program.

    Tools know nothing of agents: TOOL_PERMITS names a function that does.
    """
    permits: list[Permit] = import_string(settings.TOOL_PERMITS)(team=team)
    if programs is None:
        return permits
    by_name = {permit.program: permit for permit in permits}
    return [by_name.get(program) or Permit(program, ()) for program in programs]


def _last_number(*, awaits_manager: bool) -> Subquery:
    versions = ToolVersion.objects.filter(tool=OuterRef("pk"), awaits_manager=awaits_manager)
    return Subquery(versions.order_by("-number").values("number")[:1], output_field=IntegerField())


def _latest_of(rows: QuerySet[TeamTool]) -> list[int]:
    """Return the ids of the latest versions of tools, in the order of their names."""
    taken = ToolVersion.objects.filter(tool=OuterRef("tool"), awaits_manager=False)
    numbers = taken.values("tool").annotate(last=Max("number")).values("last")
    versions = ToolVersion.objects.filter(tool__in=rows.order_by(), number=Subquery(numbers))
    return list(versions.order_by("tool__name", "pk").values_list("pk", flat=True))


def _awaiting(slugs: Iterable[str]) -> list[ToolVersion]:
    named = {slug for slug in slugs if VERSION_MARK in slug}
    if not named:
        return []
    tools_named = {slug.rpartition(VERSION_MARK)[0] for slug in named}
    rows = ToolVersion.objects.filter(tool__slug__in=tools_named, awaits_manager=True)
    versions = rows.select_related("tool").defer("definition")
    return [version for version in versions if version.slug in named]


@functools.lru_cache(maxsize=512)
def _made(pk: int) -> Tool:
    """Return the tool of a version; what is kept here stays right, for versions never change."""
    version = ToolVersion.objects.select_related("tool").get(pk=pk)
    return custom.make_tool(definition_of(version), f"{version.tool.slug}{VERSION_MARK}{version.number}")
