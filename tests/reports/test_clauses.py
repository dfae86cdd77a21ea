"""Each clause of what is promised of reports, asked of campaigns with every kind of thing that they print."""

from types import SimpleNamespace

import pytest

from apps.bench.statistics import Mean, mean_of
from apps.reports import campaign as reports
from apps.reports.claims import checks
from apps.reports.document import Document, Figure, Items, Paragraph, Section, Table, joined, walk
from tests.reports import whole

LANGUAGES = ("en", "ko")


@pytest.fixture
def documents(cast: SimpleNamespace) -> list[Document]:
    """Return the report of a whole campaign beside another, in both languages."""
    before, after = whole.campaign(cast, "Before"), whole.campaign(cast, "After")
    return [reports.build([after], user=cast.bob, language=language, baseline=before) for language in LANGUAGES]


def tables_of(document: Document) -> dict[str, Table]:
    return {block.key: block for block in walk(document) if isinstance(block, Table)}


def figures_of(document: Document) -> dict[str, Figure]:
    return {block.key: block for block in walk(document) if isinstance(block, Figure)}


def section_of(document: Document, key: str) -> Section:
    return next(section for section in document.sections if section.key == key)


def lines_of(blocks: object) -> list[str]:
    """Return the words of paragraphs and items, one by one."""
    found: list[str] = []
    for block in blocks:
        if isinstance(block, Paragraph):
            found.append(joined(block.parts))
        elif isinstance(block, Items):
            found += [joined(parts) for parts in block.items]
    return found


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
    seen = set()
    for table in tables_of(documents[0]).values():
        for column, behind in (table.figures or {}).items():
            place = int(column)
            if table.columns[place].kind != "number":
                continue
            counts = [n for n in (_counted(table, place, row) for row in table.rows) if n is not None]
            assert counts == [len(figures) for figures in behind], (table.key, column)
            for row, figures in zip(table.rows, behind, strict=True):
                assert _kind_of(row[place], figures) in (Mean.ARITHMETIC, Mean.HARMONIC), (table.key, column)
            seen |= {(table.columns[place].title, *counts)}
    # Of three trials the second and third alone read.
    assert ("Write rate", 3, 3) in seen
    assert ("Read rate", 2, 2) in seen
    records = tables_of(documents[0])["table-3"]
    for title in ("Write rate", "Read rate"):
        place = [column.title for column in records.columns].index(title)
        kinds = {_kind_of(row[place], records.figures[str(place)][at]) for at, row in enumerate(records.rows)}
        assert kinds == {Mean.HARMONIC}


def test_a_sentence_has_the_n_of_its_own_metric(documents: list[Document]) -> None:
    said = {key: figure.sentence for key, figure in figures_of(documents[0]).items()}
    assert "n = 3" in said["figure-3-write"]
    assert "n = 2" in said["figure-3-read"]
    # Measurements that vary nothing, three times each.
    assert "n = 3" in said["figure-4-goodput"]


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
