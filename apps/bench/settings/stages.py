"""The stage that sets what a trial wants of its nodes' kernels, and what came of it."""

import contextlib
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.bench import strict_json
from apps.bench.outputs.documents import whole_of
from apps.bench.settings.catalogue import normalise
from apps.bench.text import Message, _
from apps.bench.toolkit import AROUND, Command, Flag, Output, Params, Plan, Reading, Stage, Tool, ToolFailure

# The agent's built-in program: it sets, says so, waits to be stopped, and puts back what it found.
PROGRAM = "fathom-settings"
STAGE = AROUND + "settings"
READY_PATTERN = r"^applied \{"
FILE = "settings.json"
# What it says where another agent of the machine holds settings: they are put back soon.
BUSY = "another agent holds settings of this machine"
# What a stage may take (s) beyond its commands: until agents have got them and their reports are here, also where the
# service is away for a while. It is stopped when the others have ended.
STAGE_TAKES_S = 300.0
# From the order to stop to the end of the last process (s).
STOP_TAKES_S = 3.0


def stage(settings_by_role: Mapping[str, Sequence[Mapping[str, str]]], time_limit_s: float = STAGE_TAKES_S) -> Stage:
    """Return the stage for {role: [{key: value} of each node, in the order of the role]}; empty ones are left out.

    What it sets is put back after `time_limit_s` at the latest.
    """
    commands = [
        Command(
            role=role,
            node_index=index,
            argv=(PROGRAM, FILE),
            time_limit_s=time_limit_s,
            background=True,
            ready_pattern=READY_PATTERN,
            measures=False,
            files=((FILE, _file(settings)),),
        )
        for role, nodes in settings_by_role.items()
        for index, settings in enumerate(nodes)
        if settings
    ]
    return Stage(STAGE, tuple(commands))


def wrap(plan: Plan, settings_by_role: Mapping[str, Sequence[Mapping[str, str]]]) -> Plan:
    """Return a plan whose commands all run with the settings; the plan itself without any."""
    settings_stage = stage(settings_by_role, _limit_of(plan))
    return Plan((settings_stage, *plan.stages)) if settings_stage.commands else plan


def _limit_of(plan: Plan) -> float:
    """Return how long (s) a plan may take, and the stages that look at what is around it before and after."""
    limits = [max((command.time_limit_s for command in stage.commands), default=0.0) for stage in plan.stages]
    return sum(limits) + (len(limits) + 2) * STAGE_TAKES_S


def refusal_of(output: Output) -> ToolFailure | None:
    """Return why a node's settings were not set, None if they were or if it does not say, or is another program's."""
    if output.argv[:1] != (PROGRAM,) or applied_of(output):
        return None
    words = _words_of(output)
    if not words:
        return None
    return ToolFailure(
        "setting-refused",
        Message(_("%(node)s could not change its settings: %(said)s"), {"node": output.node, "said": words}),
        words == BUSY,
        Message(_("Choose a value that its kernel takes; only an agent that was started as root can set any.")),
    )


def _words_of(output: Output) -> str:
    """Return what the program says went wrong, "" if nothing did."""
    reason = next((line for line in output.stderr.decode("utf-8", "replace").splitlines() if line.strip()), "")
    return "".join(letter if letter.isprintable() else " " for letter in reason.removeprefix(f"{PROGRAM}: "))[:300]


def applied_of(output: Output) -> dict[str, dict[str, str]]:
    """Return {key: {"earlier", "applied"}} as the program said it, {} if it said nothing of the kind."""
    return _checked(_said(output, "applied"))


def drifts_of(output: Output) -> dict[str, str]:
    """Return {key: what it was when the measurement ended} of settings that somebody else had set meanwhile."""
    document = _said(output, "changed")
    pairs = document.items() if isinstance(document, dict) else ()
    return {key: value for key, value in pairs if isinstance(value, str)}


def _said(output: Output, word: str) -> Any:
    """Return what stands behind a word that the program says, None if it does not."""
    for line in output.stdout.decode("utf-8", "replace").splitlines():
        first, _blank, text = line.partition(" ")
        if first == word:
            with contextlib.suppress(ValueError):
                return whole_of(text)
            return None
    return None


def judge(reading: Reading, outputs: Sequence[Output], params: Params, tool: Tool) -> Reading:
    """Add what was set as `observed["settings"]`, and invalidate what was measured after a setting was lost."""
    holders = [output for output in outputs if output.argv[:1] == (PROGRAM,)]
    if not holders:
        return reading
    observed = {output.node: applied_of(output) for output in holders}
    own = [output for output in outputs if not output.stage.startswith(AROUND)]
    lost = [output for output in holders if _was_lost(output, own)]
    flags = [
        Flag(
            "setting-lost",
            "invalid",
            Message(_("%(node)s had its settings back before the measurement ended."), {"node": output.node}),
        )
        for output in lost
    ]
    flags += [
        Flag(
            "setting-lost",
            "invalid",
            Message(
                _("On %(node)s somebody else set %(key)s while this was measured: it was %(now)s in the end."),
                {"node": output.node, "key": key, "now": now},
            ),
        )
        for output in holders
        for key, now in sorted(drifts_of(output).items())
    ]
    flags += [
        Flag(
            "settings-remain",
            "warning",
            Message(_("%(node)s is not what it was before: %(said)s"), {"node": output.node, "said": words}),
        )
        for output in holders
        if output.exit_code != 0 and (words := _words_of(output))
    ]
    return dataclasses.replace(
        reading, observed={**reading.observed, "settings": observed}, flags=(*reading.flags, *flags)
    )


def _was_lost(holder: Output, own: Iterable[Output]) -> bool:
    """Say whether the settings were let go before the tool's commands had ended: their holder was killed, or told to.

    Servers are stopped at one time with it, or later, and may take some time to end.
    """
    ends = [output.ended_at for output in own if output.ended_at is not None and not output.is_background]
    early = holder.ended_at is not None and bool(ends) and holder.ended_at < max(ends) - STOP_TAKES_S
    # One that says what it could not put back, as it was told to, had held it until then.
    is_at_fault = holder.exit_code != 0 and not _words_of(holder)
    return early or holder.signal is not None or is_at_fault


def _file(settings: Mapping[str, str]) -> str:
    return (
        strict_json.dumps({"settings": {key: normalise(value) for key, value in settings.items()}}, indent=1) + "\n"
    )


def _checked(document: Any) -> dict[str, dict[str, str]]:
    if not isinstance(document, dict):
        return {}
    applied = {}
    for key, value in document.items():
        if isinstance(value, dict):
            words = {name: value.get(name) for name in ("earlier", "applied")}
            if all(isinstance(word, str) for word in words.values()):
                applied[key] = {name: str(word) for name, word in words.items()}
    return applied
