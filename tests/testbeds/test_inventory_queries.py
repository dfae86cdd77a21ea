"""A large inventory costs few queries more than a small one; what the database refuses is still named by its line."""

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import Team
from apps.testbeds import inventory
from apps.testbeds.inventory.sections import SECTIONS
from apps.testbeds.models import Cluster, FileSystem, Link, Node, NodeAddress, SitePair

pytestmark = pytest.mark.django_db


def rows_of(section: str, number: int) -> str:
    """Return a file with so many rows of a section, and what they refer to."""
    needed = {
        "sites": "",
        "testbeds": "sites: [{name: s}]\n",
        "nodes": "sites: [{name: s}]\ntestbeds: [{name: t, site: s}]\n",
        "switches": "sites: [{name: s}]\n",
        "links": "sites: [{name: s}]\nswitches: [{name: a, site: s}, {name: b, site: s}]\n",
        "clusters": "sites: [{name: s}]\ntestbeds: [{name: t, site: s}]\nnodes: [{name: n, testbed: t}]\n",
        "file_systems": "clusters: [{name: c}]\n",
        "site_pairs": f"sites:\n- {{name: hub}}\n{''.join(f'- {{name: s{n}}}{chr(10)}' for n in range(number))}",
    }
    row = {
        "sites": "{name: s%d, place: Daejeon}",
        "testbeds": "{name: t%d, site: s, ram: 64 GiB}",
        "nodes": "{name: n%d, testbed: t, addresses: [10.0.0.1, {address: 10.0.0.2, interface: eth0}]}",
        "switches": "{name: w%d, site: s}",
        "links": "{name: l%d, a: {switch: a}, b: {switch: b}, capacity: 10 Gbit/s}",
        "clusters": "{name: c%d, nodes: [n]}",
        "file_systems": "{name: f%d, kind: lustre, server_cluster: c, mount_path: /f, mounted_by: [c]}",
        "site_pairs": "{a: hub, b: s%d, rtt: 1 ms}",
    }
    return f"{needed[section]}{section}:\n" + "".join(f"- {row[section] % n}\n" for n in range(number))


def queries_of(section: str, number: int) -> tuple[int, int]:
    """Return how many queries it takes to make so many rows, and then to change each."""
    team = Team.objects.create(name=f"of {number}", slug=f"of-{number}")
    text = rows_of(section, number)
    with CaptureQueriesContext(connection) as making:
        changes = inventory.import_inventory(team=team, text=text)
    assert len([change for change in changes if change.action == "created"]) >= number
    changed = text.replace("10.0.0.2", "10.0.0.3").replace("{name: c}", "{name: c}, {name: d}")
    changed = changed.replace("mounted_by: [c]", "mounted_by: [d]").replace("nodes: [n]}", "nodes: []}")
    front, rows = changed.split(f"{section}:\n")
    with CaptureQueriesContext(connection) as changing:
        changes = inventory.import_inventory(
            team=team, text=f"{front}{section}:\n{rows.replace('}' + chr(10), ', notes: new}' + chr(10))}"
        )
    assert len([change for change in changes if change.action == "changed"]) == number
    # And all of it is as written.
    again = inventory.import_inventory(team=team, text=changed)
    assert {change.action for change in again} == {"same"}
    return len(making), len(changing)


@pytest.mark.parametrize("section", [section.name for section in SECTIONS])
def test_forty_times_the_rows_or_changes_are_at_most_twice_the_queries(section: str) -> None:
    few, many = queries_of(section, 9), queries_of(section, 360)
    assert many[0] <= 2 * few[0]
    assert many[1] <= 2 * few[1]


def test_what_is_stored_together_is_what_was_written() -> None:
    team = Team.objects.create(name="own")
    for section in ("nodes", "clusters", "file_systems", "links", "site_pairs"):
        inventory.import_inventory(team=team, text=rows_of(section, 3))
    node = Node.objects.get(team=team, name="n1")
    assert [(row.address, row.interface) for row in node.addresses.all()] == [("10.0.0.1", ""), ("10.0.0.2", "eth0")]
    assert NodeAddress.objects.filter(node__team=team).count() == 6
    assert [str(node) for node in Cluster.objects.get(team=team, name="c2").nodes.all()] == ["n"]
    assert [str(row.cluster) for row in FileSystem.objects.get(team=team, name="f0").mounts.all()] == ["c"]
    assert Link.objects.get(team=team, name="l2").capacity_bps == 10**10
    assert SitePair.objects.filter(team=team).count() == 3
    # Read again, all of it is the same.
    assert {change.action for change in inventory.import_inventory(team=team, text=rows_of("nodes", 3))} == {"same"}


@pytest.mark.parametrize("wrong", [(0,), (57,), (99,), (3, 50, 98)])
def test_what_the_database_refuses_is_named_by_its_line_and_the_rest_is_taken(wrong: tuple[int, ...]) -> None:
    lines = ["sites: [{name: s}]", "switches: [{name: a, site: s}, {name: b, site: s}]", "links:"]
    lines += [f"- {{name: l{n}, a: {{switch: a}}, b: {{switch: {'a' if n in wrong else 'b'}}}}}" for n in range(100)]
    team = Team.objects.create(name="own")
    with pytest.raises(ValidationError) as refused, CaptureQueriesContext(connection) as asked:
        inventory.import_inventory(team=team, text="\n".join(lines))
    texts = refused.value.message_dict["inventory"]
    assert [text.partition(",")[0] for text in texts] == [f"Line {4 + n}" for n in wrong]
    assert all("two different things" in text for text in texts)
    assert not Link.objects.filter(team=team).exists()
    # Only those near a wrong one are looked at by themselves.
    assert len(asked) < 300 * len(wrong)
