"""The default port gives way to what is there; a chosen one is taken or refused with what to do."""

import errno
import os
import socket
from collections.abc import Iterator

import pytest

from launch import ports

HERE = "127.0.0.1"


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind((HERE, 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_the_next_free_port_is_taken(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "DEFAULT", taken)
    (opened,) = ports.open_sockets([HERE], None)
    with opened:
        assert taken < opened.getsockname()[1] < taken + ports.TRIED


def test_a_chosen_port_that_is_taken_is_refused(taken: int) -> None:
    with pytest.raises(ports.PortError, match=f"Port {taken} is taken.*PORT="):
        ports.open_sockets([HERE], taken)


def test_a_row_of_taken_ports_is_refused(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "DEFAULT", taken)
    monkeypatch.setattr(ports, "TRIED", 1)
    with pytest.raises(ports.PortError, match="all taken"):
        ports.open_sockets([HERE], None)


def test_all_addresses_get_the_same_port() -> None:
    sockets = ports.open_sockets([HERE, "127.0.1.1"], None)
    assert len({opened.getsockname()[1] for opened in sockets}) == 1
    for opened in sockets:
        opened.close()


def test_an_address_that_stands_for_all_covers_the_others() -> None:
    sockets = ports.open_sockets([HERE, "0.0.0.0", "127.0.1.1"], None)
    assert [opened.getsockname()[0] for opened in sockets] == ["0.0.0.0"]
    port = sockets[0].getsockname()[1]
    with sockets[0], socket.create_connection((HERE, port), timeout=5):
        pass


def test_a_port_taken_at_one_of_the_addresses_is_not_used(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "DEFAULT", taken)
    sockets = ports.open_sockets(["127.0.1.1", HERE], None)
    assert all(opened.getsockname()[1] != taken for opened in sockets)
    for opened in sockets:
        opened.close()


def test_an_address_of_another_machine_is_refused() -> None:
    assert ports.is_here(HERE)
    assert not ports.is_here("192.0.2.1")
    with pytest.raises(ports.PortError, match="BIND"):
        ports.open_sockets(["192.0.2.1"], None)


def test_a_port_of_root_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(host: str, port: int) -> socket.socket:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(ports, "_listen", refuse)
    with pytest.raises(ports.PortError, match="above 1023"):
        ports.open_sockets([HERE], 80)


def test_ipv6_is_served_too() -> None:
    if not ports.is_here("::1"):
        pytest.skip("this machine has no IPv6")
    (opened,) = ports.open_sockets(["::1"], None)
    with opened:
        assert opened.family == socket.AF_INET6


@pytest.mark.parametrize(("text", "port"), [("", None), (" ", None), ("8080", 8080), (" 1 ", 1), ("65535", 65535)])
def test_a_port_is_read(text: str, port: int | None) -> None:
    assert ports.parse(text) == port


@pytest.mark.parametrize("text", ["0", "65536", "http", "-1", "8000.5", "²"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(ports.PortError, match="PORT="):
        ports.parse(text)
