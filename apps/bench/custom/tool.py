"""A definition as a tool, like those that are files of their own."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from apps.bench.custom import definition as parts
from apps.bench.custom import template
from apps.bench.custom.definition import Definition
from apps.bench.custom.extraction import certain_in, read_samples
from apps.bench.custom.fields import printable
from apps.bench.custom.patterns import Pattern
from apps.bench.custom.reader import as_names, too_large_patterns
from apps.bench.custom.units import AXES, read_unit
from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import keep_valid
from apps.bench.sweep.exclusions import ExclusionError, compile_exclusion
from apps.bench.text import Message, _
from apps.bench.toolkit import (
    Command,
    Flag,
    Metric,
    NodeRef,
    Output,
    Params,
    Plan,
    Reading,
    Stage,
    Tool,
    ToolRole,
    TrialEstimate,
    Value,
)

NODE, CLIENT, SERVER = "node", "client", "server"
# So much longer than its client may the server run.
SERVER_MARGIN_S = 30.0


def make_tool(definition: Definition, slug: str) -> "CustomTool":
    """Return the tool of a definition under a slug."""
    roles = (
        (ToolRole(NODE, _("Node")),)
        if definition.parts == parts.ALONE
        else (ToolRole(CLIENT, _("Client")), ToolRole(SERVER, _("Server")))
    )
    uses_directory = any(
        slot.name == template.DIRECTORY
        for line in (*definition.arguments, *definition.server_arguments)
        for slot in template.slots_of(template.parse_line(line))
    )
    attributes: dict[str, Any] = {
        "__doc__": f"The tool {slug}, as its team defined it.",
        "slug": slug,
        "name": definition.name,
        "summary": definition.summary,
        "group": definition.group,
        "programs": tuple(dict.fromkeys(name for name in (definition.program, definition.server_program) if name)),
        "roles": roles,
        "parameters": definition.parameters,
        "metrics": tuple(_metric_of(rule, index == 0) for index, rule in enumerate(definition.metrics)),
        "file_system": "required" if uses_directory else "",
        "definition": definition,
    }
    return type("DefinedTool", (CustomTool,), attributes)()


def _metric_of(rule: parts.MetricRule, is_primary: bool) -> Metric:
    base = read_unit(rule.unit).base
    better = {parts.HIGHER: True, parts.LOWER: False, parts.NEITHER: None}[rule.better]
    return Metric(rule.name, rule.label, base, better, primary=is_primary, axis=AXES.get(base, base), has_zero=True)


class CustomTool(Tool):
    """A tool that is read from its definition."""

    definition: ClassVar[Definition]

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse texts that a program, or the agent, would take for something else."""
        starts = {
            word[0].name
            for line in (*self.definition.arguments, *self.definition.server_arguments)
            for word in template.parse_line(line)
            if isinstance(word[0], template.Slot)
        }
        errors = {}
        for parameter in self.parameters:
            value = params[parameter.name]
            if not isinstance(value, str) or parameter.choices:
                continue
            if value.startswith("-") and parameter.name in starts:
                text = _("A value that begins with - would be taken for an option: leave the sign out.")
                errors[parameter.name] = Message(text)
            elif "{" in value or "}" in value:
                errors[parameter.name] = Message(_("Leave out { and }: they stand for something else here."))
        return errors

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return the server's command, if there is one, and the command that measures."""
        definition = self.definition
        measures = self.roles[0].name
        places = self._places(nodes)
        limit = definition.time_limit_s + (params[definition.time_limit_adds] if definition.time_limit_adds else 0.0)
        measure = Command(
            role=measures,
            node_index=0,
            argv=(definition.program, *self._fill(definition.arguments, params, places)),
            time_limit_s=limit,
            collect=(definition.result_file,) if definition.result_file else (),
        )
        stages = [Stage("measure", (measure,))]
        if definition.parts == parts.SERVER:
            serve = Command(
                role=SERVER,
                node_index=0,
                argv=(definition.server_program, *self._fill(definition.server_arguments, params, places)),
                time_limit_s=limit + SERVER_MARGIN_S,
                background=True,
                ready_pattern=definition.ready or None,
                measures=False,
            )
            stages.insert(0, Stage("serve", (serve,)))
        return Plan(tuple(stages))

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the figures if they are all there, nothing tells of a failure and every condition holds."""
        definition = self.definition
        output = texts.find_output(outputs, self.roles[0].name)
        if fields := too_large_patterns(definition):
            raise failure("pattern-too-large", output, fields=", ".join(fields))
        texts.refuse_cut_short(output)
        printed = texts.read_text(output)
        text = self._result_text(output, printed)
        self._check_words(output, printed if text == printed else f"{printed}\n{text}")
        samples = read_samples(definition, output, text)
        values = {sample.metric: sample.value for sample in samples}
        self._check_conditions(output, {**params, **values})
        flags: tuple[Flag, ...] = ()
        if output.exit_code:
            message = Message(
                _("The program ended with status %(code)s, although it gave a result."), {"code": output.exit_code}
            )
            flags = (Flag("exit-status", "warning", message),)
        return Reading(samples=samples, requested=dict(params), flags=flags, tool_version=self._version(printed))

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the parameters that the argv was filled with."""
        lines = [template.parse_line(line) for line in self.definition.arguments]
        return keep_valid(self, template.recover(lines, output.argv[1:], self._kinds()))

    def recognises(self, output: Output) -> bool:
        """Return whether the argv is of this tool's program: patterns of figures alone fit too much."""
        return bool(output.argv) and output.argv[0].rpartition("/")[2] == self.definition.program

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time and the traffic that the definition tells of."""
        definition = self.definition
        takes = definition.takes_s + (params[definition.takes_adds] if definition.takes_adds else 0.0)
        offered = float(params[definition.offered_load] or 0) if definition.offered_load else 0.0
        streams = int(params[definition.streams] or 0) if definition.streams else 0
        traffic = {(CLIENT, SERVER): round(offered * takes / 8)} if offered and len(self.roles) > 1 else {}
        return TrialEstimate(takes, traffic, offered_bps=offered, streams=streams)

    def certain_in(self, outputs: Sequence[Output]) -> frozenset[str]:
        """Return the metrics whose first or last figure is wanted and stands in what is left of a cut output."""
        output = texts.find_output(outputs, self.roles[0].name)
        printed = texts.read_text(output)
        return certain_in(self.definition, self._result_text(output, printed).encode("utf-8", "replace"))

    def _kinds(self) -> dict[str, str]:
        return {parameter.name: parameter.kind for parameter in self.parameters}

    def _fill(self, lines: Sequence[str], params: Params, places: Mapping[str, str]) -> list[str]:
        return template.fill([template.parse_line(line) for line in lines], params, places, self._kinds())

    def _places(self, nodes: Mapping[str, Sequence[NodeRef]]) -> dict[str, str]:
        """Return the texts of what a template may name beside parameters."""
        first = nodes[self.roles[0].name][0]
        places = {template.DIRECTORY: first.directory, template.WORK: "{work}"}
        for role in self.roles:
            node = nodes[role.name][0]
            places |= {f"{role.name}.address": node.address, f"{role.name}.name": node.name}
        if len(self.roles) > 1:
            server = nodes[SERVER][0]
            texts.refuse_mixed_families(server, first)
            places[f"{SERVER}.address"] = texts.target_of(server, first)
        return places

    def _result_text(self, output: Output, printed: str) -> str:
        name = self.definition.result_file
        if not name:
            return printed
        if name not in output.collected:
            raise failure("file-missing", output, file=name)
        return output.collected[name].decode("utf-8", "replace")

    def _check_words(self, output: Output, text: str) -> None:
        encoded = text.encode("utf-8", "replace")
        if self.definition.failure and (words := Pattern(self.definition.failure).finds(encoded)):
            raise failure("says-failure", output, said=words)
        if self.definition.success and not Pattern(self.definition.success).finds(encoded):
            raise failure("no-success", output, pattern=self.definition.success)

    def _check_conditions(self, output: Output, values: Mapping[str, Any]) -> None:
        names = as_names(self.definition)
        for text in self.definition.conditions:
            condition = compile_exclusion(text, names)
            figures = ", ".join(
                f"{name} = {values[name]:g}" if _is_number(values[name]) else f"{name} = {values[name]}"
                for name in condition.names
            )
            try:
                holds = condition.excludes(values)
            except (ExclusionError, TypeError):
                holds = False
            if not holds:
                raise failure("implausible", output, condition=text, values=figures or "-")

    def _version(self, printed: str) -> str:
        if not self.definition.version:
            return ""
        pattern = Pattern(self.definition.version)
        first = next(pattern.values(printed.encode("utf-8", "replace")), None) if pattern.has_value else None
        return printable(first.value)[:100] if first else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
