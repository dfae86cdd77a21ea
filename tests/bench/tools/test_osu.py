"""OSU micro-benchmarks: readings and reasons of recorded outputs, and the commands."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import ParameterError, ToolFailure
from tests.bench.tools import recordings
from tests.bench.tools.mpi_nodes import command, node, pair_of_nodes

LATENCY, BANDWIDTH = tools.get("osu-latency"), tools.get("osu-bandwidth")


def parse(slug, name, **params):
    output = recordings.load(slug, name)
    return tools.get(slug).parse([output], tools.get(slug).clean({**tools.get(slug).recover(output), **params}))


def fail(slug, output, **params):
    tool = tools.get(slug)
    with pytest.raises(ToolFailure) as caught:
        tool.parse([output], tool.clean({**tool.recover(output), **params}))
    return caught.value


def changed(slug, name, old, new):
    output = recordings.load(slug, name)
    assert old in output.stdout
    return dataclasses.replace(output, stdout=output.stdout.replace(old, new))


def values(reading):
    return {sample.metric: sample.value for sample in reading.samples}


def test_latency_is_that_of_the_size_of_interest_and_the_table_is_kept():
    reading = parse("osu-latency", "osu_latency_intra.txt", message_size="64 KiB")
    assert values(reading) == pytest.approx({"latency": 9.97e-6, "latency_least": 0.2e-6})
    assert reading.tool_version == "7.4"
    (series,) = reading.series
    assert (series.stream, series.unit) == ("by size", "s")
    assert series.times[:3] == (1.0, 2.0, 4.0)
    assert series.times[-1] == 4194304
    assert series.values[-1] == pytest.approx(541.12e-6)


def test_tails_are_read_beside_the_mean():
    assert values(parse("osu-latency", "osu_bw_tails.txt")) == pytest.approx(
        {
            "latency": 3.40e-6,
            "latency_least": 0.43e-6,
            "latency_p50": 3.31e-6,
            "latency_p90": 3.54e-6,
            "latency_p99": 4.05e-6,
        }
    )


def test_several_pairs_are_read_with_their_number_of_ranks():
    reading = parse("osu-latency", "osu_multi_lat_4.txt", message_size=2048)
    assert values(reading)["latency"] == pytest.approx(3.16e-6)
    assert reading.requested["ranks"] == 4
    assert reading.requested["benchmark"] == "osu_multi_lat"


def test_bandwidth_counts_millions_of_bytes_and_keeps_the_map_of_its_ranks():
    reading = parse("osu-bandwidth", "osu_bw_intra.txt")
    assert values(reading) == pytest.approx(
        {"bandwidth": 9335.70e6, "bandwidth_largest": 10465.11e6, "bandwidth_pair": 9335.70e6}
    )
    assert reading.observed["map"] == [
        {"rank": 0, "host": "vm", "cores": ["0:0"]},
        {"rank": 1, "host": "vm", "cores": ["0:1"]},
    ]


@pytest.mark.parametrize(
    ("pairs", "total", "messages"), [(1, 104.00, 99.18), (2, 107.23, 102.26), (4, 108.81, 103.76), (8, 89.45, 85.31)]
)
def test_pairs_share_a_link(pairs, total, messages):
    reading = parse("osu-bandwidth", f"contention_pairs{pairs}.txt")
    assert values(reading) == pytest.approx(
        {
            "bandwidth": total * 1e6,
            "bandwidth_largest": total * 1e6,
            "bandwidth_pair": total * 1e6 / pairs,
            "message_rate": messages,
        }
    )
    assert reading.requested["pairs"] == pairs
    assert reading.granted == {"window": 8}


def test_both_directions_and_checked_data_are_read():
    assert values(parse("osu-bandwidth", "osu_bibw.txt"))["bandwidth"] == pytest.approx(12136.56e6)
    assert values(parse("osu-bandwidth", "osu_bw_graph_opts.txt"))["bandwidth"] == pytest.approx(1432.45e6)


@pytest.mark.parametrize(
    ("slug", "name", "code", "words"),
    [
        ("osu-bandwidth", "err_badopt.txt", "bad-parameter", "Invalid option"),
        ("osu-bandwidth", "err_np1.txt", "mpi-wrong-ranks", "exactly two"),
        ("osu-bandwidth", "err_np3.txt", "mpi-wrong-ranks", "exactly two"),
        ("osu-bandwidth", "err_timeout_kill.txt", "no-result", "16 of 4194304"),
        ("osu-bandwidth", "help.txt", "no-result", "Usage"),
        ("osu-latency", "err_host_unreachable.txt", "mpi-unreachable", "unable to reliably start"),
        ("osu-latency", "osu_hello.txt", "no-result", "Init Test"),
    ],
)
def test_a_failure_has_its_reason(slug, name, code, words):
    failure = fail(slug, recordings.load(slug, name))
    assert failure.code == code
    assert words in str(failure.message)


@pytest.mark.parametrize(
    ("name", "old", "new", "code"),
    [
        ("osu_bw_intra.txt", b"4194304", b"4194305 x", "no-result"),
        ("osu_bw_intra.txt", b"9335.70", b"9335,70", "no-result"),
        ("osu_bw_intra.txt", b"262144              10465.11\n", b"131072              10465.11\n", "unreadable"),
        ("osu_bw_intra.txt", b"9335.70", b"0.00", "unreadable"),
        ("osu_bw_graph_opts.txt", b"1432.45              Pass", b"1432.45              Fail", "mpi-corrupt"),
        ("contention_pairs4.txt", b"103.76", b"203.76", "unreadable"),
        ("osu_bw_intra.txt", b"Bandwidth Test v", b"Bi-Directional Bandwidth Test v", None),
    ],
)
def test_a_table_that_is_damaged_is_no_result(name, old, new, code):
    output = changed("osu-bandwidth", name, old, new)
    if code is None:
        assert fail("osu-bandwidth", output, benchmark="osu_bw").code == "unreadable"
    else:
        assert fail("osu-bandwidth", output).code == code


def test_a_size_that_was_not_measured_is_named():
    output = recordings.load("osu-bandwidth", "osu_bw_graph_opts.txt")
    params = BANDWIDTH.clean({"min_size": 512, "max_size": 4096, "message_size": 512})
    with pytest.raises(ToolFailure) as caught:
        BANDWIDTH.parse([output], params)
    assert caught.value.code == "mpi-no-size"


def test_two_outputs_in_one_file_are_not_mixed():
    output = recordings.load("osu-bandwidth", "osu_bw_intra.txt")
    twice = dataclasses.replace(output, stdout=output.stdout + output.stdout)
    assert fail("osu-bandwidth", twice).code == "several-results"


def test_a_run_cut_short_is_a_failure():
    output = recordings.load("osu-latency", "osu_latency_intra.txt")
    assert fail("osu-latency", dataclasses.replace(output, timed_out=True)).code == "timed-out"


def test_latency_and_bandwidth_know_their_own_outputs():
    for slug, other in (("osu-latency", BANDWIDTH), ("osu-bandwidth", LATENCY)):
        names = [name for name in recordings.names(slug) if name.startswith(("osu_l", "osu_b", "osu_m", "cont"))]
        for name in names:
            output = dataclasses.replace(recordings.load(slug, name), argv=())
            assert tools.get(slug).recognises(output), name
            assert not other.recognises(output), name


def test_options_become_words_of_the_benchmark():
    job = command(
        "osu-bandwidth",
        pair_of_nodes(),
        benchmark="osu_mbw_mr",
        pairs=2,
        window=8,
        iterations=100,
        warmup=1,
        validate=True,
    )
    words = "{program:osu_mbw_mr} -m 1:1048576 -i 100 -x 1 -c -W 8 -V"
    assert " ".join(job.argv).endswith(words)
    assert "-np 4" in " ".join(job.argv)
    barrier = command("osu-latency", [node("a")], benchmark="osu_barrier", ranks=4)
    assert barrier.argv[-1] == "{program:osu_barrier}"
    reduce = command("osu-latency", [node("a")], benchmark="osu_allreduce", ranks=4)
    assert reduce.argv[-4:] == ("-m", "1:1048576", "-M", "536870912")


@pytest.mark.parametrize(
    ("slug", "params", "field"),
    [
        ("osu-latency", {"ranks": 4}, "ranks"),
        ("osu-latency", {"benchmark": "osu_multi_lat", "ranks": 3}, "ranks"),
        ("osu-latency", {"benchmark": "osu_bcast", "ranks": 1}, "ranks"),
        ("osu-latency", {"min_size": 2048, "max_size": 1024}, "min_size"),
        ("osu-latency", {"message_size": 3000}, "message_size"),
        ("osu-bandwidth", {"pairs": 2}, "pairs"),
        ("osu-bandwidth", {"partition": "a b"}, "partition"),
        ("osu-bandwidth", {"launcher": "slurm", "distance": 2}, "distance"),
    ],
)
def test_what_the_benchmark_would_refuse_is_refused_before(slug, params, field):
    with pytest.raises(ParameterError) as caught:
        tools.get(slug).clean(params)
    assert set(caught.value.errors) == {field}
