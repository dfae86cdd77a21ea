"""What the nodes' agents will surely refuse of an experiment, by the facts that they reported."""

import dataclasses
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from apps.bench import units
from apps.bench.settings import PROGRAM as SETTINGS_PROGRAM
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _
from apps.bench.toolkit import NodeRef, ParameterError, Params, Plan, ToolFailure
from apps.campaigns.expansion import Cast, Expansion
from apps.core import figures
from workers.plans import Known, known_of, unconfirmed

logger = logging.getLogger(__name__)

# Plans that are looked at of one experiment: its warnings come as somebody types.
MOST_PLANS = 100
# So many are shown; a hundred nodes that lack a program say no more than these.
MOST_WARNINGS = 10
_NAMED = re.compile(r"\{program:([^{}]+)\}")
_MAXIMA = ("net.core.rmem_max", "net.core.wmem_max")

_PROGRAM = _(
    "%(node)s does not offer %(program)s: install it there, or give its path under “programs” in the agent's "
    "agent.json and restart the agent."
)
_WINDOW = _(
    "%(node)s grants programs at most %(limit)s of buffer (%(key)s), and %(wanted)s is asked for: ask for less, or "
    "raise it there."
)
_CONGESTION = _(
    "%(node)s does not let programs choose the congestion control %(value)s: choose another, or load its module "
    "there and add it to net.ipv4.tcp_allowed_congestion_control."
)
_SETTING = _(
    "The agent on %(node)s does not let measurements change %(key)s: add it to “settings” in the agent's agent.json "
    "and restart the agent."
)
_NO_PLAN = _("%(why)s %(remedy)s")


def plan_warnings(*, expansions: Iterable[Expansion]) -> list[Message]:
    """Return a message for each thing that no node concerned will do, each once, with what to do about it.

    Of a node whose agent has reported nothing yet nothing is said.
    """
    messages: dict[str, Message] = {}
    for expansion in expansions:
        for message in _warnings_of(expansion):
            messages.setdefault(str(message.as_json()), message)
            if len(messages) >= MOST_WARNINGS:
                return list(messages.values())
    return list(messages.values())


def plan_refusals(*, expansions: Iterable[Expansion]) -> list[Message]:
    """Return a message for each address that nodes would be told to call and that counts as none of a node's."""
    messages: dict[str, Message] = {}
    for expansion in expansions:
        catalogue = _catalogue_of(expansion)
        doubtful = catalogue.doubtful()
        # By name, which a node of these shares with no other of its team: a cast too many is only looked at in vain.
        casts = tuple(cast for cast in expansion.casts if {node.name for node in cast.nodes} & {*doubtful.values()})
        for cast, point in _telling(dataclasses.replace(expansion, casts=casts)):
            _roles, plan, _refused = _planned(expansion, cast, point, catalogue)
            messages |= {str(told.as_json()): told for told in (unconfirmed(plan, doubtful) if plan else ())}
    return list(messages.values())[:MOST_WARNINGS]


def _warnings_of(expansion: Expansion) -> Iterator[Message]:
    catalogue = _catalogue_of(expansion)
    doubtful = catalogue.doubtful()
    for cast, point in _telling(expansion):
        yield from _settings_refused(cast, point, catalogue)
        roles, plan, refused = _planned(expansion, cast, point, catalogue)
        yield from refused
        if plan is not None:
            yield from unconfirmed(plan, doubtful)
            yield from _programs_missing(plan, roles)
            yield from _values_refused(point, roles)


def _catalogue_of(expansion: Expansion) -> Known:
    nodes = {node.pk for cast in expansion.casts for node in cast.nodes}
    return known_of(nodes, expansion.file_system.pk if expansion.file_system else None)


