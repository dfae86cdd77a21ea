"""Pages of tools: who sees and changes what, and what is said as one types."""

from django.urls import reverse

from apps.toolbox import queries, services
from apps.toolbox.models import TeamTool
from tests.bench.custom import definitions
from tests.campaigns import factories as make


def url(name, *args):
    return reverse(f"toolbox:tool_{name}", args=args)


def form_data(**changes):
    """Return what the page's form sends for a small tool."""
    return {
        "slug": "site-rate",
        "name": "Rate",
        "group": "other",
        "parts": "alone",
        "program": "site",
        "arguments": "-s {size:MiB}\n--now {now}",
        "parameters-TOTAL_FORMS": "3",
        "parameters-INITIAL_FORMS": "0",
        "parameters-0-name": "size",
        "parameters-0-kind": "size",
        "parameters-0-default": "64 MiB",
        "parameters-1-name": "now",
        "parameters-1-kind": "boolean",
        "parameters-2-kind": "size",
        "metrics-TOTAL_FORMS": "1",
        "metrics-INITIAL_FORMS": "0",
        "metrics-0-name": "rate",
        "metrics-0-unit": "MB/s",
        "metrics-0-better": "higher",
        "metrics-0-find": "regex",
        "metrics-0-where": r"rate: (\d+)",
        "metrics-0-take": "last",
        **changes,
    }


def test_the_stranger_the_wrong_team_and_the_viewer(client, cast, tool):
    read = [url("detail", tool.pk), url("version", tool.pk, 1), url("export", tool.pk, 1)]
    write = [url("update", tool.pk), url("archive", tool.pk)]
    for address in [*read, *write, url("list"), url("create"), url("import")]:
        assert client.get(address).status_code == 302
    client.force_login(cast.charlie)
    for address in [*read, *write]:
        assert client.get(address).status_code == 404
    assert "site-digest" not in client.get(url("list")).content.decode()
    assert client.post(url("create") + "?team=grid", form_data()).status_code == 404
    for person in (cast.bob, cast.oscar):
        client.force_login(person)
        for address in read:
            assert client.get(address).status_code == 200
        for address in [*write, url("create"), url("import")]:
            assert client.get(address).status_code == 403
        assert client.post(url("restore", tool.pk)).status_code == 403
        assert url("update", tool.pk) not in client.get(url("detail", tool.pk)).content.decode()


def test_the_list_shows_ones_own_and_the_services_tools(client, cast, tool, django_assert_max_num_queries):
    client.force_login(cast.bob)
    with django_assert_max_num_queries(14):
        page = client.get(url("list")).content.decode()
    assert "site-digest" in page
    assert "traceroute" in page
    assert url("create") not in page


def test_a_manager_defines_a_tool_in_the_browser(client, cast):
    client.force_login(cast.alice)
    assert client.get(url("create")).status_code == 200
    answer = client.post(url("create"), form_data())
    made = TeamTool.objects.get()
    assert answer.url == made.get_absolute_url()
    tool = queries.get_tool("site-rate.v1")
    assert [(item.name, item.kind, item.default) for item in tool.parameters] == [
        ("size", "size", 64 * 1024**2),
        ("now", "boolean", False),
    ]
    assert [(item.name, item.unit, item.primary) for item in tool.metrics] == [("rate", "B/s", True)]
    assert "site-rate" in client.get(made.get_absolute_url()).content.decode()


def test_mistakes_are_shown_at_their_rows(client, cast):
    client.force_login(cast.alice)
    wrong = {"metrics-0-where": "(", "parameters-0-default": "a lot", "slug": "No", "arguments": "{nosuch}"}
    answer = client.post(url("create"), form_data(**wrong))
    assert answer.status_code == 422
    page = answer.content.decode()
    for words in ("This is not a pattern", "is not a size", "begin with a letter", "{nosuch} is none of the names"):
        assert words in page
    assert not TeamTool.objects.exists()


