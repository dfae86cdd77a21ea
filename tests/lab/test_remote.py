"""What starts commands on other nodes of a lab, as ssh does: words for a shell, by name or by address."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.rooms import write_remote
from lab.state import REMOTE, Place
from tests.lab.labs import REAL, SMALL, LabAt


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a place with two nodes that nobody can enter."""
    place = Place(tmp_path / "a place")
    place.folder.mkdir()
    nodes = [
        {"name": name, "data_addresses": [address]} for name, address in (("one", "10.9.0.1"), ("two", "10.9.0.2"))
    ]
    # A process that is there, and is something else.
    place.write_state({"nodes": nodes, "services": [{"name": "door", "node": "one", "pid": os.getpid()}]})
    write_remote(place)
    return place


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("three", "true"), "Could not resolve hostname three"),
        (("two",), "name a node and a command"),
        (("-x", "10.9.0.1", "true"), "connect to host 10.9.0.1: the lab is not whole"),
        (("two", "true"), "connect to host two: the lab is not whole"),
    ],
)
def test_what_cannot_be_started_is_told(place: Place, words: tuple[str, ...], said: str) -> None:
    done = subprocess.run([place.remote, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert said in done.stderr


def test_it_goes_with_the_lab(place: Place) -> None:
    place.state_file.unlink()
    done = subprocess.run([place.remote, "one", "true"], capture_output=True, text=True, check=False)
    assert "no lab is up" in done.stderr
    place.forget_state()
    assert not place.remote.exists()


class TestReal:
    pytestmark = REAL

    @pytest.fixture
    def lab(self, tmp_path: Path) -> Iterator[LabAt]:
        lab = LabAt(tmp_path / "state")
        # Only root may enter another node's namespaces: nobody else's agent is given the program.
        file = tmp_path / "lab.yaml"
        file.write_text(SMALL.replace("address: 10.96.1.11", "address: 10.96.1.11, user: root"))
        try:
            lab.up(file)
            yield lab
        finally:
            assert lab.run("down").returncode == 0
            assert lab.remains() == []

    def test_a_node_starts_commands_on_another_as_by_ssh(self, lab: LabAt) -> None:
        one, two = lab.state["nodes"]
        assert REMOTE not in two["programs"]
        remote = one["programs"][REMOTE]
        for words in (["two"], ["-x", "-n", "10.96.2.11"]):
            said = lab.on("one", remote, *words, "echo", '"$(uname', "-n)", 'here";', "ls", "/sys/class/net")
            assert said.split() == ["two", "here", "data0", "lo", "mgmt0"]
        assert lab.run("exec", "one", "--", remote, "two", "exit", "3").returncode == 3
