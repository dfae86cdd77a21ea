"""The experiments of a campaign that is not there yet: worked out while nothing is held, then saved as a whole."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Unpack

from django.core.exceptions import ValidationError

from apps.accounts.models import Team
from apps.campaigns.expansion import Expansion
from apps.campaigns.models import Campaign, Experiment, ExperimentRole
from apps.campaigns.services.experiments import (
    ExperimentChanges,
    Player,
    check_experiment,
    players_of,
    save_checked,
)
from apps.core.errors import ConflictError, by_field


@dataclass(frozen=True)
class _Part:
    place: str
    experiment: Experiment
    players: list[ExperimentRole]
    expansion: Expansion


class Composition:
    """What a campaign of a team is to consist of; whoever adds to it has a turn (`turns.sweep_turn`)."""

    def __init__(self, team: Team) -> None:
        self._campaign = Campaign(team=team)
        self._parts: list[_Part] = []

    def add(self, place: str, *, roles: Iterable[Player], **values: Unpack[ExperimentChanges]) -> Experiment:
        """Add an experiment, after those that there are; it may wait for one of them.

        ValidationError names each field that is wrong, with the `place` before it.
        """
        experiment = Experiment(campaign=self._campaign, **values)
        if "position" not in values:
            experiment.position = max((part.experiment.position for part in self._parts), default=-1) + 1
        players = players_of(experiment, roles)
        with _named(place):
            self._parts.append(_Part(place, experiment, players, check_experiment(experiment, players)))
        return experiment

    def save(self, campaign: Campaign) -> list[tuple[Experiment, Expansion]]:
        """Save all as the experiments of a campaign that has none yet; return what each comes to."""
        for part in self._parts:
            experiment = part.experiment
            experiment.campaign = campaign
            # Its key is known only now.
            experiment.after = experiment.after
            with _named(part.place):
                save_checked(experiment, part.players)
        return [(part.experiment, part.expansion) for part in self._parts]


@contextmanager
def _named(place: str) -> Iterator[None]:
    try:
        yield
    except ConflictError:
        raise
    except ValidationError as error:
        raise ValidationError({f"{place}.{field}": wrong for field, wrong in by_field(error).items()}) from None
