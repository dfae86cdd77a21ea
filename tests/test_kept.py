"""What is made once for many tests is put back for each as it was, at the time of that test."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.agents.models import Agent
from tests import factories, kept
from tests.campaigns import factories as make
from tests.results import measuring
from tests.workers import factories as agents

pytestmark = pytest.mark.django_db
NAME = "of the test of what is kept"
TIME = re.compile(rb"\d{4}-\d\d-\d\d[ T][0-9:.]+")


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    kept._kept.pop(NAME, None)


def begin(folder: Path) -> SimpleNamespace:
    """Make a team with two nodes that were heard of now, a campaign launched at a fixed time, and a file."""
    cast = factories.cast()
    pair = make.joined(cast.team)
    agents.enrol(*pair)
    file = folder / "of" / "it"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"kept")
    return SimpleNamespace(cast=cast, nodes={"first": pair[0]}, campaign=make.launched(cast, *pair), file=file)


def twice(folder: Path, ago: timedelta = timedelta()) -> tuple[SimpleNamespace, SimpleNamespace]:
    """Return what is made, and what is put back after so long once all of it is gone."""
    folders = [folder / name for name in ("made", "again")]
    for each in folders:
        each.mkdir()
    with transaction.atomic():
        made = kept.world(NAME, lambda: begin(folders[0]), folders[0])
        transaction.set_rollback(True)
    assert not User.objects.exists()
    own = kept._kept[NAME]
    kept._kept[NAME] = replace(own, began=own.began - ago, ended=own.ended - ago)
    return made, kept.world(NAME, lambda: begin(folders[1]), folders[1])


def test_rows_values_and_files_are_the_same(tmp_path: Path) -> None:
    made, again = twice(tmp_path)
    assert again.cast == made.cast and again.campaign == made.campaign and again.nodes == made.nodes
    assert again.campaign is not made.campaign and again.campaign.created_by == again.cast.oscar
    assert again.file == tmp_path / "again" / "of" / "it" and again.file.read_bytes() == b"kept"


def test_times_of_its_making_move_along_and_others_stay(tmp_path: Path) -> None:
    ago = timedelta(minutes=30)
    before = timezone.now()
    made, again = twice(tmp_path, ago)
    seen = Agent.objects.get(node=again.nodes["first"]).last_seen_at
    assert seen and before < seen - ago < timezone.now()
    assert again.campaign.launched_at == made.campaign.launched_at == make.NOW


def test_a_campaign_that_was_measured_has_all_its_rows_again() -> None:
    with transaction.atomic():
        measuring.sweep()
        before = {table.name: TIME.sub(b"", table.text) for table in kept._rows()}
        transaction.set_rollback(True)
    with transaction.atomic():
        kept.world(NAME, measuring.sweep)
        rows = {table.name: TIME.sub(b"", table.text) for table in kept._rows()}
        transaction.set_rollback(True)
    kept.world(NAME, measuring.sweep)
    again = {table.name: TIME.sub(b"", table.text) for table in kept._rows()}
    assert again == rows
    assert again.keys() == before.keys() and len(again) > 20


def test_what_stands_beside_rows_of_a_test_is_not_kept(tmp_path: Path) -> None:
    factories.user("before")
    kept.world(NAME, lambda: begin(tmp_path), tmp_path)
    assert NAME not in kept._kept
