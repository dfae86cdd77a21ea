"""Who asks for data does not matter: what comes back (`-R`) is judged as what goes forth between the same ends."""

import dataclasses
import random
from collections.abc import Mapping
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import Team
from apps.bench.rules.base import FindingDraft
from apps.bench.sweep import setting_names
from apps.bench.text import Message
from apps.tuning import services as tuning
from benchmarks.truth import store
from benchmarks.truth.worlds import network, transfers
from benchmarks.truth.worlds.backwards import turned
from benchmarks.truth.worlds.base import World
from benchmarks.truth.worlds.network import CLIENT, SERVER, NetworkWorld
from benchmarks.truth.worlds.noise import NORMAL, Noise
from tests.rotation import part_of

SEEDS = part_of(range(16))
# Of links that are alike the first from the client is the subject.
OF_LINKS = frozenset({"path-bottleneck"})
OTHERS = {CLIENT: SERVER, SERVER: CLIENT}
# Parameters of messages that name roles, or links in the order of the tool's roles.
NAMING = frozenset({"role", "roles", "link", "links", "direction"})


@pytest.mark.django_db
@pytest.mark.parametrize("seed", SEEDS)
def test_a_world_measured_from_its_other_end_gets_the_same_verdicts(seed: int) -> None:
    source = random.Random(seed)
    world = transfers.measure(network.draw(seed, Noise(NORMAL, 0.02), source.choice((1, 3, 5)), source), source)
    # Packet dispersion has no way back: what it tells would be of the other one.
    world = dataclasses.replace(world, setups=tuple(item for item in world.setups if item.tool != "pathrate"))
    assert _verdicts(turned(world)) == _verdicts(world)


def _verdicts(world: NetworkWorld) -> dict[Any, Any]:
    drafts = [part for draft in _drafts(world) for part in (draft, *draft.parts)]
    return {
        (draft.rule, "" if draft.rule in OF_LINKS else draft.subject): {
            "title": _plain(draft.title),
            "figures": (draft.kind, draft.confidence, draft.value, draft.low, draft.high, draft.formula),
            "rates": (draft.present, draft.tried, draft.predicted, draft.predicted_interval),
            "words": sorted(map(_plain, (*draft.why, *draft.against)), key=repr),
            "alternatives": [_plain(item.title) for item in draft.alternatives],
            "proof": draft.proof and [_of_sender(world, own) for own in (draft.proof.now, draft.proof.then)],
        }
        for draft in drafts
    }


def _drafts(world: World) -> list[FindingDraft]:
    with transaction.atomic():
        stored = store.store(world, Team.objects.create(name="Mirror", slug="mirror"), timezone.now())
        drafts = tuning.findings.draw_conclusions(campaign=stored.campaign, now=timezone.now())
        transaction.set_rollback(True)
    assert not drafts.failed
    return [item.draft for item in drafts.findings]


def _plain(message: Message) -> Any:
    return _unnamed(message.as_json())


def _unnamed(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: _unnamed(own) for name, own in value.items() if name not in NAMING}


def _of_sender(world: NetworkWorld, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with settings under the names that they have where the client sends."""
    named = {}
    for name, value in parameters.items():
        if setting_names.is_setting(name):
            role, key = setting_names.role_and_key(name)
            name = setting_names.name_of(OTHERS[role] if world.is_back else role, key)
        named[name] = value
    return {name: value for name, value in named.items() if name != "direction"}
