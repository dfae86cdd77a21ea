"""The set-up decides by itself, does nothing twice, and says in words what it cannot do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from launch import bootstrap

IPERF = {"iperf3": "iperf3", "ping": "iputils-ping"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty project, in a path with a space, that the set-up takes for its own."""
    root = tmp_path / "a project"
    (root / "requirements").mkdir(parents=True)
    for name in ("base", "dev"):
        (root / "requirements" / f"{name}.txt").write_text("")
    monkeypatch.setattr(bootstrap, "ROOT", root)
    monkeypatch.setattr(bootstrap, "VENV", root / ".venv")
    monkeypatch.setattr(bootstrap, "PYTHON", root / ".venv" / "bin" / "python")
    monkeypatch.setattr(bootstrap, "STAMPS", root / ".venv" / "fathom-stamps")
    return root


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the list in which the set-up's commands are written down instead of being run."""
    ran: list[list[str]] = []
    monkeypatch.setattr(bootstrap, "run", lambda argv, failure, **_options: ran.append([str(word) for word in argv]))
    monkeypatch.setattr(bootstrap.packages, "install", lambda _python, lock: ran.append(["install", str(lock)]) or "")
    return ran


def as_user(monkeypatch: pytest.MonkeyPatch, euid: int, *installed: str) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: euid)
    monkeypatch.setattr(bootstrap, "is_installed", lambda name: name in installed)


def test_nothing_is_done_when_nothing_is_missing() -> None:
    assert bootstrap.plan_tools({}, is_root=True, has_apt=True) == ([], "")


def test_root_on_debian_installs_what_is_missing() -> None:
    packages, words = bootstrap.plan_tools(IPERF, is_root=True, has_apt=True)
    assert packages == ["iperf3", "iputils-ping"]
    assert words == "installing iperf3, iputils-ping"


@pytest.mark.parametrize(
    ("is_root", "has_apt", "was_tried", "who"),
    [
        (False, True, False, "ask the administrator for"),
        (False, False, False, "ask the administrator for"),
        (True, False, False, "install them with"),
        (True, True, True, "install them with"),
    ],
)
def test_others_are_told_what_is_skipped_and_what_to_do(
    is_root: bool, has_apt: bool, was_tried: bool, who: str
) -> None:
    packages, words = bootstrap.plan_tools(IPERF, is_root=is_root, has_apt=has_apt, was_tried=was_tried)
    assert packages == []
    assert "not installed: iperf3, ping; what needs them is skipped" in words
    assert f"{who}: apt-get install iperf3 iputils-ping" in words


