from pathlib import Path

from lab.routes import routes_from
from lab.spec import Lab, read_lab
from tests.lab.labs import SMALL

# left - right - far, and an island that nobody reaches.
LONGER = (
    SMALL.replace(
        "nodes:",
        """  - {name: far, site: Far, subnet: 10.96.3.0/24}
  - {name: island, site: Island, subnet: 10.96.4.0/24}
nodes:""",
    )
    + """
  - {name: Far-Right, between: [far, right], subnet: 10.96.255.4/30, capacity: 1 Gbit/s, rtt: 1 ms}
"""
)
SHORT_CUT = (
    LONGER
    + """
  - {name: Left-Far, between: [left, far], subnet: 10.96.255.8/30, capacity: 1 Mbit/s, rtt: 1 s}
"""
)


def lab_of(tmp_path: Path, text: str) -> Lab:
    path = tmp_path / "lab.yaml"
    path.write_text(text)
    return read_lab(path)


def routes(lab: Lab, name: str) -> set[tuple[str, str]]:
    switch = next(switch for switch in lab.switches if switch.name == name)
    return {(str(route.to), str(route.via)) for route in routes_from(switch, lab)}


def test_a_neighbour_is_reached_over_the_link_between(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, SMALL)
    assert routes(lab, "left") == {("10.96.2.0/24", "10.96.255.2")}
    assert routes(lab, "right") == {("10.96.1.0/24", "10.96.255.1")}


def test_what_lies_behind_a_neighbour_is_reached_through_it(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, LONGER)
    via = "10.96.255.2"
    assert routes(lab, "left") == {("10.96.2.0/24", via), ("10.96.3.0/24", via), ("10.96.255.4/30", via)}
    assert routes(lab, "right") == {("10.96.1.0/24", "10.96.255.1"), ("10.96.3.0/24", "10.96.255.5")}


def test_the_way_of_fewest_links_is_taken(tmp_path: Path) -> None:
    assert ("10.96.3.0/24", "10.96.255.10") in routes(lab_of(tmp_path, SHORT_CUT), "left")


def test_an_island_has_no_route(tmp_path: Path) -> None:
    assert routes(lab_of(tmp_path, LONGER), "island") == set()
