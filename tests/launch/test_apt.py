"""Packages that can be had are installed in time; the others are told, each with its reason."""

from collections.abc import Callable
from pathlib import Path

import pytest

from launch import apt, bootstrap

DEB822 = """Types: deb
# a comment
URIs: http://archive.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb
URIs: http://archive.example/debian-security
Suites: bookworm-security
Components: main
"""
POLICY = """fio:
  Installed: (none)
  Candidate: 3.33-3
netperf:
  Installed: (none)
  Candidate: (none)
"""


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a Debian's package sources."""
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "os-release").write_text("NAME=Debian\nID=debian\n")
    monkeypatch.setattr(apt, "SOURCES", tmp_path / "sources.list.d")
    monkeypatch.setattr(apt, "SOURCES_LIST", tmp_path / "sources.list")
    monkeypatch.setattr(apt, "RELEASE", tmp_path / "os-release")
    monkeypatch.setattr(apt, "UNITS", tmp_path / "units")
    return tmp_path


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return a function that puts a program of ours in the place of apt-get or apt-cache."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def make(name: str, script: str) -> None:
        (folder / name).write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/calls\n{script}\n')
        (folder / name).chmod(0o755)

    return make


def test_the_non_free_part_of_the_machines_own_archive_is_found(system: Path) -> None:
    (system / "sources.list.d" / "debian.sources").write_text(DEB822)
    assert apt.non_free_sources() == [
        "deb [signed-by=/usr/share/keyrings/debian.gpg] http://archive.example/debian bookworm non-free",
        "deb [signed-by=/usr/share/keyrings/debian.gpg] http://archive.example/debian bookworm-updates non-free",
    ]


def test_sources_of_one_line_are_read_too(system: Path) -> None:
    (system / "sources.list").write_text(
        "# deb http://old.example/debian x main\n"
        "deb [arch=amd64 signed-by=/k.gpg] http://a.example/debian/ bookworm main contrib\n"
        "deb http://b.example/other bookworm main\n"
    )
    assert apt.non_free_sources() == ["deb [signed-by=/k.gpg] http://a.example/debian/ bookworm non-free"]


def test_a_machine_that_has_it_needs_no_list_of_its_own(system: Path) -> None:
    (system / "sources.list").write_text("deb http://a.example/debian bookworm main non-free\n")
    assert apt.non_free_sources() == []


def test_another_system_has_no_non_free_part(system: Path) -> None:
    (system / "sources.list").write_text("deb http://a.example/debian bookworm main\n")
    (system / "os-release").write_text("ID=ubuntu\n")
    assert apt.non_free_sources() == []


def test_what_can_be_had_is_fetched_and_then_installed(system: Path, program: Callable[[str, str], None]) -> None:
    program("apt-get", "exit 0")
    program("apt-cache", f"cat <<'END'\n{POLICY}END")
    missing = apt.Apt(system / "own", within_s=30).install(["fio", "netperf"])
    assert missing == {"netperf": "no package of that name can be had here"}
    calls = [line.split("/bin/")[1] for line in (system / "calls").read_text().splitlines()]
    assert [call.split()[0] for call in calls] == ["apt-get", "apt-cache", "apt-get", "apt-get"]
    assert calls[2].endswith("install --no-install-recommends -y --download-only fio")
    assert calls[3].endswith("install --no-install-recommends -y fio")


def test_a_fetch_that_takes_too_long_is_given_up(system: Path, program: Callable[[str, str], None]) -> None:
    program("apt-get", 'case "$*" in *download-only*) exec sleep 60;; esac')
    program("apt-cache", f"cat <<'END'\n{POLICY}END")
    missing = apt.Apt(system / "own", within_s=1).install(["fio"])
    assert missing == {"fio": "it could not be fetched in time"}


def test_without_package_lists_nothing_is_tried(system: Path, program: Callable[[str, str], None]) -> None:
    program("apt-get", "exit 100")
    assert apt.Apt(system / "own", within_s=30).install(["fio"]) == {
        "fio": "the package lists could not be fetched in time"
    }


def test_a_refused_installation_is_told(system: Path, program: Callable[[str, str], None]) -> None:
    program("apt-get", 'case "$*" in *update*|*download-only*) exit 0;; esac; exit 100')
    program("apt-cache", f"cat <<'END'\n{POLICY}END")
    assert apt.Apt(system / "own", within_s=30).install(["fio"]) == {"fio": "apt-get refused to install it"}


@pytest.mark.parametrize(("euid", "reason"), [(1000, "only root can install it"), (0, "this system has no apt-get")])
def test_what_is_skipped_is_told_once_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], euid: int, reason: str
) -> None:
    monkeypatch.setattr(bootstrap, "STAMPS", tmp_path)
    monkeypatch.setattr(bootstrap, "MEASURING", {"fio": "fio", "iozone": "iozone3"})
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: euid)
    monkeypatch.setattr(bootstrap, "is_installed", lambda name: name == "fio")
    bootstrap.install_measuring()
    said = capsys.readouterr().out
    assert said == f"set-up: what needs these packages is skipped: iozone3 ({reason})\n"
    bootstrap.install_measuring()
    assert capsys.readouterr().out == ""


def test_a_lab_needs_the_measurement_tools_with_the_service_too(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    for step in bootstrap.STEPS:
        monkeypatch.setitem(bootstrap.STEPS, step, lambda step=step: done.append(step))
    assert bootstrap.main("serve") == 0
    assert "measuring" not in done
    monkeypatch.setenv("LAB", "lab/storage.yaml")
    assert bootstrap.main("serve") == 0
    assert "measuring" in done
