"""All that must hold of an experiment before it is kept, launched or, at a later stage, carried out."""

from collections.abc import Iterable

from apps.campaigns import grants, guards
from apps.campaigns.estimation import Estimator
from apps.campaigns.expansion import Expansion, Figures, expand_experiment
from apps.campaigns.models import Experiment, ExperimentRole


def expand_checked(
    experiment: Experiment,
    roles: Iterable[ExperimentRole],
    *,
    figures: Figures | None = None,
    estimator: Estimator | None = None,
) -> Expansion:
    """Return what an experiment comes to, within what owners allow; errors.Refused names each field that is wrong."""
    expansion = expand_experiment(experiment, roles, figures)
    grants.check_settings(expansion, experiment.campaign.team_id)
    guards.check_limits(expansion, estimator)
    return expansion
