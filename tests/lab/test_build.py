from pathlib import Path

import pytest

from lab import build, life, machine
from lab.machine import LabError
from lab.spec import read_lab
from tests.lab.labs import KISTI_PUSAN, SMALL


def test_the_management_network_avoids_what_is_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tmp_path / "small.yaml"
    small.write_text(SMALL + "management: [10.96.0.0/22, 10.97.8.0/23]\n")
    description = read_lab(small)
    first, second = description.management[1].subnets(new_prefix=24)
    # 10.96.1 and 10.96.2 carry data; 10.96.0 and 10.96.3 are taken by the machine.
    used = list(description.management[0].subnets(new_prefix=24))[::3]
    monkeypatch.setattr(machine, "networks_in_use", lambda: used)
    assert build.choose_management(description, 0) == first
    assert build.choose_management(description, 1) == second
    used.append(first)
    assert build.choose_management(description, 0) == second
    used.append(second)
    with pytest.raises(LabError, match=r"No /24 of 10\.96\.0\.0/22, 10\.97\.8\.0/23 is free on this machine"):
        build.choose_management(description, 0)


def test_limits_of_the_machine_that_are_too_small_are_noted(tmp_path: Path) -> None:
    (tmp_path / "rmem_max").write_text("212992\n")
    (tmp_path / "wmem_max").write_text("4194304\n")
    (note,) = life.buffer_notes(read_lab(KISTI_PUSAN), tmp_path)
    assert "net.core.rmem_max is 212992" in note
    assert "sysctl -w net.core.rmem_max=1200000" in note
