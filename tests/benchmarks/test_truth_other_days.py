"""Worlds of two campaigns: layers measured on other days, between which the line or the disks may have changed."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.models import Team
from apps.campaigns.models import Campaign
from benchmarks.truth.store import store
from benchmarks.truth.worlds.draw import world_of
from benchmarks.truth.worlds.files import BENEATH
from benchmarks.truth.worlds.storage import PAYLOAD, StorageWorld


def storage_worlds(count: int = 120) -> Iterator[StorageWorld]:
    for seed in range(count):
        world = world_of(seed, "storage")
        assert isinstance(world, StorageWorld)
        yield world


def test_only_layers_beneath_are_measured_on_other_days() -> None:
    days = {(setup.name, setup.days) for world in storage_worlds() for setup in world.setups}
    assert {name for name, day in days if day} == {*BENEATH}
    assert {day < 0 for _name, day in days if day} == {True, False}
    changed = [world for world in storage_worlds() if "changed" in world.traits]
    assert changed
    assert not any(abs(setup.days) == 7 for world in changed for setup in world.setups)


def test_clients_come_near_their_own_links_in_some_worlds() -> None:
    shares = [world.software / (world.client_nic_bps * PAYLOAD) for world in storage_worlds()]
    own = [
        share
        for share, world in zip(shares, storage_worlds(), strict=True)
        if 0.3 <= share < 1 and world.wide_bps >= 10 * world.client_nic_bps
    ]
    assert len(own) > 10
    assert max(own) > 0.85


@pytest.mark.django_db
@pytest.mark.parametrize("later", [True, False])
def test_each_campaign_is_stored_on_its_days(later: bool) -> None:
    now = timezone.now()
    world = next(w for w in storage_worlds() if any((s.days > 0) is later and s.days for s in w.setups))
    stored = store(world, Team.objects.create(name="Oracle", slug="oracle"), now)
    (other,) = Campaign.objects.exclude(pk=stored.campaign.pk)
    assert None not in (other.finished_at, stored.campaign.finished_at)
    apart = (other.finished_at or now) - (stored.campaign.finished_at or now)
    assert apart == timedelta(days=next(setup.days for setup in world.setups if setup.days))
    assert max(other.finished_at or now, stored.campaign.finished_at or now) == now
    assert {setup.days for setup in stored.experiments.values()} == {0}
    assert {setup.days for setup, _cell, _trial in stored.trials.values()} == {0, apart.days}
