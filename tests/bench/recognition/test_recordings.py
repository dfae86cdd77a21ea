"""Every recording is read to the right tool and the right figures, or to a reason that a reader can act on."""

import functools
import hashlib
import json
import math
import pathlib

import pytest

from apps.bench import recognition, tools

# Each file is read once.
pytestmark = pytest.mark.xdist_group("recordings")
DATA = pathlib.Path(__file__).parents[2] / "data"
ROWS = [line.split("\t") for line in (DATA / "recordings.tsv").read_text().splitlines() if not line.startswith("#")]
# Those of which nothing else takes an output for its own: contention is of programs that are tools themselves.
SLUGS = {tool.slug for tool in tools.all_tools()} - {"mpi-contention"}


def digest(raw):
    return hashlib.sha256(raw).hexdigest()[:16]


COPIES = {digest(path.read_bytes()): path for path in sorted(DATA.rglob("*")) if path.is_file()}
# Definitions of tools, and what agents send, are no outputs.
OUTPUTS = [path for path in COPIES.values() if path.suffix not in (".md", ".tsv", ".yaml")]
OUTPUTS = [path for path in OUTPUTS if path.parent.name != "telemetry" or path.suffix == ".txt"]


def tool_of(path):
    """Return the name of the folder: the tool whose output it is, but for what several tools share."""
    return path.relative_to(DATA).parts[0]


@functools.cache
def read(path):
    """Return what a file holds, less what is no output of anything known where something is."""
    found = recognition.read_file(path.read_bytes())
    return [item for item in found if not item.failure or item.failure.code != "unrecognised"] or found


def test_each_of_the_first_recordings_is_known_for_what_it_is():
    assert [origin for mark, origin, _tool, _outcome in ROWS if mark not in COPIES] == []
    known = {}
    for mark, origin, _tool, _outcome in ROWS:
        found = read(COPIES[mark])
        slugs = dict.fromkeys(item.slug or "|".join(item.candidates) or "-" for item in found)
        outcomes = [item.failure.code if item.failure else "ok" for item in found]
        known[origin] = ("+".join(slugs), "+".join(outcomes))
    assert known == {origin: (tool, outcome) for _mark, origin, tool, outcome in ROWS}


def test_every_output_gives_figures_of_its_tool_or_a_reason():
    assert len(OUTPUTS) > 500
    for path in OUTPUTS:
        check_output(path)


def check_output(path):
    """What fails before the program says its name may be of any that is started in this way."""
    for finding in read(path):
        if finding.reading and tool_of(path) in SLUGS:
            assert finding.slug == tool_of(path)
        if finding.failure:
            assert str(finding.failure.message).isprintable()
            assert str(finding.failure.remedy)
            continue
        assert finding.data or finding.reading
        json.dumps(finding.data, allow_nan=False)
        json.dumps(finding.parameters, allow_nan=False)
        if finding.reading:
            units = {metric.name: metric.unit for metric in finding.tool.metrics}
            assert all(math.isfinite(sample.value) and units[sample.metric] for sample in finding.reading.samples)
            assert finding.reading.samples


def test_every_tool_has_recordings():
    assert {tool.slug for tool in tools.all_tools()} - {tool_of(path) for path in OUTPUTS} == set()


@pytest.mark.parametrize(
    ("origin", "metric", "value", "unit"),
    [
        ("ping/ok.txt", "rtt_min", 4.788e-3, "s"),
        ("tracepath/pmtu_drop_to_1500.txt", "path_mtu", 1500, "B"),
        ("traceroute/udp.txt", "hops", 3, "count"),
        ("iperf3/text_fM.txt", "goodput", 107 * 1024**2 * 8, "bit/s"),
        ("iperf3/json_udp_overload.txt", "loss", 0.3269, "fraction"),
        ("iperf3/udp_cal/frag_l5888_b622M.json", "loss", 0.4028, "fraction"),
        ("iperf3/winsweep_pnu/w64K_cubic_r1.json", "goodput", 141.2545e6, "bit/s"),
        ("iperf3/streamsweep_cal_w220k/P40_wauto_cubic_r0.json", "goodput", 295.1e6, "bit/s"),
        ("iperf2/tcp_csv.txt", "sent_rate", 977_126_516, "bit/s"),
        ("iperf2/tcp_e.txt", "sent_rate", 972e6, "bit/s"),
        ("nuttcp/tcp.txt", "goodput", 977.7483e6, "bit/s"),
        ("nuttcp/udp_fparse.txt", "loss", 2 / 6104, "fraction"),
        ("netperf/stream.txt", "goodput", 975.68e6, "bit/s"),
        ("netperf/rr_P0.txt", "transaction_rate", 195.81, "1/s"),
        ("qperf/tcp.txt", "goodput", 122e6 * 8, "bit/s"),
        ("sockperf/pingpong.txt", "latency", 2535.128e-6, "s"),
        ("sockperf/throughput.txt", "sent_rate", 1292.911 * 1024**2, "bit/s"),
        ("irtt/client.txt", "rtt_median", 5.02e-3, "s"),
        ("mtr/report.txt", "rtt_mean", 4.9e-3, "s"),
        ("pathload/rcv_457.txt", "available_high", 480e6, "bit/s"),
        ("pathrate/quick_1G.txt", "capacity_low", 1002e6, "bit/s"),
        ("gridftp/memory_to_null_t.txt", "throughput", 119.05 * 1024**2, "B/s"),
        ("gridftp/stripe_2dn.txt", "throughput", 33.11 * 1024**2, "B/s"),
        ("iozone/throughput_t4.txt", "write", 760464.66 * 1024, "B/s"),
        ("iozone/opsmode_O.txt", "write", 214047 * 4096, "B/s"),
        ("fio/seq_write_text.txt", "write", 453 * 1024**2, "B/s"),
        ("ior/summary.csv", "write_best", 1904.8716 * 1024**2, "B/s"),
        ("nfs/ior_libnfs_tuned_np1.txt", "write", 54.82 * 1024**2, "B/s"),
        ("mdtest/np2.txt", "file_stat", 823117.525, "op/s"),
        ("npb_btio/bt.A.4.mpi_io_simple.txt", "io_rate", 554.35e6, "B/s"),
        ("osu/osu_bw_intra.txt", "bandwidth_largest", 10465.10e6, "B/s"),
        ("osu/contention_pairs4.txt", "bandwidth_pair", 108.81e6 / 4, "B/s"),
        ("imb/allreduce.txt", "time_max", 40.84e-6, "s"),
        ("mpi_alt/mpi4py_bench_pingpong.txt", "bandwidth", 11544.46e6, "B/s"),
    ],
)
def test_figures_are_in_base_units_whatever_the_program_prints(origin, metric, value, unit):
    (mark,) = (row[0] for row in ROWS if row[1] == origin)
    finding = read(COPIES[mark])[0]
    assert finding.reading.value(metric) == pytest.approx(value, rel=2e-3)
    assert {item.name: item.unit for item in finding.tool.metrics}[metric] == unit
