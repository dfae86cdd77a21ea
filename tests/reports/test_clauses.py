"""Each clause of what is promised of reports, asked of campaigns with every kind of thing that they print."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from apps.bench.statistics import Mean, mean_of
from apps.reports import campaign as reports
from apps.reports import serialisation
from apps.reports.campaign import grounds
from apps.reports.claims import checks
from apps.reports.columns import quantity
from apps.reports.document import Document, Figure, Section, Table, walk
from apps.tuning.models import Finding
from tests.reports import whole
from tests.reports.texts import lines_of, section_of, texts_of

LANGUAGES = ("en", "ko")


# A document holds nothing of the database: it is built once for all tests.
_BUILT: list[Document] = []


@pytest.fixture
def documents(cast: SimpleNamespace) -> list[Document]:
    """Return the report of a whole campaign beside another, in both languages."""
    if not _BUILT:
        before, after = whole.campaign(cast, "Before"), whole.campaign(cast, "After")
        _BUILT.extend(
            reports.build([after], user=cast.bob, language=language, baseline=before) for language in LANGUAGES
        )
    return _BUILT


def tables_of(document: Document) -> dict[str, Table]:
    return {block.key: block for block in walk(document) if isinstance(block, Table)}


def figures_of(document: Document) -> dict[str, Figure]:
    return {block.key: block for block in walk(document) if isinstance(block, Figure)}


def test_every_sentence_holds(documents: list[Document]) -> None:
    for document in documents:
        assert checks.check(document) == []
        assert len({said.claim.relation for _place, said in checks.sentences_of(document)}) >= 5


def test_problems_are_problems_and_what_is_being_verified_says_so_in_one_line(documents: list[Document]) -> None:
    document = documents[0]
    assert [str(row[1].text) for row in tables_of(document)["problems"].rows] == ["The path loses"]
    open_lines = [line for line in lines_of(walk(document)) if "being measured again" in line]
    assert open_lines == ["It is being measured again: whether it holds is not known yet."]


def test_the_conclusion_is_not_the_summary_again(documents: list[Document], cast: SimpleNamespace) -> None:
    bare = reports.build([whole.campaign(cast, "Bare")], user=cast.bob, language="en")
    for document in (*documents, bare):
        conclusion = lines_of(section_of(document, "conclusion").blocks)
        assert conclusion
        assert not set(conclusion) & set(lines_of(document.summary))


def test_loads_have_loss_and_jitter_with_the_knee(documents: list[Document]) -> None:
    for document in documents:
        drawn = figures_of(document)
        for name, unit in (("loss", "fraction"), ("jitter", "s")):
            chart = drawn[f"figure-2-{name}"].chart
            assert chart["metric"]["unit"] == unit
            assert [point["x"] for point in chart["series"][0]["points"]] == list(whole.LOADS)
            (knee,) = [line for line in chart["lines"] if line["axis"] == "x"]
            assert knee["value"] == pytest.approx(whole.CARRIED, rel=0.01)


def _knee(rate: float) -> str:
    most = whole.LOADS[-1] / 1e6
    return (
        f"The knee lies at {rate} Mbit/s; beyond it {rate} Mbit/s arrive, whatever was offered up to {most} Mbit/s."
    )


def test_the_knee_of_loads_is_said_of_a_table_that_has_them(documents: list[Document]) -> None:
    table = tables_of(documents[0])["loads-2"]
    assert [row[1] for row in table.rows] == [load / 1e6 for load in whole.LOADS]
    said = [said for _place, said in checks.sentences_of(documents[0]) if said.claim.topic.table == "loads-2"]
    knee = next(item for item in said if "knee" in item.text)
    assert knee.text == _knee(437.0)
    # Had more of the highest loads arrived, the knee would lie elsewhere: the right sentence is offered.
    rows = [(*row[:2], 100 * max(0.0, 1 - 550 / row[1]), *row[3:]) for row in table.rows]
    wrong = {item.sentence: item.right for item in checks.check(with_table(documents[0], replace(table, rows=rows)))}
    assert wrong[knee.text] == _knee(550.0)


def test_what_arrives_of_loads_is_one_figure_with_one_reader(documents: list[Document]) -> None:
    """The caption of what arrived over the load names no plateau beside the curve of loss, whose figure it is."""
    for document in documents:
        sentences = [sentence for _place, sentence in checks.sentences_of(document)]
        captions = [item.claim for item in sentences if item.claim.topic.table == "table-2"]
        assert captions
        assert not [claim.says for claim in captions if "plateau" in claim.says]


def test_figures_go_over_the_size_of_messages_and_over_time(documents: list[Document]) -> None:
    for document in documents:
        drawn = figures_of(document)
        for key, xs in (("size-1-goodput", [64.0, 1024.0, 65536.0]), ("time-1-goodput", [0.0, 1.0, 2.0])):
            assert [point["x"] for point in drawn[key].chart["series"][0]["points"]] == xs
        assert drawn["size-1-goodput"].chart["x"] != drawn["time-1-goodput"].chart["x"]


def test_compiler_mpi_scheduler_and_caches_stand_where_facts_know_them(documents: list[Document]) -> None:
    software = tables_of(documents[0])["software"]
    titles = ["Nodes", "Kernel", "Compiler", "MPI", "Scheduler", "Processor's caches"]
    assert [column.title for column in software.columns] == titles
    cells = ("6.1.0", "gcc (Debian) 12.2.0", "mpirun (Open MPI) 4.1", "slurm 22.05", "L1d 32 KiB, L3 32 MiB")
    assert software.rows[0][1:] == cells
    settings = tables_of(documents[0])["kernel-settings"]
    assert [tuple(row[:2]) for row in settings.rows] == [("net.core.rmem_max", "212992")]


def test_columns_with_two_meanings_have_two_names(documents: list[Document]) -> None:
    for document in documents:
        for table in tables_of(document).values():
            titles = [column.title for column in table.columns]
            assert len(set(titles)) == len(titles), table.key


def test_each_metric_has_its_own_n_and_its_own_mean(documents: list[Document]) -> None:
    title_counts = set()
    for table in tables_of(documents[0]).values():
        for column, behind in (table.figures or {}).items():
            place = int(column)
            if table.columns[place].kind != "number":
                continue
            counts = [n for n in (_counted(table, place, row) for row in table.rows) if n is not None]
            assert counts == [len(figures) for figures in behind], (table.key, column)
            for row, figures in zip(table.rows, behind, strict=True):
                assert _kind_of(row[place], figures) in (Mean.ARITHMETIC, Mean.HARMONIC), (table.key, column)
            title_counts |= {(table.columns[place].title, *counts)}
    # Of three trials the second and third alone read.
    assert ("Write rate", 3, 3) in title_counts
    assert ("Read rate", 2, 2) in title_counts
    records = tables_of(documents[0])["table-3"]
    for title in ("Write rate", "Read rate"):
        place = [column.title for column in records.columns].index(title)
        kinds = {_kind_of(row[place], records.figures[str(place)][at]) for at, row in enumerate(records.rows)}
        assert kinds == {Mean.HARMONIC}


def test_a_sentence_has_the_n_of_its_own_metric(documents: list[Document]) -> None:
    sentences = {key: figure.sentence for key, figure in figures_of(documents[0]).items()}
    assert "n = 3" in sentences["figure-3-write"]
    assert "n = 2" in sentences["figure-3-read"]
    # Measurements that vary nothing, three times each.
    assert "n = 3" in sentences["figure-4-goodput"]


def _counted(table: Table, place: int, row: object) -> int | None:
    """Return how many figures a row says that a column's cell is of: by the column of its own name, or of all."""
    titles = [column.title for column in table.columns]
    own = f"{titles[place]}, n"
    return int(row[titles.index(own if own in titles else "n")]) if own in titles or "n" in titles else None


