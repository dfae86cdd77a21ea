"""A table that has grown is told again by the rows that it began with; equal figures of other tables are others."""

import html
from types import SimpleNamespace

import pytest

from apps.archive.imports import services
from apps.archive.imports.models import Import, ImportItem
from apps.testbeds.models import Node
from tests import factories
from tests.archive.imports import sending

HEAD = "streams,rate (Mbit/s),remark"
MAPPING = {
    "streams": {"as": "parameter", "name": "streams"},
    "rate (Mbit/s)": {"as": "metric", "name": "goodput"},
    "remark": {"as": "ignore"},
}
FIRST = ("1,941,a", "1,941,a", "2,942,b", "4,930,c")


def sent(cast: SimpleNamespace, nodes: list[Node], rows: tuple[str, ...], head: str = HEAD) -> Import:
    """Return the import of a table, of which it is said between which nodes it was measured."""
    imported = sending.send(cast, {"a.csv": "\n".join((head, *rows, "")).encode()}, kind="table")
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=MAPPING)
    imported = sending.advance(imported)
    sending.choose(imported, {"client": [nodes[0].pk], "server": [nodes[1].pk]})
    imported.refresh_from_db()
    return imported


def left(imported: Import) -> list[int]:
    """Return the lines of the rows that are to be imported."""
    return list(imported.items.filter(is_duplicate=False, refusal__isnull=True).values_list("place", flat=True))


def test_only_the_new_rows_of_a_table_that_grew_are_taken(cast: SimpleNamespace, ends: list[Node]) -> None:
    first = sending.store(sent(cast, ends, FIRST))
    assert (first.campaign.trials.count(), first.reason) == (4, None)
    grown = sent(cast, ends, (*FIRST, "8,920,d", "1,941,a"))
    assert left(grown) == [6, 7]
    trials = set(grown.items.filter(is_duplicate=True).values_list("trial", flat=True))
    assert trials == set(first.campaign.trials.values_list("pk", flat=True))
    grown = sending.store(grown)
    assert grown.campaign.trials.count() == 2
    said = "Rows of this table that were imported before, between the same nodes, and were not taken again: 4."
    browser = factories.signed_in(cast.oscar)
    assert said in html.unescape(browser.get(grown.get_absolute_url()).content.decode())
    assert said in str(browser.get(f"/api/v1/imports/{grown.pk}/").json()["reason"])
    # And once more, with rows that either brought.
    assert left(sent(cast, ends, (*FIRST, "8,920,d", "1,941,a", "9,900,e"))) == [8]
    # A row forgets its trial when that is deleted, and is there no more.
    ImportItem.objects.filter(trial=grown.campaign.trials.first()).update(trial=None)
    assert left(sent(cast, ends, (*FIRST, "8,920,d", "1,941,a", "9,900,e"))) == [6, 8]
    # What somebody keeps to themselves is not there for others.
    assert left(sent(sending.kept_private_from(cast.alice, cast), ends, FIRST)) == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("before", "after", "head"),
    [
        (("1,941,a", "1,941,a", "1,941,a", "2,942,b"), ("1,941,a", "1,941,a", "1,941,a", "2,942,b", "4,1,c"), HEAD),
        (FIRST, ("2,942,b", "1,941,a", "1,941,a", "4,930,c", "8,920,d"), HEAD),
        (FIRST, ("1,941,x", "1,941,a", "2,942,b", "4,930,c", "8,920,d"), HEAD),
        (FIRST, ("1,941,a", "1,941,a", "2,942,b", "4,931,c", "8,920,d"), HEAD),
        (FIRST, FIRST[:3], HEAD),
        (FIRST, tuple(f"{row},z" for row in (*FIRST, "8,920,d")), f"{HEAD},more"),
    ],
    ids=["too few differ", "order", "a cell that is ignored", "a figure", "shorter", "another column"],
)
def test_rows_of_unlike_tables_are_all_taken(
    cast: SimpleNamespace, ends: list[Node], before: tuple[str, ...], after: tuple[str, ...], head: str
) -> None:
    sending.store(sent(cast, ends, before))
    assert len(left(sent(cast, ends, after, head))) == len(after)


def test_the_same_rows_between_other_nodes_are_others(cast: SimpleNamespace, ends: list[Node]) -> None:
    sending.store(sent(cast, ends, FIRST))
    assert len(left(sent(cast, ends[::-1], (*FIRST, "8,920,d")))) == 5
