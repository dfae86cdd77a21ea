"""Inventories as files: what goes in comes out, and what is wrong is named."""

import json

import pytest
import yaml
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.testbeds import inventory, models, queries
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, SitePair, Switch
from tests import factories as people
from tests.testbeds import factories

pytestmark = pytest.mark.django_db

KINDS = (Site, models.Testbed, Node, Switch, Link, Cluster, FileSystem, SitePair)


def problems(text: str, team=None) -> list[str]:
    """Return what is said of a file, after checking that nothing of it was stored."""
    before = [kind.objects.count() for kind in KINDS]
    with pytest.raises(ValidationError) as caught:
        inventory.import_inventory(team=team or people.team(), text=text)
    assert [kind.objects.count() for kind in KINDS] == before
    assert list(caught.value.message_dict) == ["inventory"]
    return caught.value.messages


def test_the_example_loads_and_counts_for_itself() -> None:
    team = people.team()
    changes = inventory.load_example(team=team)
    assert {change.action for change in changes} == {inventory.CREATED}
    found = {cluster.name: cluster.node_count for cluster in queries.clusters()}
    assert found == {"GPFS_X4500": 1, "GPFS_KGFS": 4, "GPFS_PGFS": 5, "GPFS_KIGFS": 5, "GPFS_PDAISY": 10}
    assert "prints 9 nodes" in Cluster.objects.get(name="GPFS_PDAISY").notes
    assert {change.action for change in inventory.load_example(team=team)} == {inventory.SAME}


def test_the_example_has_the_published_bottlenecks() -> None:
    team = people.team()
    inventory.load_example(team=team)
    nodes = {node.name: node for node in Node.objects.all()}
    wan = queries.path_between(nodes["KGFS01"], nodes["PGFS01"])
    assert (wan.bottleneck.name, wan.capacity_bps, wan.rtt_s, wan.mtu) == ("KISTI – PNU", 10**9, 0.0048, 9000)
    assert queries.path_between(nodes["X4500"], nodes["PGFS05"]).bottleneck.name == "KISTI – PNU"
    lan = queries.path_between(nodes["KGFS01"], nodes["X4500"])
    assert (lan.bottleneck.name, lan.capacity_bps) == ("KGFS01 – KISTI", 10**9)
    far = queries.path_between(nodes["KNU"], nodes["Caltech"])
    assert (far.bottleneck.name, far.capacity_bps, far.rtt_s) == ("Genkai XP – Tokyo XP", 622_000_000, 0.1355)
    assert queries.path_between(nodes["KNU"], nodes["KOREN-NOC"]).rtt_s == 0.002


def test_what_is_exported_reads_back_to_the_same() -> None:
    team, other = people.team(), people.team()
    inventory.load_example(team=team)
    written = inventory.export_inventory(team=team)
    inventory.import_inventory(team=other, text=written)
    assert inventory.export_inventory(team=other) == written
    assert yaml.safe_load(written) == yaml.safe_load(inventory.example_text())


def test_an_empty_inventory_is_exported_and_imported() -> None:
    written = inventory.export_inventory(team=people.team())
    assert inventory.import_inventory(team=people.team(), text=written) == []


def test_everything_that_can_be_described_survives_the_round_trip() -> None:
    team, other = people.team(), people.team()
    site = factories.site(team, "no", notes="two\r\nlines: # not a comment\u2028é한국😀")
    testbed = factories.testbed(team, "007", site=site, ram_bytes=16 * 2**30 + 1, nic_bps=1_234_567_891, mtu=9000)
    a = factories.node(team, "1e3", "10.0.0.1", "fd00::1", testbed=testbed)
    a.addresses.filter(address="fd00::1").update(interface="bond0.7")
    b = factories.node(team, "null", testbed=testbed)
    factories.link(a, b, None, rtt_s=0.1 + 0.2, mtu=1500, name="a: {b} [c]")
    factories.link(a, factories.switch(team, "yes", site=site), 1)
    cluster = factories.cluster(team, "~", b, a)
    mounted = factories.file_system(team, "f", cluster, server_cluster=cluster, block_size_bytes=262_145)
    mounted.mounts.update(path="/else where")
    factories.site_pair(site, factories.site(team, "b"), 0.0)
    written = inventory.export_inventory(team=team)
    inventory.import_inventory(team=other, text=written)
    assert inventory.export_inventory(team=other) == written
    assert {change.action for change in inventory.import_inventory(team=team, text=written)} == {"same"}
    assert Node.objects.get(team=other, name="null")
    assert Link.objects.get(team=other, name="a: {b} [c]").rtt_s == 0.1 + 0.2


