"""Flags in every table, figures over time, kernel settings, and conclusions that are not the summary again."""

from types import SimpleNamespace

import pytest

from apps.agents.models import FactSnapshot
from apps.bench.text import Message
from apps.bench.toolkit import Flag
from apps.campaigns.models import Campaign
from apps.reports import campaign as reports
from apps.reports.campaign import remarks
from apps.reports.document import Document, Figure, Items, Table, TextLink, joined, walk
from apps.results.models import Result, Series
from apps.tuning.models import Finding
from tests import rewriting
from tests.comparison.comparisons import conftest as measured


@pytest.fixture
def campaign(cast: SimpleNamespace) -> Campaign:
    """Return a campaign of 12 trials."""
    factors = [{"name": "window", "expression": "64KiB, 128KiB, 256KiB"}]
    a, b = measured.make.nodes(cast.team, "kisti01", "pnu01")
    return measured.swept(cast, [a, b], "Windows", factors=factors, fixed={"streams": "1"}, repetitions=4)


def tables_of(document: Document) -> dict[str, Table]:
    return {block.key: block for block in walk(document) if isinstance(block, Table)}


def test_flagged_figures_are_named_in_every_table(cast: SimpleNamespace, campaign: Campaign) -> None:
    flag = Flag("processor-full", "warning", Message("A processor was full."), ()).as_json()
    rewriting.update(campaign.trials.get(position=0).results, flags=[flag])
    tables = tables_of(reports.build([campaign], user=cast.bob, language="en"))
    found = tables["table-1"]
    assert found.columns[-1].title == "Remark"
    marked = [row for row in found.rows if row[-1]]
    assert len(marked) == 1
    assert "processor-full" in str(marked[0][-1])
    assert str(tables["trials-1"].rows[0][-1]) == "processor-full"
    assert not any(row[-1] for row in tables["trials-1"].rows[1:])


def test_without_flags_there_is_no_such_column() -> None:
    columns, rows = [], [[1.0]]
    remarks.add_to(columns, rows, [{"Goodput": None}])
    assert (columns, rows) == ([], [[1.0]])


def test_the_best_run_is_drawn_over_time(cast: SimpleNamespace, campaign: Campaign) -> None:
    result = Result.objects.get(trial__campaign=campaign, trial__position=11)
    Series.objects.create(
        result=result, metric="goodput", unit="bit/s", times=[0.0, 1.0, 2.0], values=[1e8, 2e8, 3e8]
    )
    document = reports.build([campaign], user=cast.bob, language="en")
    drawn = [block for block in walk(document) if isinstance(block, Figure) and block.key.startswith("time-")]
    assert [figure.caption for figure in drawn] == [
        f"{campaign.experiments.get().name}: Goodput over time, in the best run (trial 12)"
    ]


def test_what_agents_know_of_the_nodes_is_listed(cast: SimpleNamespace, campaign: Campaign) -> None:
    role = campaign.experiments.get().lanes.get().roles["client"][0]
    facts = {
        "kernel": {"release": "6.1.0"},
        "cpu": {"caches": {"L1d": 32768, "L3": 2**25}},
        "tools": {"mpirun": {"path": "/usr/bin/mpirun", "version": "mpirun (Open MPI) 4.1"}},
        "sysctls": {"net.core.rmem_max": "212992", "net.ipv4.tcp_rmem": "4096\t131072\t6291456"},
    }
    FactSnapshot.objects.create(node_id=role, digest="x", facts=facts)
    tables = tables_of(reports.build([campaign], user=cast.bob, language="en"))
    software = tables["software"]
    assert [column.title for column in software.columns] == ["Nodes", "Kernel", "MPI", "Processor's caches"]
    assert software.rows[0][1:] == ("6.1.0", "mpirun (Open MPI) 4.1", "L1d 32 KiB, L3 32 MiB")
    assert [row[:2] for row in tables["kernel-settings"].rows] == [
        ("net.core.rmem_max", "212992"),
        ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ]


def test_facts_are_no_problems_and_the_conclusion_says_what_to_do(cast: SimpleNamespace, campaign: Campaign) -> None:
    def found(rule: str, kind: str, title: str, **values: object) -> Finding:
        return Finding.objects.create(
            team=cast.team, campaign=campaign, rule=rule, kind=kind, title={"msgid": title, "params": {}},
            confidence=0.9,
            **{"details": {}, **values},
        )  # fmt: skip

    found("path-capacity", "diagnosis", "The path holds it")
    found(
        "path-loss", "diagnosis", "The path loses", details={"missing": [{"msgid": "Loss hop by hop.", "params": {}}]}
    )
    change = found("tcp-streams", "recommendation", "Use streams", predicted_gain=1.5)
    found("tcp-mtu", "recommendation", "Use jumbo frames", state="refuted")
    change.verifications.create(proof={}, verdict="open")
    document = reports.build([campaign], user=cast.bob, language="en")
    sections = {section.key: section for section in document.sections}
    assert [text(row[1]) for row in tables_of(document)["problems"].rows] == ["The path loses"]
    titles = [part.title for part in sections["problems"].sections]
    assert titles == ["The path loses", "What was established, and is no fault"]
    summary = [joined(parts) for block in document.summary if isinstance(block, Items) for parts in block.items]
    assert summary[:2] == ["The path loses", "Use streams – predicted gain ×1.5"]
    conclusion = [
        joined(parts) for block in sections["conclusion"].blocks if isinstance(block, Items) for parts in block.items
    ]
    assert conclusion == ["Use streams – not verified yet", "Loss hop by hop."]
    told = "It is being measured again: whether it holds is not known yet."
    assert told in [joined(block.parts) for block in walk(document) if hasattr(block, "parts")]
    assert "jumbo" not in str(document)


def text(cell: object) -> str:
    return cell.text if isinstance(cell, TextLink) else str(cell)
