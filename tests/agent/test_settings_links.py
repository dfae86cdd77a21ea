"""What the kernel changes by itself with an MTU, or with IPv6's settings, is put back or told: in a namespace."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import interfaces
from tests.test_architecture import ROOT

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ip"), reason="making a namespace needs root, iproute2"),
]
# Sets what its words say, says so, waits for a line and puts it back.
HOLDER = """
import json, pathlib, sys
from workers.agent.settings import Journals, Unrestored
journals = Journals(pathlib.Path(sys.argv[1]))
journals.open("job", json.loads(sys.argv[2]), "data")
journals.apply("job")
print("applied", flush=True)
sys.stdin.readline()
try:
    journals.restore("job")
except Unrestored as error:
    print(error)
else:
    print("restored")
"""
Inside = Callable[..., str]


@pytest.fixture
def inside() -> Iterator[Inside]:
    """Run a command in a namespace of its own, with an interface that others stand on and that has IPv6."""
    name = f"fathom-links-{os.getpid()}"

    def run(*words: str) -> str:
        command = ["ip", "netns", "exec", name, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout

    with interfaces.held():
        subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        run("ip", "link", "add", "data", "type", "veth", "peer", "name", "other")
        run("ip", "link", "add", "link", "data", "name", "stacked", "type", "macvlan")
        run("ip", "link", "add", "link", "stacked", "name", "above", "type", "macvlan")
        run("ip", "link", "set", "other", "up")
        run("ip", "link", "set", "data", "up")
        run("ip", "address", "add", "2001:db8::1/64", "dev", "data", "nodad")
        run("ip", "route", "add", "2001:db8:1::/48", "via", "2001:db8::2")
        run("ip", "link", "set", "above", "mtu", "1450")
        yield run
    finally:
        with interfaces.held():
            subprocess.run(["ip", "netns", "delete", name], check=True)


def mtus(inside: Inside) -> dict[str, int]:
    return {link["ifname"]: link["mtu"] for link in json.loads(inside("ip", "-j", "link"))}


def held(inside: Inside, folder: Path, settings: dict[str, str], meanwhile: Callable[[], None]) -> str:
    """Return what is said as settings are put back."""
    name = f"fathom-links-{os.getpid()}"
    argv = ["ip", "netns", "exec", name, sys.executable, "-c", HOLDER, str(folder / "settings"), json.dumps(settings)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "applied\n"
        meanwhile()
        words, _errors = holder.communicate("\n", timeout=60)
    return words.strip()


def test_interfaces_that_stand_on_one_have_their_mtu_back(inside: Inside, tmp_path: Path) -> None:
    before = mtus(inside)

    def look() -> None:
        lowered = {name for name, mtu in mtus(inside).items() if mtu == 1300}
        assert lowered == {"data", "stacked", "above"}
        inside("ip", "link", "set", "other", "mtu", "1300")

    assert held(inside, tmp_path, {"mtu": "1300"}, look) == "restored"
    # Somebody else's change in the meantime stays.
    assert mtus(inside) == {**before, "other": 1300}


@pytest.mark.parametrize("key", ["net.ipv6.conf.all.disable_ipv6", "net.ipv6.conf.data.disable_ipv6"])
def test_addresses_and_routes_that_are_gone_for_good_are_told(inside: Inside, tmp_path: Path, key: str) -> None:
    words = held(inside, tmp_path, {key: "1"}, lambda: None)
    assert "what was set is put back, but the kernel dropped 2001:db8::1/64 dev data; 2001:db8:1::/48 via" in words
    assert inside("cat", "/proc/sys/" + key.replace(".", "/")).strip() == "0"


def test_what_comes_back_by_itself_is_no_loss(inside: Inside, tmp_path: Path) -> None:
    for settings in ({"mtu": "1280"}, {"mtu": "2000"}, {"net.ipv6.conf.data.hop_limit": "9"}):
        assert held(inside, tmp_path, settings, lambda: None) == "restored"
    assert "2001:db8::1/64" in inside("ip", "-6", "address", "show", "dev", "data")
