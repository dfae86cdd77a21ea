"""Try a definition on an output, as if a trial of its defaults had printed it."""

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext

from apps.accounts import rights
from apps.accounts.models import Role, User
from apps.accounts.owners import owners_of
from apps.bench import custom, strict_json, units
from apps.bench.text import Message, _
from apps.bench.toolkit import NodeRef, ParameterError, Reading, ToolFailure
from apps.core import messages, programs
from apps.core.limits.fair_places import FairPlaces
from apps.toolbox import reading_program

# What stands for the nodes of a trial.
_CLIENT = NodeRef("client", "192.0.2.1", "/mnt/file-system")
_SERVER = NodeRef("server", "192.0.2.2", "/mnt/file-system")
# So many outputs are read at once by a web process; who finds no place waits for so long (s).
AT_ONCE = 2
WAIT_S = 15.0
# On a machine that is busy with other work the program waits for its processor (s).
_PATIENCE_S = 20.0
_LATE = ToolFailure(
    "too-long",
    Message(_("This output takes too long to be read by this definition.")),
    False,
    Message(_("Find figures by patterns and paths that match once, or paste less of the output.")),
)
_places = FairPlaces(AT_ONCE, wait_s=WAIT_S)


@dataclass(frozen=True)
class DefinitionAttempt:
    """What a definition makes: the commands of its defaults, and of an output the figures or why there are none."""

    commands: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    reason: str = ""
    remedy: str = ""
    reading: Reading | None = None
    failure: ToolFailure | None = None

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Return the commands as a shell takes them, by role."""
        return [(role, shlex.join(argv)) for role, argv in self.commands]


def try_definition(
    *, user: User, definition: custom.Definition, output: str, values: Mapping[str, Any] | None = None
) -> DefinitionAttempt:
    """Return what a definition makes of its defaults (or of parameters' `values`) and, if there is one, of an output.

    ParameterError names each value that its parameters refuse. Whoever manages no team may not (PermissionDenied);
    LimitExceededError (429) if no place is free in time, outage.Busy (503) if what reads is killed each time.
    """
    if not rights.teams_for(user, Role.MANAGER).exists():
        raise PermissionDenied(gettext("Only managers define tools. Ask a manager of your team."))
    tool = custom.make_tool(definition, "tried")
    values = values if values is not None else _defaults(tool)
    nodes = {role.name: [_SERVER if role.name == "server" else _CLIENT] for role in tool.roles}
    plan = tool.plan(tool.clean(values), nodes)
    commands = [(command.role, command.argv) for stage in plan.stages for command in stage.commands]
    if not output.strip():
        return DefinitionAttempt(commands)
    question = {"definition": definition.as_json(), "output": output, "argv": commands[-1][1], "parameters": values}
    with _places.turn(owners_of(user)):
        answer = programs.persist(lambda: _read(strict_json.dumps(question)))
    if "reading" not in answer:
        failure = ToolFailure.from_json(answer["failure"]) if "failure" in answer else _LATE
        reason, remedy = messages.render(failure.message), messages.render(failure.remedy)
        return DefinitionAttempt(commands, reason=reason, remedy=remedy, failure=failure)
    reading = Reading.from_json(answer["reading"])
    metrics = {metric.name: metric for metric in tool.metrics}
    return DefinitionAttempt(
        commands,
        figures=[
            (metrics[sample.metric].label, units.format_quantity(sample.value, metrics[sample.metric].unit))
            for sample in reading.samples
        ],
        flags=[messages.render(flag.message) for flag in reading.flags],
        reading=reading,
    )


def _read(question: str) -> dict[str, Any]:
    """Return what `reading_program` answers, {} if it did not; ProgramLostError if it was killed."""
    argv = [sys.executable, "-m", reading_program.__name__]
    try:
        done = subprocess.run(
            argv, input=question.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=settings.BASE_DIR, timeout=_PATIENCE_S, check=False,
        )  # fmt: skip
        programs.require_not_lost(done.returncode)
        answer: dict[str, Any] = json.loads(done.stdout) if not done.returncode else {}
    except (subprocess.SubprocessError, ValueError):
        return {}
    return answer


def _defaults(tool: custom.CustomTool) -> dict[str, Any]:
    """Return values for the parameters that have no default: the least, or the first choice."""
    values: dict[str, Any] = {}
    for parameter in tool.parameters:
        if parameter.required and parameter.default is None:
            first = parameter.choices[0][0] if parameter.choices else parameter.minimum
            values[parameter.name] = first if first is not None else "1" if parameter.kind != "boolean" else "yes"
    try:
        tool.clean(values)
    except ParameterError as error:
        return {name: value for name, value in values.items() if name not in error.errors}
    return values