def test_json_is_read_too() -> None:
    text = json.dumps({"version": 1, "sites": [{"name": "KISTI", "place": None}]})
    assert [str(change.item) for change in inventory.import_inventory(team=people.team(), text=text)] == ["KISTI"]


def test_a_pattern_of_names_makes_several_nodes_and_names_them_in_clusters() -> None:
    inventory.import_inventory(
        team=people.team(),
        text="sites: [{name: s}]\ntestbeds: [{name: t, site: s}]\n"
        "nodes:\n- {name: 'n[01-03]', testbed: t, addresses: '10.0.0.[1-3]'}\n- {name: 'm[1-2]', testbed: t}\n"
        "clusters: [{name: c, nodes: ['n[01-02]', n03, m1]}]\n",
    )
    found = {node.name: [str(address) for address in node.addresses.all()] for node in Node.objects.all()}
    assert found == {"n01": ["10.0.0.1"], "n02": ["10.0.0.2"], "n03": ["10.0.0.3"], "m1": [], "m2": []}
    assert [node.name for node in Cluster.objects.get().nodes.order_by("name")] == ["m1", "n01", "n02", "n03"]


def test_an_import_changes_what_differs_and_keeps_what_is_left_out() -> None:
    team = people.team()
    site = factories.site(team, "KISTI", place="Daejeon", notes="kept")
    factories.site(team, "PNU", notes="untouched")
    changes = inventory.import_inventory(team=team, text="sites: [{name: KISTI, place: Daejeon KR}, {name: KNU}]")
    assert [(change.action, str(change.item)) for change in changes] == [("changed", "KISTI"), ("created", "KNU")]
    assert changes[0].differences == (inventory.FieldChange("place", "Daejeon", "Daejeon KR"),)
    site.refresh_from_db()
    assert (site.place, site.notes) == ("Daejeon KR", "kept")
    assert Site.objects.filter(name="PNU", notes="untouched").exists()


def test_null_empties_a_field() -> None:
    team = people.team()
    site = factories.site(team, "KISTI", place="Daejeon")
    inventory.import_inventory(team=team, text="sites: [{name: KISTI, place: ~}]")
    site.refresh_from_db()
    assert site.place == ""


def test_a_pair_of_sites_is_recognised_in_either_order() -> None:
    team = people.team()
    a, b = factories.site(team, "a"), factories.site(team, "b")
    factories.site_pair(a, b, 0.1)
    text = "site_pairs: [{a: b, b: a, rtt: %s}]"
    assert [change.action for change in inventory.import_inventory(team=team, text=text % "100 ms")] == ["same"]
    assert [change.action for change in inventory.import_inventory(team=team, text=text % "200 ms")] == ["changed"]
    assert SitePair.objects.get().rtt_s == 0.2


def test_a_preview_says_what_an_import_would_do_and_does_nothing() -> None:
    team = people.team()
    factories.site(team, "KISTI", place="Daejeon")
    preview = inventory.import_inventory(team=team, text=inventory.example_text(), dry_run=True)
    assert {change.action for change in preview} == {"created", "changed"}
    assert Site.objects.get().place == "Daejeon"
    done = inventory.import_inventory(team=team, text=inventory.example_text())
    assert [(change.action, str(change.item)) for change in done] == [
        (change.action, str(change.item)) for change in preview
    ]


def test_an_import_touches_no_other_team() -> None:
    theirs = factories.site(people.team(), "KISTI", place="theirs")
    inventory.load_example(team=people.team())
    theirs.refresh_from_db()
    assert theirs.place == "theirs"
    assert problems("testbeds: [{name: t, site: only-theirs}]")


