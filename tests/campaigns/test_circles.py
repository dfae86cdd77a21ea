"""No experiments wait for each other, also where each was made to wait at the same instant."""

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from apps.campaigns import services
from apps.campaigns.models import Campaign, Experiment
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, address, browser, form
from tests.campaigns.factories import NOW
from tests.rest import racing
from tests.rotation import part_of

Row = list[Experiment]


def row_of(cast: SimpleNamespace, pair: list[Node], length: int) -> tuple[Campaign, Row]:
    """Return a draft whose experiments wait each for the one before, all but the second for the first."""
    draft = make.campaign(cast)
    made = [make.experiment(draft, *pair, name=f"Part {number}") for number in range(length)]
    for earlier, later in itertools.pairwise(made[1:]):
        services.update_experiment(experiment=later, user=cast.oscar, after=earlier)
    return draft, made


def by_service(cast: SimpleNamespace, pair: list[Node], first: Experiment, last: Experiment) -> str:
    with pytest.raises(ValidationError) as refused:
        services.update_experiment(experiment=first, user=cast.oscar, after=last)
    return str(refused.value)


def by_rest(cast: SimpleNamespace, pair: list[Node], first: Experiment, last: Experiment) -> str:
    answer = Api(cast.oscar)("patch", f"/experiments/{first.pk}/", {"after": last.pk})
    assert answer.status_code == 400
    return str(answer.content.decode())


def by_form(cast: SimpleNamespace, pair: list[Node], first: Experiment, last: Experiment) -> str:
    place = address("experiment_update", first.pk)
    answer = browser(cast.oscar).post(place, form(pair, name=first.name, after=last.pk))
    assert answer.status_code in (409, 422)
    return str(answer.content.decode())


@pytest.mark.parametrize(
    ("change", "length"), part_of(itertools.product([by_service, by_rest, by_form], [2, 3, 4]), 3)
)
def test_the_second_of_two_orders_given_at_one_instant_is_refused(
    cast: SimpleNamespace, pair: list[Node], change: Callable[..., str], length: int
) -> None:
    _draft, made = row_of(cast, pair, length)
    first, last = made[0], made[-1]
    rows = Experiment.objects.filter(pk=made[1].pk)
    # What was read before the lock says that nobody waits for the first.
    moment = racing.Moment(lambda sql: bool(racing.LOCK.search(sql)), lambda: rows.update(after=first))
    with moment.awaited():
        text = change(cast, pair, first, last)
    assert moment.has_come and "would wait for each other" in text
    assert Experiment.objects.get(pk=first.pk).after is None


def test_a_circle_that_is_there_is_neither_launched_nor_previewed(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft, made = row_of(cast, pair, 3)
    Experiment.objects.filter(pk=made[1].pk).update(after=made[2])
    draft = Campaign.objects.get(pk=draft.pk)
    with pytest.raises(ValidationError, match="wait for each other"):
        services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)
    api: Any = Api(cast.oscar)
    for method, path in [("get", f"campaigns/{draft.pk}/preview"), ("post", f"campaigns/{draft.pk}/launch"),
                         ("get", f"experiments/{made[1].pk}/preview")]:  # fmt: skip
        answer = api(method, f"/{path}/")
        assert answer.status_code == 400 and "wait for each other" in answer.content.decode(), path
    assert "wait for each other" in browser(cast.oscar).get(address("confirm_launch", draft.pk)).content.decode()
    assert Campaign.objects.get(pk=draft.pk).state == Campaign.State.DRAFT
