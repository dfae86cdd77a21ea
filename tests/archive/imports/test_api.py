"""Imports over REST: sent as a form, completed and stored as JSON."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.archive.imports.models import Import
from apps.campaigns.models import Campaign
from apps.testbeds.models import Node
from tests import factories
from tests.archive.imports import sending
from tests.archive.imports.sending import recording

ADDRESS = "/api/v1/imports/"
OUTPUT = recording("iperf3-tcp/winsweep_pnu/w64K_cubic_r1.json")


@pytest.fixture
def oscar(cast: SimpleNamespace) -> dict[str, str]:
    """Return the header of an operator's token."""
    return factories.bearer(cast.oscar)


def send(client: Client, headers: dict[str, str], **files: bytes) -> Any:
    """Send files."""
    sent = [SimpleUploadedFile(name, content) for name, content in files.items()]
    return client.post(ADDRESS, {"sent": sent}, **headers)


def test_outputs_are_sent_looked_at_and_stored(client: Client, ends: list[Node], oscar: dict[str, str]) -> None:
    answer = send(client, oscar, a=OUTPUT, b=b"nothing", c=b"")
    assert (answer.status_code, answer.json()["state"]) == (201, "waiting")
    address = f"{ADDRESS}{answer.json()['id']}/"
    imported = sending.advance(Import.objects.get())
    (group,) = client.get(address, **oscar).json()["groups"]
    refused = client.get(f"{address}items/?show=refused", **oscar).json()
    assert refused["count"] == 2 and refused["results"][1]["reason"] == "The file is empty."
    wrong = client.post(f"{address}store/", {"groups": [{"key": group["key"]}]}, "application/json", **oscar)
    assert wrong.status_code == 400 and "groups.0.roles.client" in wrong.json()["fields"]
    roles = {"client": [ends[0].pk], "server": [ends[1].pk]}
    data = {"name": "Over REST", "groups": [{"key": group["key"], "roles": roles}]}
    assert client.post(f"{address}store/", data, "application/json", **oscar).status_code == 200
    sending.advance(imported)
    done = client.get(address, **oscar).json()
    assert (done["state"], done["campaign"]) == ("done", Campaign.objects.get().pk)
    again = client.post(f"{address}store/", data, "application/json", **oscar)
    assert again.status_code == 409 and "imported" in again.json()["detail"]
    assert client.delete(address, **oscar).status_code == 204 and Campaign.objects.exists()


def test_a_table_is_mapped_and_the_mapping_kept(client: Client, ends: list[Node], oscar: dict[str, str]) -> None:
    sent = {"kind": "table", "sent": SimpleUploadedFile("t.csv", b"window,rate\n64 KiB,105\n")}
    address = f"{ADDRESS}{client.post(ADDRESS, sent, **oscar).json()['id']}/"
    imported = sending.advance(Import.objects.get())
    columns = {"window": {"as": "parameter", "name": "window"}, "rate": {"as": "metric", "name": "speed"}}
    data = {"tool": "iperf3-tcp", "columns": columns, "keep_as": "Rates"}
    wrong = client.post(f"{address}columns/", data, "application/json", **oscar)
    assert wrong.status_code == 400 and "columns.rate" in wrong.json()["fields"]
    columns["rate"] = {"as": "metric", "name": "goodput", "unit": "Mbit/s"}
    assert client.post(f"{address}columns/", data, "application/json", **oscar).status_code == 200
    sending.advance(imported)
    items = client.get(f"{address}items/", **oscar).json()["results"]
    assert (items[0]["told"], items[0]["values"]) == ({"window": 65536}, {"goodput": 105e6})
    (kept,) = client.get("/api/v1/column-mappings/", **oscar).json()["results"]
    assert kept["name"] == "Rates"
    assert client.delete(f"/api/v1/column-mappings/{kept['id']}/", **oscar).status_code == 204


def test_the_stranger_the_viewer_and_the_reading_token(
    client: Client, cast: SimpleNamespace, oscar: dict[str, str]
) -> None:
    assert send(client, {}, a=OUTPUT).status_code == 401
    assert send(client, factories.bearer(cast.bob), a=OUTPUT).status_code == 403
    assert send(client, factories.bearer(cast.oscar, "read"), a=OUTPUT).status_code == 403
    address = f"{ADDRESS}{send(client, oscar, a=OUTPUT).json()['id']}/"
    stranger, bob = factories.bearer(cast.charlie), factories.bearer(cast.bob)
    assert client.get(ADDRESS, **stranger).json()["count"] == 0
    for path in ("", "items/"):
        assert client.get(address + path, **stranger).status_code == 404
        assert client.get(address + path, **bob).status_code == 200
    for path in ("store/", "columns/"):
        assert client.post(address + path, {}, "application/json", **stranger).status_code == 404
        assert client.post(address + path, {}, "application/json", **bob).status_code == 403
    assert client.delete(address, **bob).status_code == 403


def test_a_body_without_files_is_refused_at_its_field(client: Client, oscar: dict[str, str]) -> None:
    answer = client.post(ADDRESS, {"kind": "outputs"}, **oscar)
    assert answer.status_code == 400 and "sent" in answer.json()["fields"]
    assert client.post(ADDRESS, "{}", "application/json", **oscar).status_code == 415
