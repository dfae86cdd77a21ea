"""Intel MPI Benchmarks: readings and reasons of recorded outputs, and the commands."""

import dataclasses

import pytest

from apps.bench import recognition, tools
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


def parts(name, *, is_recorded=True):
    """Return what is found in a recording, with its command line or without."""
    raw = (recordings.DATA / "imb" / name).read_bytes()
    return recognition.read_file(raw if is_recorded else recordings.load("imb", name).stdout)


@pytest.mark.parametrize("is_recorded", [True, False])
def test_each_table_of_a_run_of_several_benchmarks_is_a_result_of_its_own(is_recorded):
    """Its calling sequence says -multi 0, too, where no command line was kept."""
    first, together, alone = parts("multi_pingpong.txt", is_recorded=is_recorded)
    assert values(first.reading)["bandwidth"] == pytest.approx(1748.83e6)
    assert first.reading.granted == {"processes": 4, "groups": 2}
    assert values(together.reading)["bandwidth"] == pytest.approx(1698.18e6)
    assert values(alone.reading)["bandwidth"] == pytest.approx(1544.53e6)
    told = [{name: part.parameters[name] for name in ("benchmark", "ranks", "groups")} for part in (together, alone)]
    assert told == [{"benchmark": "Sendrecv", "ranks": 4, "groups": groups} for groups in (True, False)]


def test_several_benchmarks_are_not_read_as_one_of_them():
    assert fail(recordings.load("imb", "multi_pingpong.txt")).code == "several-results"
    assert fail(recordings.load("imb", "io_s_write_indv.txt")).code == "several-results"


def test_tables_of_several_numbers_of_processes_are_results_of_their_own():
    output = recordings.load("imb", "allreduce.txt")
    text = output.stdout.decode()
    begin = text.index("#-", text.index("# Allreduce"))
    table = text[begin : text.index("# All processes")].replace("#processes = 4", "#processes = 8")
    found = recognition.read_file(text.replace("# All processes", f"{table}# All processes").encode())
    assert [part.parameters["ranks"] for part in found] == [4, 8]
    assert [part.reading.granted["processes"] for part in found] == [4, 8]


def test_writes_are_told_merged_and_single():
    found = {part.parameters["benchmark"]: values(part.reading) for part in parts("io_s_write_indv.txt")}
    assert list(found) == ["S_Write_Indv", "P_Write_Shared", "C_Write_Shared"]
    assert found["S_Write_Indv"]["bandwidth"] == pytest.approx(2317.54e6)
    assert found["S_Write_Indv"]["bandwidth_single"] == pytest.approx(619.60e6)
    assert found["C_Write_Shared"]["bandwidth"] == pytest.approx(1219.05e6)
    assert found["C_Write_Shared"]["time_max"] == pytest.approx(215.04e-6)


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
