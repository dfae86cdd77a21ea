"""Experiments made, changed and deleted, each checked as a whole before it is kept."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max

from apps.accounts.models import User
from apps.bench.text import Message, _
from apps.campaigns import errors, recipe_sizes
from apps.campaigns.checks import expand_checked, refuse_circle
from apps.campaigns.expansion import Expansion
from apps.campaigns.models import Campaign, Experiment, ExperimentRole
from apps.campaigns.services.campaigns import lock_campaign, require_writer
from apps.campaigns.turns import sweep_turn
from apps.core.row_versions import versions_of
from apps.core.versions import lock_row
from apps.testbeds.models import Cluster, FileSystem, Node

# How often a change is checked that others overtake each time, before it is given up.
ATTEMPTS = 3


@dataclass(frozen=True)
class Player:
    """Who plays a role: a node or a cluster."""

    role: str
    node: Node | None = None
    cluster: Cluster | None = None


class ExperimentChanges(TypedDict, total=False):
    """What can be said of an experiment: fields of its model."""

    name: str
    tool: str
    fixed: dict[str, Any]
    factors: list[dict[str, Any]]
    zips: list[list[str]]
    exclusions: list[str]
    repetitions: int
    warmups: int
    order: str
    seed: int
    max_attempts: int
    retry_wait_s: int
    file_system: FileSystem | None
    context: bool
    after: Experiment | None
    precision: float | None
    most_repetitions: int
    search_factor: str
    search_goal: str
    search_budget: int
    position: int


class _ChangedMeanwhile(errors.WrongState):
    """Somebody changed the experiment while its sweep was worked out."""

    def __init__(self) -> None:
        text = _("Others are changing the experiment at this moment: look at it again, then repeat the change.")
        super().__init__(Message(text))


def create_experiment(
    *, campaign: Campaign, user: User, roles: Iterable[Player], **values: Unpack[ExperimentChanges]
) -> Experiment:
    """Add an experiment to a draft, after those it has; errors.Refused names each field that is wrong.

    Its sweep is worked out in the person's turn, and before the campaign is held.
    """
    experiment = Experiment(campaign=campaign, **values)
    players = players_of(experiment, roles)
    _require_draft(Campaign.objects.get(pk=campaign.pk), user)
    with sweep_turn(user):
        check_experiment(experiment, players)
    with transaction.atomic():
        _hold_draft(campaign, user)
        _check_again(experiment)
        if "position" not in values:
            last = campaign.experiments.aggregate(last=Max("position"))["last"]
            experiment.position = 0 if last is None else last + 1
        save_checked(experiment, players)
    return experiment


def update_experiment(
    *,
    experiment: Experiment,
    user: User,
    roles: Iterable[Player] | None = None,
    once_held: Callable[[], object] = lambda: None,
    **changes: Unpack[ExperimentChanges],
) -> Experiment:
    """Change an experiment of a draft; `roles` replaces who plays them, None leaves them as they are.

    Its sweep is worked out in the person's turn, and before the campaign is held; anew if somebody has changed the
    experiment by then. `once_held` is called when it is, and may refuse.
    """
    players = None if roles is None else list(roles)
    for _attempt in range(ATTEMPTS):
        version = _read_draft(experiment, user)
        for name, value in changes.items():
            setattr(experiment, name, value)
        rows = None if players is None else players_of(experiment, players)
        with sweep_turn(user):
            check_experiment(experiment, experiment.roles.select_related("node", "cluster") if rows is None else rows)
        with transaction.atomic():
            _hold_draft(experiment.campaign, user)
            lock_row(experiment)
            once_held()
            if _version_of(experiment) == version:
                _check_again(experiment)
                if rows is not None:
                    experiment.roles.all().delete()
                return save_checked(experiment, rows or [])
    raise _ChangedMeanwhile


@transaction.atomic
def delete_experiment(*, experiment: Experiment, user: User) -> None:
    """Take an experiment out of a draft; one that others wait for stays."""
    _hold_draft(experiment.campaign, user)
    followers = list(experiment.followers.values_list("name", flat=True))
    if followers:
        text = _("%(names)s waits for this experiment: delete it first, or let it wait for another.")
        raise errors.WrongState(Message(text, {"names": ", ".join(followers)}))
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
        _refuse_strangers(experiment, roles)
        _refuse_order(experiment)
        if wrong.keys() <= {"name"}:
            expansion = expand_checked(experiment, roles)
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


def save_checked(experiment: Experiment, players: list[ExperimentRole]) -> Experiment:
    """Save an experiment that `check_experiment` has passed, and more who play its roles; the campaign is held."""
    experiment.save()
    ExperimentRole.objects.bulk_create(players)
    if excess := recipe_sizes.excess_of(experiment.campaign):
        raise errors.Refused({"factors": excess})
    return experiment


def _hold_draft(campaign: Campaign, user: User) -> None:
    _require_draft(lock_campaign(campaign, user), user)


def _require_draft(campaign: Campaign, user: User) -> None:
    require_writer(campaign, user)
    if campaign.state != Campaign.State.DRAFT:
        text = _("Only a draft's experiments can be changed: withdraw the campaign, or clone it and change the copy.")
        raise errors.WrongState(Message(text))


def _read_draft(experiment: Experiment, user: User) -> Any:
    """Read an experiment again; return its version. WrongState if it is of no draft."""
    version = _version_of(experiment)
    experiment.refresh_from_db()
    _require_draft(experiment.campaign, user)
    return version


def _version_of(experiment: Experiment) -> Any:
    roles = ExperimentRole.objects.filter(experiment=experiment.pk)
    return versions_of(Experiment.objects.filter(pk=experiment.pk), roles)


def _check_again(experiment: Experiment) -> None:
    """Check what others may have changed meanwhile: what it refers to, and which experiments wait for which."""
    experiment.full_clean(exclude=["campaign"])
    refuse_circle(experiment)


def _refuse_strangers(experiment: Experiment, roles: Iterable[ExperimentRole]) -> None:
    team_id = experiment.campaign.team_id
    text = _("The node or cluster is not in the inventory of the campaign's team: choose one that is.")
    wrong = {f"roles.{part.role}": Message(text) for part in roles if _team_of(part) != team_id}
    if experiment.file_system and experiment.file_system.team_id != team_id:
        text = _("The file system is not in the inventory of the campaign's team: choose one that is.")
        wrong["file_system"] = Message(text)
    if wrong:
        raise errors.Refused(wrong)


def _refuse_order(experiment: Experiment) -> None:
    """Refuse to wait for an experiment of another campaign."""
    if experiment.after is not None and experiment.after.campaign_id != experiment.campaign_id:
        text = _("An experiment waits only for one of the same campaign: choose another, or none.")
        raise errors.Refused({"after": Message(text)})


def _team_of(part: ExperimentRole) -> int | None:
    player = part.node or part.cluster
    return player.team_id if player else None
