"""Histories over REST: what they tell, to whom, and what can be said of a change."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from apps.campaigns.models import Campaign, Lane
from apps.comparison.models import ChangePoint
from tests import factories


def path(campaigns: list[Campaign], end: str = "") -> str:
    return f"/api/v1/histories/{Lane.objects.get(experiment__campaign=campaigns[-1]).pk}/{end}"


def post(client: Client, address: str, headers: dict[str, str], **body: Any) -> Any:
    return client.post(address, json.dumps(body), "application/json", **headers)


def test_levels_and_the_change_are_told_with_what_else_changed(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, django_assert_max_num_queries: Any
) -> None:
    headers = factories.bearer(cast.bob)
    [known] = client.get("/api/v1/histories/", **headers).json()["results"]
    assert (known["tool"], known["nodes"], known["campaigns"]) == ("iperf3-tcp", "kisti01 → pnu01", 8)
    with django_assert_max_num_queries(24):
        told = client.get(f"/api/v1/histories/{known['lane']}/", **headers).json()
    assert (told["metric"], told["levels"][0]["unit"], len(told["levels"])) == ("goodput", "bit/s", 8)
    [change] = told["changes"]
    assert (change["campaign"], change["previous_campaign"]) == (repeated[4].pk, repeated[3].pk)
    assert change["ratio"] == pytest.approx(0.8, rel=0.01)
    assert (change["is_better"], change["state"], change["versions"]) == (False, "found", ["3.12", "3.17"])
    assert (change["rival"], told["is_unclear"], told["trend"]) == ("", False, None)
    assert change["correlation"] == told["correlation"]
    other = client.get(path(repeated), {"metric": "retransmits"}, **headers).json()
    assert (other["metric"], other["changes"]) == ("retransmits", [])


@pytest.mark.parametrize("query", [{"point": "abc"}, {"metric": "speed"}])
def test_what_was_not_measured_is_named_with_what_was(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, query: dict[str, str]
) -> None:
    answer = client.get(path(repeated), query, **factories.bearer(cast.bob))
    assert answer.status_code == 400
    [[text]] = [answer.json()["fields"][name] for name in query]
    assert "there are:" in text


def test_who_may_read_and_decide(client: Client, repeated: list[Campaign], cast: SimpleNamespace) -> None:
    given = {"campaign": repeated[4].pk, "state": "confirmed"}
    assert client.get(path(repeated)).status_code == 401
    assert client.get(path(repeated), **factories.bearer(cast.charlie)).status_code == 404
    assert client.get("/api/v1/histories/", **factories.bearer(cast.charlie)).json()["results"] == []
    for person, status in ((cast.charlie, 404), (cast.bob, 403)):
        assert post(client, path(repeated, "decide/"), factories.bearer(person), **given).status_code == status
    reader = factories.bearer(cast.oscar, "read")
    assert post(client, path(repeated, "decide/"), reader, **given).status_code == 403
    assert not ChangePoint.objects.exists()


def test_a_change_is_explained_and_opened_again(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace
) -> None:
    headers = factories.bearer(cast.oscar)
    said = {"campaign": repeated[4].pk, "state": "explained", "explanation": "The MTU fell to 1500."}
    [change] = post(client, path(repeated, "decide/"), headers, **said).json()["changes"]
    assert (change["state"], change["explanation"], change["decided_by"]) == (
        "explained",
        "The MTU fell to 1500.",
        "oscar",
    )
    [change] = post(client, path(repeated, "decide/"), headers, campaign=repeated[4].pk, state="open").json()[
        "changes"
    ]
    assert (change["state"], change["decided_by"]) == ("found", None)
    assert not ChangePoint.objects.exists()
    for field, wrong in (
        ("explanation", {"campaign": repeated[4].pk, "state": "dismissed", "explanation": " "}),
        ("campaign", {"campaign": repeated[2].pk, "state": "confirmed"}),
        ("campaign", {"state": "confirmed"}),
        ("state", {"campaign": repeated[4].pk, "state": "sure"}),
        ("metric", {"campaign": repeated[4].pk, "state": "confirmed", "metric": "speed"}),
    ):
        answer = post(client, path(repeated, "decide/"), headers, **wrong)
        assert (answer.status_code, list(answer.json()["fields"])) == (400, [field]), wrong
