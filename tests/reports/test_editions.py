"""An edition holds a document as it was frozen: it never changes, and its checksum says so."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from apps.reports import serialisation, services
from apps.reports.models import Edition, EditionIsFrozen, Report
from tests.reports import documents


@pytest.fixture
def report(cast: SimpleNamespace) -> Report:
    """Return a report without a campaign."""
    return Report.objects.create(team=cast.team, language="en", title="Windows")


def test_an_edition_gives_back_the_document_and_its_checksum(cast: SimpleNamespace, report: Report) -> None:
    edition = services.keep_edition(report=report, document=documents.document(), user=cast.oscar, now=timezone.now())
    again = services.keep_edition(report=report, document=documents.document(), user=cast.oscar, now=timezone.now())
    assert (edition.number, again.number) == (1, 2)
    assert edition.checksum == again.checksum
    assert edition.permanent_id != again.permanent_id
    row = Edition.objects.get(pk=edition.pk)
    assert row.is_intact
    assert serialisation.as_json(row.document) == serialisation.as_json(documents.document())
    assert row.rests_on == ["campaign:7k3m-9qxt-2v4h"]
    other = replace(documents.document(), subtitle="x")
    differs = services.keep_edition(report=report, document=other, user=None, now=timezone.now())
    assert differs.checksum != edition.checksum


def test_what_a_report_is_called_meanwhile_is_what_it_is_called(cast: SimpleNamespace, report: Report) -> None:
    now = timezone.now()
    services.edit_report(report=Report.objects.get(pk=report.pk), user=cast.oscar, edits={"title": "Renamed"})
    edition = services.keep_edition(report=report, document=documents.document(), user=cast.oscar, now=now)
    assert edition.title == documents.document().title != "Renamed"
    report.refresh_from_db()
    assert report.title == "Renamed"
    services.keep_edition(report=report, document=documents.document(), user=cast.oscar, now=now)
    assert Report.objects.get(pk=report.pk).title == edition.title


def test_neither_the_model_nor_the_database_changes_an_edition(cast: SimpleNamespace, report: Report) -> None:
    edition = services.keep_edition(report=report, document=documents.document(), user=cast.oscar, now=timezone.now())
    edition.title = "Another"
    with pytest.raises(EditionIsFrozen):
        edition.save()
    with pytest.raises(EditionIsFrozen):
        edition.delete()
    for change in ({"canonical": "{}"}, {"checksum": "0" * 64}, {"number": 9}, {"title": "Another"}):
        with pytest.raises(DatabaseError, match="an edition never changes"), transaction.atomic():
            Edition.objects.filter(pk=edition.pk).update(**change)
    # That its author's account goes is no change of it.
    Edition.objects.filter(pk=edition.pk).update(created_by=None)
    assert Edition.objects.get(pk=edition.pk).created_by is None


def test_the_canonical_text_has_one_form_for_one_content() -> None:
    first = {"b": [1.0, 0.5, float("nan")], "a": "부산"}
    second = json.loads('{"a": "부산", "b": [1, 0.50, null]}')
    assert serialisation.canonical(first) == serialisation.canonical(second) == '{"a":"부산","b":[1,0.5,null]}'


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"format": 99}, "format"),
        ({"kind": "letter"}, "kind"),
        ({"title": 5}, "title"),
        ({"meta": [["one"]]}, "meta[0]"),
        ({"sections": [{"blocks": [{"type": "script"}]}]}, "sections[0].blocks[0].type"),
        ({"summary": [{"type": "table", "columns": [{}], "rows": [[1, 2]]}]}, "summary[0].rows[0]"),
        ({"summary": [{"type": "table", "columns": [{}], "rows": [[[]]]}]}, "summary[0].rows[0]"),
        ({"summary": [{"type": "table", "total": -1}]}, "summary[0].total"),
        ({"summary": [{"type": "table", "columns": [{"digits": 10**9}]}]}, "summary[0].columns[0].digits"),
        ({"summary": [{"type": "figure", "chart": []}]}, "summary[0].chart"),
        ({"summary": [{"type": "paragraph", "parts": [{"text": 1}]}]}, "summary[0].parts[0].text"),
    ],
)
def test_what_is_no_document_is_refused_with_its_place(change: dict[str, object], place: str) -> None:
    data = serialisation.as_json(documents.document()) | change
    with pytest.raises(serialisation.DocumentError) as caught:
        serialisation.from_text(json.dumps(data))
    assert caught.value.place == place


def test_text_that_is_no_json_or_nested_without_end_is_refused() -> None:
    inner: dict[str, object] = {}
    for _level in range(20):
        inner = {"sections": [inner]}
    for text in ("{", "[" * 100_000, "[]", json.dumps({"format": 1, "kind": "campaign", **inner})):
        with pytest.raises(serialisation.DocumentError):
            serialisation.from_text(text)
