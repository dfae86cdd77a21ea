"""fio: readings and reasons of recorded reports, in all of its forms."""

import dataclasses
import json

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, Output, ParameterError, ToolFailure
from tests.bench.tools import recordings

TOOL = tools.get("fio")
NODES = {"client": [NodeRef(name, "192.0.2.1", "/mnt/fs") for name in ("one", "two")]}


def load(name):
    return recordings.load("fio", name)


def read(name):
    output = load(name)
    return TOOL.parse([output], TOOL.clean(TOOL.recover(output)))


def fail(output, **params):
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([output], TOOL.clean(params or TOOL.recover(output)))
    return caught.value


def changed(name, change):
    """Return a recording whose report `change` has altered."""
    output = load(name)
    start = output.stdout.index(b"{")
    report = json.loads(output.stdout[start:])
    change(report)
    return dataclasses.replace(output, stdout=output.stdout[:start] + json.dumps(report).encode())


def samples(reading):
    return {sample.metric: sample.value for sample in reading.samples}


def flags(reading):
    return {flag.name: flag for flag in reading.flags}


def test_json_gives_bytes_operations_and_nanoseconds():
    reading = read("randread_jsonplus.json")
    assert samples(reading) == pytest.approx(
        {
            "rate": 208336399,
            "read": 208336399,
            "read_iops": 50863.378874,
            "read_latency": 313.7534e-6,
            "read_latency_p99": 716.8e-6,
            "read_latency_max": 14.221e-3,
        },
        rel=1e-3,
    )
    assert reading.tool_version == "3.33"
    assert reading.requested["depth"] == 8
    assert reading.observed["measured_s"]["read"] == 3.001


def test_a_mixed_load_has_both_and_their_sum():
    figures = samples(read("randrw_group2.txt"))
    assert figures["rate"] == figures["read"] + figures["write"]
    assert figures["read_iops"] / figures["write_iops"] == pytest.approx(7 / 3, rel=0.05)
    assert TOOL.recover(load("randrw_group2.txt")) == {
        "pattern": "randrw",
        "read_share": 70,
        "block_size": 65536,
        "file_size": 32 * 1024**2,
        "direct": True,
        "engine": "libaio",
        "depth": 4,
        "jobs": 2,
        "duration": 2.0,
        "ramp": 1.0,
        "sync_every": 0,
        "verify": "",
    }


def test_jobs_that_are_reported_apart_are_taken_over_the_time_of_the_longest():
    document = json.loads(load("two_jobs_apart.txt").stdout)
    jobs = [job["read"] for job in document["jobs"]]
    assert len(jobs) == 2
    rate = sum(job["io_bytes"] for job in jobs) / max(job["runtime"] for job in jobs) * 1000
    assert samples(read("two_jobs_apart.txt"))["read"] == pytest.approx(rate)
    assert rate < 0.9 * sum(job["bw_bytes"] for job in jobs)


def test_the_report_for_people_is_read():
    figures = samples(read("seq_write_text.txt"))
    assert figures["write"] == pytest.approx(256 * 1024**2 / 0.565)
    assert figures["write_iops"] == 453
    assert figures["write_latency"] == pytest.approx(1767.42e-6)
    assert figures["write_latency_p99"] == pytest.approx(4883e-6)
    mixed = samples(read("text_randrw.txt"))
    assert mixed["read"] == pytest.approx(7968 * 1024 / 0.218)
    assert mixed["write"] == pytest.approx(8416 * 1024 / 0.218)
    assert mixed["read_latency_max"] == pytest.approx(2908e-6)


@pytest.mark.parametrize(
    ("name", "metric", "kib", "iops", "p99_us"),
    [
        ("terse_v3_read.txt", "read", 74472, 18618, 65),
        ("terse_v4_read.txt", "read", 92564, 23141, 60),
        ("terse_v5.txt", "write", 3640888, 3555, 224),
    ],
)
def test_terse_lines_are_read_in_each_version(name, metric, kib, iops, p99_us):
    figures = samples(read(name))
    assert figures[metric] == kib * 1024
    assert figures[f"{metric}_iops"] == iops
    assert figures[f"{metric}_latency_p99"] == pytest.approx(p99_us * 1e-6)
    assert ("write" if metric == "read" else "read") not in figures


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_diskfull.json.txt", "no-space", "No space left on device"),
        ("err_perm.json.txt", "permission", "Permission denied"),
        ("err_verify.txt", "damaged-data", "verify failed at file /mnt/bench/x offset 65536"),
        ("err_direct_unaligned.txt", "no-direct-io", "Invalid argument"),
        ("err_engine.txt", "bad-parameter", "nosuch"),
        ("err_badopt.txt", "unknown-option", "--frob"),
        ("stopped.txt", "stopped", "terminating on signal 15"),
    ],
)
def test_errors_have_reasons(name, code, words):
    failure = fail(load(name))
    assert failure.code == code
    assert words in str(failure.message)


