"""Names of things that hold wherever their campaign is read: "trial:7k3m-9qxt-2v4h/2/14" and such.

Apps above this one add their own kinds with `register` in a module `references`, which is imported at the start.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Model
from django.urls import reverse

from apps.accounts.models import User
from apps.campaigns import queries
from apps.campaigns.models import Campaign, Experiment, Tombstone, Trial
from apps.core import withheld

# Positions in an address never have more digits.
_LONGEST_NUMBER = 9


@dataclass(frozen=True)
class ReferenceKind:
    """A kind of thing: `write` returns what follows "campaign id/", `find` the address of what that names."""

    name: str
    model: type[Model]
    campaign: Callable[[Model], Campaign]
    write: Callable[[Model], str]
    find: Callable[[Campaign, str], str | None]


_kinds: dict[str, ReferenceKind] = {}


def register(kind: ReferenceKind) -> None:
    """Add a kind; ValueError if there is one of that name or model."""
    if any(kind.name == other.name or kind.model is other.model for other in _kinds.values()):
        raise ValueError(f"There are references of kind “{kind.name}” already.")
    _kinds[kind.name] = kind


def reference(thing: Model) -> str:
    """Return the reference of a campaign, experiment, trial or anything registered; TypeError for anything else."""
    for kind in _kinds.values():
        if isinstance(thing, kind.model):
            rest = kind.write(thing)
            return f"{kind.name}:{kind.campaign(thing).permanent_id}{f'/{rest}' if rest else ''}"
    raise TypeError(f"Nothing refers to a {type(thing).__name__}.")


def resolve(ref: str, user: User | AnonymousUser) -> str | None:
    """Return the address of what a reference names, if it is here and the user may see it, else None."""
    if ref.startswith("https://"):
        return ref
    name, _colon, rest = ref.partition(":")
    permanent_id, _slash, rest = rest.partition("/")
    if name not in _kinds or "\0" in ref:
        return None
    campaigns = Campaign.objects.filter(deleting_at=None, permanent_id=permanent_id)
    campaign = queries.visible(campaigns, user).select_related("team").first()
    return _kinds[name].find(campaign, rest) if campaign else None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER else None


def _find_experiment(campaign: Campaign, rest: str) -> str | None:
    position = _number(rest)
    experiment = None if position is None else campaign.experiments.filter(position=position).first()
    return f"{campaign.get_absolute_url()}#experiment-{experiment.pk}" if experiment else None


def _find_trial(campaign: Campaign, rest: str) -> str | None:
    experiment, _slash, position = rest.partition("/")
    place, number = _number(experiment), _number(position)
    if place is None or number is None:
        return None
    trial = campaign.trials.filter(experiment__position=place, position=number).first()
    return reverse("results:trial", args=[trial.pk]) if trial else None


def _write_trial(trial: Model) -> str:
    assert isinstance(trial, Trial)
    return f"{trial.experiment.position}/{trial.position}"


def _campaign_of(thing: Model) -> Campaign:
    assert isinstance(thing, Experiment | Trial)
    return thing.campaign


def _itself(thing: Model) -> Campaign:
    assert isinstance(thing, Campaign)
    return thing


def _write_experiment(experiment: Model) -> str:
    assert isinstance(experiment, Experiment)
    return str(experiment.position)


register(
    ReferenceKind(
        name="campaign",
        model=Campaign,
        campaign=_itself,
        write=lambda _campaign: "",
        find=lambda campaign, rest: None if rest else campaign.get_absolute_url(),
    )
)
register(
    ReferenceKind(
        name="experiment",
        model=Experiment,
        campaign=_campaign_of,
        write=_write_experiment,
        find=_find_experiment,
    )
)


def _visible_ids(ids: Collection[Any], user: Any) -> set[Any]:
    campaigns = Campaign.objects.filter(deleting_at=None, pk__in=ids)
    return set(queries.visible(campaigns, user).order_by().values_list("pk", flat=True))


def _seen_stones(ids: Collection[Any], user: Any) -> set[Any]:
    stones = queries.visible(Tombstone.objects.filter(pk__in=ids), user)
    return set(stones.order_by().values_list("pk", flat=True))


withheld.register(Tombstone, _seen_stones)
withheld.register(Campaign, _visible_ids)
register(ReferenceKind(name="trial", model=Trial, campaign=_campaign_of, write=_write_trial, find=_find_trial))
