"""Rate limits: counted in one step for all processes, told in headers, refused with 429, and never in the way."""

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
import redis
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from apps.accounts import quotas
from apps.accounts.models import TeamUsage
from apps.agents.models import Agent, FactSnapshot
from apps.agents.services import facts
from apps.archive import usage
from apps.archive.imports import services as imports
from apps.archive.incoming import services as incoming
from apps.campaigns import errors
from apps.campaigns import services as campaigns
from apps.config.settings import limits
from apps.config.settings.environment import Environment
from apps.config.settings.limits import Rate
from apps.core.limits import askers, counters, policies
from apps.testbeds.models import Node
from tests import factories as people
from tests.agents import factories as agents
from tests.campaigns import factories as make
from tests.factories import Cast

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _counted_anew() -> None:
    counters.forget_all()
    counters._store.cache_clear()


def limited(settings: Settings, **rates: tuple[int, int]) -> None:
    settings.RATE_LIMITS = {policy: Rate(*rate) for policy, rate in rates.items()}


def test_counters_of_many_threads_lose_nothing() -> None:
    charge = counters.Charge("test:threads", 1, 60)
    threads = [
        threading.Thread(target=lambda: [counters.raise_counts([charge]) for _ in range(50)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [count] = counters.raise_counts([charge]) or []
    assert count.count == 401
    assert 0 < count.ends_in_s <= 60


def test_a_window_ends() -> None:
    charge = counters.Charge("test:window", 1, 0.05)
    counts = [counters.raise_counts([charge]) for _ in range(2)]
    assert [found[0].count for found in counts if found] == [1, 2]
    threading.Event().wait(0.2)
    assert (counters.raise_counts([charge]) or [])[0].count == 1


def test_who_asks_too_often_with_a_token_is_told_when_to_ask_again(
    cast: Cast, client: Client, settings: Settings
) -> None:
    limited(settings, token=(3, 60), address=(100, 60))
    headers = people.bearer(cast.bob)
    for left in (2, 1, 0):
        answer = client.get("/api/v1/me/", **headers)
        assert answer.status_code == 200
        assert answer.headers["RateLimit-Policy"] == '"address";q=100;w=60, "token";q=3;w=60'
        assert f'"token";r={left};t=' in answer.headers["RateLimit"]
    answer = client.get("/api/v1/me/", **headers)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 60
    assert set(answer.json()) == {"detail", "fields"}
    assert '"token";r=0;t=' in answer.headers["RateLimit"]
    assert client.get("/api/v1/me/", **people.bearer(cast.alice)).status_code == 200, "others are not concerned"
    client.force_login(cast.bob)
    assert client.get("/api/v1/me/").status_code == 200, "nor is the person with another key"


def test_an_address_that_guesses_tokens_is_refused_and_a_person_on_pages_is_not(
    cast: Cast, client: Client, settings: Settings
) -> None:
    limited(settings, address=(2, 60))
    wrong = {"HTTP_AUTHORIZATION": "Bearer fth_api_0123456789ab_wrong"}
    assert [client.get("/api/v1/me/", **wrong).status_code for _ in range(3)] == [401, 401, 429]
    page = client.get("/accounts/login/")
    assert page.status_code == 429
    assert "Retry-After" in page.headers
    assert "Too many requests from this address" in page.content.decode()
    client.force_login(cast.bob)
    assert client.get("/campaigns/").status_code == 200
    assert Client(REMOTE_ADDR="192.0.2.9").get("/accounts/login/").status_code == 200


def test_answers_are_counted_by_their_length(cast: Cast, client: Client, settings: Settings) -> None:
    limited(settings, answers=(400, 60))
    headers = people.bearer(cast.bob)
    statuses = [client.get("/api/v1/me/", **headers).status_code for _ in range(10)]
    assert statuses[0] == 200 and statuses[-1] == 429
    assert ';qu="content-bytes";w=60' in client.get("/api/v1/me/", **headers).headers["RateLimit-Policy"]


def test_the_service_goes_on_without_valkey(
    cast: Cast,
    client: Client,
    settings: Settings,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limited(settings, token=(1, 60), address=(1, 60), answers=(1, 60), uploads=(1, 60))
    settings.REDIS_URL = f"unix://{tmp_path}/gone.sock?db=0"
    counters._store.cache_clear()
    monkeypatch.setattr(counters, "_PAUSE_S", 3600.0)
    for _ in range(3):
        answer = client.get("/api/v1/me/", **people.bearer(cast.bob))
        assert answer.status_code == 200
        assert "RateLimit" not in answer.headers
    assert "Valkey does not answer" in caplog.text
    assert caplog.text.count("Valkey does not answer") == 1, "nobody waits for it again at once"
    counters._store.cache_clear()


def test_a_slow_valkey_holds_nobody_up(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_args: object, **_kwargs: object) -> None:
        raise redis.TimeoutError("slow")

    monkeypatch.setattr(redis.client.Script, "__call__", stuck)
    assert counters.raise_counts([counters.Charge("test", 1, 60)]) is None
    assert counters.take_turn("test", 60) == 0.0


@pytest.mark.parametrize(
    ("address", "known_as"),
    [
        ("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"), ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"), ("", ""), ("testclient", ""),
    ],
)  # fmt: skip
def test_an_address_of_ipv6_is_its_network(rf, address: str, known_as: str) -> None:
    assert askers.address_of(rf.get("/", REMOTE_ADDR=address)) == known_as


def test_limits_of_the_environment() -> None:
    usual = limits.from_environment(Environment({}))
    assert usual["token"] == (30_000, 60) and set(usual) == {
        "address", "token", "answers", "uploads", "facts", "fact-bytes", "mail-links",
        "enrolments",
    }  # fmt: skip
    own = limits.from_environment(Environment({"RATE_PER_TOKEN": " 5 / 1 ", "RATE_PER_ADDRESS": "0"}))
    assert own["token"] == (5, 1) and "address" not in own
    for wrong in ("5", "five/60", "5/0", "0/60", "-1/60"):
        environment = Environment({"RATE_PER_TOKEN": wrong})
        assert limits.from_environment(environment) == usual
        assert environment.wrong == [
            f"RATE_PER_TOKEN={wrong}: give so many / seconds, such as 30000/60, or 0 for no limit."
        ]
    assert (limits.bytes_of("2 GiB"), limits.bytes_of("0")) == (2**31, 0)
    with pytest.raises(ValueError, match="such as 500 GiB"):
        limits.bytes_of("much")


def test_uploads_into_a_team_are_counted_on_pages_and_rest(cast: Cast, client: Client, settings: Settings) -> None:
    limited(settings, uploads=(1, 60))
    quotas.charge_upload(cast.team)
    quotas.charge_upload(cast.other_team)
    with pytest.raises(policies.LimitExceededError, match="Too many uploads into grid: send the next in "):
        quotas.charge_upload(cast.team)
    sent = SimpleUploadedFile("out.txt", b"PING")
    answer = client.post(
        "/api/v1/imports/", {"team": "grid", "kind": "outputs", "sent": sent}, **people.bearer(cast.oscar)
    )
    assert answer.status_code == 429, answer.content
    assert int(answer.headers["Retry-After"]) > 0
    client.force_login(cast.oscar)
    page = client.post("/imports/send/", {"team": "grid", "kind": "outputs", "files": SimpleUploadedFile("o", b"x")})
    assert page.status_code in (404, 429)


def test_facts_beyond_the_limit_are_not_kept_now(cast: Cast, settings: Settings) -> None:
    limited(settings, facts=(2, 60))
    agent, _text = agents.agent()
    told = [facts.record_facts(agent_id=agent.pk, facts={"n": n}, version="1") for n in range(4)]
    assert told == [True, True, False, False]
    assert FactSnapshot.objects.count() == 2
    counters.forget_all()
    assert facts.record_facts(agent_id=agent.pk, facts={"n": 3}, version="1")


def test_facts_of_one_node_beyond_so_many_bytes_are_not_kept_now(cast: Cast, settings: Settings) -> None:
    settings.RATE_LIMITS = {"fact-bytes": Rate(2500, 60)}
    (first, _text), (second, _other) = agents.agent(), agents.agent(agents.node(cast.other_team))
    told = [facts.record_facts(agent_id=first.pk, facts={"n": f"{n}" * 1000}, version="1") for n in range(4)]
    assert told == [True, True, False, False]
    # What it tells and has not changed, and what another node tells, is looked at all the same.
    assert not facts.record_facts(agent_id=first.pk, facts={"n": "1" * 1000}, version="2")
    assert Agent.objects.get(pk=first.pk).version == "2"
    assert facts.record_facts(agent_id=second.pk, facts={"n": "3" * 1000}, version="1")
    assert FactSnapshot.objects.count() == 3
    counters.forget_all()
    assert facts.record_facts(agent_id=first.pk, facts={"n": "3" * 1000}, version="1")


def test_over_its_quota_a_team_launches_and_sends_nothing(
    cast: Cast, client: Client, pair: list[Node], settings: Settings
) -> None:
    settings.QUOTA_STORED_BYTES = 1000
    quotas.set_stored(sizes={cast.team.pk: 1001}, now=NOW)
    draft = make.campaign(cast)
    make.experiment(draft, *pair)
    with pytest.raises(errors.Refused, match="grid has 1001 B stored, and may store 1000 B"):
        campaigns.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)
    draft.refresh_from_db()
    assert draft.state == draft.State.DRAFT
    with pytest.raises(errors.Refused, match="grid has"):
        imports.create_import(
            team=cast.team, user=cast.oscar, kind="outputs", files=[SimpleUploadedFile("a", b"PING")]
        )
    with pytest.raises(errors.ValidationError, match="grid has"):
        incoming.take(team=cast.team, user=cast.oscar, file=SimpleUploadedFile("a.zip", b"PK\x03\x04"))
    client.force_login(cast.bob)
    page = client.get("/accounts/teams/grid/").content.decode()
    assert "1001 B" in page and "of 1000 B (100 %)" in page
    assert "nothing can be launched" in page
    settings.QUOTA_STORED_BYTES = 0
    assert campaigns.launch_campaign(campaign=draft, user=cast.oscar, now=NOW).state == "running"


def test_what_is_sent_counts_at_once_and_all_is_counted_anew_every_hour(
    cast: Cast, settings: Settings, tmp_path: Path, django_assert_max_num_queries
) -> None:
    settings.VAR_DIR = tmp_path
    settings.QUOTA_STORED_BYTES = 1000
    imports.create_import(
        team=cast.team, user=cast.oscar, kind="outputs", files=[SimpleUploadedFile("a", b"x" * 700)]
    )
    assert quotas.usage_of(cast.team).stored_bytes == 700
    assert quotas.refusal_to_store(cast.team, 301) is not None
    assert quotas.refusal_to_store(cast.team, 300) is None
    agent, _text = agents.agent(agents.node(cast.other_team))
    facts.record_facts(agent_id=agent.pk, facts={"kernel": "x" * 100}, version="1")
    TeamUsage.objects.update(stored_bytes=5)
    with django_assert_max_num_queries(16):
        usage.count_stored(now=NOW)
    assert quotas.usage_of(cast.team).stored_bytes == 700
    assert quotas.usage_of(cast.team).counted_at == NOW
    assert 100 < quotas.usage_of(cast.other_team).stored_bytes < 1000
