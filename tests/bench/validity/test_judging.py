"""All rules together, on real reports of real tools."""

import dataclasses

import pytest

from apps.bench import tools, validity
from apps.bench.text import Message
from apps.bench.toolkit import Flag, is_invalid
from tests.bench.tools import recordings
from tests.bench.validity.making import GIB


def judge(slug, name, ram=None, **params):
    tool = tools.get(slug)
    output = recordings.load(slug, name)
    output = dataclasses.replace(output, facts={"memory": {"ram_bytes": ram}} if ram else {})
    cleaned = tool.clean({**tool.recover(output), **params})
    return validity.judge(tool.parse([output], cleaned), [output], cleaned, tool)


def invalid(reading, metric):
    return any(is_invalid(flag.as_json(), metric) for flag in reading.flags)


def test_reads_at_the_speed_of_memory_are_invalid_and_synchronised_writes_are_not():
    reading = judge("iozone", "ext3_slow_buffered_fsync.txt", ram=8 * GIB)
    assert invalid(reading, "read")
    assert invalid(reading, "reread")
    assert not invalid(reading, "write")
    assert not invalid(reading, "rewrite")
    assert reading.observed["client_memory"] == 8 * GIB


def test_on_a_node_of_little_memory_the_same_reads_are_only_too_short():
    reading = judge("iozone", "ext3_slow_buffered_fsync.txt", ram=GIB // 16)
    assert {flag.name for flag in reading.flags if flag.severity == "invalid"} == {"too-short"}


def test_a_page_pool_is_taken_from_the_parameters():
    reading = judge("iozone", "ext3_slow_buffered_fsync.txt", ram=GIB // 16, page_pool="1 GiB")
    assert "cached-read" in {flag.name for flag in reading.flags}


def test_buffered_writes_of_fio_are_memory():
    reading = judge("fio", "seq_write_text.txt", ram=8 * GIB)
    assert invalid(reading, "write")
    assert not invalid(judge("fio", "randrw_group2.txt", ram=8 * GIB), "write")


def test_direct_reads_of_fio_are_valid():
    assert not invalid(judge("fio", "randread_jsonplus.json", ram=8 * GIB), "read")


def test_nfs_without_a_known_client_is_not_judged_by_memory():
    assert not invalid(judge("ior", "nfs/ior_libnfs_tuned_np2.txt"), "read")


def test_network_tools_have_no_files_to_judge():
    reading = judge("ping", "ok.txt", ram=GIB, count=10)
    assert reading.flags == ()
    assert "client_memory" not in reading.observed


@pytest.mark.parametrize("slug", ["iperf3-tcp", "iperf3-udp"])
def test_a_doubt_of_the_tool_itself_is_not_repeated(slug):
    name = {"iperf3-tcp": "json_parallel.txt", "iperf3-udp": "json_udp.txt"}[slug]
    tool = tools.get(slug)
    output = recordings.load(slug, name)
    params = tool.clean(tool.recover(output))
    reading = tool.parse([output], params)
    said = Flag("not-steady", "warning", Message("said"))
    reading = dataclasses.replace(reading, flags=(*(flag for flag in reading.flags if flag.name != said.name), said))
    names = [flag.name for flag in validity.judge(reading, [output], params, tool).flags]
    assert len(names) == len(set(names))


def test_flags_may_bear_on_some_metrics_only():
    flag = Flag("x", "invalid", Message("x"), ("read",))
    assert Flag.from_json(flag.as_json()) == flag
    assert is_invalid(flag.as_json(), "read")
    assert not is_invalid(flag.as_json(), "write")
    everywhere = Flag("x", "invalid", Message("x"))
    assert "metrics" not in everywhere.as_json()
    assert is_invalid(everywhere.as_json(), "write")
    assert not is_invalid(Flag("x", "warning", Message("x")).as_json(), "write")
