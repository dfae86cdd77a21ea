"""A node looks like a machine of its own: its host name, its interfaces, its folders."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import rooms
from lab.machine import LabError
from lab.state import Place
from tests.lab.labs import REAL, ROOT, SMALL, LabAt, standing


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabAt]:
    folder = tmp_path_factory.mktemp("rooms")
    file = folder / "small.yaml"
    file.write_text(SMALL)
    yield from standing(file, folder / "state")
    assert not Place(folder / "state").rooms.exists()


class TestReal:
    pytestmark = REAL

    def test_it_has_its_own_name_and_knows_the_others(self, lab: LabAt) -> None:
        assert lab.on("one", "uname", "-n") == "one\n"
        assert lab.on("two", "uname", "-n") == "two\n"
        assert lab.on("one", "getent", "hosts", "two").split() == ["10.96.2.11", "two"]

    def test_it_sees_its_own_interfaces(self, lab: LabAt) -> None:
        assert lab.on("one", "ls", "/sys/class/net").split() == ["data0", "lo", "mgmt0"]

    def test_what_it_mounts_or_keeps_at_run_and_mnt_is_its_own(self, lab: LabAt) -> None:
        lab.on("one", "touch", "/run/fathom-test", "/mnt/fathom-test")
        assert "fathom-test" not in lab.on("two", "ls", "/run", "/mnt").split()
        assert not Path("/run/fathom-test").exists()
        lab.on("one", "mkdir", "-p", "/mnt/deep")
        lab.on("one", "mount", "-t", "tmpfs", "tmpfs", "/mnt/deep")
        # Another command on the node finds the mount that the first one made.
        assert "/mnt/deep tmpfs" in lab.on("one", "cat", "/proc/mounts")
        assert "/mnt/deep tmpfs" not in Path("/proc/mounts").read_text()

    def test_a_command_starts_where_it_was_typed_in(self, lab: LabAt) -> None:
        assert lab.run("exec", "one", "--", "pwd").stdout == f"{ROOT}\n"


def test_a_state_folder_that_nodes_would_not_see_is_refused() -> None:
    with pytest.raises(LabError, match=r"Nodes have a /mnt of their own"):
        rooms.prepare(Place(Path("/mnt/lab")), [])
