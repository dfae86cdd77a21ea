"""A management report says what was measured, how well, on what, what became worse, and what it cost."""

import json
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.bench import statistics
from apps.campaigns.models import Campaign
from apps.comparison.figures import checks
from apps.comparison.history import queries as histories
from apps.comparison.history import services as history_services
from apps.comparison.models import ChangePoint
from apps.reports import serialisation
from apps.reports.claims import checks as claims
from apps.reports.document import Document, Figure, Items, Paragraph, Table, TextLink, walk
from apps.reports.overview import build, changes, scope
from apps.reports.overview.selection import DATES, Selection
from apps.results.models import Result
from apps.tuning.models import Finding, Verification
from tests.campaigns import factories as make
from tests.comparison.history.conftest import again
from tests.reports.overview.conftest import NOW, START, WEEK, WHOLE


def report(quarter: SimpleNamespace, selection: Selection = WHOLE, language: str = "en") -> Document:
    return build(team=quarter.cast.team, selection=selection, language=language, now=NOW)


def tables(document: Document) -> dict[str, Table]:
    found = {}
    for block in walk(document):
        if isinstance(block, Table):
            found[block.key] = block
        if isinstance(block, Figure) and block.data:
            found[block.data.key] = block.data
    return found


def lines(table: Table) -> list[dict[str, Any]]:
    heads = [column.title for column in table.columns]
    return [
        dict(zip(heads, (cell.text if isinstance(cell, TextLink) else cell for cell in row), strict=True))
        for row in table.rows
    ]


def finding(campaign: Campaign, rule: str, state: str, gain: float | None) -> Finding:
    return Finding.objects.create(
        team=campaign.team,
        campaign=campaign,
        rule=rule,
        state=state,
        title={"msgid": f"Do {rule}", "params": {}},
        details={},
        predicted_gain=gain,
        confidence=0.8,
    )


def test_what_was_done_is_counted_by_tool_month_testbed_and_person(quarter: SimpleNamespace) -> None:
    document = report(quarter)
    document_tables = tables(document)
    [tool] = lines(document_tables["tools"])
    # Eight times two trials, three that failed and one that was cancelled; what is private is in none of it.
    assert tool == {
        "Tool": "iperf3 TCP",
        "Campaigns": 9,
        "Trials": 20,
        "Measured": 16,
        "Failed": 3,
        "Not measured": 1,
        "Set aside": 0,
        "Success": pytest.approx(100 * 16 / 19),
        # 16 minutes and three hours on two nodes.
        "Node-hours": pytest.approx(2 * (16 / 60 + 3), abs=5e-5),
        "Data moved": tool["Data moved"],
    }
    # 2 s at each rate, in the unit of its column.
    moved = sum(2 * rate / 8 for rate in _rates(quarter))
    assert tool["Data moved"] == pytest.approx(moved / 2**20)
    assert document_tables["tools"].columns[-1].unit == "MiB"
    months = lines(document_tables["months"])
    assert [(row["Month"], row["Trials"]) for row in months] == [("2026-01", 12), ("2026-02", 8)]
    usage = lines(document_tables["usage"])
    assert [(row["Testbed"], row["Site"], row["Used by"]) for row in usage] == [
        ("Busan testbed", "Busan", "oscar"),
        ("Daejeon testbed", "Daejeon", "oscar"),
    ]
    # Each testbed gave one of the two nodes.
    assert usage[0]["Node-hours"] == pytest.approx(16 / 60 + 3, abs=5e-5)
    faulty = lines(document_tables["campaigns"])[1]
    assert (faulty["Campaign"], faulty["Launched"], faulty["Made by"]) == ("Faulty", "2026-01-06", "oscar")
    ends = faulty["Measured"], faulty["Failed"], faulty["Not measured"], faulty["Success"]
    assert ends == (0, 3, 1, 0)
    assert faulty["Node-hours"] == pytest.approx(6)
    key_figures = {row["What"]: row["Value"] for row in lines(document_tables["key-figures"])}
    assert key_figures["Campaigns"] == "9"
    assert key_figures["Success"] == "84.2 %"
    assert key_figures["Regressions"] == "1"
    assert "Private" not in serialisation.canonical(serialisation.as_json(document))


