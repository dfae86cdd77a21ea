"""What an owner may have only so many of: every model has a limit or a reason, every way in asks it."""

import ast
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as configured
from django.db import connection, models

from apps.config.settings.owned import UNLIMITED
from apps.core.limits.owned import TooManyOwnedError
from apps.testbeds import services
from apps.testbeds.models import Node, Site
from tests import factories, limits
from tests.testbeds import factories as inventory

ROOT = Path(__file__).resolve().parents[2]
LIMITS = configured.OWNED_LIMITS
MOST, ASKERS = 3, 8


def _ours() -> set[str]:
    return {model._meta.label for model in apps.get_models() if model.__module__.startswith("apps.")}


def test_every_model_has_a_limit_or_a_reason_for_none() -> None:
    limited = {limit.model for limit in LIMITS.values()}
    reasons = [label for labels in UNLIMITED.values() for label in labels]
    assert len(reasons) == len(set(reasons))
    assert limited.isdisjoint(reasons)
    assert limited | set(reasons) == _ours()
    assert all(limit.most > 0 for limit in LIMITS.values())


def _row(name: str) -> models.Model:
    """Return a row that is not stored, of an owner that is not stored either: whoever stores it is refused before."""
    limit = LIMITS[name]
    model: Any = apps.get_model(limit.model)
    *steps, last = limit.owner.split("__")
    row = model(**limit.counts)
    holder = row
    for step in steps:
        inner = model._meta.get_field(step).related_model(pk=1)
        setattr(holder, step, inner)
        holder = inner
    setattr(holder, f"{last}_id", 1)
    return row  # type: ignore[no-any-return]


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(LIMITS))
def test_whatever_is_limited_is_refused_where_it_is_stored(name: str, settings: Any) -> None:
    limits.bound(settings, 0)
    limits.bound(settings, -1, name)
    manager = apps.get_model(LIMITS[name].model)._default_manager
    ways = {
        "save": lambda: _row(name).save(),
        "many": lambda: manager.bulk_create([_row(name)]),
        "many of a query": lambda: manager.all().bulk_create(iter([_row(name)])),
    }
    for way, store in ways.items():
        with pytest.raises(TooManyOwnedError, match=name) as refused:
            store()
        assert refused.value.setting == name, way
        assert set(refused.value.message_dict) == {"__all__"}


@pytest.mark.django_db
def test_so_many_and_no_more_and_another_team_as_many(settings: Any, cast: factories.Cast) -> None:
    limits.bound(settings, 2, "SITES_PER_TEAM")
    for name in ("a", "b"):
        services.create_item(kind=Site, team=cast.team, values={"name": name})
    with pytest.raises(TooManyOwnedError, match=r"grid has 2 sites.*SITES_PER_TEAM"):
        services.create_item(kind=Site, team=cast.team, values={"name": "c"})
    services.create_item(kind=Site, team=cast.other_team, values={"name": "c"})
    site = Site.objects.get(team=cast.team, name="a")
    services.update_item(item=site, values={"name": "changed"})
    services.delete_item(item=site)
    services.create_item(kind=Site, team=cast.team, values={"name": "c"})
    assert Site.objects.filter(team=cast.team).count() == 2
    with pytest.raises(TooManyOwnedError):
        Site.objects.bulk_create([Site(team=cast.other_team, name=name) for name in ("d", "e")])


@pytest.mark.django_db(transaction=True)
def test_those_who_add_at_one_moment_have_no_more_than_one_after_the_other(settings: Any) -> None:
    team = factories.team("grid")
    testbed = inventory.testbed(team)
    limits.bound(settings, MOST, "NODES_PER_TEAM")
    together = threading.Barrier(ASKERS)

    def add(number: int) -> bool:
        try:
            connection.ensure_connection()
            together.wait(30)
            services.create_item(kind=Node, team=team, values={"name": f"n{number}", "testbed": testbed})
        except TooManyOwnedError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(ASKERS) as askers:
        assert sorted(askers.map(add, range(ASKERS))) == [False] * (ASKERS - MOST) + [True] * MOST
    assert Node.objects.count() == MOST


def test_whoever_shows_refusals_by_field_knows_those_of_no_field() -> None:
    """A conflict has no `error_dict`: whoever catches one asks errors.by_field."""
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in (ROOT / "apps").rglob("*.py")
        if file.name not in ("errors.py",)
        if "error_dict" in (text := file.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr == "error_dict"
    ]
    assert wrong == []