def test_a_folder_that_fio_created_is_a_result_of_unknown_place():
    assert "mount-unseen" in flags(read("err_enoent.json.txt"))


def test_a_rate_that_is_not_its_bytes_over_its_time_is_refused():
    def double(report):
        report["jobs"][0]["read"]["bw_bytes"] *= 2

    output = load("randread_jsonplus.json")
    report = json.loads(output.stdout)
    double(report)
    failure = fail(dataclasses.replace(output, stdout=json.dumps(report).encode()), pattern="randread")
    assert failure.code == "unreadable"
    assert "contradicts" in str(failure.message)


def test_a_report_in_which_nothing_was_moved_is_no_result():
    def empty(report):
        for way in ("read", "write"):
            report["jobs"][0][way] |= {"io_bytes": 0, "bw_bytes": 0, "runtime": 0, "total_ios": 0, "iops": 0}

    assert fail(changed("err_enoent.json.txt", empty)).code == "no-result"


def test_messages_before_the_report_do_no_harm():
    output = load("err_enoent.json.txt")
    chatty = dataclasses.replace(output, stdout=b"fio: this {is} a warning\n" + output.stdout)
    assert samples(TOOL.parse([chatty], TOOL.clean(TOOL.recover(chatty)))) == samples(read("err_enoent.json.txt"))


def test_what_was_verified_is_not_a_result_of_reading():
    reading = read("verify_ok.txt")
    assert "read" not in samples(reading)
    assert samples(reading)["rate"] == samples(reading)["write"]
    assert flags(reading)["verified"].severity == "info"


def test_a_verification_of_a_part_is_told():
    def halve(report):
        report["jobs"][0]["read"]["io_bytes"] //= 2
        report["jobs"][0]["read"]["bw_bytes"] //= 2

    output = changed("verify_ok.txt", halve)
    reading = TOOL.parse([output], TOOL.clean(TOOL.recover(output)))
    assert flags(reading)["verified-partly"].severity == "warning"


def check_of(node, free=10**12):
    text = f"Filesystem Type 1B-blocks Avail Mounted on\nserver:/vol fuse.x {10**13} {free} /mnt/fs\n"
    return Output("client", "check", node, ("df", "--", "/mnt/fs"), text.encode(), b"", 0)


def ours(stage, node, name, **changes):
    return dataclasses.replace(load(name), stage=stage, node=node, **changes)


def test_clients_add_up_and_their_logs_become_one_series():
    params = TOOL.clean({"pattern": "randrw", "jobs": 2, "duration": 2, "ramp": 1, "file_size": "32M"})
    log = b"500, 100, 0, 65536, 0\n500, 50, 1, 65536, 0\n1000, 200, 0, 65536, 0\n"
    short = b"500, 10, 0, 65536, 0\n"
    logs = {"fio_bw.1.log": log, "fio_bw.2.log": log}
    outputs = [check_of("one"), check_of("two")]
    outputs.append(ours("measure", "one", "randrw_group2.txt", collected=logs, started_at=10.0, ended_at=13.0))
    outputs.append(ours("measure", "two", "randrw_group2.txt", collected=logs, started_at=10.01, ended_at=13.0))
    reading = TOOL.parse(outputs, params)
    single = samples(read("randrw_group2.txt"))
    figures = samples(reading)
    assert figures["rate"] == pytest.approx(2 * single["rate"])
    assert figures["read_iops"] == pytest.approx(2 * single["read_iops"])
    assert figures["read_latency"] == pytest.approx(single["read_latency"])
    assert figures["fairness"] == 1.0
    series = {item.metric: item for item in reading.series}
    assert series["rate"].times == (0.5, 1.0)
    assert series["rate"].values == (4 * 150 * 1024, 4 * 200 * 1024)
    assert series["read"].values == (4 * 100 * 1024, 4 * 200 * 1024)
    outputs[3] = dataclasses.replace(outputs[3], collected={**logs, "fio_bw.2.log": short})
    assert {item.metric: item.times for item in TOOL.parse(outputs, params).series}["rate"] == (0.5,)


