"""Tables become trials: what the columns mean is said once; formulas and slips are refused cell by cell."""

import io
from types import SimpleNamespace

import pytest
from openpyxl import Workbook

from apps.archive.imports import cells, csv_lines, services, tables
from apps.archive.imports.containers import ContainerError
from apps.archive.imports.models import Import
from apps.campaigns.errors import Refused, WrongState
from apps.results.downloads import safe
from apps.testbeds.models import Node
from tests.archive.imports import sending

HEADERS = ["window (KiB)", "throughput", "who", "measured at", "run", "remark"]
ROWS = [
    ["64", "105", "kisti01", "2009-05-01 10:00", "1", "=HYPERLINK(1)"],
    ["64", "107 Mbit/s", "10.9.0.1", "2009-05-01 10:05", "2", ""],
    ["1024", "0.98 Gbit/s", "kisti01", "2009-05-01 11:00", "1", "<script>alert(1)</script>"],
    ["", "", "", "", "", ""],
    ["2048", "=A1*2", "kisti01", "", "1", ""],
    ["4096", "983", "nowhere", "", "1", ""],
    ["many", "983", "kisti01", "", "1", ""],
    ["4096", "", "kisti01", "", "1", ""],
    ["4096", "9,5", "kisti01", "yesterday", "1", ""],
]
MAPPING = {
    "window (KiB)": {"as": "parameter", "name": "window", "unit": "KiB"},
    "throughput": {"as": "metric", "name": "goodput", "unit": "Mbit/s"},
    "who": {"as": "role", "name": "client"},
    "measured at": {"as": "time"},
    "run": {"as": "repetition"},
}


def separated(mark: str = ",", encoding: str = "utf-8") -> bytes:
    return "\n".join(mark.join(f'"{cell}"' for cell in row) for row in [HEADERS, *ROWS]).encode(encoding)


def workbook() -> bytes:
    book = Workbook()
    for row in [HEADERS, *ROWS]:
        book.active.append([int(cell) if cell.isdigit() else cell or None for cell in row])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def read(content: bytes) -> list[tables.Row]:
    return list(tables.read_rows(io.BytesIO(content), "a.xlsx"))


def refusal_of(content: bytes) -> str:
    with pytest.raises((tables.TableError, ContainerError)) as caught:
        read(content)
    return str(caught.value.message)


def mapped(cast: SimpleNamespace, name: str, content: bytes) -> Import:
    """Return the import of a table whose columns have their meaning."""
    imported = sending.send(cast, {name: content}, kind="table")
    assert imported.state == "mapping", imported.reason
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=MAPPING)
    return sending.advance(imported)


@pytest.mark.parametrize("name", ["sheet.csv", "sheet.xlsx"])
def test_rows_become_trials_with_their_lanes_points_and_times(
    cast: SimpleNamespace, ends: list[Node], name: str
) -> None:
    imported = mapped(cast, name, separated(";") if name.endswith("csv") else workbook())
    reasons = {
        item.place: item.refusal["params"].get("column", item.refusal["msgid"])
        for item in imported.items.filter(refusal__isnull=False)
    }
    # What Excel had not yet computed has no value; in CSV a formula is text, and no number.
    formula = "throughput" if name.endswith("csv") else "The row has no figure."
    assert reasons == {
        6: formula, 7: "who", 8: "window (KiB)", 9: "The row has no figure.", 10: "throughput"
    }  # fmt: skip
    assert imported.groups[0]["told_roles"] == ["client"]
    sending.choose(imported, {"server": [ends[1].pk]}, parameters={"duration": "10 s"})
    campaign = sending.store(imported).campaign
    experiment = campaign.experiments.get()
    trials = list(experiment.trials.order_by("position"))
    assert [(trial.point, trial.repetition) for trial in trials] == [(0, 1), (0, 2), (1, 1)]
    assert trials[0].parameters["window"] == 65536 and trials[0].parameters["duration"] == 10.0
    assert [sample.value for trial in trials for sample in trial.samples.all()] == [105e6, 107e6, 980e6]
    assert experiment.lanes.get().roles == {"client": [ends[0].pk], "server": [ends[1].pk]}
    assert trials[1].finished_at.isoformat() == "2009-05-01T10:05:00+00:00"
    assert campaign.finished_at == trials[2].finished_at
    assert not trials[0].runs.get().result.series.exists()


