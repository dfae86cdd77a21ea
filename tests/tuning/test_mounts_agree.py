"""What one client's agent tells of a mount stands in no line that other clients are to run."""

from types import SimpleNamespace
from typing import Any

import pytest

from apps.bench import lines
from apps.bench.rules.storage.common import mount_again
from apps.tuning.evidence import storage

GOOD = {"target": "/home", "source": "fs.example.org:/home", "options": "rw,vers=4.2,rsize=65536"}
EVIL = {**GOOD, "source": "evil.example.net:/pwn"}


def options_of(monkeypatch: pytest.MonkeyPatch, *mounts: dict[str, Any] | None, names: int | None = None) -> Any:
    """Return the options of a file system that clients have mounted so (None: told nothing of it)."""
    nodes = [SimpleNamespace(name=f"c{number}") for number in range(names or len(mounts))]
    facts = {node.name: {"mounts": [mount] if mount else []} for node, mount in zip(nodes, mounts, strict=False)}
    where = {node.name: (mount or GOOD)["target"] for node, mount in zip(nodes, mounts, strict=False)}
    monkeypatch.setattr(storage.testbeds, "directories", lambda _system, _nodes: where)
    lane = SimpleNamespace(names=[node.name for node in nodes])
    return storage._options_of(SimpleNamespace(name="home"), [lane], facts)


@pytest.mark.parametrize(
    "mounts", [(EVIL, GOOD), (GOOD, EVIL), (GOOD, None), (EVIL, GOOD, GOOD), (GOOD, GOOD, {**GOOD, "target": "/h"})]
)
def test_where_clients_differ_the_line_has_a_place_to_fill_in(
    mounts: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = options_of(monkeypatch, *mounts)
    line = mount_again(options, rsize=1048576)
    assert "evil" not in line
    assert options["rsize"] == 65536
    assert lines.are_usual(line)


def test_one_that_speaks_for_others_speaks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not {"source", "mount"} & options_of(monkeypatch, GOOD, names=2).keys()


def test_where_all_agree_the_line_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    line = mount_again(options_of(monkeypatch, GOOD, GOOD), rsize=1048576)
    assert line.startswith("umount /home && mount -t nfs -o ")
    assert line.endswith("fs.example.org:/home /home")
    assert lines.are_usual(line)