def test_a_change_makes_a_version_and_says_when_someone_was_faster(client, cast, tool):
    client.force_login(cast.alice)
    page = client.get(url("update", tool.pk))
    form = page.context["parts"]
    data = {"based_on": "1", "note": "Faster"}
    for name, field in form.fields.fields.items():
        data[name] = form.fields.initial.get(name, field.initial) or ""
    for rows in (form.parameters, form.metrics):
        data[f"{rows.prefix}-TOTAL_FORMS"] = str(len(rows.forms))
        data[f"{rows.prefix}-INITIAL_FORMS"] = "0"
        for row in rows:
            data |= {
                row.add_prefix(name): row.get_initial_for_field(field, name) or ""
                for name, field in row.fields.items()
            }
        data[f"{rows.prefix}-{len(rows.forms) - 1}-kind"] = "size"
        for name in ("better", "find", "take"):
            data.setdefault(f"{rows.prefix}-{len(rows.forms) - 1}-{name}", "")
            data[f"{rows.prefix}-{len(rows.forms) - 1}-{name}"] = {
                "better": "higher",
                "find": "regex",
                "take": "last",
            }[name]
    assert "Nothing differs" in client.post(url("update", tool.pk), data).content.decode()
    answer = client.post(url("update", tool.pk), {**data, "summary": "Anew"})
    assert answer.status_code == 302
    assert queries.latest_version(tool).note == "Faster"
    assert queries.definition_of(queries.latest_version(tool)).conditions == ("speed > 1 MB/s",)
    again = client.post(url("update", tool.pk), {**data, "summary": "Twice"})
    assert again.status_code == 422
    assert "Someone made version 2" in again.content.decode()


def preview(client, **changes):
    return client.post(url("preview"), form_data(**changes)).content.decode()


def test_as_one_types_one_sees_the_command_and_what_is_read(client, cast):
    client.force_login(cast.alice)
    assert "site -s 64" in preview(client)
    assert "Paste an output" in preview(client)
    assert "12.00 MB/s" in preview(client, output="rate: 12\n")
    assert "is not in the output" in preview(client, output="nothing\n")
    assert "This is not a pattern" in preview(client, output="rate: 12\n", **{"metrics-0-where": "("})
    assert "“M” may be several things" in preview(client, **{"metrics-0-unit": "M"})


def test_a_preview_of_nonsense_is_no_error(client, cast):
    client.force_login(cast.alice)
    assert client.post(url("preview"), {}).status_code == 200
    assert client.post(url("preview"), {"parameters-TOTAL_FORMS": "x"}).status_code == 200
    assert client.post(url("preview"), form_data(name="a\0b")).status_code == 200
    client.logout()
    assert client.post(url("preview"), form_data()).status_code == 302


def test_archiving_asks_first_and_can_be_undone(client, cast, tool):
    client.force_login(cast.alice)
    assert "Archive" in client.get(url("archive", tool.pk)).content.decode()
    assert not TeamTool.objects.get().archived_at
    client.post(url("archive", tool.pk))
    assert "archived" in client.get(url("list")).content.decode()
    client.post(url("restore", tool.pk))
    assert not TeamTool.objects.get().archived_at


def test_a_file_goes_out_and_in(client, cast, tool):
    client.force_login(cast.alice)
    text = client.get(url("export", tool.pk, 1)).content.decode()
    assert text.startswith("fathom-tool: 1\nslug: site-digest\n")
    same = client.post(url("import"), {"text": text})
    assert same.status_code == 422
    assert "Nothing differs" in same.content.decode()
    assert client.post(url("import"), {"text": text.replace("site-digest", "new-one")}).status_code == 302
    assert queries.get_tool("new-one.v1").programs == ("openssl",)
    assert client.post(url("import"), {}).status_code == 422
    wrong = client.post(url("import"), {"text": "fathom-tool: 1\nslug: x-y\n"}).content.decode()
    assert "This is needed" in wrong


def test_the_page_tells_where_a_tool_is_used(client, cast, tool, definition):
    (node,) = make.nodes(cast.team, "north")
    draft = make.campaign(cast, name="Digests")
    make.services.create_experiment(
        campaign=draft, user=cast.oscar, name="blocks", tool="site-digest.v1", roles=make.players(node=node)
    )
    services.change_tool(tool=tool, user=cast.alice, definition={**definition, "name": "B"})
    client.force_login(cast.bob)
    page = client.get(url("detail", tool.pk)).content.decode()
    assert "Digests: blocks" in page
    assert reverse("campaigns:campaign_detail", args=[draft.pk]) in page
    assert "no node yet" in page
    old = client.get(url("version", tool.pk, 1)).content.decode()
    assert "the latest is 2" in old
    assert client.get(url("version", tool.pk, 9)).status_code == 302


def test_a_definition_with_markup_is_shown_as_text(client, cast, definition):
    made = services.create_tool(
        team=cast.team, user=cast.alice, slug="odd", definition={**definition, "name": "<script>x</script> 50%"}
    )
    client.force_login(cast.bob)
    page = client.get(made.get_absolute_url()).content.decode()
    assert "<script>x" not in page
    assert "&lt;script&gt;" in page
    assert definitions.data("site-digest")["program"] in page
