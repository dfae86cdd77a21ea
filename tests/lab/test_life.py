"""How a lab comes up and goes away, also when it is killed on the way."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab import machine
from tests import interfaces
from tests.lab.labs import KISTI_PUSAN, REAL, SMALL, LabAt
from tests.rotation import part_of

pytestmark = REAL


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[LabAt]:
    lab = LabAt(tmp_path / "state")
    try:
        yield lab
    finally:
        assert lab.run("down").returncode == 0
        assert lab.remains() == []


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    return file


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 20 s"
        time.sleep(0.05)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: machine.command_of(pid) == [])


def test_it_says_a_line_for_each_step(lab: LabAt, small: Path) -> None:
    done = lab.run("up", small)
    steps = [line.split(":")[0].split(" (")[0] for line in done.stdout.splitlines()]
    assert steps[:-1] == ["management", "switch left", "switch right", "node one", "node two", "link Left-Right"]
    assert "lab small is up after" in done.stdout


def test_up_again_leaves_a_lab_as_it_is(lab: LabAt, small: Path) -> None:
    before = lab.up(small)
    done = lab.run("up", small)
    assert done.stdout == f"lab small is up already: {lab.place.state_file}\n"
    assert lab.state == before


def test_another_file_takes_the_place_of_the_first(lab: LabAt, small: Path) -> None:
    lab.up(small)
    small.write_text(SMALL.replace("name: two", "name: three"))
    assert [node["name"] for node in lab.up(small)["nodes"]] == ["one", "three"]
    assert lab.place.namespace_of("two") not in machine.namespaces("fathom-")
    assert lab.pinged("one", "10.96.2.11")


def test_another_emulator_takes_the_place_of_the_first(lab: LabAt, small: Path) -> None:
    before = lab.up(small)
    assert lab.up(small, "--emulator", "python")["built_at"] != before["built_at"]
    assert "forwarder.py" in " ".join(machine.command_of(lab.line["pid"]))


def test_down_ends_whatever_runs_on_the_nodes(lab: LabAt, small: Path) -> None:
    lab.up(small)
    stubborn = lab.start("exec", "one", "--", "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.2; done")
    assert stubborn.stdout
    with stubborn:
        assert stubborn.stdout.readline() == "ready\n"
        done = lab.run("down")
        assert stubborn.wait(5) == -signal.SIGKILL
    assert "removed 4 namespaces, 3 interfaces and" in done.stdout
    assert lab.remains() == []
    assert lab.run("status").returncode == 1


def test_down_where_nothing_is_up_is_no_mistake(lab: LabAt) -> None:
    done = lab.run("down")
    assert (done.returncode, done.stdout) == (0, "no lab is up\n")


def test_a_dead_link_is_told_and_mended(lab: LabAt, small: Path) -> None:
    lab.up(small)
    dead = lab.line["pid"]
    kill(dead)
    status = lab.run("status")
    assert status.returncode == 1
    assert "DEAD; up mends it" in status.stdout
    assert not lab.pinged("one", "10.96.2.11")
    done = lab.run("up", small)
    assert f"link Left-Right: its emulator (process {dead}) is gone; starting another" in done.stdout
    assert lab.pinged("one", "10.96.2.11")
    assert lab.run("status").returncode == 0


def test_a_lab_whose_namespace_was_deleted_is_built_anew(lab: LabAt, small: Path) -> None:
    before = lab.up(small)
    with interfaces.held():
        subprocess.run(["ip", "netns", "delete", lab.place.namespace_of("two")], check=True)
    assert lab.up(small)["built_at"] != before["built_at"]
    assert lab.pinged("one", "10.96.2.11")


def test_two_labs_stand_side_by_side(lab: LabAt, small: Path, tmp_path: Path) -> None:
    other = LabAt(tmp_path / "other")
    try:
        subnets = {each.up(small)["management"]["subnet"] for each in (lab, other)}
        assert len(subnets) == 2
        assert other.run("down").returncode == 0
        assert other.remains() == []
        assert lab.pinged("one", "10.96.2.11")
    finally:
        other.run("down")


def test_a_held_lab_goes_when_its_holder_is_asked_to(lab: LabAt, small: Path) -> None:
    with lab.building(small, "--hold") as holder:
        wait_for(lab.place.state_file.exists)
        assert lab.pinged("one", "10.96.2.11")
        holder.send_signal(signal.SIGTERM)
        assert holder.wait(20) == 0
    assert lab.remains() == []


def test_a_holder_mends_a_dead_link_by_itself(lab: LabAt, small: Path) -> None:
    with lab.building(small, "--hold") as holder:
        wait_for(lab.place.state_file.exists)
        dead = lab.line["pid"]
        os.kill(dead, signal.SIGKILL)
        wait_for(lambda: lab.line["pid"] != dead)
        wait_for(lambda: lab.pinged("one", "10.96.2.11"))
        holder.send_signal(signal.SIGINT)
        assert holder.wait(20) == 0


def test_a_holder_ends_when_another_command_takes_the_lab_down(lab: LabAt, small: Path) -> None:
    with lab.building(small, "--hold") as holder:
        wait_for(lab.place.state_file.exists)
        assert lab.run("down").returncode == 0
        assert holder.wait(20) == 0
        assert holder.stdout
        assert "taken down or built anew by another command" in holder.stdout.read()


def test_a_holder_that_cannot_mend_a_link_says_so_and_takes_the_lab_down(lab: LabAt, small: Path) -> None:
    with lab.building(small, "--hold") as holder:
        wait_for(lab.place.state_file.exists)
        lab.place.write_state(lab.state | {"emulator": ["/bin/false"]})
        os.kill(lab.line["pid"], signal.SIGKILL)
        assert holder.wait(20) == 1
        assert holder.stderr
        assert "lab: The emulator of Left-Right ended at once" in holder.stderr.read()
    assert lab.remains() == []


@pytest.mark.parametrize("kind", ["auto", "python"])
def test_the_emulators_of_a_killed_holder_die_with_it(lab: LabAt, small: Path, kind: str) -> None:
    with lab.building(small, "--hold", "--emulator", kind) as holder:
        wait_for(lab.place.state_file.exists)
        holder.kill()
    emulators = lab.place.interface_prefix + "0a"
    wait_for(lambda: emulators not in lab.remains())
    assert lab.remains() != []
    assert lab.run("down").returncode == 0
    assert lab.remains() == []


@pytest.mark.parametrize("step", part_of(["management", "switch right", "node one", "link"]))
def test_what_a_killed_lab_left_is_cleared_by_the_next(lab: LabAt, small: Path, step: str) -> None:
    with lab.building(small) as killed:
        assert killed.stdout
        while not killed.stdout.readline().startswith(step):
            assert killed.poll() is None
        killed.kill()
    assert lab.remains() != []
    done = lab.run("up", small)
    assert done.stdout.startswith("removed ")
    assert lab.pinged("one", "10.96.2.11")


def test_an_interrupted_lab_leaves_nothing(lab: LabAt) -> None:
    with lab.building(KISTI_PUSAN) as interrupted:
        assert interrupted.stdout
        while not interrupted.stdout.readline().startswith("switch"):
            assert interrupted.poll() is None
        interrupted.send_signal(signal.SIGTERM)
        assert interrupted.wait(20) == 130
    assert lab.remains() == []
    assert not lab.place.state_file.exists()


def test_a_setting_that_the_kernel_refuses_is_named_and_nothing_is_left(lab: LabAt, small: Path) -> None:
    small.write_text(SMALL + "node_sysctls: {net.ipv4.tcp_congestion_control: nonsense}\n")
    done = lab.run("up", small)
    assert done.returncode == 1
    assert "net.ipv4.tcp_congestion_control = nonsense was refused in fathom-" in done.stderr
    assert lab.remains() == []