def _rates(quarter: SimpleNamespace) -> list[float]:
    rows = Result.objects.filter(experiment__campaign__in=[item.pk for item in quarter.weekly])
    return list(rows.filter(samples__metric="goodput").values_list("samples__value", flat=True))


def test_pairs_of_sites_stand_against_their_ceiling_and_regressions_are_named(quarter: SimpleNamespace) -> None:
    document = report(quarter)
    document_tables = tables(document)
    [pair] = lines(document_tables["pairs-iperf3-tcp"])
    assert (pair["From"], pair["To"], pair["Campaign"]) == ("Daejeon", "Busan", "Week 0")
    assert pair["Best"] == pytest.approx(942.1, rel=1e-3)
    assert pair["Latest"] == pytest.approx(751.4, rel=1e-3)
    # TCP with timestamps on frames of 9000 bytes over 1 Gbit/s.
    assert pair["Ceiling"] == pytest.approx(990.0, rel=1e-3)
    assert pair["Best of ceiling"] == pytest.approx(100 * pair["Best"] / pair["Ceiling"], rel=1e-4)
    [change] = lines(document_tables["regressions"])
    assert (change["Nodes"], change["Since"], change["Verdict"]) == ("kisti01 → pnu01", "Week 4", "found")
    assert change["Difference"] == pytest.approx(-20, abs=0.5)
    assert "improvements" not in document_tables
    [attention] = [block for block in document.summary if isinstance(block, Items)]
    assert attention.items[0][0].text == (
        "Regression: iperf3 TCP, kisti01 → pnu01, from 940.2 Mbit/s to 752.2 Mbit/s: "
    )
    assert attention.items[0][1] == TextLink("Week 4", f"campaign:{quarter.weekly[4].permanent_id}")
    assert claims.check(document) == []
    for block in walk(document):
        if isinstance(block, Figure):
            checks.check_chart(block.chart)


def test_a_dismissed_change_is_no_regression_and_an_explained_one_says_why(quarter: SimpleNamespace) -> None:
    lane = quarter.weekly[-1].experiments.get().lanes.get()
    kept = histories.find(quarter.cast.oscar, lane.pk, point=None, metric=None)
    assert kept
    for state, shown in ((ChangePoint.State.EXPLAINED, [("explained", "A new switch")]), ("dismissed", [])):
        history_services.settle_change(
            subject=kept.subject,
            levels=kept.levels,
            campaign=quarter.weekly[4].pk,
            state=state,
            explanation="A new switch",
            user=quarter.cast.oscar,
            now=NOW,
        )
        document_tables = tables(report(quarter))
        rows = lines(document_tables["regressions"]) if "regressions" in document_tables else []
        assert [(row["Verdict"], row["Explanation"]) for row in rows] == shown


def test_findings_are_told_with_what_they_gained(quarter: SimpleNamespace) -> None:
    campaign = quarter.weekly[-1]
    finding(campaign, "open-small", "new", 1.2)
    finding(campaign, "open-large", "new", 0.2)
    finding(campaign, "taken", "accepted", None)
    done = finding(campaign, "done", "verified", 6.0)
    finding(quarter.private, "secret", "new", 9.0)
    Verification.objects.create(
        finding=done,
        campaign=quarter.weekly[0],
        proof={},
        unit="bit/s",
        verdict="verified",
        predicted_gain=6.0,
        gain=5.9,
        gain_low=5.8,
        gain_high=6.0,
        present=160e6,
        realised=944e6,
        judged_at=START + WEEK,
    )
    document = report(quarter)
    document_tables = tables(document)
    # A time that falls to a fifth is more than a rate that rises by a fifth.
    assert [row["Finding"] for row in lines(document_tables["open"])] == ["Do open-large", "Do open-small"]
    assert [row["Finding"] for row in lines(document_tables["accepted"])] == ["Do taken"]
    [verified] = lines(document_tables["verified"])
    assert (verified["Before"], verified["After"]) == ("160.0 Mbit/s", "944.0 Mbit/s")
    assert (verified["Predicted gain (ratio)"], verified["Realised gain (ratio)"]) == (6.0, 5.9)
    assert document_tables["verified"].rows[0][1].ref.startswith(f"finding:{campaign.permanent_id}/done/")  # type: ignore[union-attr]
    assert {row["State"]: row["Number"] for row in lines(document_tables["states"])}["new"] == 2
    assert "1 recommendation was verified; it gained ×5.9." in _words(document)
    # Verified before the period: no gain of it.
    late = Selection(DATES, (START + 3 * WEEK).date(), NOW.date())
    assert "verified" not in tables(report(quarter, late))


