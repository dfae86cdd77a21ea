"""Drawings of networks: what is shown, where it stands, and that nothing in them can do harm."""

from xml.etree import ElementTree

import pytest
from django.test import Client

from apps.testbeds import inventory, models, topology
from apps.testbeds.topology import layout, picture
from tests import factories as people
from tests.testbeds import factories

pytestmark = pytest.mark.django_db

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(drawing).iter(f"{SVG}text")]


def bottlenecks(drawing: str) -> list[str]:
    found = [element for element in ElementTree.fromstring(drawing).iter() if "topology-bottleneck" in
             element.get("class", "")]  # fmt: skip
    return [element.find(f"{SVG}title").text for element in found]


def test_like_nodes_share_a_box_and_their_links_a_line() -> None:
    here = factories.two_sites(people.team(), nodes=4)
    drawing = topology.topology_svg(team=here.line.team)
    for text in ("KISTI", "PNU", "KGFS × 4", "KGFS[01-04]", "4 × 1 Gbit/s", "1 Gbit/s", "4.80 ms"):
        assert text in texts(drawing)
    assert "KGFS01" not in texts(drawing)


def test_few_nodes_and_nodes_with_other_links_keep_their_own_boxes() -> None:
    here = factories.two_sites(people.team(), nodes=4)
    models.Link.objects.filter(a_node=here.near[3]).update(capacity_bps=10**10)
    shown = texts(topology.topology_svg(team=here.line.team))
    assert {"KGFS × 3", "KGFS04", "PGFS × 4"} <= set(shown)
    shown = texts(topology.topology_svg(nodes=[here.near[0], here.far[0]]))
    assert {"KGFS01", "PGFS01", "KISTI", "PNU"} <= set(shown)


def test_a_set_of_nodes_shows_only_what_lies_between_them() -> None:
    team = people.team()
    inventory.load_example(team=team)
    nodes = {node.name: node for node in models.Node.objects.all()}
    shown = texts(topology.topology_svg(nodes=[nodes["KNU"], nodes["Caltech"]]))
    assert {"Genkai XP", "Tokyo XP", "Los Angeles"} <= set(shown)
    assert "KISTI" not in shown
    alone = texts(topology.topology_svg(nodes=[nodes["KGFS01"], nodes["KNU"]]))
    assert "KISTI" in alone
    assert "Tokyo XP" not in alone


def test_a_site_shows_its_own_and_where_its_links_lead() -> None:
    here = factories.two_sites(people.team(), nodes=4)
    shown = texts(topology.topology_svg(site=here.near_site))
    assert "KGFS × 4" in shown
    assert shown.count("PNU") == 2
    assert "PGFS × 4" not in shown


def test_the_line_that_limits_the_paths_stands_out() -> None:
    team = people.team()
    inventory.load_example(team=team)
    nodes = {node.name: node for node in models.Node.objects.all()}
    wan = ["KISTI – PNU: 1 Gbit/s · 4.80 ms"]
    assert bottlenecks(topology.topology_svg(nodes=[nodes["KGFS01"], nodes["PGFS01"]])) == wan
    assert bottlenecks(topology.topology_svg(site=models.Site.objects.get(name="KISTI"))) == wan
    assert bottlenecks(topology.topology_svg(nodes=[nodes["KGFS01"], nodes["X4500"]])) == ["KGFS01 – KISTI: 1 Gbit/s"]
    assert bottlenecks(topology.topology_svg(nodes=[nodes["KNU"], nodes["Caltech"]])) == [
        "Genkai XP – Tokyo XP: 622 Mbit/s"
    ]
    chosen = models.Link.objects.get(name="transPAC")
    drawing = topology.topology_svg(nodes=[nodes["KNU"], nodes["Caltech"]], bottleneck=chosen.key)
    assert bottlenecks(drawing) == ["transPAC: 2.5 Gbit/s"]


def test_busy_nodes_stand_out_also_in_a_shared_box() -> None:
    here = factories.two_sites(people.team(), nodes=4)
    busy = {here.near[0].pk, here.near[1].pk, here.far[0].pk}
    shown = texts(topology.topology_svg(nodes=[*here.near, here.far[0]], busy=busy))
    assert {"2 busy", "busy"} <= set(shown)


def test_boxes_lead_to_pages_and_the_words_describe_what_is_drawn() -> None:
    here = factories.two_sites(people.team(), nodes=3)
    drawing = topology.topology_svg(team=here.line.team)
    for item in (here.near_testbed, here.near_switch, here.line):
        assert f'href="{item.get_absolute_url()}"' in drawing
    tree = ElementTree.fromstring(drawing)
    described = tree.find(f"{SVG}desc")
    assert "KISTI is linked to PNU, 1 Gbit/s · 4.80 ms (bottleneck)" in described.text
    assert tree.get("aria-describedby") == described.get("id")
    assert tree.get("aria-labelledby") == tree.find(f"{SVG}title").get("id")


