"""NPB BT-IO: readings and reasons of recorded outputs, and the plans."""

import dataclasses

import pytest

from apps.bench import judges, npb, tools
from apps.bench.toolkit import NodeRef, Output, ParameterError, ToolFailure
from tests.bench.tools import recordings
from tests.bench.tools.mpi_nodes import topology

TOOL = tools.get("btio")


def nodes(count=2):
    return [
        NodeRef(name, f"10.0.0.{index}", "/gpfs", {"hostname": name, "topology": topology(cores=2)})
        for index, name in enumerate("abcd"[:count], 1)
    ]


def plan(count=2, **params):
    return TOOL.plan(TOOL.clean(params), {"node": nodes(count)})


def parse(name, **params):
    output = recordings.load("btio", name)
    return TOOL.parse([output], TOOL.clean({**TOOL.recover(output), **params}))


def fail(output, **params):
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([output], TOOL.clean({**TOOL.recover(output), **params}))
    return caught.value


def changed(name, old, new):
    output = recordings.load("btio", name)
    assert old in output.stdout
    return dataclasses.replace(output, stdout=output.stdout.replace(old, new))


def values(reading):
    return {sample.metric: sample.value for sample in reading.samples}


def test_time_and_rate_of_the_io_are_read_with_the_data_written():
    figures = values(parse("bt.A.4.mpi_io_simple.txt"))
    assert figures == pytest.approx(
        {
            "io_rate": 554.35e6,
            "io_time": 0.7566,
            "io_share": 2.72,
            "run_time": 27.82,
            "operations": 6049.05,
            "data_written": 64**3 * 40 * 40,
        },
        rel=1e-4,
    )


@pytest.mark.parametrize(
    ("name", "rate", "subtype", "ranks"),
    [
        ("bt.S.16.full.txt", 31.27e6, "full", 16),
        ("bt.S.4.ep_io.txt", 2140.22e6, "epio", 4),
        ("bt.S.4.mpi_io_full.txt", 176.11e6, "full", 4),
        ("bt.W.4.mpi_io_full.txt", 424.18e6, "full", 4),
        ("bt.W.4.mpi_io_simple.txt", 521.61e6, "simple", 4),
    ],
)
def test_every_kind_of_io_is_read(name, rate, subtype, ranks):
    reading = parse(name)
    assert values(reading)["io_rate"] == pytest.approx(rate)
    assert reading.requested["subtype"] == subtype
    assert reading.requested["ranks"] == ranks
    assert reading.tool_version == "3.3.1"


def test_a_time_that_is_printed_as_nothing_is_taken_from_the_rate():
    assert values(parse("bt.S.4.mpi_io_full.txt"))["io_time"] == pytest.approx(829440 / 176.11e6)


def test_a_run_without_io_gives_its_time_for_comparison():
    assert values(parse("bt.A.4.noio.txt")) == {"run_time": 25.16, "operations": 6687.85}


def test_the_collective_buffer_is_granted_as_it_was_set():
    reading = parse("bt.A.4.full.inputfile_cb2.txt")
    assert reading.granted == {"ranks": 4, "collective_nodes": 2, "collective_size": 1_000_000}
    assert "other-input" not in [flag.name for flag in reading.flags]


def test_an_input_file_that_nobody_asked_for_makes_the_result_invalid():
    flags = parse("bt.A.4.full.inputfile_cb2.txt", collective_nodes=0).flags
    assert ("other-input", "invalid") in [(flag.name, flag.severity) for flag in flags]


def test_the_map_of_balanced_ranks_is_kept():
    places = parse("bt.S.4.full_BAL_2nodes_wan.txt").observed["map"]
    assert [place["host"] for place in places] == ["hA", "hB", "hA", "hB"]


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_diskfull.txt", "disk-full", "No space left"),
        ("err_missing_executable.txt", "mpi-missing-program", "bt.S.25"),
        ("err_slots.txt", "mpi-slots", "not enough slots"),
        ("bt.A.4.fortran_io.txt", "io-error", "Write exceeds length"),
        ("bt.S.4.fortran_io.txt", "io-error", "Write exceeds length"),
        ("bt.W.4.fortran_io.txt", "io-error", "Write exceeds length"),
    ],
)
def test_a_failure_has_its_reason(name, code, words):
    failure = fail(recordings.load("btio", name))
    assert failure.code == code
    # The launcher's text is cut to a sensible length.
    assert words in str(failure.message) or "Executable" in str(failure.message)


def test_an_unsuccessful_verification_is_no_result_though_it_contains_the_word():
    output = changed("bt.S.4.mpi_io_full.txt", b"               SUCCESSFUL", b"             UNSUCCESSFUL")
    assert fail(output).code == "verification"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b"  176.11", b"  999.99", None),
        (b" 0.83\n", b" 1.66\n", "unreadable"),
        (b"Class           =                        S", b"Class           =                        Z", "unreadable"),
        (b"Iterations      =                       60", b"Iterations      =                       61", "unreadable"),
        (b"Total processes =                        4", b"Total processes =                        9", "unreadable"),
        (b"I/O data rate", b"I/O data rare", "unreadable"),
        (b"Verification    =", b"Vexification    =", "no-result"),
    ],
)
def test_a_report_that_contradicts_itself_is_refused(old, new, code):
    output = changed("bt.S.4.mpi_io_full.txt", old, new)
    if code is None:
        # So short a time has no digits to contradict the rate; that of class A has.
        output, code = changed("bt.A.4.mpi_io_simple.txt", b"  554.35", b"  754.35"), "unreadable"
    assert fail(output, problem="S" if b"64x" not in output.stdout else "A", ranks=4).code == code


