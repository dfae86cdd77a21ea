"""Sentences with their claims, and the figures behind a table's cells, from a document's JSON."""

from typing import Any

from django.utils.translation import gettext

from apps.reports.document import Claim, Sentence, Topic, Value
from apps.reports.serialisation.values import DocumentError, Json, items, mapping, pair, text, whole


def sentence_of(data: Json, place: str) -> Sentence:
    """Return a sentence with its claim."""
    return Sentence(text=text(data, "text", place), claim=_claim(data, f"{place}.claim"))


def claim_of(data: Json, place: str) -> Claim | None:
    """Return what a title claims, None if it claims nothing."""
    return _claim(data, f"{place}.claim") if data.get("claim") is not None else None


def figures_of(data: Json, rows: int, place: str) -> dict[str, tuple[tuple[float, ...], ...]]:
    """Return the figures behind the cells of each column that has any, a list for each of the table's rows."""
    figures = {}
    for name, column in mapping(data["figures"], f"{place}.figures").items():
        at = f"{place}.figures.{name}"
        lists = items({"figures": column}, "figures", at)
        if len(lists) != rows:
            raise DocumentError(at, gettext("here stands a list of figures for each row."))
        figures[name] = tuple(_numbers(item, where) for where, item in lists)
    return figures


def _claim(data: Json, at: str) -> Claim:
    claim = mapping(data.get("claim"), at)
    return Claim(
        relation=text(claim, "relation", at),
        topic=_topic(mapping(claim.get("topic"), f"{at}.topic"), f"{at}.topic"),
        says={name: _value(value, f"{at}.says.{name}") for name, value in mapping(claim.get("says", {}), at).items()},
    )


def _topic(data: Json, place: str) -> Topic:
    by = tuple(_column({"by": item}, "by", at) for at, item in items(data, "by", place))
    rows = (pair([str(part) for part in item] if isinstance(item, list) else item, at)
            for at, item in items(data, "rows", place))  # fmt: skip
    return Topic(
        table=text(data, "table", place),
        of=_column(data, "of", place),
        by=by,
        rows=tuple((_number(column, place), value) for column, value in rows),
        unit=text(data, "unit", place),
        metric=text(data, "metric", place),
        axis=text(data, "axis", place),
        better=text(data, "better", place),
    )


def _column(data: Json, name: str, place: str) -> int:
    return whole(data, name, 0, place)


def _number(value: str, place: str) -> int:
    if not value.isdecimal() or len(value) > 4:
        raise DocumentError(f"{place}.rows", gettext("here stands a whole number."))
    return int(value)


def _value(value: Any, place: str) -> Value:
    if value is None or isinstance(value, str | int | float):
        return value
    raise DocumentError(place, gettext("here stands a text or a number."))


def _numbers(value: Any, place: str) -> tuple[float, ...]:
    fine = isinstance(value, list) and all(
        isinstance(item, int | float) and not isinstance(item, bool) for item in value
    )
    if not fine:
        raise DocumentError(place, gettext("here stands a list of figures for each row."))
    return tuple(value)
