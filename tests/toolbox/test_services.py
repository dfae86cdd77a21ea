"""Tools defined, changed to next versions, archived and taken in from files."""

from datetime import UTC, datetime

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.http import Http404

from apps.bench import tools
from apps.toolbox import files, queries, services
from apps.toolbox.models import TeamTool, ToolVersion
from tests.bench.custom import definitions

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def test_a_defined_tool_is_a_tool_like_any_other(cast, tool):
    made = queries.get_tool("site-digest.v1")
    assert (made.name, made.programs, made.group) == ("OpenSSL speed", ("openssl",), "other")
    assert made.slug == "site-digest.v1"
    assert [item.slug for item in queries.tools_for(cast.team)][-1] == "site-digest.v1"
    assert "site-digest.v1" not in [item.slug for item in queries.tools_for(cast.other_team)]
    assert queries.get_tool("ping") is tools.get("ping")


def test_a_change_makes_a_next_version_and_leaves_the_first(cast, tool, definition):
    version = services.change_tool(
        tool=tool, user=cast.alice, definition={**definition, "name": "Digest"}, note="Renamed", based_on=1
    )
    assert version.slug == "site-digest.v2"
    assert queries.get_tool("site-digest.v1").name == "OpenSSL speed"
    assert queries.get_tool("site-digest.v2").name == "Digest"
    assert [item.slug for item in queries.tools_for(cast.team) if "digest" in item.slug] == ["site-digest.v2"]
    assert "site-digest.v1" in [item.slug for item in queries.tools_for(cast.team, also="site-digest.v1")]
    tool.refresh_from_db()
    assert tool.name == "Digest"
    assert [event.message["msgid"] for event in tool.events.all()] == ["Version %(number)s was made."] * 2


def test_a_change_that_changes_nothing_makes_no_version(cast, tool, definition):
    with pytest.raises(ValidationError, match="Nothing differs"):
        services.change_tool(tool=tool, user=cast.alice, definition=definition)
    assert tool.versions.count() == 1


def test_who_changed_an_older_version_is_told(cast, tool, definition):
    services.change_tool(tool=tool, user=cast.alice, definition={**definition, "name": "A"}, based_on=1)
    with pytest.raises(ValidationError, match="Someone made version 2"):
        services.change_tool(tool=tool, user=cast.alice, definition={**definition, "name": "B"}, based_on=1)


def test_a_version_never_changes(tool):
    version = tool.versions.get()
    with pytest.raises(TypeError):
        version.save()
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        ToolVersion.objects.filter(pk=version.pk).update(definition={})
    version.created_by.delete()
    assert ToolVersion.objects.get(pk=version.pk).created_by is None


def test_an_archived_tool_is_not_offered_but_still_known(cast, tool):
    services.archive_tool(tool=tool, user=cast.alice, now=NOW)
    assert "site-digest.v1" not in [item.slug for item in queries.tools_for(cast.team)]
    assert queries.get_tool("site-digest.v1").slug == "site-digest.v1"
    services.restore_tool(tool=tool, user=cast.alice, now=NOW)
    assert "site-digest.v1" in [item.slug for item in queries.tools_for(cast.team)]
    assert tool.events.count() == 3


@pytest.mark.parametrize("slug", ["Site", "-x", "a--b", "x.v1", "", "a" * 41, "ping"])
def test_a_short_name_that_cannot_be_is_refused(cast, definition, slug):
    with pytest.raises(ValidationError) as caught:
        services.create_tool(team=cast.team, user=cast.alice, slug=slug, definition=definition)
    assert list(caught.value.message_dict) == ["slug"]


def test_a_short_name_is_taken_for_everyone_and_nobody_is_told_by_whom(cast, tool, definition):
    said = []
    for slug in ("site-digest", "ping"):
        with pytest.raises(ValidationError) as caught:
            services.create_tool(team=cast.other_team, user=cast.charlie, slug=slug, definition=definition)
        said.append(caught.value.message_dict)
    assert said == [{"slug": ["This short name is not free: choose another."]}] * 2


def test_every_mistake_is_named_at_once(cast):
    wrong = definitions.minimal(program="/bin/sh", metrics=[{"name": "x", "where": "("}])
    with pytest.raises(ValidationError) as caught:
        services.create_tool(team=cast.team, user=cast.alice, slug="No", definition=wrong)
    assert set(caught.value.message_dict) == {"slug", "definition.program", "definition.metrics.0.where"}


@pytest.mark.parametrize(
    ("who", "error"), [("oscar", PermissionDenied), ("bob", PermissionDenied), ("charlie", Http404)]
)
def test_only_managers_define_change_and_archive(cast, tool, definition, who, error):
    person = getattr(cast, who)
    for attempt in (
        lambda: services.create_tool(team=cast.team, user=person, slug="other", definition=definition),
        lambda: services.change_tool(tool=tool, user=person, definition={**definition, "name": "B"}),
        lambda: services.archive_tool(tool=tool, user=person, now=NOW),
        lambda: services.restore_tool(tool=tool, user=person, now=NOW),
        lambda: services.import_tool(team=cast.team, user=person, raw="fathom-tool: 1"),
    ):
        with pytest.raises(error):
            attempt()
    assert TeamTool.objects.count() == 1


def test_a_tool_goes_to_another_team_as_a_file(cast, tool, definition):
    text = files.export_tool("other-digest", queries.definition_of(queries.latest_version(tool)))
    taken = services.import_tool(team=cast.other_team, user=cast.charlie, raw=text)
    first, second = queries.get_tool("site-digest.v1"), queries.get_tool("other-digest.v1")
    assert first.definition == second.definition
    changed = text.replace("name: OpenSSL speed", "name: Digests")
    services.import_tool(team=cast.other_team, user=cast.charlie, raw=changed)
    assert [version.number for version in queries.versions_of(taken)] == [2, 1]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("- a\n- b", "fathom-tool: 1"),
        ("fathom-tool: 2", "fathom-tool: 1"),
        ("a: [", "not YAML"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
        ("x" * 300_000, "too large"),
        ("fathom-tool: 1\nslug: x\nname: &a [1]\nsummary: *a\n", "anchors (&) and aliases (*) are not read"),
        ("fathom-tool: 1\nslug: x\nuses:\n  <<: {a: b}\n", "Line 4, column 3: merge keys (<<) are not read"),
    ],
)
def test_a_file_that_is_none_is_refused(cast, raw, words):
    with pytest.raises(ValidationError) as caught:
        services.import_tool(team=cast.team, user=cast.alice, raw=raw)
    assert words in " ".join(caught.value.messages)


def test_unknown_slugs_are_unknown_tools(cast, tool):
    for slug in ("site-digest.v2", "nosuch.v1", "nosuch", "site-digest.v0", "site-digest.v99999999999999"):
        with pytest.raises(tools.UnknownTool):
            queries.get_tool(slug)
    with pytest.raises(tools.UnknownTool):
        queries.get_tool("site-digest.v1", cast.other_team)


def test_many_tools_cost_few_queries(cast, definition, django_assert_max_num_queries):
    for number in range(5):
        services.create_tool(team=cast.team, user=cast.alice, slug=f"tool-{number}", definition=definition)
    queries.tools_for(cast.team)
    with django_assert_max_num_queries(1):
        assert len(queries.tools_for(cast.team)) == len(tools.all_tools()) + 5
