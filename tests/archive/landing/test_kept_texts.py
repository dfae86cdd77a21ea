"""What strangers see of a campaign costs once: it is kept, follows all that it is written from, and is bounded."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F, Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.archive.landing import description, figures, kept
from apps.archive.landing.models import KeptText
from apps.archive.landing.redaction import Hidden, names_for
from apps.campaigns.models import Campaign
from apps.core.limits.fair_places import Owners
from apps.results.models import Result, Sample
from apps.testbeds.models import Node

pytestmark = pytest.mark.django_db
MARK = "as it was kept"
_TABLE = re.compile(r'(?:FROM|JOIN) "(\w+)"')


@pytest.fixture
def public(measured: Campaign) -> Campaign:
    Campaign.objects.update(visibility="public", redacted=True)
    measured.refresh_from_db()
    return measured


def read(campaign: Campaign, language: str = "en", query: str = "") -> str:
    return Client().get(f"/c/{campaign.permanent_id}/{query}", headers={"accept-language": language}).text


def mark_kept(campaign: Campaign) -> None:
    """Have the figures that are kept be known again."""
    assert KeptText.objects.filter(campaign=campaign, part__startswith="figures").update(text=MARK)


def measured_rows(campaign: Campaign) -> list[Any]:
    return figures.measured_of(list(campaign.experiments.values_list("pk", flat=True)))


def rows_read(campaign: Campaign) -> list[Any]:
    return [*figures.inventory_of(campaign), *measured_rows(campaign)]


def let_pass(**passed: float) -> None:
    """Have what is kept be written so long ago."""
    KeptText.objects.update(written_at=timezone.now() - timedelta(**passed))


def test_a_second_look_draws_and_hides_nothing_anew(public: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read(public)
    texts: list[str] = []
    replaced = Hidden._replaced
    monkeypatch.setattr(Hidden, "_replaced", lambda self, text: texts.append(text) or replaced(self, text))
    monkeypatch.setattr(description, "measured", None)
    with CaptureQueriesContext(connection) as queries:
        second = read(public)
    strip = re.compile(r'nonce-?="?[^"\s]*|csrf[^>]*')
    assert strip.sub("", second) == strip.sub("", first)
    # The title within the citation.
    assert len(texts) <= 1, texts
    assert len(queries) < 30, len(queries)


def test_all_tables_that_figures_are_drawn_from_are_asked_for_changes(public: Campaign) -> None:
    names = names_for(public, whole=False)
    with CaptureQueriesContext(connection) as queries:
        for experiment in public.experiments.all():
            description.measured(experiment, names)
    tables = {table for query in queries for table in _TABLE.findall(query["sql"])}
    assert len(tables) > 5
    assert tables <= {rows.model._meta.db_table for rows in rows_read(public)}


def test_a_change_of_any_row_that_figures_are_drawn_from_is_drawn_what_was_measured_after_some_seconds(
    public: Campaign,
) -> None:
    seen = set()
    measured = {rows.model for rows in measured_rows(public)}
    for rows in rows_read(public):
        row = rows.order_by("pk").first()
        if row is None:
            continue
        read(public)
        mark_kept(public)
        let_pass(minutes=1)
        assert MARK in read(public)
        let_pass(seconds=1)
        _touch(type(row), row.pk)
        assert (MARK in read(public)) == (type(row) in measured), type(row)
        let_pass(seconds=kept.STAYS_FOR.total_seconds())
        assert MARK not in read(public), type(row)
        seen.add(type(row))
    assert {Node, Result, Sample} < seen


def test_a_campaign_that_runs_is_drawn_once_in_some_seconds(
    public: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[object] = []
    draw = description.measured
    monkeypatch.setattr(description, "measured", lambda *args: drawn.append(args) or draw(*args))
    sample = Sample.objects.order_by("pk").first()
    for _look in range(5):
        _touch(Sample, sample.pk)
        read(public)
    assert len(drawn) == public.experiments.count()
    # A clock that was ahead keeps nothing for longer.
    let_pass(days=-1)
    _touch(Sample, sample.pk)
    read(public)
    assert len(drawn) == 2 * public.experiments.count()


def _touch(model: type[Model], pk: object) -> None:
    """Write a row again: what is in it is not asked for."""
    field = next(
        field.name
        for field in model._meta.concrete_fields
        if not field.primary_key and field.name not in ("requested", "observed", "granted")
    )
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        model._default_manager.filter(pk=pk).update(**{field: F(field)})
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def _rename_node(campaign: Campaign) -> None:
    Node.objects.filter(team=campaign.team).update(name=F("pk"))


def _rename_member(campaign: Campaign) -> None:
    campaign.created_by.username = "zorbquark"
    campaign.created_by.save()


def _rename_experiment(campaign: Campaign) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        campaign.experiments.update(name=F("pk"))
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def _show_names(campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(redacted=False)


@pytest.mark.parametrize(
    "change", [_rename_node, _rename_member, _rename_experiment, _show_names], ids=lambda item: item.__name__
)
def test_what_is_shown_follows_the_change_at_once(public: Campaign, change: Callable[[Campaign], None]) -> None:
    read(public)
    mark_kept(public)
    change(public)
    assert MARK not in read(public)


def test_a_text_is_of_one_language_one_release_and_one_page(
    public: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(public)
    mark_kept(public)
    assert MARK not in read(public, "ko")
    monkeypatch.setattr(kept, "release", lambda: "another")
    assert MARK not in read(public)


def test_what_is_public_no_more_is_gone_at_once(public: Campaign) -> None:
    read(public)
    Campaign.objects.update(visibility="team")
    assert Client().get(f"/c/{public.permanent_id}/").status_code == 302
    assert Client().get(f"/c/{public.permanent_id}/recipe.yaml").status_code == 404
    assert Client().get(f"/api/v1/permanent-ids/{public.permanent_id}/").status_code == 404


def test_the_team_reads_its_names_and_strangers_never_do(cast: Any, public: Campaign) -> None:
    own = Client()
    own.force_login(cast.bob)
    address = f"/c/{public.permanent_id}/"
    preview = own.get(address + "?as=stranger").text
    assert "samples.csv?as=stranger" in preview and "samples.csv?as=stranger" not in read(public)
    whole = own.get(address).text
    assert KeptText.objects.filter(campaign=public, hidden=False).exists()
    assert whole != preview and "pnu01" not in read(public)


def test_who_reads_one_teams_page_takes_no_place_of_anothers(
    public: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept.writing, "_wait_s", 0.05)
    address = f"/c/{public.permanent_id}/"
    with kept.writing.turn(Owners(f"texts of team {public.team_id}")):
        answer = Client().get(address)
        assert answer.status_code == 429 and answer["Retry-After"]
    with kept.writing.turn(Owners(f"texts of team {public.team_id + 1}")):
        assert Client().get(address).status_code == 200
    with kept.writing.turn(Owners(f"texts of team {public.team_id}")):
        assert Client().get(address).status_code == 200


def test_the_page_lists_the_first_versions_of_many(public: Campaign) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("UPDATE results_result SET tool_version = id::text")
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
    number = Result.objects.filter(experiment__campaign=public).count()
    described = description.describe(public, names_for(public, whole=False))
    assert described.all_versions == number > 1
    assert len(described.versions) == min(number, description.MOST_VERSIONS)


def test_a_text_too_long_to_be_kept_is_written_each_time(public: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KeptText, "MOST_CHARACTERS", 10)
    assert read(public) and not KeptText.objects.exists()


def test_what_was_written_long_ago_and_what_is_public_no_more_goes(public: Campaign) -> None:
    read(public)
    number = KeptText.objects.count()
    assert number >= 2
    kept.forget(now=timezone.now())
    assert KeptText.objects.count() == number
    last = KeptText.objects.order_by("pk")[:1]
    KeptText.objects.filter(pk__in=last).update(written_at=timezone.now() - kept.FORGOTTEN_AFTER - timedelta(hours=1))
    kept.forget(now=timezone.now())
    assert KeptText.objects.count() == number - 1
    Campaign.objects.update(visibility="team")
    kept.forget(now=timezone.now())
    assert not KeptText.objects.exists()


def test_a_team_has_so_many_bytes_and_its_oldest_texts_go(
    cast: Any, public: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = Campaign.objects.create(team=cast.other_team, name="Others", visibility="public")
    monkeypatch.setattr(kept, "MOST_TEAM_BYTES", 30)
    names = names_for(public, whole=False)
    for number in range(5):
        kept.text_of(public, names, f"part {number}", lambda: "ten signs.")
        kept.text_of(others, names, f"part {number}", lambda: "ten signs.")
        parts = KeptText.objects.filter(campaign=public).order_by("written_at").values_list("part", flat=True)
        assert list(parts) == [f"part {at}" for at in range(max(0, number - 2), number + 1)]
    monkeypatch.setattr(kept, "MOST_TEAM_BYTES", 10)
    kept.forget(now=timezone.now())
    assert list(KeptText.objects.values_list("part", flat=True)) == ["part 4", "part 4"]
