"""The report of published figures holds the numbers that its source prints, in both languages."""

import json
import re
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.campaigns.models import Campaign, Trial
from apps.comparison.figures import checks
from apps.reports import campaign as reports
from apps.reports import serialisation
from apps.reports.claims import checks as claims
from apps.reports.document import Document, Drawing, Figure, Listing, Paragraph, Table, TextLink, joined, walk
from apps.testbeds import inventory
from apps.tuning.models import Finding
from tests import rewriting
from tests.comparison.comparisons import conftest as measured
from tests.tuning import published

ENDS = ("Goodput, from (95 % if the scatter is even)", "Goodput, to (95 % if the scatter is even)")
FACTS = {fact["id"]: fact for fact in json.loads(published.FACTS)["facts"]}
# Tables 2-1 and 2-3 of the GFS report: RAM in GB, and the site; what it prints of each CPU and system.
TESTBEDS = {
    "X4500": (16, "KISTI", "1.7", "Linux 4"),
    "KGFS": (3, "KISTI", "2.80", "2.6.9-54.ELsmp"),
    "KIGFS": (30, "KISTI", "2.3", "AIX 5.3"),
    "HEXA": (3, "KISTI", "3.06", "2.6.18.8"),
    "PGFS": (2, "PNU", "2.33", "2.6.9-42.ELsmp"),
    "PDAISY": (16, "PNU", "1.5", "2.4.21-sgi306rp1"),
}
# Tables 2-2 and 2-4. Of GPFS_PDAISY 9 nodes are printed, but 10 named: the report counts them, and says so.
CLUSTERS = {"GPFS_X4500": 1, "GPFS_KGFS": 4, "GPFS_PGFS": 5, "GPFS_KIGFS": 5, "GPFS_PDAISY": 10}
LANGUAGES = ("en", "ko")


def document_text(document: Document) -> str:
    return serialisation.canonical(serialisation.as_json(document))


def tables_of(document: Document) -> dict[str, Table]:
    return {block.key: block for block in walk(document) if isinstance(block, Table)}


def text_of(cell: object) -> str:
    return cell.text if isinstance(cell, TextLink) else str(cell)


def rows_of(table: Table) -> dict[str, tuple[object, ...]]:
    """Return the rows by the text of their first cell, without it."""
    return {text_of(row[0]): tuple(row[1:]) for row in table.rows}


@pytest.fixture
def gfs(cast: SimpleNamespace) -> SimpleNamespace:
    """Return the cast with the example inventory and the published figures of the GFS report."""
    inventory.load_example(team=cast.team)
    cases = ("pdaisy-server-polarised", "wan-gpfs-full", "window-limited", "block-size-insensitive")
    done = published.load(cast.team, *(published.CASES[name] for name in cases), facts=published.FACTS)
    return SimpleNamespace(alice=cast.alice, bob=cast.bob, campaigns=done.created)


def test_its_tables_hold_the_printed_numbers_in_both_languages(gfs: SimpleNamespace) -> None:
    found = {}
    for language in LANGUAGES:
        with CaptureQueriesContext(connection) as queries:
            document = reports.build(gfs.campaigns, user=gfs.bob, language=language)
        assert len(queries) <= 102
        found[language] = document
        tables = tables_of(document)
        testbeds = rows_of(tables["testbeds"])
        assert testbeds.keys() == TESTBEDS.keys()
        assert tables["testbeds"].columns[2].unit == "GiB"
        for name, (ram, site, clock, system) in TESTBEDS.items():
            cpu, memory, os, *_rest, place = testbeds[name]
            assert (memory, place) == (ram, site)
            assert clock in text_of(cpu)
            assert system in text_of(os)
        clusters = rows_of(tables["clusters"])
        assert {name: clusters[name][1] for name in CLUSTERS} == CLUSTERS
        assert "prints 9" in tables["clusters"].note
        # Table 2-5: five flows each way.
        network = {(text_of(row[0])[:-2], text_of(row[1])): row[3:] for row in tables["table-2"].rows}
        assert [column.unit for column in tables["table-2"].columns[3:]] == ["Mbit/s", "Mbit/s"]
        for client, rates in FACTS["S0-16"]["value"].items():
            assert list(network[client, "PGFS01"]) == rates
        # Table 2-6, and the disks and the polarised writes that the text prints beside it.
        storage = tables["table-1"]
        titles = [(column.title, column.unit) for column in storage.columns]
        assert titles[4][1] == titles[-1][1] == "MB/s"
        rates = rows_of(storage)
        for client, printed in FACTS["S0-18"]["value"].items():
            row = rates[f"NFS, {client.upper()}"]
            assert (row[3], row[-1]) == (printed["w"], printed["r"])
        assert (rates["Disk"][3], rates["Disk"][-1]) == (264, 354)
        assert list(rates["GPFS"][4:6]) == FACTS["S0-15"]["value"]["write_modes"]
        assert [section.key for section in document.sections] == [
            "purpose", "testbed", "method", "results", "problems", "findings", "conclusion", "appendix",
        ]  # fmt: skip
        assert sum(len(table.rows) for key, table in tables.items() if key.startswith("trials-")) == 17
    english, korean = (serialisation.as_json(found[language]) for language in ("en", "ko"))
    assert english["rests_on"] == korean["rests_on"]
    assert english != korean


