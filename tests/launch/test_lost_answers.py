"""Whichever one answer of the demo's set-up is lost, everything is there once and the campaign is launched."""

import ast
import json
from types import SimpleNamespace
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.campaigns.models import Campaign, Experiment
from apps.testbeds.models import Node
from launch.demo import campaign, ground, inventory, rest, sample
from tests.test_architecture import ROOT

WRITINGS = 13


class Lossy(rest.Rest):
    """A client whose service carries all out, and of whose writings one is not answered."""

    def __init__(self, client: APIClient, lost: int) -> None:
        super().__init__("", "", patience_s=60)
        self._client, self._lost, self.writings = client, lost, 0

    def _call(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        answer = getattr(self._client, method.lower())(f"/api/v1/{path}", body, format="json")
        assert answer.status_code < 300, answer.content
        if method != "GET":
            self.writings += 1
            if self.writings == self._lost:
                raise rest.RestError("Connection reset by peer")
        return json.loads(answer.content)


@pytest.mark.django_db
@pytest.mark.parametrize("lost", range(1, WRITINGS + 1))
def test_one_lost_answer_ends_nothing(cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, lost: int) -> None:
    monkeypatch.setattr(rest, "AGAIN_S", 0.0)
    client = APIClient()
    client.force_authenticate(cast.alice)
    api = Lossy(client, lost)
    nodes = list(inventory.describe(api, ground.loopback()).values())
    launched = campaign.define(api, *nodes)
    assert launched["state"] == "running"
    expected_names = [item["name"] for item in sample.experiments(*nodes)]
    assert sorted(Experiment.objects.values_list("name", flat=True)) == sorted(expected_names)
    assert (Campaign.objects.count(), Node.objects.count()) == (1, 2)
    assert campaign.cancel_left_over(api) == 1
    assert Campaign.objects.get().state == "cancelled"
    assert api.writings == WRITINGS


def test_whatever_the_demo_writes_can_be_found() -> None:
    blind = [
        f"{file.name}:{call.lineno}"
        for file in (ROOT / "launch" / "demo").glob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "post"
        if "find" not in {word.arg for word in call.keywords}
    ]
    assert not blind