def test_the_same_rows_again_are_recognised(cast: SimpleNamespace, ends: list[Node]) -> None:
    first = mapped(cast, "a.csv", separated())
    sending.choose(first, {"server": [ends[1].pk]})
    sending.store(first)
    again = mapped(cast, "b.xlsx", workbook())
    sending.choose(again, {"server": [ends[1].pk]})
    assert again.items.filter(is_duplicate=True, trial__isnull=False).count() == 3
    with pytest.raises(WrongState, match="there already"):
        services.store_import(imported=again)


@pytest.mark.parametrize("extra", ["", ",1", ",1,2026-05-01 10:00"])
def test_equal_rows_of_another_table_or_other_nodes_are_other_measurements(
    cast: SimpleNamespace, ends: list[Node], extra: str
) -> None:
    """A full line gives equal figures; only a row with its own time is told again in another table."""
    mapping = {
        "rate (Mbit/s)": {"as": "metric", "name": "goodput"},
        "repetition": {"as": "repetition"},
        "time": {"as": "time"},
    }
    head = ",".join(list(mapping)[: 1 + extra.count(",")])
    mapping = {name: mapping[name] for name in head.split(",")}
    one, other = f"{head}\n941{extra}\n", f"{head}\n941{extra}\n700{extra}\n"
    there, back = ([ends[0].pk], [ends[1].pk]), ([ends[1].pk], [ends[0].pk])
    is_told = extra.count(",") == 2
    for table, (client, server), left in ((one, there, 1), (one, back, 1), (other, there, 1 if is_told else 2)):
        imported = sending.send(cast, {"a.csv": table.encode()}, kind="table")
        services.map_columns(imported=imported, tool="iperf3-tcp", mapping=mapping)
        imported = sending.advance(imported)
        # Whoever chooses others after all is not held to what was there of the first.
        sending.choose(imported, {"client": there[0], "server": there[1]})
        sending.choose(imported, {"client": client, "server": server})
        assert imported.items.filter(is_duplicate=False).count() == left
        assert sending.store(imported).campaign.trials.count() == left


@pytest.mark.parametrize(("extra", "count"), [("", 3), ("repetition", 1), ("time", 1)])
def test_rows_that_measured_the_same_are_as_many_as_they_are(
    cast: SimpleNamespace, ends: list[Node], extra: str, count: int
) -> None:
    """Unless their time or repetition says that they are one and the same."""
    mapping = {
        "rate (Mbit/s)": {"as": "metric", "name": "goodput"},
        "streams": {"as": "parameter", "name": "streams"},
    }
    own = {"repetition": "2", "time": "2026-05-01 10:00"}.get(extra, "")
    head, tail = (f",{extra}", f",{own}") if extra else ("", "")
    if extra:
        mapping[extra] = {"as": extra}
    table = f"streams,rate (Mbit/s){head}\n" + f"1,941{tail}\n" * 3 + f"2,942{tail}\n"
    nodes = {"client": [ends[0].pk], "server": [ends[1].pk]}
    # A team-mate from whom the first are kept imports the same.
    for left in (count + 1, 0, count + 1):
        imported = sending.send(cast, {"a.csv": table.encode()}, kind="table")
        services.map_columns(imported=imported, tool="iperf3-tcp", mapping=mapping)
        imported = sending.advance(imported)
        sending.choose(imported, nodes)
        assert imported.items.filter(is_duplicate=False).count() == left
        if left:
            assert sending.store(imported).campaign.trials.count() == left
        else:
            cast = sending.kept_private_from(cast.alice, cast)


def test_a_wrong_mapping_is_refused_column_by_column(cast: SimpleNamespace, ends: list[Node]) -> None:
    imported = sending.send(cast, {"a.csv": separated()}, kind="table")
    wrong = {
        "window (KiB)": {"as": "parameter", "name": "window", "unit": "s"},
        "throughput": {"as": "metric", "name": "speed"},
        "who": {"as": "role", "name": "client"},
        "run": {"as": "role", "name": "client"},
        "nothing": {"as": "time"},
        "remark": {"as": "magic"},
    }
    with pytest.raises(Refused) as caught:
        services.map_columns(imported=imported, tool="iperf3-tcp", mapping=wrong)
    bad = ("window (KiB)", "throughput", "run", "nothing", "remark")
    assert set(caught.value.error_dict) == {f"columns.{name}" for name in bad}
    with pytest.raises(Refused, match="tools that are offered"):
        services.map_columns(imported=imported, tool="abacus", mapping=MAPPING)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp949"])
