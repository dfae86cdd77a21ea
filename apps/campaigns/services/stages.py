"""The later stages of a campaign: an experiment whose turn has come gets its trials, or a reason why not."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.bench.text import Message, _
from apps.campaigns import live, queries
from apps.campaigns.checks import expand_stage_checked
from apps.campaigns.estimation import Estimator
from apps.campaigns.expansion import Expansion, LeftOut, Measured
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.services import completion, trials
from apps.campaigns.services.events import Level, write_event
from apps.core import bounded, queue

# So many sets of nodes are named in a text.
NAMED = 5


@transaction.atomic
def start_stage(*, experiment_id: int, measured: Measured, now: datetime) -> bool:
    """Make the trials of an experiment that waited, its formulas computed of what was measured; False if not due.

    One that can not be expanded, as what it needs was not measured, keeps the reason, and the campaign goes on. Sets
    of nodes whose formulas have no values are left out, which is said in the log.
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
            expansions, left_out = expand_stage_checked(experiment, roles, measured)
            _start(experiment, expansions, now)
            _write_left_out(experiment, left_out)
    except ValidationError as refused:
        _refuse(experiment, refused, now)
    live.publish(experiment.campaign_id, "campaign")
    return True


def _start(experiment: Experiment, expansions: Sequence[Expansion], now: datetime) -> None:
    trials.make_trials(experiment, expansions, Estimator(), now)
    Experiment.objects.filter(pk=experiment.pk).update(
        resolved=_resolved(expansions), expanded_at=now, updated_at=now
    )
    text = _("%(experiment)s: its turn has come; trials: %(count)s.")
    values: dict[str, object] = {
        "experiment": experiment.name,
        "count": sum(expansion.trials for expansion in expansions),
    }
    write_event(campaign_id=experiment.campaign_id, message=Message(text, values))
    queue.send(queue.SCHEDULE)


def _resolved(expansions: Sequence[Expansion]) -> dict[str, str]:
    """Return {parameter: text} of the formulas, with the nodes that each text is for if there are several."""
    if len(expansions) == 1:
        return _fitting(expansions[0].resolved)
    head = expansions[:NAMED]
    more = " …" if len(expansions) > NAMED else ""
    return _fitting(
        {
            name: "; ".join(f"{expansion.resolved[name]} ({_titles(expansion)})" for expansion in head) + more
            for name in expansions[0].resolved
        }
    )


def _fitting(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts, cut where they are longer than what is kept: they are only shown."""
    length = max(map(len, texts.values()), default=0)
    fitting = dict(texts)
    while length > 1 and bounded.too_long(Experiment, resolved=fitting):
        length //= 2
        fitting = {name: text if len(text) <= length else f"{text[:length]}…" for name, text in texts.items()}
    return fitting


def _titles(expansion: Expansion) -> str:
    titles = [cast.title for cast in expansion.casts]
    return ", ".join(titles[:NAMED]) + (" …" if len(titles) > NAMED else "")


def _write_left_out(experiment: Experiment, left_out: Sequence[LeftOut]) -> None:
    for each in left_out[:NAMED]:
        text = _("%(experiment)s leaves out %(nodes)s: %(why)s")
        values = {"experiment": experiment.name, "nodes": each.cast.title, "why": " ".join(each.why.messages)}
        write_event(campaign_id=experiment.campaign_id, level=Level.WARNING, message=Message(text, values))
    if len(left_out) > NAMED:
        text = _("%(experiment)s leaves out more sets of nodes for such reasons: %(count)s.")
        rest: dict[str, object] = {"experiment": experiment.name, "count": len(left_out) - NAMED}
        write_event(campaign_id=experiment.campaign_id, level=Level.WARNING, message=Message(text, rest))


def _refuse(experiment: Experiment, refused: ValidationError, now: datetime) -> None:
    text = _("%(experiment)s could not be started: %(why)s Run again what failed, or clone the campaign and mend it.")
    values = {"experiment": experiment.name, "why": " ".join(refused.messages)}
    message = Message(text, values)
    Experiment.objects.filter(pk=experiment.pk).update(refusal=message.as_json(), updated_at=now)
    write_event(campaign_id=experiment.campaign_id, level=Level.ERROR, message=message)
    campaign = experiment.campaign_id
    transaction.on_commit(lambda: completion.finish_campaign(campaign_id=campaign, now=now))
