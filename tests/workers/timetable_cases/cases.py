"""What a case of the timetable is, and what all of them begin with."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.utils import timezone

from apps.accounts.models import Team, User
from apps.campaigns import services
from apps.campaigns.models import Campaign
from tests.campaigns import factories as make
from tests.factories import Cast
from tests.workers import factories as workers

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Case:
    """What is poisoned, as which work and row it is set aside, and whether the first and the second row are done."""

    model: Any
    poisoned: object
    work: str
    row: int
    is_done: tuple[Callable[[], bool], Callable[[], bool]]
    insert_column: str = ""
    # Carried out with the cure: what else would wait for its time.
    hasten: Callable[[], object] = lambda: None


def people(cast: Cast) -> list[tuple[Team, User]]:
    """Return the teams in the order in which their rows are made, each with who acts for it."""
    return [(cast.team, cast.oscar), (cast.other_team, cast.charlie)]


def launched(cast: Cast, *, repetitions: int = 1, launch: bool = True, **values: Any) -> list[Campaign]:
    """Return a campaign of each team, between two nodes of its own with agents."""
    campaigns = []
    for number, (team, user) in enumerate(people(cast)):
        nodes = make.nodes(team, f"a{number}", f"b{number}")
        workers.enrol(*nodes)
        draft = make.campaign(cast, team=team, user=user, **values)
        make.experiment(draft, *nodes, factors=[], repetitions=repetitions)
        if launch:
            services.launch_campaign(campaign=draft, user=user, now=timezone.now() - DAY)
        campaigns.append(draft)
    return campaigns


def is_there(model: Any, pk: object = None, **values: Any) -> Callable[[], bool]:
    named = values if pk is None else {"pk": pk, **values}
    return lambda: model.objects.filter(**named).exists()


def case_of(work: str, rows: list[Any], **done: Any) -> Case:
    model = type(rows[0])
    first, second = (is_there(model, row.pk, **done) for row in rows)
    return Case(model, rows[0].pk, work, rows[0].pk, (first, second))


def case_of_gone(work: str, rows: list[Any]) -> Case:
    case = case_of(work, rows)
    first, second = case.is_done
    return replace(case, is_done=(lambda: not first(), lambda: not second()))