def test_a_preparation_that_failed_is_the_reason():
    params = TOOL.clean({"pattern": "read", "file_size": "64M"})
    outputs = [check_of("one", free=10**6), ours("prepare", "one", "err_diskfull.json.txt")]
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse(outputs, params)
    assert caught.value.code == "no-space"
    assert "1000000" in str(caught.value.message)


def test_a_direction_that_is_missing_is_no_result():
    params = TOOL.clean({"pattern": "write", "file_size": "256M"})
    outputs = [check_of("one"), ours("measure", "one", "two_jobs_apart.txt")]
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse(outputs, params)
    assert "write" in str(caught.value.message)


def plan(**params):
    return TOOL.plan(TOOL.clean(params), NODES)


def test_files_to_read_are_laid_out_first():
    run_plan = plan(pattern="randread", block_size="4K", file_size="64M", depth=16, jobs=2, clients=1)
    assert [stage.name for stage in run_plan.stages] == ["check", "prepare", "measure", "clean"]
    (prepare,), (measure,) = run_plan.stages[1].commands, run_plan.stages[2].commands
    common = (
        "fio --name=fathom --output-format=json --eta=never --group_reporting --directory=/mnt/fs"
        " --filename_format=.fathom-fio-0.$jobnum --rw=randread --bs=4096 --size=67108864 --ioengine=libaio"
        " --iodepth=16 --numjobs=2 --direct=1"
    )
    assert " ".join(prepare.argv) == f"{common} --create_only=1"
    assert not prepare.measures
    assert " ".join(measure.argv) == (
        f"{common} --unlink=1 --time_based --runtime=30 --ramp_time=2 --write_bw_log={{work}}/fio --log_avg_msec=500"
    )
    assert measure.collect == ("fio_bw.1.log", "fio_bw.2.log")
    assert measure.time_limit_s == 30 + 2 + 60


def test_writes_need_no_files_and_all_clients_begin_together():
    run_plan = plan(pattern="randwrite", duration=0, verify="crc32c", sync_every=8, folder="a:b")
    assert [stage.name for stage in run_plan.stages] == ["check", "measure", "clean"]
    assert run_plan.stages[1].together
    argv = " ".join(run_plan.stages[1].commands[1].argv)
    assert "--verify=crc32c --verify_fatal=1 --verify_state_save=0" in argv
    assert "--fsync=8" in argv
    assert "--time_based" not in argv
    assert "--directory=/mnt/fs/a\\:b --filename_format=.fathom-fio-1.$jobnum" in argv
    assert run_plan.stages[2].commands[1].argv[-1] == "/mnt/fs/a:b/.fathom-fio-1.0"


def test_a_mixed_load_has_its_share():
    argv = plan(pattern="rw", read_share=70, clients=1).stages[2].commands[0].argv
    assert "--rwmixread=70" in argv


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"depth": 4, "engine": "psync"}, "depth"),
        ({"engine": "mmap"}, "engine"),
        ({"block_size": 1000}, "block_size"),
        ({"file_size": "64K", "block_size": "1M"}, "file_size"),
        ({"verify": "crc32c"}, "verify"),
        ({"verify": "crc32c", "pattern": "read", "duration": 0}, "verify"),
    ],
)
def test_it_refuses_what_fio_would_silently_not_do(params, field):
    with pytest.raises(ParameterError) as caught:
        TOOL.clean(params)
    assert set(caught.value.errors) == {field}


def test_the_estimate_counts_the_laying_out():
    writing = TOOL.estimate(TOOL.clean({"pattern": "write", "file_size": "1G", "duration": 10, "ramp": 0}))
    reading = TOOL.estimate(TOOL.clean({"pattern": "read", "file_size": "1G", "duration": 10, "ramp": 0}))
    assert writing.duration_s == pytest.approx(12)
    assert reading.duration_s == pytest.approx(12 + 1024**3 / 100e6)
