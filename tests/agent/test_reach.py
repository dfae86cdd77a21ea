"""Whom a job may call, however an address is spelt and whatever a name stands for: no server widens it."""

import ipaddress
import socket
from pathlib import Path

import pytest

from tests.agent.test_policy import refusal_of
from workers.agent.policy import Reach, reach
from workers.agent.policy.reach import RefusedDestination, is_machines_own, resolve


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


# This machine's loopback, its own address and what is link-local, in the spellings that some program reads.
LOOPBACKS = words(
    "127.0.0.1 127.8.9.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.0.0.01 ::1 "
    "localhost ::ffff:127.0.0.1 ::ffff:7f00:1 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::7f00:1 "
    "2002:7f00:1:: 2001:0:7f00:1:: 0 0.0.0.0 0.1 0.0.0.1 ::"
)
LOCAL = words(
    "169.254.169.254 169.254.1.1 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 2852039166 0xa9fea9fe "
    "0251.0376.0251.0376 169.16689662 fd00:ec2::254 fe80::a9fe:a9fe"
)
MANY = ["224.0.0.1", "239.1.2.3", "ff02::1", "255.255.255.255", "240.0.0.1", "256", "999.1", "99999999999", "0x"]
OWN = "198.51.100.7"
# A flag of /proc/net/if_inet6: the address is not used yet.
TENTATIVE = 0x40
COMMANDS = ["ping -c 1 {}", "iperf3 -c {}", "netperf -H {}", "mytool x@{}"]


def answers(*addresses: str) -> dict[str, object]:
    """Return a reach's answers of a name server, and its knowledge of its own address."""
    return {"resolve": lambda _name: list(addresses), "is_own": lambda address: str(address) == OWN}


@pytest.mark.parametrize("host", [*LOOPBACKS, *LOCAL, *MANY])
def test_the_servers_word_is_not_enough_for_any_spelling(tmp_path: Path, host: str) -> None:
    reach = Reach((), frozenset({host}), **answers("127.0.0.1" if host == "localhost" else host))
    for text in (host, f"[{host}]:80" if ":" in host else f"{host}:80"):
        with pytest.raises(RefusedDestination):
            reach.check(text)
    for line in COMMANDS[:3]:
        assert refusal_of(tmp_path, line.format(host), reach), line


@pytest.mark.parametrize("address", [*LOOPBACKS, *LOCAL, *MANY, OWN])
def test_no_name_stands_for_what_may_not_be_called(tmp_path: Path, address: str) -> None:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return
    for found in ([address], ["192.0.2.1", address], [address, "2001:db8::1"]):
        reach = Reach((), frozenset({"metadata.internal"}), **answers(*found))
        for line in COMMANDS[:3]:
            assert refusal_of(tmp_path, line.format("metadata.internal"), reach).startswith("destination"), found


def test_a_name_of_the_inventory_stands_for_other_nodes(tmp_path: Path) -> None:
    known = frozenset({"dtn.example.org"})
    for line in COMMANDS:
        line = line.format("dtn.example.org")
        assert refusal_of(tmp_path, line, Reach((), known, **answers("192.0.2.1", "2001:db8::1"))) == ""
        assert refusal_of(tmp_path, line, Reach((), known, **answers())).startswith("destination-not-allowed")
        assert refusal_of(tmp_path, line, Reach((), frozenset(), **answers("192.0.2.1"))).startswith("destination")


def test_a_measurement_calls_its_own_node_by_the_owners_word_alone(tmp_path: Path) -> None:
    reach = Reach((), frozenset({OWN}), **answers())
    for line in COMMANDS[:3]:
        assert refusal_of(tmp_path, line.format(OWN), reach).startswith("destination-not-allowed")
        assert refusal_of(tmp_path, line.format(OWN), Reach((f"{OWN}/32",), **answers())) == ""
    # Ranks and transfers on the node itself are no calls.
    run = "mpirun --hostfile {work}/hosts -np 1 {program:osu_bw}"
    assert refusal_of(tmp_path, run, reach, files={"hosts": OWN}) == ""
    assert refusal_of(tmp_path, "netserver -D -Z s", reach, environment=[("GLOBUS_HOSTNAME", OWN)]) == ""
    assert refusal_of(tmp_path, "mytool --bind=198.51.100.7", reach) == ""


def test_a_rank_starts_on_its_own_node_though_its_name_is_loopback(tmp_path: Path) -> None:
    name = socket.gethostname()
    run = "mpirun --hostfile {work}/hosts -np 1 {program:osu_bw}"
    reach = Reach((), frozenset({name}), **answers("127.0.1.1"))
    assert refusal_of(tmp_path, run, reach, files={"hosts": name}) == ""
    assert refusal_of(tmp_path, run, Reach((), frozenset(), **answers("127.0.1.1")), files={"hosts": name})


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "169.254.169.254", "64:ff9b::a9fe:a9fe", "localhost", "metadata.internal"]
)
def test_the_owners_word_is_enough(host: str) -> None:
    Reach((host,), **answers()).check(host, is_called=True)


def test_a_machine_that_bears_the_service_may_call_itself_and_no_metadata() -> None:
    reach = Reach((), frozenset({OWN, "n1", "169.254.169.254"}), is_local=True, **answers("127.0.0.1"))
    for host in ("127.0.0.1", "localhost", OWN, "n1"):
        reach.check(host, is_called=True)
    for host in ("127.1", "2130706433", "169.254.169.254", "0.0.0.0"):
        with pytest.raises(RefusedDestination):
            reach.check(host, is_called=True)


def own_addresses() -> list[ipaddress.IPv6Address]:
    """Return all that the kernel lists of IPv6, of every interface, but those that it still tries."""
    lines = [line.split() for line in Path("/proc/net/if_inet6").read_text().splitlines()]
    return [ipaddress.IPv6Address(bytes.fromhex(line[0])) for line in lines if not int(line[4], 16) & TENTATIVE]


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="the kernel has no IPv6")
def test_a_machine_knows_each_address_of_each_interface() -> None:
    assert [address for address in own_addresses() if not is_machines_own(address)] == []


def test_a_link_local_address_is_asked_of_each_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    scopes: list[int] = []
    monkeypatch.setattr(reach.socket, "if_nameindex", lambda: [(1, "lo"), (7, "eth0")])
    monkeypatch.setattr(reach, "_leads_back", lambda _address, scope: bool(scopes.append(scope)) or scope == 7)
    assert is_machines_own(ipaddress.ip_address("fe80::2"))
    assert scopes == [1, 7]


def test_a_machine_knows_which_addresses_are_its_own() -> None:
    assert is_machines_own(ipaddress.ip_address("127.0.0.1"))
    assert not is_machines_own(ipaddress.ip_address("192.0.2.1"))
    assert not is_machines_own(ipaddress.ip_address("2001:db8::1"))
    assert "127.0.0.1" in resolve("localhost")
    assert resolve("nobody.invalid") == []