def test_ranks_that_took_no_part_make_the_result_invalid():
    output = changed("bt.S.4.mpi_io_full.txt", b"active processes:     4", b"active processes:     1")
    reading = TOOL.parse([output], TOOL.clean({"problem": "S", "ranks": 4}))
    assert ("fewer-processes", "invalid") in [(flag.name, flag.severity) for flag in reading.flags]


def test_too_many_ranks_for_the_program_are_told():
    text = b"\n NAS Parallel Benchmarks 3.3 -- BT Benchmark\n\n Problem size too big for compiled array sizes\n"
    output = Output("node", "measure", "a", ("mpirun", "-np", "9", "bt.S.4.mpi_io_full"), text, b"", 0)
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([output], TOOL.clean({"problem": "S", "ranks": 9}))
    assert caught.value.code == "mpi-wrong-ranks"


@pytest.mark.parametrize(("problem", "most"), [("S", 16), ("W", 64), ("A", 441), ("B", 1156), ("C", 2916)])
def test_each_class_has_its_largest_number_of_ranks(problem, most):
    assert npb.CLASSES[problem].most_ranks == most
    with pytest.raises(ParameterError) as caught:
        TOOL.clean({"problem": problem, "ranks": (int(most**0.5) + 1) ** 2})
    assert set(caught.value.errors) == {"ranks"}


@pytest.mark.parametrize(("problem", "megabytes"), [("A", 419.43), ("B", 1697.93), ("C", 6802.44)])
def test_each_class_writes_its_amount(problem, megabytes):
    assert npb.CLASSES[problem].data / 1e6 == pytest.approx(megabytes, abs=0.005)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"ranks": 8}, "ranks"),
        ({"subtype": "simple", "collective_nodes": 2}, "collective_nodes"),
        ({"collective_nodes": 5}, "collective_nodes"),
        ({"folder": "../etc"}, "folder"),
    ],
)
def test_what_bt_would_not_run_is_refused_before(params, field):
    with pytest.raises(ParameterError) as caught:
        TOOL.clean(params)
    assert set(caught.value.errors) == {field}


def test_it_sees_the_mounts_runs_in_the_folder_and_removes_what_it_wrote():
    run_plan = plan(problem="A", ranks=4, folder="bench")
    assert [stage.name for stage in run_plan.stages] == ["check", "measure", "clean"]
    argv = run_plan.stages[1].commands[0].argv
    assert argv[-1] == "{program:bt.A.4.mpi_io_full}"
    assert argv[argv.index("--wdir") + 1] == "/gpfs/bench"
    clean = run_plan.stages[2].commands[0]
    assert clean.optional
    assert clean.argv[-1] == "/gpfs/bench/btio.full.out"


def test_the_collective_buffer_is_set_by_an_input_file():
    run_plan = plan(problem="W", ranks=4, collective_nodes=2, collective_size="16 MiB")
    bring = run_plan.stages[1].commands[0]
    assert dict(bring.files)["inputbt.data"] == "200\n0.0008d0\n24 24 24\n5 0\n2 16777216\n"
    assert bring.argv == ("cp", "{work}/inputbt.data", "/gpfs/inputbt.data")
    assert "/gpfs/inputbt.data" in run_plan.stages[-1].commands[0].argv


@pytest.mark.parametrize(
    ("params", "program"),
    [
        ({"naming": "3.4"}, "bt.A.x.mpi_io_full"),
        ({"subtype": "simple"}, "bt.A.4.mpi_io_simple"),
        ({"subtype": "epio", "ranks": 9}, "bt.A.9.ep_io"),
        ({"subtype": "none"}, "bt.A.4"),
    ],
)
def test_programs_have_the_names_that_npb_gives_them(params, program):
    assert plan(**params).stages[1].commands[0].argv[-1] == f"{{program:{program}}}"
    assert program in TOOL.programs


def test_ranks_are_placed_by_nodes_and_cores():
    files = dict(plan(node_placement="UNBAL", core_placement="DIST").stages[1].commands[0].files)
    assert files["ranks"].splitlines()[:3] == [
        "rank 0=10.0.0.1 slot=0:0",
        "rank 1=10.0.0.1 slot=1:0",
        "rank 2=10.0.0.1 slot=0:1",
    ]
    files = dict(plan(node_placement="BAL", core_placement="ACC").stages[1].commands[0].files)
    assert files["ranks"].splitlines()[:3] == [
        "rank 0=10.0.0.1 slot=0:0",
        "rank 1=10.0.0.2 slot=0:0",
        "rank 2=10.0.0.1 slot=0:1",
    ]


def test_a_rate_of_hardly_any_time_does_not_count():
    tool = tools.get("btio")
    output = recordings.load("btio", "bt.S.4.mpi_io_full.txt")
    params = tool.clean(tool.recover(output))
    flags = {flag.name: flag for flag in judges.read_run([output], params, tool).flags}
    assert flags["too-short"].severity == "invalid"
    assert flags["too-short"].metrics == ("io_rate",)
