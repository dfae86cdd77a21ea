"""NetPIPE, mpi4py's benchmark and pairs in contention: readings, reasons and plans."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import ParameterError, ToolFailure
from tests.bench.tools import recordings
from tests.bench.tools.mpi_nodes import command, node, pair_of_nodes, plan

PINGPONG, CONTENTION = tools.get("mpi-pingpong"), tools.get("mpi-contention")


def values(reading):
    return {sample.metric: sample.value for sample in reading.samples}


def parse(name, **params):
    output = recordings.load("mpi-pingpong", name)
    return PINGPONG.parse([output], PINGPONG.clean({**PINGPONG.recover(output), **params}))


def test_megabits_of_netpipe_are_binary():
    reading = parse("netpipe_bound.txt", message_size=65536)
    output = recordings.load("mpi-pingpong", "netpipe_bound.txt")
    row = next(line for line in (output.stdout + output.stderr).decode().splitlines() if " 65536 bytes" in line)
    printed = float(row.split("-->")[1].split()[0])
    assert values(reading)["bandwidth"] == pytest.approx(printed * 2**20 / 8)
    # The time that is printed beside it says the same.
    assert values(reading)["time"] == pytest.approx(float(row.split()[-2]) * 1e-6, rel=0.01)
    assert [place["cores"] for place in reading.observed["map"]] == [["0:0"], ["0:1"]]


def test_a_row_is_read_that_the_launcher_wrote_into():
    output = recordings.load("mpi-pingpong", "netpipe_openmpi.txt")
    text = (
        b" --> [kisti-1:31317] 1 more process has sent help message help-mpi-btl-tcp.txt / invalid if_inexclude\n"
        b'[kisti-1:31317] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages\n '
    )
    torn = dataclasses.replace(output, stdout=output.stdout.replace(b" --> ", text, 1))
    assert torn.stdout != output.stdout
    params = PINGPONG.clean(PINGPONG.recover(output))
    assert PINGPONG.parse([torn], params) == PINGPONG.parse([output], params)


def test_megabytes_of_mpi4py_are_decimal():
    reading = parse("mpi4py_bench_pingpong.txt")
    assert values(reading)["bandwidth"] == pytest.approx(11544.46e6, rel=1e-5)
    assert values(reading)["latency"] == pytest.approx(1.1458423e-6)
    assert len(reading.series[0].times) == 21


def test_a_table_without_its_last_rows_is_flagged_and_one_of_a_killed_program_refused():
    reading = parse("netpipe_openmpi.txt")
    assert [(flag.name, flag.severity) for flag in reading.flags] == [("partial-table", "invalid")]
    assert reading.observed["message_size"] == 65539
    assert values(reading)["bandwidth"] == pytest.approx(38393.56 * 2**17)
    output = dataclasses.replace(recordings.load("mpi-pingpong", "netpipe_openmpi.txt"), exit_code=137)
    with pytest.raises(ToolFailure) as caught:
        PINGPONG.parse([output], PINGPONG.clean(PINGPONG.recover(output)))
    assert caught.value.code == "no-result"


@pytest.mark.parametrize(
    ("old", "new"), [(b"39125.97", b"79125.97"), (b" 65536 bytes", b" 65533 bytes"), (b"39125.97", b"0.00")]
)
def test_a_row_that_contradicts_itself_is_refused(old, new):
    output = recordings.load("mpi-pingpong", "netpipe_openmpi.txt")
    assert old in output.stdout
    damaged = dataclasses.replace(output, stdout=output.stdout.replace(old, new))
    with pytest.raises(ToolFailure) as caught:
        PINGPONG.parse([damaged], PINGPONG.clean(PINGPONG.recover(damaged)))
    assert caught.value.code == "unreadable"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "{program:NPopenmpi} -l 1 -u 1048576 -p 0 -o {work}/np.out"),
        (
            {"benchmark": "NPmpich2", "launcher": "mpich", "iterations": 7},
            "{program:NPmpich2} -l 1 -u 1048576 -p 0 -o {work}/np.out -n 7",
        ),
        ({"benchmark": "mpi4py", "min_size": 8}, "{program:python3} -m mpi4py.bench pingpong -m 8 -n 1048576"),
    ],
)
def test_options_become_words_of_the_program(params, words):
    assert " ".join(command("mpi-pingpong", [node("a")], **params).argv).endswith(words)


@pytest.mark.parametrize(
    ("slug", "params", "field"),
    [
        ("mpi-pingpong", {"launcher": "mpich"}, "launcher"),
        ("mpi-pingpong", {"benchmark": "NPmpich2"}, "launcher"),
        ("mpi-pingpong", {"min_size": 2048, "max_size": 1024}, "min_size"),
        ("mpi-pingpong", {"message_size": "2 MiB"}, "message_size"),
        ("mpi-contention", {"benchmark": "NPopenmpi", "launcher": "mpich"}, "launcher"),
        ("mpi-contention", {"remote_agent": "a b"}, "remote_agent"),
    ],
)
def test_what_cannot_run_is_refused_before(slug, params, field):
    with pytest.raises(ParameterError) as caught:
        tools.get(slug).clean(params)
    assert set(caught.value.errors) == {field}


def test_pairs_start_at_one_instant_after_one_alone():
    run_plan = plan("mpi-contention", pair_of_nodes(), pairs=3, placement="other-node")
    assert [(stage.name, stage.together, len(stage.commands)) for stage in run_plan.stages] == [
        ("alone", False, 1),
        ("together", True, 3),
    ]
    ranks = [dict(one.files)["ranks"] for one in run_plan.stages[1].commands]
    assert ranks[2] == "rank 0=10.0.0.1 slot=0:2\nrank 1=10.0.0.2 slot=0:2\n"
    assert [stage.name for stage in plan("mpi-contention", pair_of_nodes(), pairs=1).stages] == ["together"]
    assert [stage.name for stage in plan("mpi-contention", pair_of_nodes(), baseline=False).stages] == ["together"]


def test_each_pair_sends_so_many_messages():
    words = plan("mpi-contention", pair_of_nodes(), messages=6400).stages[1].commands[0].argv
    assert words[-6:] == ("-m", "1048576:1048576", "-i", "100", "-x", "1")


def outputs_of(rates, alone=104.0, ends=None):
    """Return outputs of OSU pairs that had these rates (MB/s), and of one alone."""
    table = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1048576   {}\n"
    run_plan = plan("mpi-contention", [node("a"), node("b")], pairs=len(rates))
    base = recordings.load("mpi-contention", "pair.txt")
    found = [
        dataclasses.replace(
            base,
            stage="together",
            argv=run_plan.stages[-1].commands[0].argv,
            stdout=table.format(rate).encode(),
            stderr=b"",
            started_at=100.0 + 0.001 * index,
            ended_at=(ends or [110.0] * len(rates))[index],
        )
        for index, rate in enumerate(rates)
    ]
    return [dataclasses.replace(found[0], stage="alone", stdout=table.format(alone).encode()), *found]


def contend(outputs, pairs):
    return CONTENTION.parse(outputs, CONTENTION.clean({"pairs": pairs}))


def test_share_fairness_and_slowdown_are_told():
    reading = contend(outputs_of([40.0, 20.0]), 2)
    assert values(reading) == pytest.approx(
        {
            "aggregate": 60e6,
            "bandwidth_pair": 30e6,
            "bandwidth_least": 20e6,
            "bandwidth_alone": 104e6,
            "slowdown": 104 / 30,
            "fairness": 60**2 / (2 * (40**2 + 20**2)),
        }
    )
    assert [client["share"] for client in reading.observed["clients"]] == pytest.approx([2 / 3, 1 / 3])
    assert reading.observed["start_skew"] == pytest.approx(0.001)
    assert reading.flags == ()


def test_pairs_that_hardly_ran_together_make_the_result_invalid():
    flags = contend(outputs_of([40.0, 20.0], ends=[105.0, 110.0]), 2).flags
    assert ("low-overlap", "invalid") in [(flag.name, flag.severity) for flag in flags]


def test_one_pair_is_its_own_base():
    figures = values(contend(outputs_of([100.0])[1:], 1))
    assert figures["slowdown"] == 1.0
    assert figures["bandwidth_alone"] == figures["aggregate"]


def test_without_one_pair_alone_there_is_no_slowdown():
    assert "slowdown" not in values(contend(outputs_of([40.0, 20.0])[1:], 2))


def test_a_pair_without_a_result_leaves_none():
    outputs = outputs_of([40.0, 20.0])
    with pytest.raises(ToolFailure) as caught:
        contend(outputs[:-1], 2)
    assert caught.value.code == "unreadable"
    with pytest.raises(ToolFailure) as caught:
        contend([*outputs[:-1], dataclasses.replace(outputs[-1], stdout=b"")], 2)
    assert caught.value.code == "no-result"
    with pytest.raises(ToolFailure) as caught:
        contend([], 2)
    assert caught.value.code == "no-result"


def test_messages_so_slow_that_their_rate_is_printed_as_zero_have_their_time():
    # A busy machine: 4.28 ms for one byte, which NetPIPE prints as 0.00 Mbps.
    reading = parse("slurm_slow_messages.txt", message_size=1, min_size=1, max_size=64)
    assert reading.value("time") == pytest.approx(4277.92e-6)
    assert reading.value("bandwidth") == pytest.approx(1 / 4277.92e-6)
