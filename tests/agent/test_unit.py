"""The systemd unit: systemd itself reads it without a word, and it confines the agent."""

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

from apps.agents import program
from tests.agent.program import PYTHON

STRICT = {"ProtectSystem": "strict", "PrivateTmp": "yes", "ProtectHome": "read-only", "KillMode": "mixed"}


def unit_of(zipapp: Path, folder: Path) -> str:
    """Return the unit that the program itself prints."""
    command = [PYTHON, str(zipapp), "unit", "--dir", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.fixture
def zipapp(tmp_path: Path) -> Path:
    path = tmp_path / program.NAME
    path.write_bytes(program.current().data)
    return path


def test_the_unit_protects_the_system() -> None:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read_string(program.systemd_unit())
    service = parser["Service"]
    assert {name: service[name] for name in STRICT} == STRICT
    assert service["ReadWritePaths"] == program.PLACES["folder"]
    # Without those of mounts and IPC jobs would have the machine's shared memory, and its segments and queues.
    assert service["RestrictNamespaces"] == "mnt ipc"


def lines_about(unit: Path, done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what was printed, but for what is said of other units of this machine."""
    lines = (done.stdout + done.stderr).splitlines()
    return [line for line in lines if unit.name in line or "/systemd/system/" not in line]


@pytest.mark.parametrize("folder", ["/var/lib/fathom-agent", "/srv/with blank/agent"])
def test_systemd_has_nothing_to_say_of_the_unit(tmp_path: Path, zipapp: Path, folder: str) -> None:
    analyse = shutil.which("systemd-analyze")
    if analyse is None:
        pytest.skip("needed here: systemd-analyze")
    unit = tmp_path / program.UNIT
    unit.write_text(unit_of(zipapp, Path(folder)))
    # It prints what it does not know, and says that all is well.
    done = subprocess.run([analyse, "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, lines_about(unit, done)) == (0, [])
    unit.write_text(unit.read_text().replace("PrivateTmp", "PrivateTemp"))
    done = subprocess.run([analyse, "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False)
    assert lines_about(unit, done)
