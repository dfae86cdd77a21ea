"""How many pieces of work are before one's own is never said to be more than there are, of each kind of work."""

import itertools
import random
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.archive.imports import work as imports
from apps.archive.incoming import services as incoming
from apps.campaigns.models import Campaign
from apps.core import turns
from apps.reports.files import services as rendering
from apps.reports.models import Rendering
from apps.tuning.analysis import queries as analyses
from tests.campaigns import factories as make
from tests.factories import signed_in
from tests.rotation import part_of
from tests.workers.test_turns import KINDS, PAST

pytestmark = pytest.mark.django_db

# What people wait for, each with what says how many pieces are before it, and its page.
WAITED_FOR: dict[str, tuple[Callable[..., int], Callable[[Any], str]]] = {
    "import": (imports.before, lambda row: f"/imports/{row.pk}/"),
    "archive": (incoming.before, lambda row: str(row.get_absolute_url())),
    "file": (rendering.before, lambda row: f"/reports/files/editions/{row.edition.permanent_id}/"),
}


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Any) -> None:
    settings.VAR_DIR = tmp_path


@pytest.mark.parametrize(("kind", "seed"), part_of(itertools.product(WAITED_FOR, range(3)), parts=3))
def test_no_more_are_said_to_be_before_it_than_are_begun_with_first(
    kind: str, seed: int, cast: SimpleNamespace
) -> None:
    draw = random.Random(seed)
    create, carry_out_next, has_begun = KINDS[kind]
    before, _page = WAITED_FOR[kind]
    askers = [(cast.team, cast.oscar), (cast.team, cast.alice), (cast.other_team, cast.charlie)]
    rows = [
        create(*draw.choice(askers), timezone.now() - PAST + timedelta(minutes=draw.randrange(60)))
        for _n in "12345678"
    ]
    for team, person in askers:
        turns.count([f"team {team.pk}", f"person {person.pk}"], draw.uniform(0, 5))
    said = {row.pk: before(row, now=timezone.now()) for row in rows}
    assert max(said.values()) > 0
    begun: list[int] = []
    while carry_out_next():
        # What others have meanwhile of other work changes the order.
        turns.count([f"team {draw.choice(askers)[0].pk}"], draw.uniform(0, 5))
        begun += [row.pk for row in rows if row.pk not in begun and has_begun(row)]
    assert sorted(begun) == sorted(said)
    assert {pk: (count, begun.index(pk)) for pk, count in said.items() if count > begun.index(pk)} == {}


@pytest.mark.parametrize("kind", WAITED_FOR)
def test_a_page_says_how_many_of_ones_own_are_before_it(kind: str, cast: SimpleNamespace) -> None:
    create, _carry_out_next, _has_begun = KINDS[kind]
    _before, page = WAITED_FOR[kind]
    begin = timezone.now() - PAST
    rows = [create(cast.team, cast.oscar, begin + timedelta(minutes=place)) for place in range(3)]
    create(cast.other_team, cast.charlie, begin)
    told = [signed_in(cast.oscar).get(page(row)).content.decode() for row in rows]
    assert "before it" not in told[0]
    assert "at least 1 piece of work is before it" in told[1]
    assert "at least 2 pieces of work are before it" in told[2]


def test_a_file_that_is_being_made_is_before_those_that_wait(cast: SimpleNamespace) -> None:
    now = timezone.now()
    made, waiting = (KINDS["file"][0](team, user, now) for team, user in (
        (cast.other_team, cast.charlie), (cast.team, cast.oscar)
    ))  # fmt: skip
    Rendering.objects.filter(pk=made.pk).update(state="working", alive_at=now)
    assert rendering.before(waiting, now=now) == 1
    # Who gave no sign for long may be lost: what they were at is at its place in the queue again.
    assert rendering.before(waiting, now=now + timedelta(minutes=1)) == 0
    made.refresh_from_db()
    assert rendering.before(made, now=now) == 0


def test_what_waits_for_its_analysis_says_how_many_others_do(cast: SimpleNamespace, pair: Any) -> None:
    for name in "abc":
        make.launched(cast, *pair, name=name)
    Campaign.objects.update(state="finished", finished_at=timezone.now())
    campaign = Campaign.objects.get(name="b")
    campaign.trials.model.objects.update(state="succeeded")
    assert analyses.waiting(timezone.now()).count() == 3
    page = signed_in(cast.oscar).get(f"/findings/campaigns/{campaign.pk}/").content.decode()
    assert "2 other campaigns wait for theirs, too" in page
    Campaign.objects.exclude(pk=campaign.pk).update(analysed_at=timezone.now())
    assert (
        "for its analysis, too"
        not in signed_in(cast.oscar).get(f"/findings/campaigns/{campaign.pk}/").content.decode()
    )
