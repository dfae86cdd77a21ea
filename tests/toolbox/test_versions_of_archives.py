"""Versions that archives brought before they waited for a manager wait for one, too."""

from importlib import import_module
from types import SimpleNamespace

from django.db import connection
from django.utils import timezone

from apps.toolbox import services
from apps.toolbox.models import TeamTool, ToolVersion
from tests.bench.custom import definitions

MARK = import_module("apps.toolbox.migrations.0003_versions_of_archives").MARK


def test_of_versions_that_were_there_those_wait_that_nobody_made(cast: SimpleNamespace) -> None:
    definition = definitions.data("site-digest")
    own = services.create_tool(team=cast.team, user=cast.alice, slug="own", definition=definition)
    services.change_tool(tool=own, user=cast.alice, definition=definition | {"name": "Anew"})
    ToolVersion.objects.create(tool=own, number=12, definition=definition)
    brought, looked_at = (
        TeamTool.objects.create(team=cast.team, slug=slug, name=slug, archived_at=timezone.now())
        for slug in ("brought", "looked-at")
    )
    for tool in (brought, looked_at):
        ToolVersion.objects.create(tool=tool, number=1, definition=definition)
    services.restore_tool(tool=looked_at, user=cast.alice, now=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(MARK)
    waiting = ToolVersion.objects.filter(awaits_manager=True).select_related("tool")
    assert sorted(version.slug for version in waiting) == ["brought.v1", "own.v12"]
