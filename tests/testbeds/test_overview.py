"""The inventory as a whole: the overview, a file in and out, the example; in the browser and over REST."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.testbeds import inventory, models
from tests import factories as people
from tests.pages import flat
from tests.testbeds import factories
from tests.testbeds.rest import Api

pytestmark = pytest.mark.django_db

HOME, IMPORT, EXPORT, EXAMPLE = (reverse(f"testbeds:{name}") for name in ("home", "import", "export", "example"))


def test_the_overview_counts_and_draws(client: Client) -> None:
    cast = people.cast()
    inventory.load_example(team=cast.team)
    client.force_login(cast.bob)
    response = client.get(HOME)
    assert ("nodes", 23, reverse("testbeds:node_list")) in response.context["counts"]
    assert "KGFS × 4" in response.content.decode()
    assert IMPORT not in response.content.decode()


def test_an_empty_inventory_says_what_to_do_next(client: Client) -> None:
    cast = people.cast()
    client.force_login(cast.oscar)
    page = client.get(HOME).content.decode()
    for address in (reverse("testbeds:site_create"), EXAMPLE, IMPORT):
        assert address in page
    client.force_login(cast.bob)
    page = client.get(HOME).content.decode()
    assert "An operator of your team can do it." in page
    assert EXAMPLE not in page


def test_a_person_without_a_team_is_told_so(client: Client) -> None:
    client.force_login(people.user("nobody"))
    assert "You are in no team" in client.get(HOME).content.decode()
    assert client.get(EXPORT).status_code == 404
    assert client.post(EXAMPLE).status_code == 404


def test_each_of_two_teams_has_its_own_overview(client: Client) -> None:
    cast = people.cast()
    second = people.team("second", viewer=cast.oscar)
    factories.site(second, "theirs")
    client.force_login(cast.oscar)
    assert "theirs" not in client.get(HOME).content.decode()
    response = client.get(HOME, {"team": "second"})
    assert response.context["can_write"] is False
    assert client.get(IMPORT, {"team": "second"}).status_code == 403


def test_the_overview_takes_a_bounded_number_of_queries(client: Client, django_assert_max_num_queries) -> None:
    cast = people.cast()
    inventory.load_example(team=cast.team)
    client.force_login(cast.bob)
    with django_assert_max_num_queries(24):
        client.get(HOME)


@pytest.mark.parametrize("address", [HOME, IMPORT, EXPORT])
def test_pages_are_for_members(client: Client, address: str) -> None:
    cast = people.cast()
    assert client.get(address).status_code == 302
    client.force_login(cast.charlie)
    assert client.get(address, {"team": cast.team.slug}).status_code == 404


def test_only_operators_import_and_load_the_example(client: Client) -> None:
    cast = people.cast()
    form = {"team": cast.team.slug, "inventory": "sites: [{name: s}]", "confirmed": "1"}
    for person, status in ((None, 302), (cast.bob, 403), (cast.charlie, 404)):
        client.logout()
        if person:
            client.force_login(person)
        assert client.post(IMPORT, form).status_code == status
        assert client.post(EXAMPLE, form).status_code == status
    assert not models.Site.objects.exists()
    assert client.get(EXAMPLE).status_code == 405


def test_the_example_is_loaded_by_one_click(client: Client) -> None:
    cast = people.cast()
    client.force_login(cast.oscar)
    response = client.post(EXAMPLE, follow=True)
    assert "88 things were created or changed." in response.content.decode()
    assert models.Cluster.objects.get(name="GPFS_PDAISY").nodes.count() == 10


def test_the_example_changes_nothing_of_the_teams_own_unseen(client: Client) -> None:
    cast = people.cast()
    own = factories.site(cast.team, "KISTI", place="our own words")
    client.force_login(cast.oscar)
    response = client.post(EXAMPLE, {"team": cast.team.slug}, follow=True)
    assert "name: KISTI" in response.content.decode()
    own.refresh_from_db()
    assert own.place == "our own words"
    assert models.Site.objects.count() == 1


def test_a_file_is_exported(client: Client) -> None:
    cast = people.cast()
    inventory.load_example(team=cast.team)
    client.force_login(cast.bob)
    response = client.get(EXPORT)
    assert response.content.decode() == inventory.export_inventory(team=cast.team)
    assert response["Content-Disposition"] == 'attachment; filename="inventory-grid.yaml"'


def test_an_import_is_previewed_and_then_done(client: Client) -> None:
    cast = people.cast()
    factories.site(cast.team, "KISTI", place="Daejeon")
    factories.site(cast.team, "PNU")
    client.force_login(cast.oscar)
    text = "sites:\n- {name: KISTI, place: Daejeon KR}\n- {name: KNU}\n- {name: PNU}\n"
    page = client.post(IMPORT, {"inventory": text})
    assert [(change.action, str(change.item)) for change in page.context["changes"]] == [
        ("changed", "KISTI"), ("created", "KNU"),
    ]  # fmt: skip
    assert "<del>Daejeon</del>→ Daejeon KR" in flat(page.content.decode())
    assert "1 is the same already" in page.content.decode()
    assert models.Site.objects.count() == 2
    response = client.post(IMPORT, {"inventory": page.context["text"], "confirmed": "1"}, follow=True)
    assert "2 things were created or changed." in response.content.decode()
    assert set(models.Site.objects.values_list("place", flat=True)) == {"Daejeon KR", ""}


def test_a_file_is_uploaded(client: Client) -> None:
    cast = people.cast()
    client.force_login(cast.oscar)
    file = SimpleUploadedFile("inventory.yaml", b"\xef\xbb\xbfsites: [{name: KISTI}]\r\n")
    assert [str(change.item) for change in client.post(IMPORT, {"file": file}).context["changes"]] == ["KISTI"]


def test_a_file_that_changes_nothing_says_so(client: Client) -> None:
    cast = people.cast()
    factories.site(cast.team, "KISTI")
    client.force_login(cast.oscar)
    assert "Nothing to do" in client.post(IMPORT, {"inventory": "sites: [{name: KISTI}]"}).content.decode()


@pytest.mark.parametrize(
    ("form", "field", "said"),
    [
        ({}, "inventory", "Choose a file, or paste its text."),
        ({"inventory": "sites: [{place: x}]"}, "inventory", "Line 1, sites, name: this field is needed."),
        ({"inventory": "sites: ["}, "inventory", "this is not YAML"),
        ({"inventory": "a\0b"}, "inventory", "This holds a control character"),
        ({"file": b"sites: \xff"}, "file", "not UTF-8 text"),
        ({"file": b"#" * (inventory.MOST_BYTES + 1)}, "file", "The file is too large; split it."),
        ({"inventory": "#" * (inventory.MOST_BYTES + 1)}, "inventory", "too large: 1024 KiB at most"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(client: Client, form, field: str, said: str) -> None:
    cast = people.cast()
    client.force_login(cast.oscar)
    for confirmed in ({}, {"confirmed": "1"}):
        file = {"file": SimpleUploadedFile("inventory.yaml", form["file"])} if "file" in form else {}
        response = client.post(IMPORT, form | file | confirmed)
        assert response.status_code == 422
        assert said in response.context["form"].errors[field][0]
    assert not models.Site.objects.exists()


def test_rest_exports_what_it_imports(client: Client) -> None:
    cast = people.cast()
    api = Api(client, cast.oscar)
    answer = api.post("inventory/", {"inventory": inventory.example_text()})
    assert (answer["created"], answer["changed"], answer["same"], answer["dry_run"]) == (88, 0, 0, False)
    response = client.get("/api/v1/inventory/", **api.headers)
    assert response["Content-Type"] == "application/yaml; charset=utf-8"
    assert response.content.decode() == inventory.export_inventory(team=cast.team)
    accepting = client.get("/api/v1/inventory/", headers={"accept": "application/yaml"}, **api.headers)
    assert accepting.content == response.content


def test_rest_takes_the_file_itself_as_the_body(client: Client) -> None:
    cast = people.cast()
    headers = people.bearer(cast.oscar)
    text = "sites: [{name: KISTI, place: 대전}]".encode()
    address = f"/api/v1/inventory/?team={cast.team.slug}"
    preview = client.post(f"{address}&dry_run=true", text, content_type="application/yaml", **headers).json()
    assert preview["changes"] == [
        {
            "action": "created",
            "kind": "site",
            "name": "KISTI",
            "differences": [
                {"field": "name", "before": None, "after": "KISTI"},
                {"field": "place", "before": None, "after": "대전"},
            ],
        }
    ]
    assert not models.Site.objects.exists()
    assert client.post(address, text, content_type="application/yaml", **headers).json()["created"] == 1
    assert models.Site.objects.get().place == "대전"
    for wrong in (b"\xff", b"#" * (inventory.MOST_BYTES + 2), b"sites: ["):
        answer = client.post(address, wrong, content_type="application/yaml", **headers)
        assert answer.status_code == 400
        assert list(answer.json()["fields"]) == ["inventory"]


def test_rest_names_every_line_that_is_wrong_and_stores_nothing(client: Client) -> None:
    cast = people.cast()
    api = Api(client, cast.oscar)
    answer = api.post("inventory/", {"inventory": "sites: [{name: s}, {place: x}, {name: t, x: y}]"}, status=400)
    assert len(answer["fields"]["inventory"]) == 2
    assert not models.Site.objects.exists()
    assert "inventory" in api.post("inventory/", {}, status=400)["fields"]
    assert "dry_run" in api.post("inventory/", {"inventory": "", "dry_run": "perhaps"}, status=400)["fields"]


def test_rest_imports_for_operators_and_exports_for_members(client: Client) -> None:
    cast = people.cast()
    body = {"inventory": "sites: [{name: s}]", "team": cast.team.slug}
    Api(client).get("inventory/", status=401)
    Api(client).post("inventory/", body, status=401)
    Api(client).post("inventory/example/", body, status=401)
    for api, status in ((Api(client, cast.bob), 403), (Api(client, cast.alice, "read"), 403),
                        (Api(client, cast.charlie), 400)):  # fmt: skip
        api.post("inventory/", body, status=status)
        api.post("inventory/example/", {"team": cast.team.slug}, status=status)
    assert "team" in Api(client, cast.charlie).get("inventory/", {"team": cast.team.slug}, status=400)["fields"]
    assert client.get("/api/v1/inventory/", **people.bearer(cast.bob)).status_code == 200
    assert not models.Site.objects.exists()


def test_rest_takes_the_team_named_and_else_the_one_joined_first(client: Client) -> None:
    cast = people.cast()
    people.team("second", operator=cast.oscar)
    api = Api(client, cast.oscar)
    assert api.post("inventory/example/", {"team": "second"})["created"] == 88
    assert not models.Site.objects.filter(team=cast.team).exists()
    own = client.get("/api/v1/inventory/", **api.headers)
    assert (own.status_code, own.content) == (200, b"version: 1\n")
    assert api.post("inventory/example/", {})["created"] == 88
    assert models.Site.objects.filter(team=cast.team).exists()
