"""An inventory file holds no more than can be stored while its sender waits."""

import pytest

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
