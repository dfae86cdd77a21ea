"""All that must hold of an experiment before it is kept, launched or, at a later stage, carried out."""

from collections.abc import Iterable

from apps.campaigns import errors, grants, guards
from apps.campaigns.estimation import Estimator
from apps.campaigns.expansion import Expansion, LeftOut, Measured, expand_experiment, expand_stage
from apps.campaigns.models import Experiment, ExperimentRole


def expand_checked(
    experiment: Experiment,
    roles: Iterable[ExperimentRole],
    *,
    estimator: Estimator | None = None,
) -> Expansion:
    """Return what an experiment comes to, within what owners allow; errors.Refused names each field that is wrong."""
    expansion = expand_experiment(experiment, roles)
    _check(expansion, experiment, estimator)
    return expansion


def expand_stage_checked(
    experiment: Experiment, roles: Iterable[ExperimentRole], measured: Measured
) -> tuple[list[Expansion], list[LeftOut]]:
    """Return what an experiment whose turn has come comes to, within what owners allow, and the casts left out of it.

    errors.Refused, that of the first, if none is left.
    """
    kept: list[Expansion] = []
    expansions, left_out = expand_stage(experiment, roles, measured)
    for expansion in expansions:
        try:
            _check(expansion, experiment, None)
            kept.append(expansion)
        except errors.Refused as refused:
            left_out += [LeftOut(cast, refused) for cast in expansion.casts]
    if not kept:
        raise left_out[0].why
    return kept, left_out


def _check(expansion: Expansion, experiment: Experiment, estimator: Estimator | None) -> None:
    grants.check_settings(expansion, experiment.campaign.team_id)
    guards.check_limits(expansion, estimator)