def test_nothing_in_it_is_a_number_of_this_database(gfs: SimpleNamespace) -> None:
    document = reports.build(gfs.campaigns, user=gfs.bob, language="en")
    text = serialisation.canonical(serialisation.as_json(document))
    assert serialisation.as_json(serialisation.from_text(text)) == serialisation.as_json(document)
    assert "href=" not in text
    drawings = [block for block in walk(document) if isinstance(block, Drawing)]
    assert len(drawings) == 1
    assert "var(" not in drawings[0].svg
    refs = set(re.findall(r'"ref":"([^"]*)"', text))
    assert {ref.partition(":")[0] for ref in refs} == {"campaign", "trial", "finding"}
    ids = {campaign.permanent_id for campaign in gfs.campaigns}
    assert {ref.partition(":")[2].partition("/")[0] for ref in refs} <= ids
    # The same again is the same, to the last sign.
    again = reports.build(gfs.campaigns, user=gfs.alice, language="en")
    assert serialisation.canonical(serialisation.as_json(again)) == text


def test_findings_give_the_exact_change_and_name_what_is_said_alike_once(gfs: SimpleNamespace) -> None:
    document = reports.build(gfs.campaigns, user=gfs.bob, language="en")
    findings = next(section for section in document.sections if section.key == "findings")
    titles = [section.title for section in findings.sections]
    assert len(titles) == len(set(titles)) > 0
    listings = [block.text for section in findings.sections for block in section.blocks if isinstance(block, Listing)]
    assert any("net.ipv4.tcp_rmem" in text and "net.core.wmem_max" in text for text in listings)
    problems = next(section for section in document.sections if section.key == "problems")
    # In the example inventory NFS_PGFS lies over another way: it says nothing of what this one's path carries.
    titles = [section.title for section in problems.sections]
    assert any(
        title.startswith("GPFS_PDAISY (write") and "itself is the limit: 13.00 MB/s" in title for title in titles
    )
    printed = next(section for section in document.sections if section.key == "results").sections[-1]
    assert "Printed without the figures:" in [
        part for block in printed.blocks if isinstance(block, Paragraph) for part in block.parts
    ]