def _kind_of(cell: object, figures: object) -> Mean | None:
    """Return which mean of its figures a cell is; equal figures have both."""
    for kind in (Mean.HARMONIC, Mean.ARITHMETIC):
        if figures and min(figures) > 0 and cell == pytest.approx(mean_of(figures, kind), rel=1e-9):
            return kind
    return Mean.ARITHMETIC if figures and cell == pytest.approx(sum(figures) / len(figures)) else None


def test_what_else_was_proposed_for_a_question_stands_with_its_finding_once(
    documents: list[Document], tmp_path: Path
) -> None:
    document = documents[0]
    lines = lines_of(walk(document))
    assert lines.count("For the same question also:") == 1
    assert [line for line in lines if "Use four streams" in line] == [
        "Ask for 256 KiB – predicted gain ×3.81 (for the same question also: Use four streams)",
        "Use four streams – Confidence: medium. Predicted: 212.1 Mbit/s. At present: 141.4 Mbit/s.",
    ]
    # Among the reasons of the finding it is not told again.
    assert "For the same question: Use four streams" not in lines
    for name, words in texts_of(document, tmp_path).items():
        assert words.count("For the same question also:") == 1, name
        assert words.count("Use four streams – Confidence: medium.") == 1, name
        assert words.count("iperf3 -c SERVER -P 4") == 1, name


