"""All that must hold of an experiment before it is kept, launched or, at a later stage, carried out."""

from collections.abc import Iterable

from apps.bench.text import Message, _
from apps.campaigns import errors, grants, guards
from apps.campaigns.estimation import Estimator
from apps.campaigns.expansion import Expansion, LeftOut, Measured, expand_experiment, expand_stage
from apps.campaigns.models import Experiment, ExperimentRole
from apps.toolbox import queries as toolbox


def expand_checked(
    experiment: Experiment,
    roles: Iterable[ExperimentRole],
    *,
    estimator: Estimator | None = None,
) -> Expansion:
    """Return what an experiment comes to, within what owners allow; errors.Refused names each field that is wrong."""
    refuse_circle(experiment)
    expansion = expand_experiment(experiment, roles)
    _check(expansion, experiment, estimator)
    return expansion


def expand_stage_checked(
    experiment: Experiment, roles: Iterable[ExperimentRole], measured: Measured
) -> tuple[list[Expansion], list[LeftOut]]:
    """Return what an experiment whose turn has come comes to, within what owners allow, and the casts left out of it.

    errors.Refused, that of the first, if none is left.
    """
    sound: list[Expansion] = []
    expansions, left_out = expand_stage(experiment, roles, measured)
    for expansion in expansions:
        try:
            _check(expansion, experiment, None)
            sound.append(expansion)
        except errors.Refused as refused:
            left_out += [LeftOut(cast, refused) for cast in expansion.casts]
    if not sound:
        raise left_out[0].why
    return sound, left_out


def refuse_circle(experiment: Experiment) -> None:
    """Refuse that an experiment waits for itself, or for others that wait for each other.

    Asked of the database: what an experiment was read with may be older than what it is to wait for.
    """
    if experiment.after_id is None:
        return
    rows = Experiment.objects.filter(campaign_id=experiment.campaign_id)
    awaited = dict(rows.values_list("pk", "after_id")) | {experiment.pk: experiment.after_id}
    met: set[int | None] = {experiment.pk}
    earlier: int | None = experiment.after_id
    while earlier is not None:
        if earlier in met:
            text = _("The experiments would wait for each other: choose one that does not wait for this one.")
            raise errors.Refused({"after": Message(text)})
        met.add(earlier)
        earlier = awaited.get(earlier)


def _refuse_awaiting(experiment: Experiment) -> None:
    """Refuse a tool that only an archive brought: whoever sent it said which commands it runs."""
    if toolbox.awaiting_of([experiment.tool], experiment.campaign.team_id):
        raise errors.Refused({"tool": Message(toolbox.NOT_TAKEN_OVER, {"tool": experiment.tool})})


def _check(expansion: Expansion, experiment: Experiment, estimator: Estimator | None) -> None:
    _refuse_awaiting(experiment)
    grants.check_settings(expansion, experiment.campaign.team_id)
    guards.check_limits(expansion, estimator)