def test_tables_are_read_in_the_encodings_of_office_programs(encoding: str) -> None:
    content = "창 크기,처리율\n64,105\n".encode(encoding)
    (head,) = tables.read_heads(io.BytesIO(content), "a.xlsx")
    assert head.headers == ["창 크기", "처리율"] and head.rows == [["64", "105"]]
    assert read(content) == [("", 2, {"창 크기": "64", "처리율": "105"})]


def test_other_encodings_and_bytes_that_are_no_text_are_refused() -> None:
    assert "CSV UTF-8" in refusal_of(b"size,rate\n\xff\xff\xff,1\n")
    assert "bytes that no text has" in refusal_of(b"a,b\n\x00,1\n")
    assert "empty" in refusal_of(b"")
    assert "blank" in refusal_of(b",,\n1,2,3\n")


def test_more_rows_columns_or_a_longer_cell_than_allowed_are_refused() -> None:
    assert "columns" in refusal_of(",".join(map(str, range(201))).encode())
    assert "rows" in refusal_of(b"a\n" + b"1\n" * (tables.MOST_ROWS + 1))
    too_long = "A cell of line 2 has more than 128 KiB: shorten it."
    assert refusal_of(b"a\n" + b'"' + b"1" * 200_000 + b'"\n') == too_long
    (row,) = read(b"a\n" + b"1" * 5000 + b"\n")
    assert len(row[2]["a"]) == cells.LONGEST_CELL + 1


MANY = csv_lines.MOST_SEPARATORS + 1
ENDLESS = {"a line": b"," * MANY, "lines that cells go on in": b'"\n",' * MANY + b'"'}


@pytest.mark.parametrize("row", ENDLESS)
def test_a_row_without_end_is_not_split(row: str) -> None:
    assert "more than 200 columns" in refusal_of(b"a,b\n" + ENDLESS[row])
    assert "more than 200 columns" in refusal_of(ENDLESS[row] + b"\n1,2\n")
    # Separators within cells split nothing, and each row has its own.
    assert len(read(b"a,b\n" + b'1,"' + b"," * 90_000 + b'"\n1,"' + b"," * 90_000 + b'"\n')) == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_any_program_ends_them(end: str) -> None:
    text = end.join(['a,"b', ' and more"', "1,2", "", "3,4"])
    cells = [list(cells.values()) for _sheet, _line, cells in read(text.encode())]
    assert cells == [["1", "2"], ["3", "4"]]


def test_headers_that_come_twice_or_are_missing_have_names_of_their_own() -> None:
    (head,) = tables.read_heads(io.BytesIO(b"a,a,,b\n"), "a.xlsx")
    assert head.headers == ["a", "a #2", "#3", "b"]


def test_damaged_and_poisoned_workbooks_are_refused() -> None:
    whole = workbook()
    for content in (whole[:-30], b"\xd0\xcf\x11\xe0" + bytes(600), b"PK\x03\x04"):
        assert "workbook cannot be read" in refusal_of(content)
    entity = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet>&a;</worksheet>'
    types = b"<Types/>"
    poisoned = sending.zipped({"[Content_Types].xml": types, "xl/worksheets/sheet1.xml": entity})
    assert "not what office programs write" in refusal_of(poisoned)
    assert "workbook cannot be read" in refusal_of(sending.zipped({"[Content_Types].xml": types}))
    bomb = sending.zipped({"[Content_Types].xml": types, "xl/workbook.xml": bytes(30 * 1024 * 1024)})
    assert "times its size" in refusal_of(bomb)


def test_what_looks_like_a_formula_leaves_harmless() -> None:
    assert safe("=HYPERLINK(1)") == "'=HYPERLINK(1)" and safe(1.5) == 1.5


@pytest.mark.parametrize(("pace", "is_held"), [("100", True), ("300", False)])
def test_a_limit_that_a_table_tells_holds_its_rates(
    cast: SimpleNamespace, ends: list[Node], pace: str, *, is_held: bool
) -> None:
    mapping = {
        "goodput (Mbit/s)": {"as": "metric", "name": "goodput", "unit": "Mbit/s"},
        "limit (Mbit/s)": {"as": "parameter", "name": "pace", "unit": "Mbit/s"},
    }
    table = f"goodput (Mbit/s),limit (Mbit/s)\n99,{pace}\n"
    imported = sending.send(cast, {"a.csv": table.encode()}, kind="table")
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=mapping)
    imported = sending.advance(imported)
    sending.choose(imported, {"client": [ends[0].pk], "server": [ends[1].pk]})
    flags = sending.store(imported).campaign.trials.get().runs.get().result.flags
    assert ("held-by-limit" in {flag["name"] for flag in flags}) is is_held
