"""What the columns of a table mean, and what a row comes to.

A mapping is {header: {"as", "name", "unit", "decimals"}}: `as` is parameter, metric or role (with its `name`),
repetition, time, or ignore; `unit` is that of the column's figures where the cells have none of their own, `decimals`
the sign before their decimals (one of DECIMALS; "" where nobody says it).
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from apps.archive.imports import figures
from apps.archive.imports.cells import Cell, text_of
from apps.archive.imports.figures import Sign
from apps.archive.imports.groups import NodesByName
from apps.bench import strict_json, units
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter, Tool
from apps.core import moments

Json = dict[str, Any]
Mapped = Mapping[str, Mapping[str, str]]

POINT, COMMA = DECIMALS = (".", ",")
MEANINGS = ("parameter", "metric", "role", "repetition", "time", "ignore")
# A point in these is no sign of decimals.
_WORDS = ("text", "choice", "boolean")
_HEADER = re.compile(r"\A(.*?)(?<!\s)\s*+[\[(]([^\])]{1,20})[\])]\s*")
_MOST_REPETITIONS = 32_000


@dataclass
class TableLine:
    """What a row tells, and what is wrong with it."""

    told: Json = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    roles: dict[str, list[int]] = field(default_factory=dict)
    repetition: int | None = None
    measured_at: datetime | None = None
    refusal: Message | None = None

    @property
    def has_name(self) -> bool:
        """Return whether its time or repetition tells it from others with the same figures."""
        return self.measured_at is not None or self.repetition is not None

    def digest(self, number: int = 0) -> str:
        """Return what tells the same figures again: the `number` of those of one table that are all alike counts."""
        moment = self.measured_at.isoformat() if self.measured_at else None
        data: list[Any] = [self.told, self.values, self.roles, self.repetition, moment, *([number] if number else [])]
        return hashlib.sha256(strict_json.dumps(data, sort_keys=True).encode()).hexdigest()


def check(tool: Tool, headers: Sequence[str], columns: Mapped) -> dict[str, Message]:
    """Return what is wrong with a mapping: {header: message}; under "columns" what concerns all of it."""
    wrong: dict[str, Message] = {}
    names = {
        "parameter": {parameter.name for parameter in tool.parameters},
        "metric": {metric.name for metric in tool.metrics},
        "role": {role.name for role in tool.roles},
    }
    headers_by_meaning: dict[tuple[str, str], str] = {}
    for header, meaning in columns.items():
        what, name = meaning.get("as", "ignore"), meaning.get("name", "")
        if header not in headers:
            wrong[header] = Message(_("The table has no column of this name."))
        elif what not in MEANINGS or (what in names and name not in names[what]):
            text = _("%(tool)s has no %(kind)s “%(name)s”: choose one that is offered.")
            wrong[header] = Message(text, {"tool": tool.name, "kind": what, "name": name})
        elif what != "ignore" and (what, name) in headers_by_meaning:
            wrong[header] = Message(
                _("“%(other)s” has the same meaning already."), {"other": headers_by_meaning[what, name]}
            )
        elif meaning.get("decimals", "") not in ("", *DECIMALS):
            wrong[header] = Message(_("Decimals follow “.” or “,”: write one of the two, or leave it out."))
        elif (unit := meaning.get("unit", "")) and (problem := _unit_problem(tool, what, name, unit)):
            wrong[header] = problem
        headers_by_meaning[what, name] = header
    if not wrong and not any(meaning.get("as") == "metric" for meaning in columns.values()):
        wrong["columns"] = Message(_("No column holds a figure: say which one is a metric."))
    return wrong


def guess(tool: Tool, headers: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the mapping that the headers suggest by the names of parameters, metrics and roles, and their units."""
    names: dict[str, tuple[str, str]] = {}
    for metric in tool.metrics:
        names |= {_plain(metric.name): ("metric", metric.name), _plain(metric.label): ("metric", metric.name)}
    for parameter in tool.parameters:
        for text in (parameter.name, parameter.label):
            names.setdefault(_plain(text), ("parameter", parameter.name))
    names |= {_plain(role.name): ("role", role.name) for role in tool.roles}
    names |= dict.fromkeys(("repetition", "run", "rep"), ("repetition", ""))
    names |= dict.fromkeys(("time", "date", "measured at", "timestamp"), ("time", ""))
    mapping: dict[str, dict[str, str]] = {}
    meanings: set[tuple[str, str]] = set()
    for header in headers:
        split = _HEADER.fullmatch(header)
        title, unit = (split[1], split[2]) if split else (header, "")
        what = names.get(_plain(title), ("ignore", ""))
        if what[0] == "ignore" or what in meanings:
            mapping[header] = {"as": "ignore", "name": "", "unit": ""}
            continue
        meanings.add(what)
        # A unit that nobody can read is kept, and refused: without it figures would be taken for the base unit's.
        keep = unit if unit and (_has_unit(tool, *what) or not _unit_problem(tool, *what, unit)) else ""
        mapping[header] = {"as": what[0], "name": what[1], "unit": keep}
    return mapping