PLACES = "sites:\n- name: s\ntestbeds:\n- {name: t, site: s}\nnodes:\n- {name: n, testbed: t}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sites: [{name: s, plaec: x}]", "Line 1, sites “s”, plaec: there is no such field; there are name,"),
        ("sites:\n- place: x", "Line 2, sites, name: this field is needed."),
        ("sites:\n- name:", "Line 2, sites, name: this field is needed."),
        ("sites:\n- {name: s}\n- {name: s}", "Line 3, sites “s”: it stands here twice: leave one out."),
        ("sites: x", "Line 1, sites: here stands a list, each entry of it begins with “-”."),
        ("sites: [x]", "Line 1, sites: an entry has fields, such as “name: …”."),
        ("sites: [{name: [s]}]", "Line 1, sites, name: Here stands a single value, not a list or a mapping."),
        ("places: []", "Line 1, places: there is no such section; there are sites, testbeds,"),
        ("version: 2", "Line 1, version: only version 1 can be read."),
        ("version: [1]", "Line 1, version: only version 1 can be read."),
        ("testbeds:\n- name: t\n  site: s", "Line 3, testbeds “t”, site: There is no site called “s”:"),
        ("testbeds:\n- name: t", "Line 2, testbeds “t”, site: This field cannot be null."),
        (PLACES + "- {name: m, testbed: t, addresses: [10.0.0.300]}", "Line 7, nodes “m”, addresses: “10.0.0.300”"),
        (PLACES + "- {name: m, testbed: t, addresses: [{ip: x}]}", "Write a text, or {address: …, interface: …}."),
        (PLACES + "- {name: m, testbed: t, addresses: {a: b}}", "Line 7, nodes “m”, addresses: Here stands a list."),
        (PLACES + "- {name: 'm[1-', testbed: t}", "Line 7, nodes “m[1-”: “m[1-”: a bracket is open"),
        (PLACES + "- {name: 'm[1-2]', testbed: t, addresses: [x]}", "Line 7, nodes “m[1-2]”: addresses of a pattern"),
        (PLACES + "- {name: 'm[1-2]', testbed: t, addresses: x}", "these are 1 addresses for 2 nodes"),
        (PLACES + "links: [{name: l, a: {node: n}, b: n}]", "Line 7, links “l”, b: Write {node: NAME} or"),
        (PLACES + "links: [{name: l, a: {node: n}}]", "Line 7, links “l”: End B is either a node or"),
        (PLACES + "links: [{name: l, a: {node: n}, b: {node: n}}]", "A link joins two different things"),
        (PLACES + "links: [{name: l, a: {node: n}, b: {switch: x}}]", "There is no switch called “x”"),
        (PLACES + "links:\n- name: l\n  capacity: 1 parsec", "Line 9, links “l”, capacity: "),
        (PLACES + "links:\n- name: l\n  mtu: many", "Line 9, links “l”, mtu: "),
        (PLACES + "clusters: [{name: c, nodes: [n, m]}]", "Line 7, clusters “c”, nodes: There is no node called “m”"),
        (PLACES + "clusters: [{name: c, nodes: ['m[1-']}]", "Line 7, clusters “c”, nodes: “m[1-”: a bracket is open"),
        ("file_systems: [{name: f, kind: fat, mount_path: /f}]", "Line 1, file_systems “f”, kind: Value 'fat'"),
        ("file_systems: [{name: f, kind: nfs, mount_path: f}]", "mount_path: Write the whole path"),
        ("sites: [{name: s}]\nsite_pairs: [{a: s, b: s, rtt: 1 ms}]", "Line 2, site_pairs “s – s”: Choose two"),
        ("sites: [{name: s}]\nsite_pairs: [{a: s, rtt: 1 ms}]", "Line 2, site_pairs “s”, b: this field is needed."),
        ("sites: [{name: \"a\\0b\"}]", "Leave out the sign U+0000"),
        ("sites: [{name: \"a\\ud800b\"}]", ""),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_refused_by_line_thing_and_field(text: str, said: str) -> None:
    assert said in "\n".join(problems(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "This is no inventory"),
        ("just words", "This is no inventory"),
        ("- a\n- b", "This is no inventory"),
        ("sites: [", "Line 2, column 1: this is not YAML"),
        ("sites:\n\t- name: x", "Line 2, column 1: this is not YAML"),
        ("a: b\n---\nc: d", "Line 2, column 1: a second document begins"),
        ("sites: &a [*a]", "anchors (&) and aliases (*) are not read"),
        ("sites: [{name: a, name: b}]", "Line 1, column 19: “name” stands here twice"),
        ("sites: [{? [a] : b}]", "Line 1, column 12: a field needs a name."),
        ("sites: " + "[" * 100, "nested too deeply"),
        ("sites: " + "[" * 100_000, "nested too deeply"),
        ("sites: [{name: a\x00}]", "YAML does not allow"),
        ("sites: [{name: a\ud800}]", "YAML does not allow"),
        ("#" * (1024 * 1024 + 1), "too large: 1024 KiB at most"),
    ],
)
def test_what_is_no_inventory_is_refused_with_a_reason(text: str, said: str) -> None:
    assert said in problems(text)[0]


