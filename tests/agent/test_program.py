"""The agent program as a file, its processes and the users they run as."""

import ast
import dataclasses
import os
import tempfile
from pathlib import Path

import pytest
from django.conf import settings

from apps.agents import program
from workers.agent import config, identity, jobs, kin, process


def test_it_is_written_for_python_3_9() -> None:
    for path in Path(settings.AGENT_SOURCE).rglob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 9))


def test_the_same_sources_make_the_same_bytes() -> None:
    source = Path(settings.AGENT_SOURCE)
    assert program.build(source) == program.build(source)


def test_a_pattern_is_found_across_chunks_and_lines() -> None:
    stream = process.Stream(10)
    stream.look_for(jobs._compile("^ready: \\d+$"))
    assert not stream.take(b"not ready: 5\nrea")
    assert not stream.take(b"dy: ")
    assert stream.take(b"77\nmore")
    assert (bytes(stream.head), stream.total, stream.is_cut) == (b"not ready:", 27, True)


def test_the_birth_of_a_process_tells_it_from_another_of_its_number() -> None:
    born = kin.birth_of(os.getpid())
    assert born is not None
    assert born.isdecimal()
    assert kin.birth_of(2**22 + 5) is None


def test_a_user_without_a_name_runs_jobs_as_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    assert identity.find_identity("nobody").name == "54321"


def test_the_allow_list_is_searched_in_further_folders(tmp_path: Path) -> None:
    tool = tmp_path / "iperf3"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    settings = config.Config("http://x", "t", search=[str(tmp_path)], programs={"ping": None, "own": str(tool)})
    allowed = settings.allowed()
    assert allowed["iperf3"] == allowed["own"] == str(tool)
    assert "ping" not in allowed
    assert settings.find("traceroute6-of-nowhere") is None


ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def carry_out(who: identity.Identity, *argv: str, home: Path) -> process.Process:
    """Return a process that has ended, of an identity, in a folder."""
    done = process.Process(list(argv), f"/bin/{argv[0]}", home, who, 10_000)
    done.attend(10, None)
    done.wait()
    return done


@ROOT_ONLY
@pytest.mark.parametrize("with_setpriv", [True, False])
def test_jobs_run_as_the_user_whether_or_not_there_is_setpriv(home: Path, with_setpriv: bool) -> None:
    who = identity.find_identity("nobody")
    assert who.becoming, "setpriv is part of util-linux"
    if not with_setpriv:
        who = dataclasses.replace(who, becoming=())
    script = "id -u; id -G; grep -e ^NoNewPrivs -e ^SigBlk /proc/self/status"
    done = carry_out(who, "sh", "-c", script, home=home)
    lines = bytes(done.stdout.head).decode().split()
    assert lines[:2] == ["65534", "65534"]
    assert lines[lines.index("NoNewPrivs:") + 1] == "0", "ping needs its capabilities"
    assert int(lines[lines.index("SigBlk:") + 1], 16) == 0
    assert (done.exit_code, done.failure_to_start) == (0, "")


def test_a_program_that_says_it_was_not_started_is_believed_only_if_it_was_not(home: Path) -> None:
    who = identity.find_identity("nobody")
    done = carry_out(who, "sh", "-c", "echo setpriv: failed to execute >&2; exit 3", home=home)
    assert (done.exit_code, done.failure_to_start) == (3, "")


def test_without_a_setpriv_that_can_jobs_are_forked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(identity, "USUAL_FOLDERS", (str(tmp_path),))
    assert identity.find_identity("nobody").becoming == ()
    old = tmp_path / "setpriv"
    old.write_text("#!/bin/sh\necho unknown option >&2; exit 1\n")
    old.chmod(0o755)
    assert identity.find_identity("nobody").becoming == ()
    old.write_text("#!/nowhere\n")
    assert identity.find_identity("nobody").becoming == ()


@ROOT_ONLY
def test_a_work_folder_that_someone_else_laid_out_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    who = identity.find_identity("nobody")
    hidden = home / "hidden"
    hidden.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    place = identity.work_root(hidden, who)
    assert place.parent == home
    assert identity.work_root(hidden, who) == place
    os.chown(place, 65534, 65534)
    with pytest.raises(config.ConfigError, match="belongs to someone else"):
        identity.work_root(hidden, who)
    os.chown(place, 0, 0)
    place.rename(home / "moved")
    place.symlink_to(home / "moved")
    with pytest.raises(config.ConfigError, match="belongs to someone else"):
        identity.work_root(hidden, who)
