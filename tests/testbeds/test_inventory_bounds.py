"""An inventory file holds no more than can be stored while its sender waits."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.testbeds import inventory
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


def test_a_pattern_of_as_many_names_as_there_may_be_is_read() -> None:
    text = f"nodes:\n- {{name: 'n[1-{inventory.MOST_ITEMS}]'}}\n"
    document = inventory.reader.read_document(text)
    assert len(document.values["nodes"].items) == 1
