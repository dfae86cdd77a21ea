"""The later stages of a campaign: an experiment whose turn has come gets its trials, or a reason why not."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.bench.text import Message, _
from apps.campaigns import live, queries
from apps.campaigns.checking import expand_checked
from apps.campaigns.estimation import Estimator
from apps.campaigns.expansion import Expansion, Figures
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.services import completion, trials
from apps.campaigns.services.events import Level, write_event
from apps.core import queue


@transaction.atomic
def start_stage(*, experiment_id: int, figures: Figures, now: datetime) -> bool:
    """Make the trials of an experiment that waited, its formulas computed of `figures`; False if it is not due.

    One that can not be expanded, as what it needs was not measured, keeps the reason, and the campaign goes on.
    """
    # The campaign's lock first, as everywhere, so that of two callers one finds the other's work.
    owner = Campaign.objects.filter(experiments=experiment_id).values("pk")
    Campaign.objects.select_for_update(no_key=True).get(pk__in=owner)
    experiment = (
        queries.due_stages().select_related("campaign", "file_system", "after").filter(pk=experiment_id).first()
    )
    if experiment is None:
        return False
    try:
        with transaction.atomic():
            roles = experiment.roles.select_related("node", "cluster").prefetch_related("cluster__nodes")
            _start(experiment, expand_checked(experiment, roles, figures=figures), now)
    except ValidationError as refused:
        _refuse(experiment, refused, now)
    live.publish(experiment.campaign_id, "campaign")
    return True


def _start(experiment: Experiment, expansion: Expansion, now: datetime) -> None:
    resolved = expansion.resolved
    trials.make_trials(experiment, expansion, Estimator(), now)
    Experiment.objects.filter(pk=experiment.pk).update(resolved=resolved, expanded_at=now, updated_at=now)
    text = _("%(experiment)s: its turn has come; trials: %(count)s.")
    values = {"experiment": experiment.name, "count": expansion.trials}
    write_event(campaign_id=experiment.campaign_id, message=Message(text, values))
    queue.send(queue.SCHEDULE)


def _refuse(experiment: Experiment, refused: ValidationError, now: datetime) -> None:
    text = _("%(experiment)s could not be started: %(why)s Run again what failed, or clone the campaign and mend it.")
    values = {"experiment": experiment.name, "why": " ".join(refused.messages)}
    message = Message(text, values)
    Experiment.objects.filter(pk=experiment.pk).update(refusal=message.as_json(), updated_at=now)
    write_event(campaign_id=experiment.campaign_id, level=Level.ERROR, message=message)
    campaign = experiment.campaign_id
    transaction.on_commit(lambda: completion.finish_campaign(campaign_id=campaign, now=now))
