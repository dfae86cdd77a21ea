"""Versions that archives brought before they waited for a manager wait for one, too."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.db import connection
from django.utils import timezone

from apps.toolbox import services
from apps.toolbox.models import TeamTool, ToolVersion
from tests.bench.custom import definitions

MARK = import_module("apps.toolbox.migrations.0003_versions_of_archives").MARK
MARK_AGAIN = import_module("apps.toolbox.migrations.0004_versions_since_taken_back").MARK


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


@pytest.mark.parametrize("steps", [(MARK, MARK_AGAIN), (MARK_AGAIN,)], ids=["both", "0003 was done before"])
def test_a_take_back_says_nothing_of_what_came_later(cast: SimpleNamespace, steps: tuple[str, ...]) -> None:
    definition = definitions.data("site-digest")
    own = services.create_tool(team=cast.team, user=cast.alice, slug="own", definition=definition)
    for number in (5, 6):
        ToolVersion.objects.create(tool=own, number=number, definition=definition)
    for _time in range(2):
        services.archive_tool(tool=own, user=cast.alice, now=timezone.now())
        services.restore_tool(tool=own, user=cast.alice, now=timezone.now())
    for number, awaits in ((7, False), (8, True), (9, False)):
        ToolVersion.objects.create(tool=own, number=number, definition=definition, awaits_manager=awaits)
    services.take_over(tool=own, user=cast.alice, number=8)
    services.change_tool(tool=own, user=cast.alice, definition=definition | {"name": "Anew"})
    latest = ToolVersion.objects.order_by("-pk").first()
    with connection.cursor() as cursor:
        for step in steps:
            cursor.execute(step)
    waiting = ToolVersion.objects.filter(awaits_manager=True).values_list("number", flat=True)
    # 5 and 6 were there as a manager took the tool back, 8 was taken over, and a person made the last.
    assert sorted(waiting) == [7, 9]
    assert latest is not None and latest.number == 10
