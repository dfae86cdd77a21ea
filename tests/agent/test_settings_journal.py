"""The journal of settings: written before anything is touched, and right about what to put back after a crash."""

import errno
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.live import wait_for
from workers.agent.refusals import CannotStart
from workers.agent.settings import Journals, Restoration, Unrestored, journal, kernel, restoration
from workers.agent.settings.kernel import SettingError
from workers.agent.settings.requests import prepare


class Kernel:
    """Settings in memory; `log` holds what was written, and whether the journal knew of it by then."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.values = {"net.a": "1", "net.b": "2", "vm.dirty_ratio": "20", "vm.dirty_bytes": "0"}
        self.mtus: dict[str, int] = {}
        self.ipv6: list[str] = []
        self.refuses: set[str] = set()
        self.log: list[tuple[str, str]] = []
        self.on_write: Callable[[str], None] = lambda key: None

    def read(self, key: str, interface: str) -> str:
        if key not in self.values:
            raise SettingError(f"{key}: missing")
        return self.values[key]

    def write(self, key: str, value: str, interface: str) -> None:
        self.on_write(key)
        if value in self.refuses:
            raise SettingError(f"{key}: refused")
        self.log.append((key, value))
        self.values[key] = value
        if key in kernel.TWINS:
            self.values[kernel.TWINS[key]] = "0"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    made = Kernel(tmp_path / "settings")
    monkeypatch.setattr(kernel, "read", made.read)
    monkeypatch.setattr(kernel, "write", made.write)
    monkeypatch.setattr(kernel, "mtus", lambda: made.mtus)
    monkeypatch.setattr(kernel, "lasting_ipv6", lambda: made.ipv6)
    monkeypatch.setattr(journal, "_boot", lambda: "this")
    return made


def refuse(*_words: object, **_options: object) -> None:
    raise OSError(errno.EROFS, "Read-only file system")


def opened(machine: Kernel, **wanted: str) -> Journals:
    journals = Journals(machine.folder)
    journals.open("job", {key.replace("__", "."): value for key, value in wanted.items()}, "data")
    return journals


def rebooted(machine: Kernel) -> None:
    path = machine.folder / "job.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "boot": "another"}))


def test_all_is_in_the_journal_before_the_first_is_touched(machine: Kernel) -> None:
    journals = opened(machine, net__a="9", net__b="8")
    seen: list[dict[str, str]] = []
    machine.on_write = lambda key: seen.append(json.loads((machine.folder / "job.json").read_text())["earlier"])
    assert journals.apply("job")["net.a"] == {"earlier": "1", "applied": "9"}
    assert seen[0] == {"net.a": "1", "net.b": "2"}
    machine.on_write = lambda key: None
    journals.restore("job")
    assert (machine.values["net.a"], machine.values["net.b"]) == ("1", "2")
    assert machine.log[-2:] == [("net.b", "2"), ("net.a", "1")]
    assert journals.jobs() == []
    journals.restore("job")


def test_one_that_fails_puts_the_others_back(machine: Kernel) -> None:
    journals = opened(machine, net__a="9", net__b="bad")
    machine.refuses = {"bad"}
    with pytest.raises(SettingError):
        journals.apply("job")
    assert machine.values["net.a"] == "1"
    assert journals.jobs() == []


def test_a_value_that_the_kernel_changed_is_refused(machine: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    journals = opened(machine, net__a="9")
    rounded = machine.write
    monkeypatch.setattr(
        kernel, "write", lambda key, value, interface: rounded(key, {"9": "8"}.get(value, value), interface)
    )
    with pytest.raises(SettingError, match="the kernel made 8 of 9"):
        journals.apply("job")
    assert machine.values["net.a"] == "1"


def test_a_crash_before_anything_was_set_leaves_nothing_to_do(machine: Kernel) -> None:
    journals = opened(machine, net__a="9")
    Restoration(journals).restore_all()
    assert (machine.log, journals.jobs()) == ([], [])


def test_after_a_reboot_only_what_is_still_ours_is_put_back(machine: Kernel) -> None:
    journals = opened(machine, net__a="9", net__b="8")
    journals.apply("job")
    rebooted(machine)
    machine.values |= {"net.a": "7"}
    Restoration(journals).restore_all()
    assert (machine.values["net.a"], machine.values["net.b"]) == ("7", "2")
    assert journals.jobs() == []


def test_after_a_reboot_what_is_not_there_any_more_is_nobodys(machine: Kernel) -> None:
    journals = opened(machine, net__a="9", net__b="8")
    journals.apply("job")
    rebooted(machine)
    del machine.values["net.a"]
    assert Restoration(journals).restore("job") == ""
    assert (machine.values["net.b"], journals.jobs()) == ("2", [])


def test_of_two_ways_to_say_one_thing_the_one_in_use_is_put_back(machine: Kernel) -> None:
    machine.values |= {"vm.dirty_ratio": "0", "vm.dirty_bytes": "123456"}
    journals = opened(machine, vm__dirty_ratio="40")
    journals.apply("job")
    assert machine.values["vm.dirty_bytes"] == "0"
    journals.restore("job")
    assert (machine.values["vm.dirty_bytes"], machine.values["vm.dirty_ratio"]) == ("123456", "0")


def test_what_cannot_be_put_back_is_kept_and_tried_again(machine: Kernel) -> None:
    journals = opened(machine, net__a="9", net__b="8")
    journals.apply("job")
    machine.refuses = {"1"}
    with pytest.raises(Unrestored, match=r"net\.a"):
        journals.restore("job")
    assert machine.values["net.b"] == "2"
    assert journals.jobs() == ["job"]
    with pytest.raises(SettingError, match="already"):
        journals.open("other", {"net.a": "3"}, "")
    machine.refuses = set()
    Restoration(journals).restore_all()
    assert (machine.values["net.a"], journals.jobs()) == ("1", [])


def restoring() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == restoration.THREAD]


def test_whatever_cannot_be_put_back_is_a_trouble_until_it_is(
    machine: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoration, "FIRST_WAIT_S", 0.05)
    monkeypatch.setattr(restoration, "MOST_WAIT_S", 0.05)
    journals = opened(machine, net__a="9", vm__dirty_ratio="40")
    journals.apply("job")
    journals.open("other", {"net.b": "8"}, "data")
    journals.apply("other")
    whole = Restoration(journals)
    assert whole.trouble() is None
    machine.refuses = {"1", "2", "20"}
    assert "net.a was 1 before (net.a: refused)" in whole.restore("job")
    assert whole.restore("other") == "net.b was 2 before (net.b: refused)"
    code, words = whole.trouble() or ("", "")
    assert code == restoration.TROUBLE
    assert all(key in words for key in ("net.a was 1", "net.b was 2", "vm.dirty_ratio was 20"))
    machine.refuses = {"2"}
    wait_for(lambda: whole.trouble() == (restoration.TROUBLE, "net.b was 2 before (net.b: refused)"))
    assert (machine.values["net.a"], len(restoring())) == ("1", 1)
    machine.refuses = set()
    wait_for(lambda: whole.trouble() is None and not restoring())
    assert (machine.values["net.b"], journals.jobs()) == ("2", [])
    # What the disk of the journals refuses is such a trouble, too.
    journals.open("job", {"net.a": "9"}, "data")
    journals.apply("job")
    with monkeypatch.context() as broken:
        broken.setattr(Path, "unlink", refuse)
        assert "Read-only file system" in whole.restore("job")
        assert whole.trouble()
    wait_for(lambda: whole.trouble() is None and not journals.jobs() and not restoring())


def test_what_the_kernel_dropped_for_good_is_no_trouble(machine: Kernel) -> None:
    machine.values["net.ipv6.a"], machine.ipv6 = "0", ["2001:db8::1/64 dev data"]
    journals = opened(machine, net__ipv6__a="1")
    journals.apply("job")
    machine.ipv6 = []
    whole = Restoration(journals)
    assert "the kernel dropped 2001:db8::1/64" in whole.restore("job")
    assert (whole.trouble(), restoring()) == (None, [])


def test_what_the_kernel_dropped_for_good_is_said_once_instead_of_restored(machine: Kernel) -> None:
    machine.values["net.ipv6.a"] = "0"
    machine.ipv6 = ["2001:db8::1/64 dev data", "2001:db8:1::/48 via 2001:db8::2 dev data"]
    for lost in range(3):
        journals = opened(machine, net__ipv6__a="1")
        journals.apply("job")
        before, machine.ipv6 = machine.ipv6, machine.ipv6[lost:]
        if lost:
            with pytest.raises(Unrestored, match="put back, but the kernel dropped 2001:db8"):
                journals.restore("job")
        else:
            journals.restore("job")
        assert (machine.values["net.ipv6.a"], journals.jobs()) == ("0", [])
        machine.ipv6 = before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"wanted": {}}', "\0"])
def test_a_damaged_journal_holds_nothing_to_put_back(machine: Kernel, text: str) -> None:
    machine.folder.mkdir()
    (machine.folder / "job.json").write_text(text)
    journals = Journals(machine.folder)
    Restoration(journals).restore_all()
    assert (machine.log, journals.jobs()) == ([], [])


def test_keys_and_values_are_plain_words() -> None:
    for key in ("mtu", "qdisc", "net.ipv4.tcp_rmem", "vm.dirty_ratio"):
        assert kernel.is_known(key)
    for key in ("kernel.hostname", "net", "net..x", "net/ipv4", "net.ipv4.conf.eth0/1.x", "../net.x", "net.x\n", ""):
        assert not kernel.is_known(key)
    for value in ("4096 65536 777777", "tbf rate 1gbit burst 64kb", "1", "-1"):
        assert kernel.is_value(value)
    for value in ("", " 1", "a;b", "$(x)", "a\nb", "x" * 201, "a  b"):
        assert not kernel.is_value(value)


def test_what_others_set_meanwhile_is_told(machine: Kernel) -> None:
    journals = opened(machine, net__a="9", net__b="8")
    applied = journals.apply("job")
    assert journals.drifts("job", applied) == {}
    machine.values["net.a"] = "4"
    assert journals.drifts("job", applied) == {"net.a": "4"}
    del machine.values["net.b"]
    assert journals.drifts("job", applied) == {"net.a": "4", "net.b": "?"}


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EMFILE])
def test_a_journal_that_the_disk_does_not_take_is_the_nodes_own_trouble(
    machine: Kernel, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    job = {"id": "job", "argv": ["fathom-settings", "s.json"], "files": [("s.json", '{"settings": {"net.a": "9"}}')]}
    monkeypatch.setattr(kernel, "is_known", lambda _key: True)

    def fail(*_words: object) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(journal.os, "open", fail)
    with pytest.raises(CannotStart) as raised:
        prepare(job, ["net.*"], Restoration(Journals(machine.folder)))
    assert raised.value.fault == "node-trouble"
