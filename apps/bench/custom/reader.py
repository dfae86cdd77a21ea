"""Read a definition from plain data, with every mistake at its field."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from apps.bench import units
from apps.bench.custom import definition as parts
from apps.bench.custom import template
from apps.bench.custom.definition import Definition, DefinitionError, MetricRule
from apps.bench.custom.fields import Fields, read_parameter
from apps.bench.custom.paths import JsonPath
from apps.bench.custom.patterns import MOST_PARTS_TOGETHER, Pattern, PatternError, check_ready, check_size
from apps.bench.custom.units import KINDS, read_unit
from apps.bench.sweep.exclusions import ExclusionError, compile_exclusion
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter

MOST_ROWS = 40
MOST_LINES = 100
LONGEST_LIMIT_S = 7 * 86400.0
NAME = re.compile(r"[a-z][a-z0-9_]{0,30}", re.ASCII)
PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}", re.ASCII)
FILE = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}", re.ASCII)
# Words that mean something else where a parameter's name may stand.
RESERVED = {
    "client",
    "server",
    "node",
    "work",
    "directory",
    "program",
    "setting",
    "nodes",
    "clients",
    "and",
    "or",
    "not",
    "in",
}

_FIELDS = set(Definition.__dataclass_fields__)


def read_definition(data: object) -> Definition:
    """Return the definition that plain data (of JSON, YAML) describes; DefinitionError names every wrong field."""
    definition = _read(data, is_stored=False)
    errors = too_large_patterns(definition) or _too_large_together(definition)
    if errors:
        raise DefinitionError(errors)
    return definition


def restore_definition(data: object) -> Definition:
    """Return a definition that was stored, perhaps before patterns too large to be searched for were refused.

    Its patterns are not compiled: who asks for a tool's name does not wait for that.
    """
    return _read(data, is_stored=True)


def _read(data: object, *, is_stored: bool) -> Definition:
    if not isinstance(data, Mapping):
        raise DefinitionError({"": Message(_("A definition is a mapping of fields to values."))})
    fields = Fields(data, _FIELDS)
    parameters = _parameters(fields)
    metrics = _metrics(fields, parameters, is_stored)
    definition = Definition(
        name=fields.text("name", needed=True, maximum=100),
        summary=fields.text("summary", maximum=200),
        group=fields.choice("group", parts.GROUPS, "other"),
        parameters=parameters,
        parts=fields.choice("parts", (parts.ALONE, parts.ADDRESS, parts.SERVER), parts.ALONE),
        program=fields.matching("program", PROGRAM, needed=True),
        arguments=fields.lines("arguments", MOST_LINES),
        metrics=metrics,
        time_limit_s=fields.seconds("time_limit_s", 60.0, minimum=1, maximum=LONGEST_LIMIT_S),
        time_limit_adds=fields.text("time_limit_adds"),
        takes_s=fields.seconds("takes_s", 10.0, minimum=0, maximum=LONGEST_LIMIT_S),
        takes_adds=fields.text("takes_adds"),
        server_program=fields.matching("server_program", PROGRAM),
        server_arguments=fields.lines("server_arguments", MOST_LINES),
        ready=fields.text("ready"),
        result_file=fields.matching("result_file", FILE),
        success=fields.text("success"),
        failure=fields.text("failure"),
        conditions=fields.lines("conditions", MOST_LINES),
        version=fields.text("version"),
        offered_load=fields.text("offered_load"),
        streams=fields.text("streams"),
    )
    _check_commands(definition, fields)
    if not is_stored:
        _check_patterns(definition, fields)
    _check_names(definition, fields)
    if not fields.errors:
        _check_conditions(definition, fields)
    if fields.errors:
        raise DefinitionError(fields.errors)
    return definition


def too_large_patterns(definition: Definition) -> dict[str, Message]:
    """Return {field: why} of the patterns that are too large to be searched for."""
    errors = {}
    for field, text in _patterns_of(definition).items():
        try:
            check_size(text)
        except PatternError as error:
            errors[field] = error.message
    return errors


def _too_large_together(definition: Definition) -> dict[str, Message]:
    """Return {field: why} of the largest pattern, where all are too large together."""
    sizes = {field: Pattern(text).parts for field, text in _patterns_of(definition).items()}
    if sum(sizes.values()) <= MOST_PARTS_TOGETHER:
        return {}
    text = _(
        "All patterns together are too large with their repetitions written out; this is the largest: repeat less, or"
        " fewer letters."
    )
    return {max(sizes, key=lambda field: sizes[field]): Message(text)}


def _patterns_of(definition: Definition) -> dict[str, str]:
    """Return {field: pattern} of those that RE2 searches for."""
    rules = {f"metrics.{index}.where": rule for index, rule in enumerate(definition.metrics)}
    patterns = {field: rule.where for field, rule in rules.items() if rule.find == parts.REGEX}
    return patterns | {field: getattr(definition, field) for field in ("success", "failure", "version")}


def places_of(definition: Definition) -> list[str]:
    """Return the names that a template may use beside the parameters'."""
    roles = ["node"] if definition.parts == parts.ALONE else ["client", "server"]
    return [*(f"{role}.{part}" for role in roles for part in ("address", "name")), template.DIRECTORY, template.WORK]


def as_names(definition: Definition) -> dict[str, Parameter]:
    """Return what conditions may name: parameters, and metrics as if they were some."""
    metrics = {
        rule.name: Parameter(rule.name, KINDS.get(read_unit(rule.unit).base, "float"), rule.label)
        for rule in definition.metrics
    }
    return {parameter.name: parameter for parameter in definition.parameters} | metrics


