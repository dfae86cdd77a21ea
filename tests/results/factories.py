"""Results with samples that a test makes up."""

from apps.campaigns.models import Trial
from apps.results.models import Result, Sample


def measure(trial: Trial, *, version: str = "", **samples: float) -> Result:
    """Give a trial a successful run with these samples, by a version of its tool."""
    run = trial.runs.create(attempt=1, state="succeeded")
    result = Result.objects.create(
        run=run, trial=trial, experiment=trial.experiment, tool=trial.experiment.tool, tool_version=version
    )
    Sample.objects.bulk_create(
        Sample(result=result, trial=trial, experiment=trial.experiment, metric=metric, value=value)
        for metric, value in samples.items()
    )
    return result
