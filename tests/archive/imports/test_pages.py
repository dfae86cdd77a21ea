"""The pages of imports: who may send, what is shown, what is said of wrong forms."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.archive.imports import work
from apps.archive.imports.models import ColumnMapping, Import, ImportItem
from apps.campaigns.models import Campaign
from apps.testbeds.models import Node
from tests.archive.imports import sending
from tests.archive.imports.sending import recording, zipped

FILES = {
    "sweep/a.json": recording("iperf3-tcp/winsweep_pnu/w64K_cubic_r1.json"),
    "<script>alert(1)</script>.txt": b"no measurement",
}
TABLE = b"window (KiB);throughput;who\n64;105 Mbit/s;kisti01\n1024;=1+1;kisti01\n2048;983 Mbit/s;kisti01\n"


@pytest.fixture
def sent(cast: SimpleNamespace, ends: list[Node]) -> Import:
    """Return an import that waits for its operator."""
    return sending.send(cast, {"archive.zip": zipped(FILES)})


def post(client: Client, cast: SimpleNamespace, name: str, content: bytes, **values: object) -> object:
    """Send the form with a file."""
    data = {"team": cast.team.pk, "kind": "outputs", "sent": SimpleUploadedFile(name, content), **values}
    return client.post("/imports/new/", data)


def test_the_stranger_the_viewer_and_the_wrong_team(client: Client, cast: SimpleNamespace, sent: Import) -> None:
    page = sent.get_absolute_url()
    assert client.get(page).status_code == 302
    client.force_login(cast.charlie)
    assert client.get(page).status_code == 404
    assert client.post(f"{page}discard/").status_code == 404
    assert "archive.zip" not in client.get("/imports/").content.decode()
    assert post(client, cast, "a.txt", b"x").status_code == 422
    client.force_login(cast.bob)
    assert client.get(page).status_code == 200
    for action in ("discard", "complete", "columns"):
        assert client.post(f"{page}{action}/").status_code == 403
    assert client.get("/imports/new/").status_code == 403
    assert Import.objects.count() == 1


def test_files_that_were_sent_are_read_and_stored_step_by_step(
    client: Client, cast: SimpleNamespace, ends: list[Node]
) -> None:
    client.force_login(cast.oscar)
    assert "multiple" in client.get("/imports/new/").content.decode()
    answer = post(client, cast, "archive.zip", zipped(FILES))
    imported = Import.objects.get()
    assert answer.url == imported.get_absolute_url()
    assert "hx-get" in client.get(answer.url).content.decode()
    assert "HX-Refresh" not in client.get(f"{answer.url}status/")
    work.advance_import(import_id=imported.pk, now=timezone.now())
    assert client.get(f"{answer.url}status/")["HX-Refresh"] == "true"
    page = client.get(answer.url).content.decode()
    # Who measured is known by the addresses, and names are only text.
    assert f'<option value="{ends[0].pk}" selected>' in page
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page
    form = {"name": "From afar", "g0_include": "on", "g0_name": "Windows"}
    form |= {"g0_role_client": ends[0].pk, "g0_role_server": ends[1].pk}
    stored = client.post(f"{answer.url}complete/", form)
    assert stored.status_code == 302
    work.advance_import(import_id=imported.pk, now=timezone.now())
    campaign = Campaign.objects.get()
    assert (campaign.name, campaign.experiments.get().name) == ("From afar", "Windows")
    assert campaign.get_absolute_url() in client.get(answer.url).content.decode()
    for part in (
        client.get(f"{answer.url}?show=refused"),
        client.get("/imports/"),
        client.get(campaign.get_absolute_url()),
    ):
        assert part.status_code == 200
    trial = client.get(f"/results/trials/{campaign.trials.get().pk}/").content.decode()
    assert (
        "imported" in trial and "Read from the file sweep/a.json" in trial and "/history/" in trial.split("<main")[1]
    )
    assert "imported" in client.get("/campaigns/").content.decode()
    assert client.post(f"{answer.url}discard/").status_code == 302
    assert Campaign.objects.exists() and not Import.objects.exists()


def test_wrong_choices_are_marked_at_their_fields(
    client: Client, cast: SimpleNamespace, ends: list[Node], sent: Import
) -> None:
    client.force_login(cast.oscar)
    form = {"name": "x", "g0_include": "on", "g0_role_client": "", "g0_role_server": ends[1].pk}
    answer = client.post(f"{sent.get_absolute_url()}complete/", form)
    assert answer.status_code == 422
    assert "Choose the node that this was measured on" in answer.content.decode()
    stranger = client.post(f"{sent.get_absolute_url()}complete/", {**form, "g0_role_client": 10**6})
    assert stranger.status_code == 422
    sent.refresh_from_db()
    assert sent.state == "ready"


def test_a_table_is_mapped_on_the_page_and_the_mapping_kept(
    client: Client, cast: SimpleNamespace, ends: list[Node]
) -> None:
    client.force_login(cast.oscar)
    address = post(client, cast, "windows.csv", TABLE, kind="table").url
    imported = sending.advance(Import.objects.get())
    assert imported.state == "mapping"
    page = client.get(f"{address}?tool=iperf3-tcp").content.decode()
    # The header names parameter and unit.
    assert '<option value="parameter:window" selected>' in page and 'value="KiB"' in page
    form = {"tool": "iperf3-tcp", "as_0": "parameter:window", "unit_0": "KiB", "as_1": "ignore"}
    refused = client.post(f"{address}columns/", form)
    assert refused.status_code == 422 and "No column holds a figure" in refused.content.decode()
    form |= {"as_1": "metric:goodput", "as_2": "role:client", "keep_as": "Our sheets"}
    assert client.post(f"{address}columns/", form).status_code == 302
    imported = sending.advance(imported)
    assert (imported.state, imported.items.filter(refusal__isnull=True).count()) == ("ready", 2)
    # Until it is stored, the columns may be given another meaning.
    assert '<option value="metric:goodput" selected>' in client.get(address).content.decode()
    assert client.post(f"{address}columns/", {**form, "as_1": "metric:sent_rate", "keep_as": ""}).status_code == 302
    assert sending.advance(imported).items.filter(values__has_key="sent_rate").count() == 2
    assert "Our sheets" in client.get("/imports/mappings/").content.decode()
    kept = ColumnMapping.objects.get()
    client.force_login(cast.bob)
    assert client.post(f"/imports/mappings/{kept.pk}/forget/").status_code == 403
    client.force_login(cast.charlie)
    assert client.post(f"/imports/mappings/{kept.pk}/forget/").status_code == 404
    client.force_login(cast.oscar)
    other = post(client, cast, "more.csv", TABLE, kind="table").url
    sending.advance(Import.objects.latest("pk"))
    assert "Our sheets" in client.get(other).content.decode()
    assert '<option value="metric:goodput" selected>' in client.get(f"{other}?mapping={kept.pk}").content.decode()
    assert client.post(f"/imports/mappings/{kept.pk}/forget/").status_code == 302
    assert not ColumnMapping.objects.exists()


def test_a_form_without_a_file_is_refused_with_the_remedy(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.oscar)
    answer = client.post("/imports/new/", {"team": cast.team.pk, "kind": "outputs"})
    assert answer.status_code == 422 and "Choose the files to import." in answer.content.decode()
    answer = client.post("/exports/archives/", {"team": cast.team.pk})
    assert answer.status_code == 422 and "Choose the archive to send." in answer.content.decode()
    two = [SimpleUploadedFile(name, b"a,b\n") for name in ("a.csv", "b.csv")]
    answer = client.post("/imports/new/", {"team": cast.team.pk, "kind": "table", "sent": two})
    assert answer.status_code == 422 and "one table at a time" in answer.content.decode()


def test_the_tool_that_the_headers_name_is_chosen_already(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.oscar)
    table = b"window (KiB),omit,goodput (Mbit/s),retransmits\n64,1 s,1,0\n"
    address = sending.send(cast, {"a.csv": table}, kind="table").get_absolute_url()
    page = client.get(address).content.decode()
    assert '<option value="iperf3-tcp" selected>' in page and '<option value="metric:goodput" selected>' in page
    # Figures that several tools have alike tell none of them.
    address = sending.send(cast, {"b.csv": b"goodput\n64\n"}, kind="table").get_absolute_url()
    page = client.get(address).content.decode()
    assert '<option value="" selected>choose a tool</option>' in page and "Read the rows" not in page


def test_a_node_that_is_missing_is_asked_for_once_and_a_team_without_any_is_told(
    client: Client, cast: SimpleNamespace
) -> None:
    client.force_login(cast.oscar)
    output = FILES["sweep/a.json"]
    imported = sending.send(cast, {"a.zip": zipped({"a/1.json": output, "b/2.json": output + b"\n", "c.txt": b"x"})})
    assert len(imported.groups) == 2
    address = imported.get_absolute_url()
    page = client.get(address).content.decode()
    assert "The team has no node yet" in page and "1 refused" in page
    wrong = client.post(f"{address}complete/", {"name": "x", "g0_include": "on", "g1_include": "on"})
    assert wrong.status_code == 422 and wrong.content.decode().count("Choose the node that") == 2
    html = client.get(f"{address}?show=refused").content.decode()
    assert "It begins: x – send all of it as the tool printed it" in html


def test_the_list_and_the_preview_ask_a_fixed_number_of_questions(
    client: Client, cast: SimpleNamespace, sent: Import, django_assert_max_num_queries: object
) -> None:
    client.force_login(cast.oscar)
    for number in range(10):
        Import.objects.create(team=cast.team, created_by=cast.oscar, kind="outputs", name=f"{number}", state="done")
    with django_assert_max_num_queries(12):
        client.get("/imports/")
    for position in range(10, 40):
        ImportItem.objects.create(source=sent, position=position, file="a", tool="ping", told={"count": 3})
    with django_assert_max_num_queries(16):
        client.get(sent.get_absolute_url())


def test_the_command_sends_files_from_the_servers_disk(cast: SimpleNamespace, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(FILES["sweep/a.json"])
    out = io.StringIO()
    call_command("send_outputs", str(path), "--team", "grid", "--user", "oscar", stdout=out)
    assert out.getvalue().strip() == Import.objects.get(name="a.json").get_absolute_url()
    for words in (["grid", "bob"], ["strangers", "oscar"], ["nothing", "oscar"]):
        with pytest.raises(CommandError, match="no operator"):
            call_command("send_outputs", str(path), "--team", words[0], "--user", words[1])
    with pytest.raises(CommandError, match="No such file"):
        call_command("send_outputs", str(tmp_path / "b"), "--team", "grid", "--user", "oscar")
