"""Results with samples that a test makes up."""

from collections.abc import Iterable, Mapping

from apps.campaigns.models import Run, Trial
from apps.results.models import Result, Sample


def measure(trial: Trial, *, version: str = "", **samples: float) -> Result:
    """Give a trial a successful run with these samples, by a version of its tool."""
    (result,) = measure_all([(trial, samples)], version=version)
    return result


def measure_all(figures: Iterable[tuple[Trial, Mapping[str, float]]], *, version: str = "") -> list[Result]:
    """Give each trial a successful run with its samples."""
    measured = list(figures)
    runs = Run.objects.bulk_create(
        Run(trial=trial, experiment=trial.experiment, attempt=1, state="succeeded") for trial, _samples in measured
    )
    results = Result.objects.bulk_create(
        Result(
            run=run,
            trial=run.trial,
            experiment=run.trial.experiment,
            tool=run.trial.experiment.tool,
            tool_version=version,
        )
        for run in runs
    )
    Sample.objects.bulk_create(
        Sample(result=result, trial=trial, experiment=trial.experiment, metric=metric, value=value)
        for result, (trial, samples) in zip(results, measured, strict=True)
        for metric, value in samples.items()
    )
    return results