def test_nothing_in_a_name_becomes_markup_and_nothing_has_a_style() -> None:
    team = people.team()
    site = factories.site(team, "<script>alert(1)</script>")
    switch = factories.switch(team, '"><img src=x onerror=alert(1)>', site=site)
    factories.link(switch, factories.switch(team, "&amp;", site=site), name="</title><script>")
    drawing = topology.topology_svg(team=team)
    elements = list(ElementTree.fromstring(drawing).iter())
    assert {element.tag.removeprefix(SVG) for element in elements} == {
        "svg", "title", "desc", "g", "a", "rect", "path", "text",
    }  # fmt: skip
    assert not {name for element in elements for name in element.attrib if name == "style" or name.startswith("on")}
    assert "&amp;" in texts(drawing)


def test_a_network_of_many_switches_is_laid_out_without_overlap_and_always_alike() -> None:
    team = people.team()
    sites = [factories.site(team, f"site {number} 한국") for number in range(4)]
    switches = [factories.switch(team, f"core switch {number}", site=sites[number % 4]) for number in range(9)]
    for number, switch in enumerate(switches[1:], start=1):
        factories.link(switches[number // 2], switch)
    factories.link(switches[0], switches[8], None, name="ring")
    for number in range(20):
        testbed = factories.testbed(team, f"t{number}", site=sites[number % 4])
        node = factories.node(team, f"n{number}", testbed=testbed)
        if number % 5:
            factories.link(node, switches[number % 9], 10**9 * (1 + number % 3), name=f"l{number}")
    drawn = picture.of_team(team)
    placed = layout.place(drawn)
    spots = list(placed.spots.values())
    assert set(placed.spots) == set(drawn.boxes)
    for index, one in enumerate(spots):
        assert one.x >= 0 and one.right <= placed.width and one.y >= 0 and one.bottom <= placed.height
        for other in spots[index + 1 :]:
            assert one.right <= other.x or other.right <= one.x or one.bottom <= other.y or other.bottom <= one.y
    assert topology.topology_svg(team=team) == topology.topology_svg(team=team)


def test_wide_drawings_scroll_on_small_screens() -> None:
    team, small = people.team(), people.team()
    inventory.load_example(team=team)
    factories.node(small, "alone")
    assert '<svg class="topology topology-huge" ' in topology.topology_svg(team=team)
    assert '<svg class="topology" ' in topology.topology_svg(team=small)


def test_nodes_without_links_are_shown_too() -> None:
    team = people.team()
    factories.node(team, "alone")
    drawing = topology.topology_svg(team=team)
    assert "alone" in texts(drawing)
    assert "alone has no link" in drawing


def test_nodes_linked_twice_directly_and_to_far_switches_are_drawn() -> None:
    team = people.team()
    here = factories.two_sites(team, nodes=2)
    factories.link(here.near[0], here.near[1], 10**10, name="cross cable")
    factories.link(here.near[0], here.far_switch, 10**8, name="second way")
    factories.link(here.near_switch, factories.switch(team, "spare", site=here.near_site), None, name="dark")
    drawing = topology.topology_svg(team=team)
    titles = [element.text for element in ElementTree.fromstring(drawing).iter(f"{SVG}title")]
    assert {"cross cable: 10 Gbit/s", "second way: 100 Mbit/s", "dark"} <= set(titles)


def test_where_there_is_nothing_there_is_no_drawing() -> None:
    team = people.team()
    assert topology.topology_svg(nodes=[]) == ""
    assert topology.topology_svg(site=factories.site(team)) == ""
    assert topology.topology_svg(team=team) == ""
    with pytest.raises(TypeError):
        topology.topology_svg()


def test_nodes_of_another_team_are_left_out() -> None:
    here = factories.two_sites(people.team(), nodes=1)
    theirs = factories.node(people.team(), "theirs")
    assert "theirs" not in topology.topology_svg(nodes=[here.near[0], here.far[0], theirs])


def test_a_large_team_is_drawn_in_few_queries(django_assert_max_num_queries) -> None:
    team = people.team()
    here = factories.two_sites(team, nodes=60)
    with django_assert_max_num_queries(7):
        assert "KGFS × 60" in topology.topology_svg(team=team)
    with django_assert_max_num_queries(7):
        assert "KGFS × 60" in topology.topology_svg(nodes=[*here.near, *here.far])


def test_the_sites_page_has_the_drawing(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=4)
    client.force_login(cast.bob)
    page = client.get(here.near_site.get_absolute_url()).content.decode()
    assert '<svg class="topology' in page
    assert "css/topology.css" in page