def test_what_findings_say_of_figures_is_asked_of_what_they_rest_on(documents: list[Document]) -> None:
    for document in documents:
        found = tables_of(document)["grounds"]
        said = [said for _place, said in checks.sentences_of(document) if said.claim.topic.table == "grounds"]
        assert {item.claim.relation for item in said} == {"figure", "gain", "cells", "title"}
        lead = next(place for place, row in enumerate(found.rows) if row[grounds.PRESENT])
        assert len(found.figures[str(grounds.PRESENT)][lead]) == found.rows[lead][grounds.COUNT] == 4
        behind = {name: [list(row) for row in rows] for name, rows in found.figures.items()}
        # One of the figures that were measured was another: what is said of their mean is false.
        behind[str(grounds.PRESENT)][lead][0] *= 1.5
        false = checks.check(with_table(document, replace(found, figures=behind)))
        assert {wrong.table for wrong in false} == {found.caption}
        assert len(false) >= 2


def test_a_finding_that_took_another_mean_is_printed_with_the_one_of_the_tables(cast: SimpleNamespace) -> None:
    campaign = whole.campaign(cast)
    trials = list(campaign.trials.filter(experiment__name="records", parameters__record_size=65536))
    written = [trial.samples.get(metric="write").value for trial in trials]
    present = sum(written) / len(written)
    proof = {
        "tool": "iozone", "metric": "write", "file_system": "", "now": {"record_size": 65536},
        "then": {"record_size": 1048576},
    }  # fmt: skip
    title = {"msgid": "Write more than %(rate)s", "params": {"rate": quantity(present, "B/s")}}
    finding = Finding.objects.create(
        team=cast.team, campaign=campaign, rule="storage-record-size", title=title, confidence=0.9,
        details={
            "title": title, "why": [title], "present": present, "predicted": 2 * present, "predicted_unit": "B/s",
            "proof": proof, "evidence": [trial.pk for trial in trials],
        },
    )  # fmt: skip
    finding.trials.set(trials)
    document = reports.build([campaign], user=cast.bob, language="en")
    text = serialisation.canonical(serialisation.as_json(document))
    # The harmonic mean of 30, 40 and 50, which the table of the experiment has, and not their arithmetic one.
    assert "At present: 38.30 MB/s (Harmonic mean, n = 3)." in text
    assert "Write more than 38.30 MB/s" in text
    assert "Write more than 40.00 MB/s" not in text
    assert checks.check(document) == []


def with_table(document: Document, table: Table) -> Document:
    """Return a document with a table in place of its own of that key."""

    def changed(section: Section) -> Section:
        blocks = tuple(
            table if isinstance(block, Table) and block.key == table.key else block for block in section.blocks
        )
        return replace(section, blocks=blocks, sections=tuple(map(changed, section.sections)))

    return replace(document, sections=tuple(map(changed, document.sections)))
