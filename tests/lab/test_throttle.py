"""The two kinds of cgroup that can limit a device, by the files that they are."""

from pathlib import Path

import pytest

from lab.file_systems import throttle
from lab.machine import LabError


def v1(folder: Path) -> Path:
    (folder / "blkio").mkdir()
    for name in ("read", "write"):
        (folder / "blkio" / f"blkio.throttle.{name}_bps_device").write_text("")
    return folder


def v2(folder: Path, controllers: str = "cpu io memory") -> Path:
    (folder / "cgroup.controllers").write_text(f"{controllers}\n")
    (folder / "cgroup.subtree_control").write_text("")
    return folder


def test_version_1_limits_in_the_topmost_group(tmp_path: Path) -> None:
    group = throttle.find("fathom-x", v1(tmp_path))
    assert group
    group.limit("7:0", read=100, write=0)
    assert (tmp_path / "blkio/blkio.throttle.read_bps_device").read_text() == "7:0 100"
    assert (tmp_path / "blkio/blkio.throttle.write_bps_device").read_text() == "7:0 0"


def test_version_2_limits_in_a_group_of_its_own_that_goes_again(tmp_path: Path) -> None:
    group = throttle.find("fathom-x", v2(tmp_path))
    assert group
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+io"
    group.limit("7:0", read=0, write=200)
    assert (tmp_path / "fathom-x/io.max").read_text() == "7:0 rbps=max wbps=200"
    (tmp_path / "fathom-x/io.max").unlink()
    throttle.remove("fathom-x", tmp_path)
    assert not (tmp_path / "fathom-x").exists()


def test_a_machine_without_either_has_none(tmp_path: Path) -> None:
    assert throttle.find("fathom-x", v2(tmp_path, "cpu memory")) is None
    assert throttle.to_join("fathom-x", tmp_path) is None


@pytest.mark.parametrize(
    ("own", "joins"), [("3:blkio:/\n0::/\n", None), ("3:cpu:/x\n3:blkio:/service\n", "blkio/cgroup.procs")]
)
def test_with_version_1_only_programs_of_another_group_join(tmp_path: Path, own: str, joins: str | None) -> None:
    file = tmp_path / "own"
    file.write_text(own)
    assert throttle.to_join("fathom-x", v1(tmp_path), file) == (tmp_path / joins if joins else None)


def test_with_version_2_every_program_joins(tmp_path: Path) -> None:
    file = tmp_path / "own"
    file.write_text("0::/user.slice\n")
    assert throttle.to_join("fathom-x", v2(tmp_path), file) == tmp_path / "fathom-x/cgroup.procs"


def test_what_the_kernel_refuses_is_told(tmp_path: Path) -> None:
    group = throttle.Throttle(tmp_path / "gone", is_v2=True)
    with pytest.raises(LabError, match=r"io\.max refused '7:0 rbps=1 wbps=max'"):
        group.limit("7:0", read=1, write=0)
