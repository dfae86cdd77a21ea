"""What one client's agent tells of a mount stands in no line that other clients are to run."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from apps.bench import lines
from apps.bench.rules.storage.common import mount_again
from apps.tuning.evidence import storage

GOOD = {"target": "/home", "source": "fs.example.org:/home", "options": "rw,vers=4.2,rsize=65536"}
EVIL = {**GOOD, "source": "evil.example.net:/pwn", "options": "rw,soft,vers=3,sec=none,nolock,rsize=32768"}


def options_of(monkeypatch: pytest.MonkeyPatch, *mounts: dict[str, Any] | None) -> Any:
    """Return the options of a file system that clients have mounted so (None: told nothing of it)."""
    nodes = [SimpleNamespace(name=f"c{number}") for number in range(len(mounts))]
    facts = {node.name: {"mounts": [mount] if mount else []} for node, mount in zip(nodes, mounts, strict=True)}
    where = {node.name: (mount or GOOD)["target"] for node, mount in zip(nodes, mounts, strict=True)}
    monkeypatch.setattr(storage.testbeds, "directories", lambda _system, _nodes: where)
    lane = SimpleNamespace(names=[node.name for node in nodes])
    return storage._options_of(SimpleNamespace(name="home"), [lane], facts)


@pytest.mark.parametrize("mounts", [(EVIL,), (EVIL, GOOD), (GOOD, EVIL), (GOOD, None), (EVIL, GOOD, GOOD)])
def test_each_client_keeps_what_it_has(mounts: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    line = mount_again(options_of(monkeypatch, *mounts), rsize=1048576)
    assert line == mount_again({"mount": "/home"}, rsize=1048576)
    assert lines.are_usual(line)


def test_where_clients_mount_it_elsewhere_the_place_is_to_be_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    line = mount_again(options_of(monkeypatch, GOOD, {**GOOD, "target": "/h"}), rsize=1048576)
    assert line.startswith("at=MOUNTPOINT\n")
    assert lines.are_usual(line)


def test_of_numbers_the_largest_counts_and_of_texts_what_all_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    options = options_of(monkeypatch, EVIL, GOOD, {**GOOD, "options": "rw,vers=4.2,rsize=1048576,nconnect=8"})
    assert options == {"rw": True, "soft": True, "sec": "none", "nolock": True, "mount": "/home"} | {
        "rsize": 1048576,
        "nconnect": 8,
    }


def test_what_the_kernel_adds_is_no_option_of_the_next_mount(tmp_path: Path) -> None:
    own = (
        "rw,relatime,vers=4.2,rsize=65536,namlen=255,hard,proto=tcp,sec=krb5p,clientaddr=::1,local_lock=none,addr=::2"
    )
    program = tmp_path / "findmnt"
    program.write_text(f"#!/bin/sh\ncase $2 in SOURCE) echo srv:/home;; OPTIONS) echo {own};; esac\n")
    for name in ("umount", "mount"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
    for path in tmp_path.iterdir():
        path.chmod(0o755)
    line = mount_again({"mount": "/home"}, nconnect=4)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    answer = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, check=True)
    own_options = "rw,relatime,vers=4.2,rsize=65536,hard,proto=tcp,sec=krb5p"
    assert answer.stdout == f"umount /home\nmount -t nfs -o {own_options},nconnect=4 srv:/home /home\n"
