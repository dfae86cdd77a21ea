"""IOzone: readings and reasons of recorded reports."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output, ToolFailure
from tests.bench.tools import recordings

TOOL = tools.get("iozone")
KIB = 1024


def load(name):
    return recordings.load("iozone", name)


def read(name):
    output = load(name)
    return TOOL.parse([output], TOOL.clean(TOOL.recover(output)))


def fail(output, **params):
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([output], TOOL.clean(params or TOOL.recover(output)))
    return caught.value


def samples(reading):
    return {sample.metric: sample.value for sample in reading.samples}


def flags(reading):
    return {flag.name: flag for flag in reading.flags}


def test_a_kilobyte_of_iozone_is_1024_bytes():
    reading = read("direct_I.txt")
    assert samples(reading) == {
        "write": 1527899 * KIB,
        "rewrite": 2401292 * KIB,
        "read": 800616 * KIB,
        "reread": 722095 * KIB,
    }
    assert reading.tool_version == "3.489"
    assert reading.granted == {"direct": True}
    assert reading.observed["direct_io"] is True
    assert reading.observed["working_set"] == 64 * KIB**2


def test_tests_that_were_not_run_leave_blanks():
    assert samples(read("auto_small.txt")) == {
        "write": 1371763 * KIB,
        "rewrite": 2938054 * KIB,
        "read": 12007174 * KIB,
        "reread": 12792274 * KIB,
        "random_read": 13207787 * KIB,
        "random_write": 2859088 * KIB,
    }
    assert set(samples(read("read_stage.txt"))) == {"read", "reread"}
    assert set(samples(read("strided_stage_direct.txt"))) == {"strided_read"}


def test_every_column_has_its_metric():
    names = [column.metric for column in read("all_columns.txt").samples]
    assert len(names) == 13
    assert {"backward_read", "record_rewrite", "strided_read", "fwrite", "refwrite", "fread", "refread"} < set(names)


def test_without_retests_their_columns_hold_no_figures():
    reading = read("no_retest.txt")
    assert set(samples(reading)) == {
        "write",
        "read",
        "random_read",
        "random_write",
        "backward_read",
        "strided_read",
    }
    assert TOOL.recover(load("no_retest.txt"))["retest"] is False


def test_operations_and_times_become_rates():
    reading = read("opsmode_O.txt")
    assert samples(reading)["write"] == 214047 * 4096
    assert samples(reading)["random_read"] == 481083 * 4096
    assert "rates-computed" in flags(reading)
    reading = read("microsec_N.txt")
    assert samples(reading) == pytest.approx({"write": 4096 / 4e-6, "rewrite": 4096 / 2e-6})
    assert "rates-computed" in flags(reading)


def test_a_range_of_sizes_keeps_all_points_and_gives_the_last():
    reading = read("auto_range_excel.txt")
    points = reading.observed["points"]
    assert len(points) == 35
    assert points[0] == {
        "file_size": 4096 * KIB,
        "record_size": 64 * KIB,
        "threads": 1,
        "write": 1120976 * KIB,
        "rewrite": 2195003 * KIB,
        "read": 8032459 * KIB,
        "reread": 8620945 * KIB,
    }
    assert samples(reading)["write"] == 1579215 * KIB
    assert (reading.requested["file_size"], reading.requested["record_size"]) == (65536 * KIB, 4096 * KIB)
    assert "several-points" in flags(reading)


def test_throughput_mode_gives_the_sum_of_the_processes():
    reading = read("throughput_t4.txt")
    assert samples(reading) == pytest.approx(
        {"write": 760464.66 * KIB, "rewrite": 3543285.06 * KIB, "read": 22219537.5 * KIB, "reread": 12694329.25 * KIB}
    )
    assert reading.observed["working_set"] == 4 * 131072 * KIB
    assert reading.observed["threads"] == 4


def test_throughput_mode_knows_the_other_tests():
    assert samples(read("throughput_t2_random_stage.txt")).keys() == {
        "random_read",
        "random_write",
        "backward_read",
        "strided_read",
    }


def test_a_range_of_processes_gives_the_last_and_tells_of_idle_ones():
    reading = read("throughput_range_lu.txt")
    assert [point["threads"] for point in reading.observed["points"]] == [1, 2, 3]
    assert reading.observed["points"][1]["write"] == pytest.approx(1381379.0 * KIB)
    assert samples(reading)["reread"] == pytest.approx(12987403.0 * KIB)
    idle = flags(reading)["threads-idle"]
    assert (idle.severity, idle.metrics) == ("invalid", ("read",))


def test_cluster_mode_gives_the_sum_over_the_nodes():
    reading = read("cluster_m_t2.txt")
    assert samples(reading)["write"] > 0
    assert set(samples(reading)) == {"write", "rewrite", "read", "reread"}
    # Whose memory the files were spread over is not told.
    assert "working_set" not in reading.observed


@pytest.mark.parametrize(("name", "write"), [("tuned", 116769.16), ("untuned", 19530.98)])
def test_an_excerpt_is_read_and_called_so(name, write):
    reading = read(f"gluster/{name}.txt")
    assert samples(reading)["write"] == pytest.approx(write * KIB)
    points = reading.observed["points"]
    assert [point["record_size"] // KIB for point in points[:4]] == [64, 256, 1024, 4096]
    assert [point["threads"] for point in points[4:]] == [1, 2, 4]
    assert "excerpt" in flags(reading)
    assert "direct_io" not in reading.observed


def test_a_throttled_disk_is_seen_in_writes_and_not_in_cached_reads():
    figures = samples(read("ext3_slow_buffered_fsync.txt"))
    assert figures["write"] == 28394 * KIB
    assert figures["read"] == 13569224 * KIB


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_badopt.txt", "unknown-option", "-@"),
        ("err_diskfull.txt", "no-space", "No space left"),
        ("err_diskfull_t2.txt", "write-stopped", "Error writing block 8"),
        ("err_enoent.txt", "no-directory", "/opt/bench/nosuchdir/t1"),
        ("err_read_without_write.txt", "no-directory", "/opt/bench/io/none"),
        ("err_permission.txt", "permission", "Permission denied"),
        ("err_rec_gt_file.txt", "no-result", "rate of zero"),
        ("err_cluster_no_rsh.txt", "no-result", "not found"),
        ("err_cluster_no_folder.txt", "no-result", "Client # 0 reporting an error"),
        ("version.txt", "no-result", "Filesystem Benchmark Program"),
    ],
)
def test_errors_have_reasons(name, code, words):
    failure = fail(load(name))
    assert failure.code == code
    assert words in str(failure.message)


def test_a_report_that_breaks_off_is_not_a_result():
    output = load("auto_small.txt")
    cut = output.stdout[: output.stdout.index(b"iozone test complete")]
    assert fail(dataclasses.replace(output, stdout=cut)).code == "unreadable"


def test_a_figure_between_two_columns_is_refused():
    output = load("auto_small.txt")
    moved = output.stdout.replace(b"  1371763  2938054", b" 1371763   2938054")
    assert moved != output.stdout
    assert fail(dataclasses.replace(output, stdout=moved)).code == "unreadable"


def test_one_that_hangs_on_a_full_disk_is_told_by_what_it_printed():
    output = dataclasses.replace(load("err_diskfull_t2.txt"), timed_out=True)
    assert fail(output).code == "write-stopped"
    assert fail(dataclasses.replace(load("throughput_t4.txt"), timed_out=True)).code == "timed-out"


def make(stage, node, name, **changes):
    return dataclasses.replace(load(name), stage=stage, node=node, **changes)


def check_of(node, target="/mnt/fs", free=10**12):
    text = f"Filesystem Type 1B-blocks Avail Mounted on\nserver:/vol nfs4 {10**13} {free} {target}\n"
    argv = ("df", "-B1", "--output=source,fstype,size,avail,target", "--", "/mnt/fs")
    return Output("client", "check", node, argv, text.encode(), b"", 0)


def test_the_rates_of_clients_add_up():
    params = TOOL.clean({"clients": 2, "file_size": "64M", "record_size": "1M", "read": False, "direct": True})
    times = {"started_at": 100.0, "ended_at": 110.0}
    late = {"started_at": 100.03, "ended_at": 110.0}
    outputs = [check_of("one"), check_of("two")]
    outputs += [make("write", "one", "direct_I.txt", **times), make("write", "two", "direct_I.txt", **late)]
    reading = TOOL.parse(outputs, params)
    assert reading.value("write") == 2 * 1527899 * KIB
    assert reading.value("fairness") == 1.0
    assert [client["node"] for client in reading.observed["clients"]] == ["one", "two"]
    assert reading.observed["clients"][0]["write"] == 1527899 * KIB
    assert reading.observed["overlap"] == pytest.approx(0.997)
    assert reading.observed["start_skew"] == pytest.approx(0.03)
    assert reading.observed["file_system"] == "nfs4"
    assert "mount-unseen" not in flags(reading)


def look(stage, *rows):
    text = "".join(f"{resident:>10} {size:>10} /mnt/fs/{index}\n" for index, (resident, size) in enumerate(rows))
    return Output("client", stage, "one", ("fincore",), text.encode(), b"", 0)


@pytest.mark.parametrize(
    ("looks", "uncached"),
    [
        ([], []),
        ([look("look-read", (0, 1000), (0, 1000))], ["read"]),
        ([look("look-read", (10, 500), (10, 1500))], ["read"]),
        ([look("look-read", (11, 500), (10, 1500))], []),
        ([look("look-read", (0, 1000)), look("look-read", (1000, 1000))], []),
        ([look("look-read")], []),
        ([look("look-random", (0, 1000)), look("look-read", (1000, 1000))], ["random_read"]),
    ],
)
def test_what_was_read_past_an_empty_cache_is_known_by_looking(looks, uncached):
    params = TOOL.clean({"file_size": "64M", "record_size": "1M"})
    outputs = [check_of("one"), make("write", "one", "direct_I.txt"), *looks, make("read", "one", "direct_I.txt")]
    assert TOOL.parse(outputs, params).observed["uncached"] == uncached


def test_clients_that_did_not_run_together_are_invalid():
    params = TOOL.clean({"file_size": "64M", "record_size": "1M", "read": False})
    outputs = [check_of("one"), check_of("two")]
    outputs.append(make("write", "one", "direct_I.txt", started_at=100.0, ended_at=110.0))
    outputs.append(make("write", "two", "direct_I.txt", started_at=100.0, ended_at=109.0))
    by_flag = flags(TOOL.parse(outputs, params))
    assert by_flag["low-overlap"].severity == "invalid"


def test_a_test_that_is_missing_in_its_stage_is_no_result():
    params = TOOL.clean({"file_size": "64M", "record_size": "64K"})
    outputs = [check_of("one"), make("write", "one", "no_retest.txt")]
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse(outputs, params)
    assert "rewrite" in str(caught.value.message)


def test_nothing_is_read_where_nothing_is_mounted():
    params = TOOL.clean({"file_size": "64M", "record_size": "1M", "read": False})
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([check_of("one", target="/")], params)
    assert caught.value.code == "not-mounted"
    assert "/mnt/fs" in str(caught.value.message)


def test_a_full_disk_is_told_by_the_room_there_was():
    params = TOOL.clean({"file_size": "64M", "record_size": "1M", "threads": 2, "read": False})
    outputs = [check_of("one", free=10**6), make("write", "one", "err_diskfull_t2.txt", timed_out=True)]
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse(outputs, params)
    assert caught.value.code == "no-space"
    assert "1000000" in str(caught.value.message)