def _planned(
    expansion: Expansion, cast: Cast, point: Params, catalogue: Known
) -> tuple[dict[str, list[NodeRef]], Plan | None, list[Message]]:
    """Return who plays which role and the commands, or None and why there can be none."""
    try:
        roles = {role: [catalogue.reference(node.pk) for node in nodes] for role, nodes in cast.roles.items()}
        return roles, expansion.tool.plan(setting_names.own_parameters(point), roles), []
    except ToolFailure as failure:
        return {}, None, [_refusal_of(failure)]
    except ParameterError as error:
        return {}, None, [*error.errors.values()]
    except Exception:
        # A mistake in a tool is its trial's, which says so; a preview goes on.
        logger.exception("No commands could be made for a preview of %s", expansion.tool.slug)
        return {}, None, []


def _refusal_of(failure: ToolFailure) -> Message:
    if not failure.remedy:
        return failure.message
    return Message(_NO_PLAN, {"why": failure.message.as_json(), "remedy": failure.remedy.as_json()})


def _telling(expansion: Expansion) -> Iterator[tuple[Cast, Params]]:
    """Yield casts with those points that may need different programs, or that ask for the largest window."""
    points: dict[tuple[Any, ...], Params] = {}
    for point in expansion.points:
        # Numbers change what a program is told, not which one it is; of windows the largest is what counts.
        key = tuple(sorted((name, value) for name, value in point.items() if isinstance(value, str | bool)))
        if key not in points or (point.get("window") or 0) > (points[key].get("window") or 0):
            points[key] = point
    count = 0
    for cast in expansion.casts:
        for point in points.values():
            if count >= MOST_PLANS:
                return
            count += 1
            yield cast, point


def _programs_missing(plan: Plan, roles: Mapping[str, Sequence[NodeRef]]) -> Iterator[Message]:
    for command in (command for stage in plan.stages for command in stage.commands if not command.optional):
        node = roles[command.role][command.node_index]
        offered = node.facts.get("tools")
        if not isinstance(offered, Mapping) or command.argv[0] == SETTINGS_PROGRAM:
            continue
        texts = [*command.argv[1:], *(text for pair in (*command.files, *command.environment) for text in pair)]
        named = [name for text in command.argv[:1] for name in _NAMED.findall(text) or [text]]
        named += [name for text in texts for name in _NAMED.findall(text)]
        for program in dict.fromkeys(named):
            if program not in offered:
                yield Message(_PROGRAM, {"node": node.name, "program": program})


def _values_refused(point: Params, roles: Mapping[str, Sequence[NodeRef]]) -> Iterator[Message]:
    """Yield what the kernels of the nodes will not grant: a window that is too large, a congestion control."""
    window, control = point.get("window"), point.get("congestion")
    changed = setting_names.settings_of(point)
    for role, nodes in roles.items():
        for node in nodes:
            limits = {key: _number(node.facts, key) for key in _MAXIMA if key not in changed.get(role, {})}
            low = {key: limit for key, limit in limits.items() if limit is not None}
            key = min(low, key=lambda name: low[name], default="")
            if key and isinstance(window, int) and not isinstance(window, bool) and window > low[key]:
                sizes = {"limit": units.format_quantity(low[key], "B"), "wanted": units.format_quantity(window, "B")}
                yield Message(_WINDOW, {"node": node.name, "key": key, **sizes})
            allowed = (node.facts.get("congestion_controls") or {}).get("allowed")
            if control and isinstance(allowed, list) and allowed and control not in allowed:
                yield Message(_CONGESTION, {"node": node.name, "value": str(control)})


def _settings_refused(cast: Cast, point: Params, catalogue: Known) -> Iterator[Message]:
    for role, values in setting_names.settings_of(point).items():
        for node in cast.roles.get(role, ()):
            patterns = catalogue.facts.get(node.pk, {}).get("settings")
            if not isinstance(patterns, list):
                continue
            for key in values:
                if not any(fnmatchcase(key, str(pattern)) for pattern in patterns):
                    yield Message(_SETTING, {"node": node.name, "key": key})


def _number(facts: Mapping[str, Any], key: str) -> int | None:
    sysctls = facts.get("sysctls")
    return figures.whole(sysctls.get(key)) if isinstance(sysctls, Mapping) else None
