"""Agents of this machine are remembered, started where they belong, and told where the service is."""

import json
from pathlib import Path

import pytest

from launch.local_agents import PROGRAM, LocalAgent, kept, namespace_is_down

NETNS = ("nsenter", "--net=/run/netns/fathom-test", "--uts=/run/fathom/test.uts", "--")


def enrolled(agents: Path, name: str, server: str = "http://127.0.0.1:8000") -> Path:
    folder = agents / name
    folder.mkdir(parents=True)
    (folder / "agent.json").write_text(json.dumps({"server": server, "token": "secret"}))
    return folder


def test_a_kept_agent_is_found_with_its_prefix(tmp_path: Path) -> None:
    LocalAgent(enrolled(tmp_path, "one"), NETNS).keep()
    enrolled(tmp_path, "somebody-elses")
    (found,) = kept(tmp_path, pytest.fail)
    assert found == LocalAgent(tmp_path / "one", NETNS)
    process = found.process()
    assert process.name == "agent-one"
    assert process.argv[:4] == NETNS
    assert process.argv[5:] == (str(tmp_path / PROGRAM), "run", "--dir", str(tmp_path / "one"))


def test_one_that_was_never_enrolled_is_not_started(tmp_path: Path) -> None:
    folder = tmp_path / "half"
    folder.mkdir()
    LocalAgent(folder).keep()
    assert kept(tmp_path, pytest.fail) == []


@pytest.mark.parametrize(
    ("server", "at"),
    [("http://10.0.0.1:8000", "http://10.0.0.1:8001"), ("http://[fd00::1]:8000", "http://[fd00::1]:8001")],
)
def test_it_is_told_the_port_and_keeps_its_token(tmp_path: Path, server: str, at: str) -> None:
    agent = LocalAgent(enrolled(tmp_path, "one", server))
    agent.call_at(8001)
    config = json.loads((agent.folder / "agent.json").read_text())
    # It is the lab's own network, which the agent would not use otherwise.
    assert config == {"server": at, "token": "secret", "insecure": True}
    assert (agent.folder / "agent.json").stat().st_mode & 0o777 == 0o600


def test_a_configuration_that_is_right_is_not_written_again(tmp_path: Path) -> None:
    agent = LocalAgent(enrolled(tmp_path, "one"))
    before = (agent.folder / "agent.json").stat().st_mtime_ns
    agent.call_at(8000)
    assert (agent.folder / "agent.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("missing", ["net", "mnt"])
def test_a_namespace_that_is_gone_is_seen(tmp_path: Path, missing: str) -> None:
    prefix = ("nsenter", f"--net={tmp_path}/net", f"--mount={tmp_path}/mnt", "--")
    for name in ("net", "mnt"):
        (tmp_path / name).touch()
    assert not namespace_is_down(prefix)
    assert not namespace_is_down(())
    (tmp_path / missing).unlink()
    assert namespace_is_down(prefix)


def test_a_nodes_own_rules_stand_beside_what_was_enrolled(tmp_path: Path) -> None:
    agent = LocalAgent(enrolled(tmp_path, "one"))
    agent.allow({"programs": {"fio": "/usr/bin/fio"}, "user": "bench"})
    config = json.loads((agent.folder / "agent.json").read_text())
    assert config == {
        "server": "http://127.0.0.1:8000",
        "token": "secret",
        "programs": {"fio": "/usr/bin/fio"},
        "user": "bench",
    }
    assert (agent.folder / "agent.json").stat().st_mode & 0o777 == 0o600
