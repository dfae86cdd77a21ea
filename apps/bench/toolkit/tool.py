"""What every benchmark tool offers: parameters, a plan, a parser and an estimate."""

import abc
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit.parameters import Parameter, ParameterError, Params, Value
from apps.bench.toolkit.plans import NodeRef, Plan
from apps.bench.toolkit.readings import Output, Reading


@dataclass(frozen=True)
class Metric:
    """A figure a tool can give; `axis` names the quantity, so that metrics of one axis share a chart's scale.

    Times and rates that a program prints as zero were too small for its digits, unless the metric `has_zero`: it may
    be zero, or the program counts what it is computed from, such as bytes.
    """

    name: str
    label: str
    unit: str
    higher_is_better: bool | None
    primary: bool = False
    axis: str = ""
    has_zero: bool = False


@dataclass(frozen=True)
class ToolRole:
    """A part that a node plays in a measurement; `many` roles take several nodes at once."""

    name: str
    label: str
    kind: str = "node"
    many: bool = False


@dataclass(frozen=True)
class TrialEstimate:
    """How long a trial will take (s) and what it will send: {(from role, to role): bytes}.

    `offered_bps` (bit/s) is traffic that gives way to nobody, such as UDP at a set rate; `streams` are connections
    open at one time. The owner of a link may limit both.
    """

    duration_s: float
    bytes_sent: dict[tuple[str, str], int] = field(default_factory=dict)
    offered_bps: float = 0.0
    streams: int = 0


class Tool(abc.ABC):
    """One benchmark program: its file in this folder is all that the service knows of it."""

    slug: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    programs: ClassVar[tuple[str, ...]]
    roles: ClassVar[tuple[ToolRole, ...]]
    parameters: ClassVar[tuple[Parameter, ...]]
    metrics: ClassVar[tuple[Metric, ...]]
    minimum_version: ClassVar[str] = ""
    # Whose headers the measured rates go without: "tcp" or "udp"; "" where no rate is measured.
    transport: ClassVar[str] = ""
    # The parameter and the value of it with which data goes from the second role to the first, and whether the second
    # role is the one that sends otherwise; `ways` reads both.
    backwards_at: ClassVar[tuple[str, str]] = ("direction", "reverse")
    second_sends: ClassVar[bool] = False
    # The heading under which it is offered: network, transfer, storage, mpi or other.
    group: ClassVar[str] = "network"
    # Whether it writes to a file system of the inventory: "", "optional" or "required".
    file_system: ClassVar[str] = ""
    # Metrics that the program itself sums up in its last lines, whatever it printed before.
    closing: ClassVar[frozenset[str]] = frozenset()
    # The line with which each of its runs begins, and none has twice; None where the program prints no such line.
    opening: ClassVar[re.Pattern[str] | None] = None
    # Texts that tell its outputs from those of others; any one of them is enough.
    signatures: ClassVar[tuple[re.Pattern[str], ...]] = ()

    def clean(self, params: Mapping[str, Value]) -> dict[str, Any]:
        """Return typed parameters in base units with defaults applied; ParameterError names each bad field."""
        errors: dict[str, Message] = {}
        values: dict[str, Any] = {}
        parameters = {parameter.name: parameter for parameter in self.parameters}
        for name in (name for name in params if name not in parameters):
            errors[name] = Message(_("%(tool)s has no parameter of this name."), {"tool": self.name})
        for name, parameter in parameters.items():
            try:
                values[name] = parameter.clean(params.get(name))
            except units.UnitError as error:
                errors[name] = error.message
        if not errors:
            errors = self.check(values)
        if errors:
            raise ParameterError(errors)
        return values

    def check(self, params: Params) -> dict[str, Message]:
        """Return what is wrong with parameters that are each right by themselves: {field: message}."""
        return {}

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Return what is wrong with parameters for so many nodes in each role: {field: message}."""
        return {}

    def recognises(self, output: Output) -> bool:
        """Return whether an output of unknown origin is this tool's (`argv` may be empty)."""
        text = (output.stdout + b"\n" + output.stderr).decode("utf-8", "replace")
        return any(pattern.search(text) for pattern in self.signatures)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the parameters that an output found in an archive was made with, as far as it and its argv tell."""
        return {}

    def is_later(self, earlier: Any, later: Any) -> bool:
        """Return whether a JSON document is a later report of the run of another, whose counts it goes on from."""
        return False

    def certain_in(self, outputs: Sequence[Output]) -> frozenset[str]:
        """Return the metrics whose figures stand in what is left of outputs that were cut."""
        return self.closing

    @abc.abstractmethod
    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return the commands of one measurement; `params` as `clean` returned them."""

    @abc.abstractmethod
    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the reading of the outputs of the plan's commands, or raise ToolFailure."""

    @abc.abstractmethod
    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return how long one measurement takes and what it sends on a path of `capacity_bps` (bit/s)."""
