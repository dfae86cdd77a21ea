"""A file of an edition that was cut on the disk: REST says what to do, and it is made anew when asked for."""

import json
from types import SimpleNamespace

import pytest
from django.test import Client

from apps.core import queue
from apps.reports.models import Edition, Rendering
from tests import factories
from workers import tasks


def test_a_file_that_was_cut_says_what_to_do(
    client: Client, cast: SimpleNamespace, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "send", lambda *_given: None)
    headers = factories.bearer(cast.bob)
    body = json.dumps({"edition": edition.permanent_id, "format": "json"})

    def ask() -> str:
        answer = client.post("/api/v1/renderings/", body, content_type="application/json", **headers)
        assert answer.status_code == 201
        tasks.render()
        return f"/api/v1/renderings/{answer.json()['id']}/content/"

    place = ask()
    path = Rendering.objects.get().path
    path.write_bytes(path.read_bytes()[:10])
    refused = client.get(place, **headers)
    assert refused.status_code == 404
    assert refused.json()["detail"] == (
        "There is no such file (any more): ask for it again, and fetch it once its state is “done”."
    )
    assert ask() == place
    assert client.get(place, **headers).status_code == 200
