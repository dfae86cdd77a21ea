"""Find the tool whose output this is, and read it with the parameters that the output itself tells."""

import dataclasses
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.bench import judges, tools
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import keep_valid
from apps.bench.recognition import forms
from apps.bench.recognition.files import split_file, split_results
from apps.bench.toolkit import Output, Params, Reading, Tool, ToolFailure

Json = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """What one output turned out to be: a tool's reading, or another form's data, or the reason why it is neither.

    `candidates` are the slugs of the tools whose it may be; `tool` is the one that it was read by, and `parameters`
    what it was made with, in base units and as far as it tells.
    """

    output: Output
    candidates: tuple[str, ...] = ()
    tool: Tool | None = None
    parameters: Json = field(default_factory=dict)
    reading: Reading | None = None
    form: str = ""
    data: Json | None = None
    failure: ToolFailure | None = None

    @property
    def slug(self) -> str:
        """Return the tool's slug or the form's name, "" if it is not known."""
        return self.tool.slug if self.tool else self.form


def read_file(raw: bytes, known: Sequence[Tool] | None = None) -> list[Finding]:
    """Return what each output of a file is, in their order; one of several results counts as several outputs."""
    findings = []
    for output in split_file(raw):
        finding = read_output(output, known)
        if finding.tool and finding.failure and finding.failure.code == "several-results":
            findings += [read_output(part, [finding.tool]) for part in split_results(output, finding.tool)]
        else:
            findings.append(finding)
    return findings


def read_output(output: Output, known: Sequence[Tool] | None = None) -> Finding:
    """Return what an output of unknown origin is, among `known` tools (all, unless given) and the other forms."""
    choice = tuple(tools.all_tools() if known is None else known)
    if not (output.stdout.strip() or output.stderr.strip() or output.argv):
        return Finding(output, failure=failure("empty-file", output))
    findings = [_read_by(tool, output) for tool in (choice if len(choice) == 1 else candidates_for(output, choice))]
    if findings and any(item.reading for item in findings):
        read = [item for item in findings if item.reading]
        return read[0] if len(read) == 1 else _ambiguous(output, read)
    if known is None and (form := forms.form_of(output)):
        return _read_form(form, output)
    if not findings:
        return Finding(output, failure=_unknown(output))
    if len(findings) == 1 or len({_reason(item) for item in findings}) == 1:
        # Whichever of them it was, it failed for the same reason.
        slugs = tuple(item.slug for item in findings)
        return dataclasses.replace(
            findings[0], candidates=slugs, tool=findings[0].tool if len(findings) == 1 else None
        )
    return _ambiguous(output, findings)


def candidates_for(output: Output, choice: Sequence[Tool]) -> list[Tool]:
    """Return the tools whose output this may be: by its text and its argv, else by its text, else by its argv."""
    words = {pathlib.PurePath(word).name for word in output.argv}
    # The first program of a tool is the one that gives it its name; others, such as mpirun, many tools share.
    by_argv = [tool for tool in choice if words & set(tool.programs)]
    by_text = [tool for tool in choice if _may_be_of(tool, _for(tool, output))]
    both = [tool for tool in by_text if tool in by_argv]
    return both or by_text or [tool for tool in by_argv if tool.programs[0] in words] or by_argv


def _may_be_of(tool: Tool, own: Output) -> bool:
    try:
        return tool.recognises(own)
    except ToolFailure:
        # It looked far enough to be refused: its reading says why.
        return True


def _for(tool: Tool, output: Output) -> Output:
    """Return the output as the tool's own parser takes it: its argv begins with one of the tool's programs."""
    names = [pathlib.PurePath(word).name for word in output.argv]
    start = next((index for index, name in enumerate(names) if name in tool.programs), None)
    argv = output.argv[start:] if start is not None else output.argv
    return dataclasses.replace(output, argv=argv, role=tool.roles[0].name)


def _read_by(tool: Tool, output: Output) -> Finding:
    """Return what a tool makes of an output, as that of whichever of its roles measures."""
    own = own_output(tool, output)
    try:
        told = keep_valid(tool, tool.recover(own))
    except ToolFailure as refused:
        return Finding(output, (tool.slug,), tool, failure=refused)
    params = tool.clean(told)
    finding = Finding(output, (tool.slug,), tool, {name: params[name] for name in told})
    try:
        told = finding.parameters
        return dataclasses.replace(finding, reading=read_as_any_role(tool, own, params, told=told)[1])
    except ToolFailure as refused:
        return dataclasses.replace(finding, failure=refused)


def own_output(tool: Tool, output: Output) -> Output:
    """Return an output of unknown origin as the tool's own parser takes it; its argv is empty if not known."""
    return _for(tool, output)


def read_as_any_role(
    tool: Tool, own: Output, params: Params, capacity_bps: float | None = None, *, told: Params | None = None
) -> tuple[str, Reading]:
    """Return the role that measured and the reading of an output; the first role's ToolFailure if none did.

    It is parsed by all of `params`, and judged by those that were `told`.
    """
    refused: ToolFailure | None = None
    for role in tool.roles:
        try:
            outputs = [dataclasses.replace(own, role=role.name)]
            return role.name, judges.read_run(outputs, params, tool, capacity_bps, described=told)
        except ToolFailure as error:
            refused = refused or error
    assert refused is not None, f"{tool.slug} has no roles"
    raise refused


def _read_form(form: forms.Form, output: Output) -> Finding:
    try:
        data = form.read(output)
    except ToolFailure as error:
        return Finding(output, (form.name,), form=form.name, failure=error)
    return Finding(output, (form.name,), form=form.name, data=data)


def _reason(finding: Finding) -> tuple[str, str] | None:
    return (finding.failure.code, str(finding.failure.message)) if finding.failure else None


def _ambiguous(output: Output, findings: Sequence[Finding]) -> Finding:
    slugs = tuple(item.slug for item in findings)
    return Finding(output, slugs, failure=failure("ambiguous", output, tools=", ".join(slugs)))


def _unknown(output: Output) -> ToolFailure:
    text = (output.stdout + b"\n" + output.stderr).decode("utf-8", "replace")
    line_of_output = next((line.strip()[:200] for line in text.splitlines() if line.strip()), "")
    if line_of_output:
        return failure("unrecognised", output, said=line_of_output)
    return failure("unrecognised-command", output, command=" ".join(output.argv)[:200])
