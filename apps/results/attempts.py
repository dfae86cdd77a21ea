"""The attempts at a trial as its page shows them: commands, what they printed, figures and flags."""

import shlex
from dataclasses import dataclass
from typing import Any

from apps.accounts.models import User
from apps.agents import heads
from apps.agents.models import Job
from apps.bench.toolkit import AROUND, BY_SIZE, Metric, Tool
from apps.campaigns.models import Run, Trial
from apps.results import charts, doubts, node_charts, placements
from apps.results.models import Result, Superseded
from apps.testbeds.queries.readers import of_own_nodes

# So many figures of a run, the primary one first, stand large above the others.
HEADLINE = 4
# What a page shows of a raw output; the whole is a download away.
SHOWN_CHARACTERS = 20_000
# A character takes four bytes at most; one more tells that there are more.
HEAD_BYTES = 4 * (SHOWN_CHARACTERS + 1)


@dataclass(frozen=True)
class PrintedStream:
    """One stream of a job's raw output, as much of it as the page shows."""

    name: str
    text: str
    cut: bool


@dataclass(frozen=True)
class ShownCommand:
    """A job as the trial's page shows it; what was watched meanwhile whoever sees the run may see."""

    job: Job
    is_readable: bool
    line: str
    printed: list[PrintedStream]
    watched: node_charts.Watched | None


@dataclass(frozen=True)
class Attempt:
    """A run as the trial's page shows it."""

    run: Run
    commands: list[ShownCommand]
    result: Result | None
    samples: list[tuple[Metric, float]]
    left_out: frozenset[str]
    kept: list[charts.Kept]
    clients: charts.Clients | None
    placement: placements.Placement | None

    @property
    def earlier(self) -> list[tuple[Superseded, list[tuple[Metric, float]]]]:
        """Return the earlier editions of the result with the figures that differ from those of the present one."""
        metrics = {metric.name: (metric, value) for metric, value in self.samples}
        return [
            (
                edition,
                [
                    (metrics[item["metric"]][0], item["value"])
                    for item in edition.reading["samples"]
                    if item["metric"] in metrics and metrics[item["metric"]][1] != item["value"]
                ],
            )
            for edition in (self.result.earlier.all() if self.result else ())
        ]

    @property
    def flags(self) -> list[tuple[dict[str, Any], list[str]]]:
        """Return the result's flags, each with the labels of the metrics it bears on (none: all)."""
        labels = {metric.name: metric.label for metric, _value in self.samples}
        flags = self.result.flags if self.result else []
        return [(flag, [labels.get(name, name) for name in flag.get("metrics", ())]) for flag in flags]

    @property
    def figures(self) -> list[tuple[Metric, float, doubts.Mark | None, bool]]:
        """Return each figure with its flags, and whether statistics count it."""
        if self.result is None:
            return []
        trial, flags = self.result.trial_id, self.result.flags
        marks = doubts.from_flags((trial, metric.name, flags) for metric, _value in self.samples)
        return [
            (metric, value, marks.about([trial], metric.name), metric.name not in self.left_out)
            for metric, value in self.samples
        ]

    @property
    def headline(self) -> list[tuple[Metric, float, doubts.Mark | None, bool]]:
        """Return the first of the figures."""
        return self.figures[:HEADLINE]

    @property
    def other_figures(self) -> list[tuple[Metric, float, doubts.Mark | None, bool]]:
        """Return the figures after the first."""
        return self.figures[HEADLINE:]

    @property
    def is_by_size(self) -> bool:
        """Return whether the run's series are over the size of messages or records, not over time."""
        series = self.result.series.all() if self.result else ()
        return bool(series) and all(item.stream.startswith(BY_SIZE) for item in series)

    @property
    def watched(self) -> list[ShownCommand]:
        """Return the tool's own commands whose time was watched: those that measured first, of them the senders."""
        stages = (self.run.plan or {"stages": []})["stages"]
        commands = [
            command
            for command in self.commands
            if command.watched and not stages[command.job.stage]["name"].startswith(AROUND)
        ]
        measuring = [
            (number, tuple(command["argv"]))
            for number, stage in enumerate(stages)
            for command in stage["commands"]
            if command.get("measures", True)
        ]

        def order(command: ShownCommand) -> tuple[bool, bool]:
            is_sender = bool(command.watched and command.watched.is_sender)
            return (command.job.stage, tuple(command.job.argv)) not in measuring, not is_sender

        return sorted(commands, key=order)


def attempts_of(trial: Trial, tool: Tool, user: User) -> list[Attempt]:
    """Return what was tried to carry out a trial, in order; its commands as far as the user may read them."""
    metrics = {metric.name: metric for metric in tool.metrics}
    attempts = []
    runs = trial.runs.all()
    own = of_own_nodes(Job.objects.filter(run_ref__in=[run.pk for run in runs]), user)
    readable = set(own.values_list("pk", flat=True))
    for run in runs:
        result = getattr(run, "result", None)
        # What an archive brought earlier may be of no metric of the tool.
        samples_stored = [sample for sample in result.samples.all() if sample.metric in metrics] if result else []
        samples = [(metrics[sample.metric], sample.value) for sample in samples_stored]
        left_out = frozenset(sample.metric for sample in samples_stored if not sample.counts)
        samples.sort(key=lambda pair: not pair[0].primary)
        commands = [
            _command(job, is_readable=job.pk in readable) for job in heads.shown_jobs_of_run(run.pk, HEAD_BYTES)
        ]
        values_beside = charts.kept_of(tool, result) if result else []
        clients = charts.clients_of(tool, result) if result else None
        placement = placements.placement_of(result) if result else None
        attempts.append(Attempt(run, commands, result, samples, left_out, values_beside, clients, placement))
    return attempts


def _command(job: Job, *, is_readable: bool) -> ShownCommand:
    printed = heads.printed_heads(job, HEAD_BYTES) if is_readable else {}
    return ShownCommand(
        job=job,
        is_readable=is_readable,
        line=shlex.join(job.argv) if is_readable else "",
        printed=[
            PrintedStream(name, text[:SHOWN_CHARACTERS], len(text) > SHOWN_CHARACTERS)
            for name, text in ((name, data.decode(errors="replace")) for name, data in printed.items())
            if text
        ],
        watched=node_charts.watched(job),
    )