def test_missing_programs_are_installed_without_a_question(
    project: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_user(monkeypatch, 0, "apt-get", "ping")
    bootstrap.install_programs(IPERF)
    assert commands == [
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-qq", "--no-install-recommends", "iperf3"],
    ]


def test_a_failed_installation_is_told_and_not_tried_at_each_start(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_user(monkeypatch, 0, "apt-get")
    tries = []

    def no_network(argv: list[str], failure: str, **_options: object) -> None:
        tries.append(argv)
        raise bootstrap.SetUpError("apt-get update failed.")

    monkeypatch.setattr(bootstrap, "run", no_network)
    bootstrap.install_programs(IPERF)
    assert "going on without" in capsys.readouterr().out
    bootstrap.install_programs(IPERF)
    assert len(tries) == 1
    assert "not installed: iperf3, ping" in capsys.readouterr().out


def test_an_ordinary_user_goes_on_without_the_programs(
    project: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_user(monkeypatch, 1000, "apt-get")
    bootstrap.install_programs(IPERF)
    assert commands == []
    assert "ask the administrator" in capsys.readouterr().out


def test_a_virtual_environment_is_made_from_nothing_and_kept(project: Path) -> None:
    assert not bootstrap.works()
    bootstrap.install("base")
    assert bootstrap.works()
    pointer = next(project.glob(".venv/lib/python3*/site-packages/fathom.pth"))
    assert pointer.read_text() == f"{project}\n"
    made = bootstrap.PYTHON.lstat().st_mtime_ns
    bootstrap.install("base")
    assert bootstrap.PYTHON.lstat().st_mtime_ns == made


def test_the_packages_are_installed_again_only_when_the_lock_has_changed(
    project: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".venv" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    monkeypatch.setattr(bootstrap, "works", lambda: True)
    bootstrap.install("dev")
    bootstrap.install("dev")
    # What development needs holds what the service needs.
    bootstrap.install("base")
    assert commands == [["install", str(project / "requirements" / "dev.txt")]]
    (project / "requirements" / "dev.txt").write_text("# another\n")
    bootstrap.install("dev")
    assert len(commands) == 2


def test_a_moved_project_is_found_again(
    project: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pointer = project / ".venv" / "lib" / "python3.11" / "site-packages" / "fathom.pth"
    pointer.parent.mkdir(parents=True)
    pointer.write_text("/where/it/was\n")
    monkeypatch.setattr(bootstrap, "works", lambda: True)
    bootstrap.install("base")
    assert pointer.read_text() == f"{project}\n"


@pytest.mark.parametrize(("euid", "asks_apt"), [(0, True), (1000, False)])
def test_a_python_that_can_make_no_environment_is_completed_by_root(
    project: Path, monkeypatch: pytest.MonkeyPatch, commands: list[list[str]], euid: int, asks_apt: bool
) -> None:
    as_user(monkeypatch, euid, "apt-get")
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda name: None)
    bootstrap.make_venv()
    assert (commands[0][0] == "apt-get") is asks_apt
    assert commands[-1][1:3] == ["-m", "venv"]


def test_a_command_that_fails_shows_what_it_said(project: Path) -> None:
    with pytest.raises(bootstrap.SetUpError, match=r"(?s)It failed\..*no luck"):
        bootstrap.run([sys.executable, "-c", "print('no luck'); raise SystemExit(1)"], "It failed.")


def test_a_step_that_fails_ends_the_set_up_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise bootstrap.SetUpError("no package index")

    monkeypatch.setitem(bootstrap.STEPS, "base", fail)
    assert bootstrap.main("serve") == 1
    assert "set-up: no package index" in capsys.readouterr().err


def test_an_old_python_is_told_which_to_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 9, 2))
    assert bootstrap.main("demo") == 1
    assert "make PYTHON=python3.12 demo" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("version", "enough"), [("v20.11.1\n", True), ("18.0.0", True), ("v16.20.2", False), ("", False), ("odd", False)]
)
def test_an_old_node_is_not_used(version: str, enough: bool) -> None:
    assert bootstrap.new_enough(version, 18) is enough


def test_a_program_that_is_not_there_has_no_version() -> None:
    assert bootstrap.version_of("no-such-program") == ""


def test_the_wheel_brings_npm_where_the_system_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "version_of", lambda program: "")
    monkeypatch.setattr(bootstrap, "PYTHON", Path(sys.executable))
    npm, environment = bootstrap.find_npm()
    done = subprocess.run([*npm, "--version"], env=environment, capture_output=True, text=True, check=True)
    assert bootstrap.new_enough(done.stdout, bootstrap.OLDEST_NPM)


def test_a_machine_with_no_npm_at_all_is_told_what_to_install(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "version_of", lambda program: "")
    project.joinpath(".venv/bin").mkdir(parents=True)
    bootstrap.PYTHON.symlink_to("/bin/false")
    with pytest.raises(bootstrap.SetUpError, match=r"Node\.js 18"):
        bootstrap.find_npm()


def test_the_assets_are_fetched_once(
    project: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "find_npm", lambda: (["npm"], dict(os.environ)))
    (project / "package-lock.json").write_text("{}")
    bootstrap.install_assets()
    (project / "node_modules" / "bootstrap").mkdir(parents=True)
    bootstrap.install_assets()
    assert [command[:3] for command in commands] == [["npm", "ci", "--ignore-scripts"]]


def test_translations_are_compiled_when_they_are_newer(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "PYTHON", Path(sys.executable))
    source = project / "locale" / "ko" / "LC_MESSAGES" / "django.po"
    source.parent.mkdir(parents=True)
    source.write_text(
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "Link"\nmsgstr "링크"\n'
    )
    bootstrap.compile_messages()
    compiled = source.with_suffix(".mo")
    assert "링크".encode() in compiled.read_bytes()
    made = compiled.stat().st_mtime_ns
    bootstrap.compile_messages()
    assert compiled.stat().st_mtime_ns == made


def test_every_verb_of_the_makefile_has_a_set_up() -> None:
    makefile = (Path(__file__).resolve().parents[2] / "Makefile").read_text()
    verbs = {line.split()[-1] for line in makefile.splitlines() if line.strip().startswith("@$(SETUP)")}
    assert verbs <= set(bootstrap.NEEDS)
    assert {step for steps in bootstrap.NEEDS.values() for step in steps} <= set(bootstrap.STEPS)
