"""The stage of a run that removes what the others left behind, also when the run is ended early."""

from apps.agents.models import Job
from apps.bench.text import Message, _
from apps.bench.toolkit import Plan
from apps.campaigns import services as campaigns
from apps.campaigns.models import Event, Run


def is_under_way(run: Run) -> bool:
    """Say whether a run has come to its clean-up, which nobody is to stop: it ends by its own time limit."""
    return run.plan is not None and Plan.from_json(run.plan).clean_up == run.stage


def tell_what_is_left(run: Run) -> None:
    """Write into the campaign's log where files of a run without a result may be left, as they were not removed."""
    if not is_under_way(run):
        return
    jobs = Job.objects.filter(run_ref=run.pk, stage=run.stage).exclude(exit_code=0).select_related("node")
    names = sorted({job.node.name for job in jobs})
    if names:
        text = _("Trial %(trial)s gave no result, and its files may be left on %(nodes)s: remove them by hand.")
        campaigns.write_event(
            campaign_id=run.trial.campaign_id,
            trial_id=run.trial_id,
            level=Event.Level.WARNING,
            message=Message(text, {"trial": run.trial_id, "nodes": ", ".join(names)}),
        )
