"""Cells and captions read the same in every format."""

import pytest
from django.utils import translation

from apps.reports.document import Column, Table, TextLink, Value
from apps.reports.files import cells
from tests.reports import documents

NUMBER = Column("Rate", "Mbit/s", "number")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (980, "980"),
        (980.0, "980"),
        (983.04, "983"),
        (160.74, "160.7"),
        (0.6, "0.6"),
        (4.8, "4.8"),
        (123456.7, "123,457"),
        (9999, "9999"),
        (0, "0"),
        (-12.345, "-12.35"),
        (0.00001234, "1.234e-05"),
        (float("nan"), "–"),
        (None, "–"),
        (True, "yes"),
        ("a <b>", "a <b>"),
        (TextLink("trial 3", "trial:x/0/3"), "trial 3"),
    ],
)
def test_a_number_keeps_the_digits_that_count_and_a_text_stays_as_it_is(value: Value | TextLink, text: str) -> None:
    assert cells.text_of(value, NUMBER) == text


def test_a_table_may_keep_more_digits() -> None:
    assert cells.text_of(160.74, Column("Rate", digits=5)) == "160.74"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-11-21T10:00:59+00:00", "2026-11-21 10:00 UTC"),
        ("2026-11-21T19:00:00+09:00", "2026-11-21 19:00 +0900"),
        ("2026-11-21T10:00:00", "2026-11-21 10:00 UTC"),
        ("last week", "last week"),
    ],
)
def test_a_time_says_its_zone(value: str, text: str) -> None:
    assert cells.text_of(value, Column("At", kind="time")) == text


def test_the_unit_stands_in_the_head() -> None:
    assert [cells.head_of(column) for column in documents.TABLE.columns] == ["Client", "Sent (Mbit/s)", "At"]


def test_a_table_that_shows_the_first_rows_says_so() -> None:
    assert cells.more_rows(documents.TABLE) == "The first 3 of 7 rows are shown."
    assert cells.more_rows(Table("k", "c", (NUMBER,), rows=((1,),))) == ""


def test_figures_and_tables_are_numbered_as_they_come() -> None:
    document = documents.document()
    with translation.override("en"):
        assert list(cells.numbers_of(document).values()) == ["Figure 1", "Table 1", "Figure 2"]