def test_a_tag_builds_nothing() -> None:
    text = "sites: [{name: !!python/object/apply:os.system ['touch /tmp/x']}]"
    assert problems(text) == ["Line 1, column 16: tags (!) are not read; leave it out."]


def test_what_refers_to_something_refused_is_not_reported_again() -> None:
    text = "sites: [{name: s, plaec: x}]\ntestbeds: [{name: t, site: s}]\nnodes: [{name: n, testbed: t}]"
    assert len(problems(text)) == 1


def test_of_many_problems_the_first_are_shown_and_the_others_counted() -> None:
    text = "sites:\n" + "".join(f"- {{name: s{n}, x: y}}\n" for n in range(30))
    found = problems(text)
    assert len(found) == 21
    assert found[-1] == "… and 10 more."


def test_a_file_must_be_utf_8_and_not_too_large() -> None:
    assert inventory.decode(b"\xef\xbb\xbfsites: []") == "sites: []"
    with pytest.raises(ValidationError, match="not UTF-8 text"):
        inventory.decode(b"sites: \xff")
    with pytest.raises(ValidationError, match="too large"):
        inventory.decode(b"#" * (inventory.MOST_BYTES + 1))


def test_an_import_takes_a_bounded_number_of_queries(django_assert_max_num_queries) -> None:
    team = people.team()
    inventory.load_example(team=team)
    with django_assert_max_num_queries(20):
        inventory.import_inventory(team=team, text=inventory.example_text())
    with django_assert_max_num_queries(20):
        inventory.export_inventory(team=team)


def test_kinds_that_a_file_does_not_name_are_not_read() -> None:
    team = people.team()
    with CaptureQueriesContext(connection) as asked:
        inventory.import_inventory(team=team, text="sites: [{name: A}]")
    tables = {kind: kind._meta.db_table for kind in KINDS}
    read = {kind for kind, table in tables.items() if any(f'FROM "{table}"' in query["sql"] for query in asked)}
    # What a new site is checked against is read, too.
    assert Site in read
    assert read.isdisjoint({Link, Cluster, FileSystem, SitePair})


class AnyText(TestCase):
    """Whatever is sent, the answer is an import or a refusal, never a crash."""

    @settings(max_examples=60, deadline=None)
    @given(st.text(max_size=200) | st.text(alphabet="sites:[]{}-&*!?|>'\"\n \tname", max_size=80))
    def test_any_text_is_imported_or_refused(self, text: str) -> None:
        try:
            inventory.import_inventory(team=people.team(), text=text)
        except ValidationError as error:
            assert error.messages

    @settings(max_examples=20, deadline=None)
    @given(st.data())
    def test_a_damaged_example_is_imported_or_refused(self, data: st.DataObject) -> None:
        text = inventory.example_text()
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        damaged = text[:start] + data.draw(st.text(max_size=8)) + text[end:]
        try:
            inventory.import_inventory(team=people.team(), text=damaged)
        except ValidationError as error:
            assert error.messages