def test_a_sweep_has_figure_sentence_and_table_and_is_compared_with_the_baseline(
    cast: SimpleNamespace, pair: list[object]
) -> None:
    before = measured.swept(cast, pair, "Before")
    after = measured.swept(cast, pair, "After", 1.2)
    invalid = after.trials.filter(position=0)
    invalid.update(invalid_at="2026-11-21T10:00:00Z", invalid_reason="The link was down.")
    after.trials.filter(position=1).update(
        state=Trial.State.FAILED, reason={"message": {"msgid": "No route.", "params": {}}}
    )
    rewriting.update(after.trials.get(position=2).results, edition=2)
    document = reports.build([after], user=cast.bob, language="en", baseline=before)
    figures = {block.key: block for block in walk(document) if isinstance(block, Figure)}
    for figure in figures.values():
        checks.check_chart(figure.chart)
    swept = figures["figure-1-goodput"]
    assert swept.sentence.startswith("Goodput (Streams 1) grows from 170.0 Mbit/s at Window 64 KiB")
    assert swept.sentence.endswith("carry: what it says of them is wrong, or the traffic took another way.")
    assert claims.check(document) == []
    tables = tables_of(document)
    assert len(tables["table-1"].rows) == 8
    titles = [column.title for column in tables["table-1"].columns]
    assert titles[:6] == ["Window", "Streams", "n", "Goodput", *ENDS]
    baseline = tables["baseline-table-1"]
    titles = [column.title for column in baseline.columns]
    # Of two settings one trial was set aside or failed.
    assert titles[:7] == ["Window", "Streams", "Before", "After", "Before, n", "After, n", "Ratio"]
    assert [row[6] for row in baseline.rows] == [pytest.approx(1.2, rel=0.01)] * 8
    assert {text_of(row[-1]) for row in baseline.rows} <= {"higher", "too few to tell"}
    sentence = figures["baseline-figure-1"].sentence
    assert "At each of the 8 common settings Goodput is higher than in the baseline" in sentence
    trials = tables["trials-1"].rows
    assert len(trials) == 32
    assert [text_of(row[-1]) for row in trials[:3]] == ["The link was down.", "No route.", ""]
    method = next(section for section in document.sections if section.key == "method")
    paragraphs = [joined(block.parts) for block in method.blocks if isinstance(block, Paragraph)]
    assert paragraphs[0] == "1 experiment, 31 of 32 trials measured, 1 failed, marked invalid: 1."
    assert "1 trial was set aside by a person." in str(paragraphs[-1])
    assert "1 result was read again" in str(paragraphs[-1])


def test_what_a_change_gained_when_it_was_measured_stands_beside_what_was_predicted(
    cast: SimpleNamespace, pair: list[object]
) -> None:
    campaign = measured.make.launched(cast, *pair, name="Changed")
    words = {"msgid": "Use %(n)s streams", "params": {"n": 4}}
    finding = Finding.objects.create(
        team=cast.team,
        campaign=campaign,
        rule="tcp-streams",
        title=words,
        details={"why": [words], "confidence_label": "high", "predicted": 9e8, "predicted_unit": "bit/s"},
        change="iperf3 -c SERVER -P 4",
        undo="iperf3 -c SERVER",
        state=Finding.State.VERIFIED,
        predicted_gain=2.0,
        confidence=0.9,
    )
    dismissed = Finding.objects.create(
        team=cast.team, campaign=campaign, rule="mtu", title=words, details={}, state="dismissed", confidence=1.0
    )
    again = Campaign.objects.create(team=cast.team, name="Again")
    finding.verifications.create(
        campaign=again, proof={}, unit="bit/s", verdict="verified", present=4.5e8, realised=8.1e8,
        gain=1.8, gain_low=1.7, gain_high=1.9, pairs=6,
    )  # fmt: skip
    document = reports.build([campaign], user=cast.bob, language="en")
    (row,) = tables_of(document)["recommendations"].rows
    assert [text_of(cell) for cell in row] == ["1", "Use 4 streams", "verified", "high", "2.0", "1.8", "1.7", "1.9"]
    paragraphs = [joined(block.parts) for block in walk(document) if isinstance(block, Paragraph)]
    assert "0 problems were found; 1 change is recommended, 1 was verified by measuring." in paragraphs
    assert (
        "Measured again in 6 pairs: 450.0 Mbit/s now, 810.0 Mbit/s with the change, gain ×1.8 (1.7 – 1.9): verified."
        in paragraphs
    )
    listings = [block.text for block in walk(document) if isinstance(block, Listing)]
    assert listings == ["iperf3 -c SERVER -P 4", "iperf3 -c SERVER"]
    assert f"campaign:{again.permanent_id}" in document.rests_on
    assert not [ref for ref in document.rests_on if dismissed.rule in ref]


def test_a_campaign_without_results_still_has_a_report(cast: SimpleNamespace, pair: list[object]) -> None:
    empty = Campaign.objects.create(team=cast.team, name="Empty", created_by=cast.oscar)
    launched = measured.make.launched(cast, *pair, name="Unmeasured")
    for campaign in (empty, launched):
        for language in LANGUAGES:
            document = reports.build([campaign], user=cast.bob, language=language, baseline=empty)
            assert (
                serialisation.from_text(serialisation.canonical(serialisation.as_json(document))).title
                == campaign.name
            )
