"""Of a workbook the sheets are chosen: one or several, all of them or nothing."""

import io
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from openpyxl import Workbook

from apps.archive.imports import services, sheets, tables
from apps.archive.imports.models import ColumnMapping, Import
from apps.campaigns.errors import Refused
from apps.core import cpu_time
from apps.testbeds.models import Node
from tests import factories
from tests.archive.imports import sending
from tests.pages import flat

HEADERS = ["window (KiB)", "goodput (Mbit/s)"]
MAPPING = {
    "window (KiB)": {"as": "parameter", "name": "window", "unit": "KiB"},
    "goodput (Mbit/s)": {"as": "metric", "name": "goodput", "unit": "Mbit/s"},
}


def workbook(*names: str, **more: list[list[object]]) -> bytes:
    """Return a workbook with sheets of two rows each, after an empty one that is called Cover."""
    book = Workbook()
    book.active.title = "Cover"
    for number, name in enumerate(names, start=1):
        sheet = book.create_sheet(name.removeprefix("~"))
        sheet.sheet_state = "hidden" if name.startswith("~") else "visible"
        for row in (HEADERS, [64, 100 + number], [1024, 900 + number]):
            sheet.append(row)
    for name, rows in more.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def sent(cast: SimpleNamespace, content: bytes) -> Import:
    return sending.send(cast, {"book.xlsx": content}, kind="table")


def test_the_first_that_is_not_hidden_and_not_empty_is_chosen_already(cast: SimpleNamespace) -> None:
    imported = sent(cast, workbook("~2008", "2009", "2010"))
    assert [(sheet["name"], sheet["is_hidden"]) for sheet in sheets.sheets_of(imported)] == [
        ("Cover", False), ("2008", True), ("2009", False), ("2010", False)
    ]  # fmt: skip
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=MAPPING)
    imported = sending.advance(imported)
    assert [item.values["goodput"] for item in imported.items.all()] == [102e6, 902e6]
    assert {item.file for item in imported.items.all()} == {"book.xlsx: 2009"}
    assert [group["folder"] for group in imported.groups] == [""]


def test_several_become_an_experiment_each(cast: SimpleNamespace, ends: list[Node]) -> None:
    imported = sent(cast, workbook("~2008", "2009", "2010"))
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=MAPPING, sheets_chosen=["2010", "2008"])
    imported = sending.advance(imported)
    assert [group["folder"] for group in imported.groups] == ["2008", "2010"]
    sending.choose(imported, {"client": [ends[0].pk], "server": [ends[1].pk]})
    campaign = sending.store(imported).campaign
    names = [experiment.name for experiment in campaign.experiments.order_by("position")]
    assert [name.rpartition(": ")[2] for name in names] == ["2008", "2010"]
    figures = [sample.value for trial in campaign.trials.order_by("pk") for sample in trial.samples.all()]
    assert figures == [101e6, 901e6, 103e6, 903e6]


def test_rows_of_several_count_together_and_nothing_is_kept_of_too_many(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = sent(cast, workbook("a", "b"))
    monkeypatch.setattr(tables, "MOST_ROWS", 3)
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=MAPPING, sheets_chosen=["a", "b"])
    imported = sending.advance(imported)
    assert (imported.state, imported.items.count()) == ("refused", 0)
    assert "more than 3 rows" in str(imported.reason["msgid"] % imported.reason["params"])


def test_a_sheet_that_is_missing_or_empty_is_refused_with_those_there_are(cast: SimpleNamespace) -> None:
    imported = sent(cast, workbook("2009", "~2010"))
    for names, why in (
        (["2009", "2011"], "no sheet “2011”. It has: Cover, 2009, 2010."),
        (["Cover"], "“Cover” cannot be imported: The table is empty"),
    ):
        with pytest.raises(Refused) as caught:
            services.map_columns(imported=imported, tool="iperf3-tcp", mapping=MAPPING, sheets_chosen=names)
        assert why in caught.value.message_dict["sheets"][0]
    table = sending.send(cast, {"a.csv": b"window (KiB),goodput (Mbit/s)\n64,1\n"}, kind="table")
    with pytest.raises(Refused, match="no sheets to choose from"):
        services.map_columns(imported=table, tool="iperf3-tcp", mapping=MAPPING, sheets_chosen=["2009"])


def test_a_column_that_only_some_of_them_have_is_offered_and_told(cast: SimpleNamespace) -> None:
    imported = sent(cast, workbook("a", b=[["goodput (Mbit/s)", "omit"], [5, "1 s"]]))
    picked = sheets.pick(imported, ["a", "b"])
    assert picked.headers == [*HEADERS, "omit"]
    assert picked.partial == {"window (KiB)": ["a"], "omit": ["b"]}
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=MAPPING, sheets_chosen=["a", "b"])
    rows = sending.advance(imported).items.all()
    assert [row.told for row in rows] == [{"window": 65536}, {"window": 1048576}, {}]


