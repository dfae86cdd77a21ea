"""Read a raw output: ``manage.py read_output FILE``, ``-`` for the standard input. It needs no database."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from apps.bench import custom, recognition, strict_json, tools
from apps.bench.toolkit import Output, Tool
from apps.core.commands import BaseCommand
from apps.core.messages import render
from apps.toolbox import files, services

# As much as one output of a job may have.
MOST_BYTES = 64 * 1024 * 1024


class Command(BaseCommand):
    """Prints tool, parameters, samples with units, and flags as JSON; or why there are none, with exit status 1."""

    help = "Recognise a raw output by its content and print what it says as JSON."
    needs_tables = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("file", help="a recording or a plain output; - is the standard input")
        parser.add_argument("--tool", help="slug of the tool that made it, if that is known")
        parser.add_argument("--definition", help="a team's own tool, as it was exported (YAML)")
        parser.add_argument("--series", action="store_true", help="print the figures over time, too")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it; CommandError says what is wrong."""
        candidates = _known(options["tool"], options["definition"])
        findings = recognition.read_file(_read(options["file"]), candidates)
        if not findings:
            raise CommandError(_("%(file)s is empty.") % options)
        # A log of commands holds other things, too: where something is known, the rest is only named.
        foreign = [item for item in findings if item.failure and item.failure.code == "unrecognised"]
        own = [item for item in findings if item not in foreign] or findings
        if len(own) == 1 and own[0].failure:
            raise CommandError(_reason(own[0]))
        outputs = [_as_json(item, with_series=options["series"]) for item in own]
        data: dict[str, Any] = outputs[0] if len(findings) == 1 else {"outputs": outputs}
        if len(own) < len(findings):
            data["passed_over"] = [_command(item.output) or str(item.failure) for item in foreign]
        self.stdout.write(strict_json.dumps(data, indent=2, ensure_ascii=False))
        if failed := [item for item in own if item.failure]:
            text = _("%(failed)s of %(all)s outputs have no result; the first: %(why)s")
            raise CommandError(text % {"failed": len(failed), "all": len(own), "why": _reason(failed[0])})


def _known(slug: str | None, definition: str | None) -> list[Tool] | None:
    """Return the only tool to read by, or None for all there are."""
    if definition:
        try:
            name, data = files.read_file(_read(definition))
            return [custom.make_tool(services.checked(data), name or "defined")]
        except ValidationError as error:
            raise CommandError("\n".join(error.messages)) from error
    if not slug:
        return None
    try:
        return [tools.get(slug)]
    except tools.UnknownTool as error:
        raise CommandError(str(error)) from error


def _read(name: str) -> bytes:
    try:
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from error
    if len(raw) > MOST_BYTES:
        raise CommandError(_("%(file)s is larger than %(limit)s bytes.") % {"file": name, "limit": MOST_BYTES})
    return raw


def _as_json(finding: recognition.Finding, *, with_series: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"tool": finding.slug, "command": _command(finding.output)}
    if finding.failure:
        error = finding.failure
        remedy = render(error.remedy)
        failure = {
            "code": error.code,
            "message": render(error.message),
            "remedy": remedy,
            "retryable": error.retryable,
        }
        return {**body, "candidates": list(finding.candidates), "error": failure}
    if finding.tool is None or finding.reading is None:
        return {**body, "parameters": {}, "samples": [], "flags": [], "data": finding.data}
    reading = finding.reading
    metrics = {metric.name: metric for metric in finding.tool.metrics}
    data = reading.as_json()
    body |= {
        "tool_version": reading.tool_version,
        "parameters": finding.parameters,
        "samples": [
            {
                "metric": sample.metric,
                "label": render(metrics[sample.metric].label),
                "value": sample.value,
                "unit": metrics[sample.metric].unit,
            }
            for sample in reading.samples
        ],
        "granted": data["granted"],
        "observed": data["observed"],
        "flags": [
            {"name": flag.name, "severity": flag.severity, "message": render(flag.message)} for flag in reading.flags
        ],
    }
    return body | ({"series": data["series"]} if with_series else {})


def _command(output: Output) -> str:
    return " ".join(output.argv)


def _reason(finding: recognition.Finding) -> str:
    """Return why there is no result, and what to do, for people."""
    if finding.failure is None:
        return ""
    whose = finding.slug or ", ".join(finding.candidates)
    lines = [f"{whose}: {render(finding.failure.message)}" if whose else render(finding.failure.message)]
    if finding.failure.remedy:
        lines.append(render(finding.failure.remedy))
    if finding.failure.code == "unrecognised":
        lines.append(_("Known are: %(known)s.") % {"known": ", ".join(tool.slug for tool in tools.all_tools())})
    return "\n".join(lines)
