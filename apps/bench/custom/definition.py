"""What a definition holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter

Json = dict[str, Any]

# Who takes part beside the node that measures: nobody; a node whose address is needed; one that runs a server, too.
ALONE, ADDRESS, SERVER = "alone", "address", "server"
# How a figure is found.
REGEX, JSON_PATH = "regex", "json"
# Which of several matches counts.
TAKES = ("last", "first", "minimum", "maximum", "mean", "sum")
HIGHER, LOWER, NEITHER = "higher", "lower", "neither"
GROUPS = ("network", "transfer", "storage", "mpi", "other")

PARTS = ((ALONE, _("one node alone")), (ADDRESS, _("two nodes")), (SERVER, _("two nodes, one as a server")))


class DefinitionError(ValueError):
    """A definition that can not be used; ``errors`` names each field ("metrics.0.pattern") and what is wrong."""

    def __init__(self, errors: Mapping[str, Message]) -> None:
        self.errors = dict(errors)
        super().__init__("; ".join(f"{name}: {message}" for name, message in self.errors.items()))


@dataclass(frozen=True)
class MetricRule:
    """One figure: `where` it is (a pattern or a JSON path), in which `unit` it is printed, and what is better.

    The figure is the pattern's group "value", else its first group; a group "unit" is the unit printed with it.
    """

    name: str
    label: str
    unit: str
    better: str
    find: str
    where: str
    take: str = "last"
    optional: bool = False


@dataclass(frozen=True)
class Definition:
    """A tool as its team describes it.

    `arguments` and `server_arguments` are lines of the template (see `template`); times are in s, and where a name
    of a parameter is given beside one, that parameter's value is added. `result_file` is a file of the work folder
    in which the result stands instead of stdout.
    """

    name: str
    summary: str
    group: str
    parameters: tuple[Parameter, ...]
    parts: str
    program: str
    arguments: tuple[str, ...]
    metrics: tuple[MetricRule, ...]
    time_limit_s: float = 60.0
    time_limit_adds: str = ""
    takes_s: float = 10.0
    takes_adds: str = ""
    server_program: str = ""
    server_arguments: tuple[str, ...] = ()
    ready: str = ""
    result_file: str = ""
    success: str = ""
    failure: str = ""
    conditions: tuple[str, ...] = ()
    version: str = ""
    offered_load: str = ""
    streams: str = ""

    def as_json(self) -> Json:
        """Return the definition as plain JSON values, which `read_definition` takes."""
        data: Json = {}
        for name, value in vars(self).items():
            if name in ("parameters", "metrics"):
                data[name] = [_plain(item) for item in value]
            else:
                data[name] = list(value) if isinstance(value, tuple) else value
        return data


def _plain(item: Parameter | MetricRule) -> Json:
    """Return a row without what was left empty."""
    if isinstance(item, MetricRule):
        return dict(vars(item))
    fields = {name: value for name, value in vars(item).items() if value not in (None, "", (), False)}
    if item.choices:
        fields["choices"] = [value for value, _label in item.choices]
    fields.pop("unit", None)
    # A default of no is a default, and so is an empty text.
    return fields | ({"default": item.default} if item.default is not None else {})
