"""An inventory file holds no more than can be stored while its sender waits."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.core.limits.owned import TooManyOwnedError
from apps.testbeds import inventory
from apps.testbeds.inventory import entries
from apps.testbeds.inventory.sections import SECTIONS, InventorySection
from tests import limits
from tests.factories import Cast
from tests.testbeds.test_inventory_files import problems

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "text",
    [
        "sites:\n" + "- name: s\n" * inventory.MOST_ITEMS + "- {name: last}\n",
        "nodes:\n- name: n\n  addresses:\n" + "  - {address: 10.0.0.1}\n" * inventory.MOST_ITEMS,
    ],
)
def test_a_file_that_would_keep_its_sender_waiting_for_minutes_is_refused(text: str) -> None:
    (problem,) = problems(text)
    line = len(text.splitlines())
    assert problem.startswith(f"Line {line}: a file holds at most {inventory.MOST_ITEMS} things")


@pytest.mark.parametrize(
    "text",
    [
        "nodes:\n" + "- {name: 'n[1-1000]'}\n" * 3 + "- {name: last}\n",
        "nodes:\n- {name: 'n[1-1500]', addresses: '10.0.[0-9].[1-150]'}\n- {name: last}\n",
        "clusters:\n- name: c\n  nodes:\n" + "  - n[1-1000]\n" * 3,
        "clusters:\n- {name: c, nodes: 'n[1-3000]'}\n",
        "nodes:\n- {name: 'n[1-999999]'}\n",
    ],
)
def test_patterns_count_as_the_names_that_they_stand_for(text: str) -> None:
    with CaptureQueriesContext(connection) as asked:
        (problem,) = problems(text)
    line = len(text.splitlines())
    assert problem.startswith(f"Line {line}: a file holds at most {inventory.MOST_ITEMS} things")
    # Those are counts of the test; nothing of the team is read, and nothing written.
    assert not [query for query in asked if "testbeds_" in query["sql"] and "COUNT(" not in query["sql"]]


@pytest.mark.parametrize("section", [one for one in SECTIONS if one.identity == ("name",)], ids=lambda one: one.name)
def test_one_with_which_a_team_would_have_too_much_is_refused_before_an_entry_is_looked_at(
    section: InventorySection, cast: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [name for name, limit in settings.OWNED_LIMITS.items() if limit.model == section.model._meta.label]
    limits.bound(settings, 2, *names)
    looked_at: list[Any] = []
    monkeypatch.setattr(entries, "read_entry", lambda *given: looked_at.append(given))
    text = f"{section.name}:\n" + "- {name: a}\n- {name: b}\n"
    inventory.import_inventory(team=cast.team, text=text, dry_run=True)
    assert len(looked_at) == 2
    with pytest.raises(TooManyOwnedError):
        inventory.import_inventory(team=cast.team, text=text + "- {name: c}\n")
    assert len(looked_at) == 2


def test_what_a_team_has_already_is_not_counted_again(cast: Cast, settings: Any) -> None:
    text = "sites:\n- {name: a}\n- {name: b}\n"
    inventory.import_inventory(team=cast.team, text=text)
    limits.bound(settings, 2, "SITES_PER_TEAM")
    changes = inventory.import_inventory(team=cast.team, text=text.replace("b}", "b, place: Daejeon}"))
    assert [change.action for change in changes] == ["same", "changed"]


def test_a_pattern_of_as_many_names_as_there_may_be_is_read() -> None:
    text = f"nodes:\n- {{name: 'n[1-{inventory.MOST_ITEMS}]'}}\n"
    document = inventory.reader.read_document(text)
    assert len(document.values["nodes"].items) == 1