def guess_tool(tools: Sequence[Tool], headers: Sequence[str]) -> Tool | None:
    """Return the tool of which the headers name most, among them a metric; None if there is none, or several."""
    tools_by_count: dict[int, list[Tool]] = {}
    for tool in tools:
        meanings = [meaning["as"] for meaning in guess(tool, headers).values()]
        if "metric" in meanings:
            tools_by_count.setdefault(sum(what != "ignore" for what in meanings), []).append(tool)
    best = tools_by_count[max(tools_by_count)] if tools_by_count else []
    return best[0] if len(best) == 1 else None


def of_numbers(tool: Tool, columns: Mapped) -> list[str]:
    """Return the headers of the columns that hold numbers: metrics, and parameters that are no words."""
    words = {parameter.name for parameter in tool.parameters if parameter.kind in _WORDS}
    return [
        header
        for header, meaning in columns.items()
        if meaning.get("as") == "metric" or (meaning.get("as") == "parameter" and meaning.get("name") not in words)
    ]


def read_line(
    tool: Tool,
    cells: Mapping[str, Cell],
    columns: Mapped,
    places: NodesByName,
    zone: tzinfo,
    signs: Mapping[str, Sign] | None = None,
) -> TableLine:
    """Return what a row comes to; the first thing that is wrong refuses it.

    `signs` refuse numbers whose point may separate thousands in the columns where nothing shows that it does not.
    """
    numbers = of_numbers(tool, columns)
    line = TableLine()
    for header, meaning in columns.items():
        cell = cells.get(header)
        if meaning.get("as", "ignore") == "ignore" or text_of(cell) == "":
            continue
        try:
            if header in numbers and isinstance(cell, str):
                decimals = meaning.get("decimals", "")
                if decimals == COMMA:
                    cell = figures.with_point(cell)
                elif not decimals and signs and header in signs:
                    signs[header].refuse(cell)
            _take(tool, line, cell, meaning, places, zone)
        except units.UnitError as error:
            text = _("%(column)s: %(why)s")
            line.refusal = Message(text, {"column": header, "why": error.message.as_json()})
            return line
    if not line.values:
        line.refusal = Message(_("The row has no figure."))
    return line


def _take(
    tool: Tool, line: TableLine, cell: Cell, meaning: Mapping[str, str], places: NodesByName, zone: tzinfo
) -> None:
    what, name, unit, text = meaning["as"], meaning.get("name", ""), meaning.get("unit", ""), text_of(cell)
    if what == "parameter":
        parameter = next(item for item in tool.parameters if item.name == name)
        line.told[name] = parameter.clean(figures.with_unit(text, unit))
    elif what == "metric":
        metric = next(item for item in tool.metrics if item.name == name)
        line.values[name] = figures.read_figure(metric, text, unit)
    elif what == "role":
        node = places.find(text)
        if node is None:
            raise units.UnitError(Message(_("No node is called “%(name)s”: add it first."), {"name": text[:80]}))
        line.roles[name] = [node]
    elif what == "repetition":
        number = units.parse_quantity(text, "integer")
        if not isinstance(number, int) or not 0 <= number <= _MOST_REPETITIONS:
            raise units.UnitError(Message(_("Repetitions are counted from 1.")))
        line.repetition = number
    else:
        line.measured_at = _moment(cell, zone)


def _has_unit(tool: Tool, what: str, name: str) -> bool:
    """Return whether what a column means is counted in a unit."""
    if what == "metric":
        return any(metric.name == name and metric.unit in units.BASE_UNITS.values() for metric in tool.metrics)
    return any(item.name == name and item.kind in units.BASE_UNITS for item in tool.parameters)


def _unit_problem(tool: Tool, what: str, name: str, unit: str) -> Message | None:
    """Return why a unit does not fit what a column means."""
    try:
        if what == "parameter":
            parameter: Parameter = next(item for item in tool.parameters if item.name == name)
            units.parse_quantity(f"1 {unit}", parameter.kind)
        elif what == "metric":
            figures.read_figure(next(item for item in tool.metrics if item.name == name), "1", unit)
    except units.UnitError as error:
        return error.message
    return None


def _moment(cell: Cell, zone: tzinfo) -> datetime:
    if isinstance(cell, datetime):
        moment = cell
    else:
        try:
            moment = datetime.fromisoformat(text_of(cell))
        except ValueError as error:
            text = _("“%(text)s” is no time: write it as 2026-03-02 10:00:00.")
            raise units.UnitError(Message(text, {"text": text_of(cell)[:40]})) from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    if not moments.is_reasonable(moment):
        text = _("“%(text)s” is too far away: nothing is measured in that year.")
        raise units.UnitError(Message(text, {"text": text_of(cell)[:40]}))
    return moment


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip().lower()
