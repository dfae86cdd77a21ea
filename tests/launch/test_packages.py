"""A lock is installed by hash: by uv where the lock has it and it gets on, by pip elsewhere; a failure is told."""

import subprocess
from pathlib import Path

import pytest

from launch import bootstrap, packages

OWN = "uv==0.9.9 \\\n    --hash=sha256:11 \\\n    --hash=sha256:22\n"
WITHOUT = "six==1.17.0 \\\n    --hash=sha256:00\nxlrd==2.0.2 \\\n    --hash=sha256:33\n"


class Installers:
    """Stand for pip and uv: what each was given to install is kept, and those in `failing` fail at their lock."""

    def __init__(self, lock: Path) -> None:
        self.lock = lock
        self.given: list[tuple[str, str]] = []
        self.failing: set[str] = set()

    def run(self, argv: list[str], **_options: object) -> subprocess.CompletedProcess[bytes]:
        """Take a command."""
        program = argv[2]
        if program == "compileall":
            return subprocess.CompletedProcess(argv, 0)
        assert "--require-hashes" in argv
        file = argv[argv.index("-r") + 1]
        self.given.append((program, Path(file).read_text()))
        return subprocess.CompletedProcess(argv, int(program in self.failing and file == str(self.lock)), b"no luck")


@pytest.fixture
def installers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installers:
    standing = Installers(tmp_path / "dev.txt")
    monkeypatch.setattr(packages.subprocess, "run", standing.run)
    return standing


def test_uv_installs_the_lock_that_has_it(tmp_path: Path, installers: Installers) -> None:
    installers.lock.write_text(OWN + WITHOUT)
    assert packages.install(tmp_path / "bin" / "python", installers.lock) == ""
    assert installers.given == [("pip", OWN), ("uv", OWN + WITHOUT)]


def test_pip_installs_a_lock_without_it(tmp_path: Path, installers: Installers) -> None:
    installers.lock.write_text(WITHOUT)
    assert packages.install(tmp_path / "bin" / "python", installers.lock) == ""
    assert installers.given == [("pip", WITHOUT)]


def test_pip_does_what_uv_cannot(tmp_path: Path, installers: Installers) -> None:
    installers.lock.write_text(WITHOUT + OWN)
    installers.failing = {"uv"}
    assert packages.install(tmp_path / "bin" / "python", installers.lock) == ""
    assert installers.given[-1] == ("pip", WITHOUT + OWN)
    installers.failing = {"uv", "pip"}
    assert packages.install(tmp_path / "bin" / "python", installers.lock) == "no luck"


def test_a_failure_ends_the_set_up_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "make_venv", lambda: None)
    monkeypatch.setattr(packages, "install", lambda _python, _lock: "no luck")
    monkeypatch.setattr(bootstrap, "STAMPS", Path("/nowhere"))
    with pytest.raises(bootstrap.SetUpError, match=r"within reach\?\nno luck"):
        bootstrap.install("dev")


def test_the_lock_of_development_has_it() -> None:
    assert packages._pinned_uv((bootstrap.ROOT / "requirements" / "dev.txt").read_text()).startswith("uv==")