def _words(document: Document) -> str:
    return " ".join(
        part if isinstance(part, str) else part.text
        for block in walk(document)
        if isinstance(block, Paragraph)
        for part in block.parts
    )


def test_a_period_and_sites_narrow_everything(quarter: SimpleNamespace) -> None:
    second = Selection(DATES, (START + WEEK).date(), (START + WEEK).date())
    document = report(quarter, second)
    document_tables = tables(document)
    assert [row["Campaign"] for row in lines(document_tables["campaigns"])] == ["Week 1"]
    assert lines(document_tables["tools"])[0]["Trials"] == 2
    assert document.rests_on == (f"campaign:{quarter.weekly[1].permanent_id}",)
    assert "regressions" not in document_tables
    [c] = make.nodes(quarter.cast.team, "knu01", site="Daegu")
    elsewhere = Selection(DATES, START.date(), NOW.date(), sites=(c.testbed.site_id,))
    empty = report(quarter, elsewhere)
    assert [section.key for section in empty.sections] == ["nothing"]
    assert dict(empty.meta)["Sites"] == "Daegu"
    both = Selection(DATES, START.date(), NOW.date(), sites=(quarter.a.testbed.site_id,))
    narrowed = tables(report(quarter, both))
    assert lines(narrowed["tools"])[0]["Trials"] == 20
    assert [row["Site"] for row in lines(narrowed["usage"])] == ["Daejeon"]


def test_the_document_is_the_same_each_time_in_both_languages_and_has_no_row_numbers(
    quarter: SimpleNamespace,
) -> None:
    texts = {}
    for language in ("en", "ko"):
        first, second = (serialisation.as_json(report(quarter, language=language)) for _time in range(2))
        texts[language] = serialisation.canonical(first)
        assert texts[language] == serialisation.canonical(second)
        again_read = serialisation.from_text(texts[language])
        assert serialisation.canonical(serialisation.as_json(again_read)) == texts[language]
    english, korean = (json.loads(text) for text in texts.values())
    assert english["rests_on"] == korean["rests_on"]
    assert [len(section["blocks"]) for section in english["sections"] if "blocks" in section] == [
        len(section["blocks"]) for section in korean["sections"] if "blocks" in section
    ]


def test_the_number_of_queries_does_not_grow_with_what_was_measured(quarter: SimpleNamespace) -> None:
    with CaptureQueriesContext(connection) as before:
        report(quarter)
    for place in range(8, 12):
        again(quarter.weekly[0], 752e6, START + place * WEEK - timedelta(days=30), f"Week {place}", "3.12")
    with CaptureQueriesContext(connection) as after:
        report(quarter)
    assert len(after) == len(before) <= 20


def test_one_of_many_points_must_be_surer_to_make_a_change(quarter: SimpleNamespace) -> None:
    levels = [changes._Level(place, NOW, 100.0 + place % 2 + 5 * (place > 3)) for place in range(8)]
    [shift] = statistics.find_changes([level.median for level in levels])
    history = changes._History("iperf3-tcp", {}, (), ())
    within = scope.read(quarter.cast.team, WHOLE, WHOLE.period_at(NOW - timedelta(days=1)))
    flat = [changes._Level(place, NOW - timedelta(hours=1), 100.0 + place % 2) for place in range(8)]
    early = [replace(level, at=NOW - timedelta(hours=1)) for level in levels]

    def found(points: int) -> int:
        told = [({"window": 0}, early), *(({"window": place}, flat) for place in range(1, points))]
        return len(list(changes._changes(history, told, within)))

    enough = int(changes.ALPHA / shift.p)
    assert enough > 1
    assert (found(1), found(enough), found(enough + 1)) == (1, 1, 0)
