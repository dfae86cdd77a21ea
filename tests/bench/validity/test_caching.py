"""Whether a file system was measured, or the memory before it."""

import pytest

from apps.bench.validity import caches
from tests.bench.validity.making import GIB, output, reading, told

ALL = (
    "write",
    "rewrite",
    "read",
    "reread",
    "random_read",
    "random_write",
    "backward_read",
    "strided_read",
    "fairness",
)


def read_flags(found, memory=GIB, page_pool=0):
    return caches.read_flags(found, memory, page_pool)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (GIB // 2, {"cached-read": "invalid"}),
        (GIB, {"cached-read": "invalid"}),
        (GIB + 1, {"cached-read": "warning"}),
        (2 * GIB - 1, {"cached-read": "warning"}),
        (2 * GIB, {}),
        (4 * GIB, {}),
    ],
)
def test_reads_of_files_under_twice_the_memory_are_doubted(size, expected):
    assert told(read_flags(reading("read", working_set=size))) == expected


def test_only_reads_are_doubted_and_the_sizes_are_told():
    (flag,) = read_flags(reading(*ALL, working_set=GIB // 2))
    assert set(flag.metrics) == {"read", "reread", "random_read", "backward_read", "strided_read"}
    assert "512 MiB" in str(flag.message)
    assert "1 GiB" in str(flag.message)


def test_figures_of_reads_and_writes_together_are_doubted_with_the_reads():
    (flag,) = read_flags(reading("rate", "read", "write", "read_latency_p99", working_set=1))
    assert flag.metrics == ("rate", "read", "read_latency_p99")
    assert read_flags(reading("rate", "write", working_set=1)) == []


@pytest.mark.parametrize("metric", ["fread", "refread", "pread", "read_transfer", "read_iops", "read_best"])
def test_every_way_of_reading_counts(metric):
    assert told(read_flags(reading(metric, working_set=1))) == {"cached-read": "invalid"}


@pytest.mark.parametrize("metric", ["write", "fwrite", "threads", "spread", "already"])
def test_what_is_no_reading_does_not(metric):
    assert read_flags(reading(metric, working_set=1)) == []


def test_direct_io_goes_past_the_memory():
    assert read_flags(reading("read", working_set=1, direct_io=True)) == []
    assert read_flags(reading("read", working_set=1, direct_io=False)) != []


def test_what_was_read_past_an_empty_cache_is_not_doubted():
    (flag,) = read_flags(reading(*ALL, working_set=1, uncached=["read", "random_read"]))
    assert set(flag.metrics) == {"reread", "backward_read", "strided_read"}
    assert read_flags(reading("rate", "read", working_set=1, uncached=["rate", "read"])) == []


def test_a_page_pool_larger_than_the_memory_counts():
    assert read_flags(reading("read", working_set=2 * GIB), page_pool=GIB) == []
    assert told(read_flags(reading("read", working_set=2 * GIB), page_pool=2 * GIB)) == {"cached-read": "invalid"}
    assert told(read_flags(reading("read", working_set=GIB), memory=None, page_pool=GIB)) == {
        "cached-read": "invalid"
    }


def test_memory_that_is_not_known_is_told():
    assert told(read_flags(reading("read", working_set=1), memory=None)) == {"memory-unknown": "info"}
    assert read_flags(reading("read"), memory=None) == []


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (GIB, {"cached-write": "invalid"}),
        (GIB + 1, {"cached-write": "warning"}),
        (2 * GIB - 1, {"cached-write": "warning"}),
        (2 * GIB, {}),
    ],
)
def test_writes_that_were_not_timed_to_their_end_are_doubted(size, expected):
    found = caches.write_flags(reading("write", "read", working_set=size, synced=False), GIB)
    assert told(found) == expected
    assert all(flag.metrics == ("write",) for flag in found)


@pytest.mark.parametrize("how", [{"synced": True}, {"synced": False, "direct_io": True}, {}])
def test_writes_to_the_disk_itself_are_not_doubted(how):
    assert caches.write_flags(reading("write", working_set=1, **how), GIB) == []


def test_writes_on_a_node_of_unknown_memory_are_not_doubted():
    assert caches.write_flags(reading("write", working_set=1, synced=False), None) == []


def test_direct_io_that_was_not_used_is_invalid():
    assert told(caches.direct_flags(reading("read", direct_io=False), {"direct": True})) == {
        "direct-io-not-used": "invalid"
    }
    assert caches.direct_flags(reading("read", direct_io=True), {"direct": True}) == []
    assert caches.direct_flags(reading("read", direct_io=False), {"direct": False}) == []
    assert caches.direct_flags(reading("read"), {"direct": True}) == []


def test_the_largest_memory_of_the_nodes_counts():
    assert caches.memory_of([output(ram=1), output(ram=3), output()]) == 3
    assert caches.memory_of([output()]) is None


@pytest.mark.parametrize("facts", [{"memory": None}, {"memory": {"ram_bytes": "4"}}, {"memory": {"ram_bytes": 0}}])
def test_odd_facts_tell_no_memory(facts):
    made = output()
    object.__setattr__(made, "facts", facts)
    assert caches.memory_of([made]) is None


@pytest.mark.parametrize("size", [GIB // 4, GIB, 2 * GIB - 1])
@pytest.mark.parametrize("clients_own", [{}, {"direct_io": True}, {"uncached": ["read"]}])
def test_what_was_just_written_may_be_read_from_the_servers_memory(size, clients_own):
    found = reading("write", "read", "read_iops", working_set=size, **clients_own)
    (flag,) = caches.server_flags(found, GIB)
    assert (flag.name, flag.severity, set(flag.metrics)) == ("cached-by-server", "warning", {"read", "read_iops"})
    assert caches.server_flags(found, None) == []


def test_larger_files_older_files_and_writes_are_not_the_servers_memorys():
    assert caches.server_flags(reading("write", "read", working_set=2 * GIB), GIB) == []
    assert caches.server_flags(reading("read", working_set=1), GIB) == []
    assert caches.server_flags(reading("write", working_set=1), GIB) == []
    assert told(caches.server_flags(reading("read", working_set=1, just_written=True), GIB)) == {
        "cached-by-server": "warning"
    }


def test_the_files_of_all_clients_are_in_the_servers_memory():
    four = [{"node": name} for name in "abcd"]
    assert caches.server_flags(reading("write", "read", working_set=GIB // 2, clients=four), GIB) == []
    assert caches.server_flags(reading("write", "read", working_set=GIB // 4, clients=four), GIB) != []