def _parameters(fields: Fields) -> tuple[Parameter, ...]:
    parameters: dict[str, Parameter] = {}
    for index, row in enumerate(fields.rows("parameters", MOST_ROWS)):
        parameter = read_parameter(row)
        fields.take_errors(f"parameters.{index}", row)
        problem = _wrong_name(parameter.name, parameters)
        if problem:
            fields.errors.setdefault(f"parameters.{index}.name", problem)
        parameters.setdefault(parameter.name, parameter)
    return tuple(parameters.values())


def _metrics(fields: Fields, parameters: Iterable[Parameter], is_stored: bool) -> tuple[MetricRule, ...]:
    rules: dict[str, MetricRule] = {}
    names = {parameter.name for parameter in parameters}
    for index, row in enumerate(fields.rows("metrics", MOST_ROWS)):
        name = row.text("name", needed=True)
        rule = MetricRule(
            name=name,
            label=row.text("label", maximum=100) or name,
            unit=row.text("unit", maximum=100),
            better=row.choice("better", (parts.HIGHER, parts.LOWER, parts.NEITHER), parts.HIGHER),
            find=row.choice("find", (parts.REGEX, parts.JSON_PATH), parts.REGEX),
            where=row.text("where", needed=True),
            take=row.choice("take", parts.TAKES, parts.TAKES[0]),
            optional=row.boolean("optional"),
        )
        _check_metric(rule, row, is_stored)
        fields.take_errors(f"metrics.{index}", row)
        problem = _wrong_name(rule.name, names)
        if problem:
            fields.errors.setdefault(f"metrics.{index}.name", problem)
        names.add(rule.name)
        rules.setdefault(rule.name, rule)
    if not rules and "metrics" not in fields.errors:
        fields.errors["metrics"] = Message(_("Without a metric there is nothing to measure: add one."))
    elif rules and next(iter(rules.values())).optional:
        fields.errors.setdefault(
            "metrics.0.optional", Message(_("The first metric is the result: it is always needed."))
        )
    return tuple(rules.values())


def _check_metric(rule: MetricRule, row: Fields, is_stored: bool) -> None:
    try:
        read_unit(rule.unit)
    except units.UnitError as error:
        row.errors["unit"] = error.message
    if "where" in row.errors:
        return
    try:
        if rule.find == parts.JSON_PATH:
            JsonPath(rule.where)
        elif not is_stored and not Pattern(rule.where).has_value:
            text = _("Put the number into brackets, for example (\\d+\\.\\d+), or into a group called value.")
            row.errors["where"] = Message(text)
    except PatternError as error:
        row.errors["where"] = error.message


def _wrong_name(name: str, others: Iterable[str]) -> Message | None:
    if not NAME.fullmatch(name):
        return Message(_("Use small letters, digits and _, and begin with a letter, for example block_size."))
    if name in RESERVED:
        return Message(_("“%(name)s” has a meaning of its own here: choose another name."), {"name": name})
    if name in others:
        return Message(_("There are two of the name “%(name)s”: choose another."), {"name": name})
    return None


def _check_commands(definition: Definition, fields: Fields) -> None:
    if definition.parts == parts.SERVER and not definition.server_program:
        fields.errors.setdefault("server_program", Message(_("Say which program the server runs.")))
    if definition.parts != parts.SERVER:
        for name in ("server_program", "server_arguments", "ready"):
            if getattr(definition, name):
                text = _("There is no server here: choose two nodes, one as a server, or leave this empty.")
                fields.errors.setdefault(name, Message(text))
    parameters = {parameter.name: parameter for parameter in definition.parameters}
    places = places_of(definition)
    for name in ("arguments", "server_arguments"):
        for line in getattr(definition, name):
            if problem := _wrong_line(line, parameters, places):
                fields.errors.setdefault(name, problem)


def _wrong_line(line: str, parameters: Mapping[str, Parameter], places: Sequence[str]) -> Message | None:
    try:
        slots = template.slots_of(template.parse_line(line))
    except template.TemplateError as error:
        return error.message
    problems = (template.check_slot(slot, parameters, places) for slot in slots)
    return next((problem for problem in problems if problem), None)


def _check_patterns(definition: Definition, fields: Fields) -> None:
    for name, check in (("success", Pattern), ("failure", Pattern), ("version", Pattern), ("ready", check_ready)):
        text = getattr(definition, name)
        if not text or name in fields.errors:
            continue
        try:
            check(text)
        except PatternError as error:
            fields.errors[name] = error.message


def _check_names(definition: Definition, fields: Fields) -> None:
    kinds = {parameter.name: parameter.kind for parameter in definition.parameters}
    kinds_by_field = {
        "time_limit_adds": "duration",
        "takes_adds": "duration",
        "offered_load": "rate",
        "streams": "integer",
    }
    for field, kind in kinds_by_field.items():
        name = getattr(definition, field)
        if name and kinds.get(name) != kind:
            text = _("“%(name)s” is no parameter of the kind %(kind)s.")
            fields.errors.setdefault(field, Message(text, {"name": name, "kind": kind}))
    if not math.isfinite(definition.time_limit_s):
        fields.errors.setdefault("time_limit_s", Message(_("Give a limit.")))


def _check_conditions(definition: Definition, fields: Fields) -> None:
    names = as_names(definition)
    optional = {rule.name for rule in definition.metrics if rule.optional}
    for text in definition.conditions:
        try:
            compiled = compile_exclusion(text, names)
        except ExclusionError as error:
            fields.errors.setdefault("conditions", error.message)
            continue
        if missing := sorted(optional & set(compiled.names)):
            why = _("%(name)s is optional, and a condition needs its metrics: make it needed, or leave it out here.")
            fields.errors.setdefault("conditions", Message(why, {"name": missing[0]}))