def test_workbooks_of_many_sheets_and_of_none_that_can_be_read_are_refused(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = sent(cast, workbook())
    assert (empty.state, empty.reason["msgid"].split(":")[0]) == ("refused", "The table is empty")
    monkeypatch.setattr(tables, "MOST_SHEETS", 2)
    many = sent(cast, workbook("a", "b"))
    assert (many.state, many.reason["params"]) == ("refused", {"most": 2})


def test_the_page_lists_them_and_a_kept_mapping_chooses_by_name(
    client: Client, cast: SimpleNamespace, ends: list[Node]
) -> None:
    client.force_login(cast.oscar)
    address = sent(cast, workbook("2009", "~<b>")).get_absolute_url()
    page = flat(client.get(f"{address}?tool=iperf3-tcp").content.decode())
    assert 'value="2009" checked' in page and "&lt;b&gt;<span" in page and "(hidden)" in page
    assert 'value="Cover" disabled' in page
    form = {"tool": "iperf3-tcp", "as_0": "parameter:window", "as_1": "metric:goodput", "keep_as": "Hidden ones"}
    assert client.post(f"{address}columns/", {**form, "sheet": "<b>"}).status_code == 302
    kept = ColumnMapping.objects.get()
    assert (kept.sheets, Import.objects.get().mapping["sheets"]) == (["<b>"], ["<b>"])
    assert "&lt;b&gt;" in client.get("/imports/mappings/").content.decode()
    again = sent(cast, workbook("2009", "<b>")).get_absolute_url()
    # The tool and the sheets of the form beside it count less than the mapping.
    query = {"mapping": kept.pk, "tool": "ping", "sheet": "2009"}
    page = flat(client.get(again, query).content.decode())
    assert 'value="&lt;b&gt;" checked' in page and '<option value="metric:goodput" selected>' in page
    other = sent(cast, workbook("2009", "2010")).get_absolute_url()
    page = flat(client.get(other, query).content.decode())
    assert "no sheet “&lt;b&gt;”. It has: Cover, 2009, 2010." in page and 'value="2009" checked' in page
    stale = client.post(f"{other}columns/", {**form, "sheet": "gone"}, follow=True)
    assert "no sheet “gone”" in stale.content.decode()


def test_rest_tells_and_takes_them(client: Client, cast: SimpleNamespace) -> None:
    key = factories.bearer(cast.oscar)
    address = f"/api/v1/imports/{sent(cast, workbook('2009', '~2010')).pk}/"

    def give(**values: Any) -> Any:
        data = {"tool": "iperf3-tcp", "columns": MAPPING, "keep_as": "x", **values}
        return client.post(f"{address}columns/", data, "application/json", **key)

    found = client.get(address, **key).json()["sheets"]
    assert [(sheet["name"], sheet["is_hidden"]) for sheet in found] == [
        ("Cover", False), ("2009", False), ("2010", True)
    ]  # fmt: skip
    assert found[0]["problem"].startswith("The table is empty") and found[2]["rows"][0] == ["64", "102"]
    wrong = give(sheets=["2011"])
    assert wrong.status_code == 400 and "Cover, 2009, 2010" in wrong.json()["fields"]["sheets"][0]
    assert give(sheets=["2010"]).json()["mapping"]["sheets"] == ["2010"]
    assert client.get("/api/v1/column-mappings/", **key).json()["results"][0]["sheets"] == ["2010"]


@pytest.mark.parametrize("limit", ["head", "rows"])
def test_a_table_that_takes_too_long_is_refused(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    def slow(*_given: object) -> None:
        while True:
            pass

    if limit == "head":
        monkeypatch.setattr(cpu_time, "READING_S", 0.3)
        monkeypatch.setattr(tables, "_headers", slow)
    imported = sent(cast, workbook("2009"))
    if limit == "rows":
        monkeypatch.setattr(sheets, "ROWS_S", 0.3)
        monkeypatch.setattr(tables, "_cells", slow)
        services.map_columns(imported=imported, tool="iperf3-tcp", mapping=MAPPING)
        imported = sending.advance(imported)
    assert imported.state == "refused"
    assert imported.reason["msgid"].startswith("Reading this table takes too long")


def test_a_table_at_which_workers_are_lost_is_refused(cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost(BaseException):
        """A worker that was killed: nothing of it is caught."""

    def deadly(_file: object, _name: str) -> None:
        raise Lost

    monkeypatch.setattr(tables, "read_heads", deadly)
    for _attempt in range(2):
        with pytest.raises(Lost):
            sent(cast, workbook("2009")) if not Import.objects.exists() else sending.advance(Import.objects.get())
    imported = sending.advance(Import.objects.get())
    assert imported.state == "refused"
    assert imported.reason["msgid"].startswith("Workers were lost while they read this table")
