"""Intel MPI Benchmarks: readings and reasons of recorded outputs, and the commands."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, ParameterError, ToolFailure
from tests.bench.tools import recordings
from tests.bench.tools.mpi_nodes import command, node, pair_of_nodes

TOOL = tools.get("imb")


def parse(name, **params):
    output = recordings.load("imb", name)
    return TOOL.parse([output], TOOL.clean({**TOOL.recover(output), **params}))


def fail(output, **params):
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([output], TOOL.clean({**TOOL.recover(output), **params}))
    return caught.value


def changed(name, old, new):
    output = recordings.load("imb", name)
    assert old in output.stdout
    return dataclasses.replace(output, stdout=output.stdout.replace(old, new))


def values(reading):
    return {sample.metric: sample.value for sample in reading.samples}


def test_ping_pong_is_read_at_the_size_of_interest():
    reading = parse("pingpong.txt", message_size="32 KiB")
    assert values(reading) == pytest.approx({"time": 7.10e-6, "bandwidth": 4612.75e6, "bandwidth_largest": 6297.09e6})
    assert reading.tool_version == "2021.11"
    series = {item.metric: item for item in reading.series}
    assert series["time"].times[:3] == (0.0, 1.0, 2.0)
    assert series["bandwidth"].times[0] == 1.0


def test_a_collective_tells_the_fastest_and_the_slowest_rank():
    assert values(parse("allreduce.txt")) == pytest.approx(
        {"time": 40.27e-6, "time_min": 38.89e-6, "time_max": 40.84e-6}
    )


def test_groups_at_once_are_read_and_not_those_that_ran_together():
    reading = parse("multi_pingpong.txt")
    assert values(reading)["bandwidth"] == pytest.approx(1748.83e6)
    assert reading.granted == {"processes": 4, "groups": 2}
    assert values(parse("multi_pingpong.txt", benchmark="Sendrecv"))["bandwidth"] == pytest.approx(1698.18e6)
    alone = values(parse("multi_pingpong.txt", benchmark="Sendrecv", groups=False))
    assert alone["bandwidth"] == pytest.approx(1544.53e6)


def test_writes_are_told_merged_and_single():
    first = values(parse("io_s_write_indv.txt"))
    assert first["bandwidth"] == pytest.approx(2317.54e6)
    assert first["bandwidth_single"] == pytest.approx(619.60e6)
    shared = values(parse("io_s_write_indv.txt", benchmark="C_Write_Shared"))
    assert shared["bandwidth"] == pytest.approx(1219.05e6)
    assert shared["time_max"] == pytest.approx(215.04e-6)


def test_the_release_of_intel_mpi_reports_its_pins():
    reading = parse("intelmpi_pingpong_pinned.txt")
    assert reading.tool_version.startswith("2021")
    assert reading.observed["map"] == [{"rank": 0, "host": "vm", "cpus": [0]}, {"rank": 1, "host": "vm", "cpus": [1]}]


def test_ranks_of_intel_mpi_on_two_nodes_are_told_apart():
    reading = parse("intelmpi_two_nodes.txt", launcher="intelmpi")
    assert [(place["host"], place["cpus"]) for place in reading.observed["map"]] == [
        ("kisti-1", [0, 1]),
        ("pusan-1", [0, 1]),
    ]
    assert values(reading)["time"] == pytest.approx(11999.13e-6)


def test_a_barrier_has_no_sizes():
    reading = parse("mpich_barrier.txt")
    assert set(values(reading)) == {"time", "time_min", "time_max"}
    assert reading.series == ()


def test_megabytes_of_old_versions_are_binary():
    old = changed("pingpong.txt", b"Benchmarks 2021.11", b"Benchmarks 4.1")
    reading = TOOL.parse([old], TOOL.clean(TOOL.recover(old)))
    assert values(reading)["bandwidth"] == pytest.approx(6297.09 * 2**20)


def test_an_option_that_was_ignored_is_flagged():
    reading = parse("output_yaml.txt")
    assert values(reading)["bandwidth"] == pytest.approx(5276.40e6)
    assert [(flag.name, flag.severity) for flag in reading.flags] == [("option-ignored", "warning")]
    assert "-output" in str(reading.flags[0].message)


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_badbench.txt", "mpi-unknown-benchmark", "nosuch"),
        ("err_np1.txt", "mpi-wrong-ranks", "invalid for 1 processes"),
        ("help.txt", "no-result", "Usage"),
        ("mpich_map.txt", "no-result", "Cpus_allowed"),
    ],
)
def test_exit_status_zero_is_not_believed(name, code, words):
    failure = fail(recordings.load("imb", name))
    assert failure.code == code
    assert words in str(failure.message)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b"        32768         1000         7.10", b"        16384         1000         7.10", "unreadable"),
        (b"6297.09", b"6297.09 1.0", "unreadable"),
        (b"#bytes #repetitions", b"#bytes", "no-result"),
        (b"Benchmarking PingPong", b"Benchmarking PingPing", "unreadable"),
    ],
)
def test_a_table_that_is_damaged_is_no_result(old, new, code):
    assert fail(changed("pingpong.txt", old, new), benchmark="PingPong").code == code


def test_a_table_that_ends_early_is_no_result():
    output = recordings.load("imb", "pingpong.txt")
    cut = dataclasses.replace(output, stdout=output.stdout[: output.stdout.index(b"        32768")])
    failure = fail(cut)
    assert failure.code == "no-result"
    assert "16384 of 65536" in str(failure.message)


def test_another_number_of_processes_is_not_taken_for_the_one_asked_for():
    failure = fail(recordings.load("imb", "allreduce.txt"), ranks=8)
    assert failure.code == "unreadable"
    assert "4 processes" in str(failure.message)


def test_options_become_words_of_the_benchmark():
    argv = command("imb", pair_of_nodes(), max_size="64 KiB", iterations=50, placement="other-node").argv
    assert argv[-7:] == ("{program:IMB-MPI1}", "PingPong", "-npmin", "2", "-msglog", "0:16", "-iter", "50")[-7:]
    argv = command("imb", [node("a")], benchmark="Sendrecv", ranks=4, groups=True, min_size=1024).argv
    assert argv[-7:] == ("-multi", "0", "Sendrecv", "-npmin", "4", "-msglog", "10:20")


def test_files_are_written_where_the_file_system_is_mounted():
    mounted = NodeRef("a", "10.0.0.1", "/scratch")
    argv = command("imb", [mounted], benchmark="C_Write_Shared", ranks=4).argv
    assert "--wdir" in argv
    assert argv[argv.index("--wdir") + 1] == "/scratch"
    assert "{program:IMB-IO}" in argv
    with pytest.raises(ParameterError) as caught:
        command("imb", [node("a")], benchmark="C_Write_Shared", ranks=4)
    assert "file_system" in caught.value.errors


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"ranks": 4}, "ranks"),
        ({"ranks": 3, "groups": True}, "ranks"),
        ({"ranks": 1, "benchmark": "Allreduce"}, "ranks"),
        ({"max_size": 3000}, "max_size"),
        ({"min_size": 2048, "max_size": 1024}, "min_size"),
        ({"message_size": "2 MiB"}, "message_size"),
    ],
)
def test_what_imb_would_not_measure_is_refused_before(params, field):
    with pytest.raises(ParameterError) as caught:
        TOOL.clean(params)
    assert set(caught.value.errors) == {field}
