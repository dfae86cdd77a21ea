"""Read each item with all that is known of it, before anything is stored: what fails is told then, not half-way."""

import dataclasses
import zlib
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from apps.archive.imports import groups
from apps.archive.imports.models import Import, ImportItem
from apps.archive.imports.recognition import storable
from apps.bench import recognition
from apps.bench.outputs import pacing
from apps.bench.text import Message, _
from apps.bench.toolkit import Output, ParameterError, Reading, SampleValue, Tool, ToolFailure
from apps.core import cpu_time
from apps.testbeds import queries as inventory
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

Json = dict[str, Any]

BATCH = 50


def check_on(imported: Import, *, is_time_up: Callable[[], bool]) -> bool:
    """Read further items, and say whether that was the last of them; those that fail have a `problem`."""
    casts = _Casts()
    excluded = [key for key, choice in imported.choices.items() if not choice["include"]]
    remaining = groups.usable(imported).filter(reading__isnull=True, problem__isnull=True).exclude(group__in=excluded)
    while items := list(remaining[:BATCH]):
        if is_time_up():
            return False
        for item in items:
            choice = imported.choices[item.group]
            try:
                item.reading = _read(item, choice, casts)
            except ParameterError as error:
                text = "; ".join(f"{name}: {message}" for name, message in error.errors.items())
                reason = Message(_("The tool refuses the parameters: %(why)s"), {"why": text})
                item.problem = storable(reason.as_json())
            except cpu_time.OutOfTimeError:
                item.problem = storable(Message(_("Reading this takes too long.")).as_json())
            except ToolFailure as failure:
                item.problem = storable(failure.message.as_json())
        # By themselves: of those without one, bulk_update would make a JSON null.
        ImportItem.objects.bulk_update([item for item in items if item.reading is not None], ["reading"])
        ImportItem.objects.bulk_update([item for item in items if item.problem is not None], ["problem"])
        imported.done, imported.stuck = imported.done + len(items), 0
        imported.claimed_at = timezone.now()
        imported.save(update_fields=["done", "stuck", "claimed_at", "updated_at"])
    return True


def roles_of(item: ImportItem, choice: Json) -> dict[str, list[int]]:
    """Return who played which role: as a table's row tells, else as was chosen."""
    own = item.roles if item.source.kind == Import.Kind.TABLE else {}
    return {**choice["roles"], **own}


def _read(item: ImportItem, choice: Json, casts: "_Casts") -> Any:
    tool = toolbox.get_tool(item.tool)
    raw = {**choice["parameters"], **item.told}
    params = tool.clean(raw)
    described = {name: params[name] for name in params if name in raw}
    roles = roles_of(item, choice)
    if item.source.kind == Import.Kind.TABLE:
        samples = tuple(SampleValue(metric, value) for metric, value in item.values.items())
        # As the tool's own output would: a rate at the limit that was asked for is none of the path's.
        flags_of_pacing = pacing.held_flags(item.values.get("goodput"), described.get("pace"), "bit/s")
        reading, role, argv = Reading(samples, requested=described, flags=tuple(flags_of_pacing)), "", []
    else:
        own = recognition.own_output(tool, output_of(item))
        own = dataclasses.replace(own, node=casts.name_of(roles, tool))
        capacity = casts.capacity_of(roles, tool)
        with cpu_time.limited():
            role, reading = recognition.read_as_any_role(tool, own, params, capacity, told=described)
        argv = list(own.argv)
    return storable({**reading.as_json(), "parameters": described, "role": role, "argv": argv})


def output_of(item: ImportItem) -> Output:
    """Return an item's raw output."""
    command = item.command
    return Output(
        role="",
        stage="measure",
        node=recognition.NODE,
        argv=tuple(command["argv"]),
        stdout=zlib.decompress(item.stdout_z),
        stderr=zlib.decompress(item.stderr_z),
        exit_code=command["exit_code"],
        signal=command["signal"],
        timed_out=command["timed_out"],
    )


class _Casts:
    """What is known of the nodes that play together, asked once for each cast."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._capacities: dict[tuple[int, ...], int | None] = {}
        self._networks = inventory.Networks()

    def name_of(self, roles: dict[str, list[int]], tool: Tool) -> str:
        """Return the name of the node that measured: the first of the first role."""
        node = next(iter(roles.get(tool.roles[0].name, [])), None)
        if node is None:
            return recognition.NODE
        if node not in self._names:
            self._names[node] = Node.objects.values_list("name", flat=True).get(pk=node)
        return self._names[node]

    def capacity_of(self, roles: dict[str, list[int]], tool: Tool) -> int | None:
        """Return the least capacity (bit/s) of the links between the nodes, None where one is not known."""
        if not tool.transport:
            return None
        key = tuple(sorted(node for members in roles.values() for node in members))
        if key not in self._capacities:
            players = list(Node.objects.filter(pk__in=key))
            self._capacities[key] = inventory.least_capacity_bps(inventory.resources_of(players, self._networks))
        return self._capacities[key]
