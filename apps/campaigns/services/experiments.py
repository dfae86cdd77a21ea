"""Experiments made, changed and deleted, each checked as a whole before it is kept."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max

from apps.accounts import scoping
from apps.accounts.models import Role, User
from apps.bench.text import Message, _
from apps.campaigns import errors
from apps.campaigns.expansion import Expansion, expand_experiment
from apps.campaigns.models import Campaign, Experiment, ExperimentRole
from apps.campaigns.services.campaigns import lock_campaign
from apps.testbeds.models import Cluster, Node


@dataclass(frozen=True)
class Player:
    """Who plays a role: a node or a cluster."""

    role: str
    node: Node | None = None
    cluster: Cluster | None = None


@transaction.atomic
def create_experiment(*, campaign: Campaign, user: User, roles: Iterable[Player], **values: Any) -> Experiment:
    """Add an experiment to a draft, after those it has; `values` are fields of the model.

    errors.Refused names each field that is wrong.
    """
    _require_draft(campaign, user)
    last = campaign.experiments.aggregate(last=Max("position"))["last"]
    experiment = Experiment(campaign=campaign, **{"position": 0 if last is None else last + 1} | values)
    return _save(experiment, players_of(experiment, roles))


@transaction.atomic
def update_experiment(
    *, experiment: Experiment, user: User, roles: Iterable[Player] | None = None, **changes: Any
) -> Experiment:
    """Change an experiment of a draft; `roles` replaces who plays them, None leaves them as they are."""
    _require_draft(experiment.campaign, user)
    for name, value in changes.items():
        setattr(experiment, name, value)
    if roles is None:
        check_experiment(experiment, experiment.roles.select_related("node", "cluster"))
        experiment.save()
        return experiment
    experiment.roles.all().delete()
    return _save(experiment, players_of(experiment, roles))


@transaction.atomic
def delete_experiment(*, experiment: Experiment, user: User) -> None:
    """Take an experiment out of a draft."""
    _require_draft(experiment.campaign, user)
    experiment.delete()


def check_experiment(experiment: Experiment, roles: Iterable[ExperimentRole]) -> Expansion:
    """Return what the experiment comes to; errors.Refused names every field that is wrong."""
    wrong: dict[str, list[ValidationError]] = {}
    try:
        experiment.full_clean(exclude=["campaign"])
    except ValidationError as error:
        wrong = error.update_error_dict(wrong)
    roles = list(roles)
    try:
        _refuse_strangers(experiment.campaign, roles)
        if wrong.keys() <= {"name"}:
            expansion = expand_experiment(experiment, roles)
    except errors.Refused as error:
        wrong = error.update_error_dict(wrong)
    if wrong:
        raise ValidationError(wrong)
    return expansion


def players_of(experiment: Experiment, roles: Iterable[Player]) -> list[ExperimentRole]:
    """Return the unsaved rows of who plays the experiment's roles."""
    return [
        ExperimentRole(experiment=experiment, role=part.role, node=part.node, cluster=part.cluster) for part in roles
    ]


def _require_draft(campaign: Campaign, user: User) -> None:
    scoping.require(user, campaign.team, Role.OPERATOR)
    if lock_campaign(campaign).state != Campaign.State.DRAFT:
        text = _("Only a draft's experiments can be changed: withdraw the campaign, or clone it and change the copy.")
        raise errors.WrongState(Message(text))


def _refuse_strangers(campaign: Campaign, roles: Iterable[ExperimentRole]) -> None:
    text = _("The node or cluster is not in the inventory of the campaign's team: choose one that is.")
    strangers = {part.role for part in roles if _team_of(part) != campaign.team_id}
    if strangers:
        raise errors.Refused({f"roles.{role}": Message(text) for role in strangers})


def _team_of(part: ExperimentRole) -> int | None:
    player = part.node or part.cluster
    return player.team_id if player else None


def _save(experiment: Experiment, roles: list[ExperimentRole]) -> Experiment:
    check_experiment(experiment, roles)
    experiment.save()
    ExperimentRole.objects.bulk_create(roles)
    return experiment
