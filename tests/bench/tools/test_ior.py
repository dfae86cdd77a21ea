"""IOR: readings and reasons of recorded reports, NFS through libnfs among them."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, Output, ParameterError, ToolFailure
from tests.bench.tools import recordings

TOOL = tools.get("ior")
MIB = 1024**2
NODES = {"node": [NodeRef(name, f"192.0.2.{number}", "/mnt/fs") for number, name in enumerate(("one", "two"), 1)]}


def load(name):
    return recordings.load("ior", name)


def read(name, **params):
    output = load(name)
    return TOOL.parse([output], TOOL.clean(TOOL.recover(output) | params))


def fail(output):
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([output], TOOL.clean(TOOL.recover(output)))
    return caught.value


def flags(reading):
    return {flag.name: flag for flag in reading.flags}


def test_it_gives_the_programs_own_means_over_the_iterations():
    reading = read("posix_np2.txt")
    assert reading.value("write") == pytest.approx(1450.33 * MIB)
    assert reading.value("read") == pytest.approx(22577.83 * MIB)
    assert reading.value("write_best") == pytest.approx(1755.68 * MIB)
    assert reading.value("write_iops") == pytest.approx((869.20 + 1756.12 + 1727.20) / 3)
    assert reading.tool_version == "4.1.0+dev"
    assert reading.granted == {"tasks": 2, "nodes": 1}
    assert reading.observed["working_set"] == 256 * MIB
    assert reading.requested["iterations"] == 3


def test_it_reads_collective_mpi_io():
    reading = read("mpiio_collective_np4.txt")
    assert reading.value("write") == pytest.approx(1177.96 * MIB)
    assert reading.value("read") == pytest.approx(843.11 * MIB)
    options = {
        name: reading.requested[name] for name in ("api", "collective", "ranks", "segments", "reorder", "fsync")
    }
    assert options == {
        "api": "MPIIO",
        "collective": True,
        "ranks": 4,
        "segments": 4,
        "reorder": True,
        "fsync": True,
    }


@pytest.mark.parametrize(
    ("name", "write", "read_rate"),
    [
        ("untuned_np4", 59.07, 67.14),
        ("tuned_np1", 54.82, 61.11),
        ("tuned_np2", 72.40, 91.03),
        ("tuned_slowdisk_np1", 19.92, 67.50),
        ("tuned_slowdisk_np4", 23.56, 113.37),
    ],
)
def test_it_reads_nfs_with_opening_and_closing(name, write, read_rate):
    reading = read(f"nfs/ior_libnfs_{name}.txt")
    assert reading.value("write") == pytest.approx(write * MIB)
    assert reading.value("read") == pytest.approx(read_rate * MIB)
    assert reading.observed["api"] == "LIBNFS"


def test_several_tests_of_a_script_are_several_results():
    """Whether each has options and a table of its own, or only a line in the summary of all."""
    output = load("posix_np2.txt")
    text = output.stdout
    tables = text[text.index(b"TestID") : text.index(b"Summary of all")]
    twice = text.replace(tables, tables + tables.replace(b"TestID              : 0", b"TestID              : 1"))
    lines = text.splitlines(keepends=True)
    rows = [line for line in lines if line.rstrip().endswith(b"POSIX      0")]
    more = b"".join(row.replace(b" NA     0 ", b" NA     1 ") for row in rows)
    summed = text.replace(b"".join(rows), b"".join(rows) + more)
    for several in (twice, summed):
        assert several != text
        assert fail(dataclasses.replace(output, stdout=several)).code == "several-results"


def test_a_commit_in_close_is_told():
    reading = read("nfs/ior_libnfs_tuned_slowdisk_np1.txt")
    assert reading.value("write_transfer") == pytest.approx(64 * MIB / 0.992970)
    found = flags(reading)["long-close-write"]
    assert (found.severity, found.metrics) == ("info", ("write",))
    assert reading.observed["times"]["write"]["close"] == 2.20
    assert "long-close-write" not in flags(read("nfs/ior_libnfs_tuned_np1.txt"))


def test_a_summary_in_csv_is_read():
    reading = read("summary.csv")
    assert reading.value("write") == pytest.approx((1904.8716 + 1738.4703) / 2 * MIB)
    assert reading.value("read_best") == pytest.approx(23264.3286 * MIB)
    assert "direct_io" not in reading.observed


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_badopt.txt", "unknown-option", "--frob"),
        ("err_diskfull.txt", "no-space", "No space left on device"),
        ("err_enoent.txt", "no-directory", "/opt/bench/nodir2/x"),
        ("err_misaligned.txt", "bad-parameter", "block size must be a multiple of transfer size"),
        ("nfs/err_nfs3err_noent.txt", "no-directory", "/f.00000000"),
    ],
)
def test_errors_have_reasons(name, code, words):
    failure = fail(load(name))
    assert failure.code == code
    assert words in str(failure.message)


def test_other_ranks_than_asked_for_make_it_invalid():
    assert flags(read("posix_np2.txt", ranks=4))["ranks-differ"].severity == "invalid"
    assert "ranks-differ" not in flags(read("posix_np2.txt"))


def test_a_report_that_breaks_off_is_not_a_result():
    output = load("posix_np2.txt")
    cut = output.stdout[: output.stdout.index(b"Finished")]
    assert fail(dataclasses.replace(output, stdout=cut)).code == "unreadable"


def test_a_row_without_a_column_is_refused():
    output = load("posix_np2.txt")
    cut = output.stdout.replace(b"0.294738   0", b"0.294738    ")
    assert cut != output.stdout
    assert fail(dataclasses.replace(output, stdout=cut)).code == "unreadable"


def test_a_signal_alone_tells_what_ended_it():
    output = Output("node", "measure", "one", ("mpirun",), b"", b"", None, signal=9)
    assert fail(output).code == "stopped"
    assert fail(dataclasses.replace(output, timed_out=True)).code == "timed-out"


def test_data_that_are_not_what_was_written_are_told():
    output = load("posix_np2.txt")
    text = output.stdout.replace(b"Results: \n", b"Results: \nWARNING: Incorrect data on read (3 errors found).\n")
    assert fail(dataclasses.replace(output, stdout=text)).code == "damaged-data"


def test_a_read_that_is_missing_is_no_result():
    params = TOOL.clean({"ranks": 2, "block_size": "64M"})
    output = load("posix_np2.txt")
    lines = [line for line in output.stdout.splitlines(keepends=True) if not line.startswith(b"read")]
    table = b"Filesystem Type 1B-blocks Avail Mounted on\n/dev/x ext4 100 100 /mnt/fs\n"
    check = Output("node", "check", "one", ("df", "--", "/mnt/fs"), table, b"", 0)
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse([check, dataclasses.replace(output, stdout=b"".join(lines))], params)
    assert "read" in str(caught.value.message)


def plan(**params):
    return TOOL.plan(TOOL.clean(params), NODES)


def test_the_plan_checks_every_mount_and_starts_the_ranks_once():
    run_plan = plan(api="MPIIO", collective=True, block_size="8M", transfer_size="256K", ranks=4, segments=2)
    assert [stage.name for stage in run_plan.stages] == ["check", "measure", "clean"]
    assert [command.role for command in run_plan.stages[0].commands] == ["node", "node"]
    (measure,) = run_plan.stages[1].commands
    argv = " ".join(measure.argv)
    assert argv.startswith("mpirun ")
    assert argv.endswith(
        "{program:ior} -a MPIIO -w -r -c -C -e -b 8388608 -t 262144 -s 2 -i 1 -o /mnt/fs/.fathom-ior-0"
    )


def test_files_of_each_rank_are_removed():
    run_plan = plan(file_per_process=True, ranks=2, direct=True, read=False, clients=1)
    assert "--posix.odirect" in run_plan.stages[1].commands[0].argv
    (clean,) = run_plan.stages[2].commands
    assert clean.argv[3:] == (
        "/mnt/fs/.fathom-ior-0",
        "/mnt/fs/.fathom-ior-0.00000000",
        "/mnt/fs/.fathom-ior-0.00000001",
    )


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"block_size": "5M", "transfer_size": "2M"}, "block_size"),
        ({"collective": True}, "collective"),
        ({"direct": True, "api": "MPIIO"}, "direct"),
    ],
)
def test_it_refuses_what_ior_does_not_take(params, field):
    with pytest.raises(ParameterError) as caught:
        TOOL.clean(params)
    assert set(caught.value.errors) == {field}


def test_it_refuses_more_nodes_than_there_are():
    assert set(TOOL.check_cast(TOOL.clean({"clients": 3}), {"node": 2})) == {"clients"}


OLDER = """IOR-{version}: MPI Coordinated Test of Parallel I/O

{began}: Sat Nov 21 08:27:49 2026
Command line used: ./IOR -a POSIX -b 1g -t 1m -o /x

Summary:
\tapi                = POSIX
\ttest filename      = /x
\taccess             = single-shared-file
\tclients            = 2 (2 per node)
\trepetitions        = 1
\txfersize           = 1 MiB
\tblocksize          = 1 GiB
\taggregate filesize = 2 GiB

access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
write     229.47     1048576    1024.00    0.000122   8.92       0.000052   8.92       0
read      2290.47    1048576    1024.00    0.000122   0.89       0.000052   0.89       0

{ended}: Sat Nov 21 08:28:49 2026
"""


@pytest.mark.parametrize(
    "words",
    [
        {"version": "3.0.1", "began": "Began", "ended": "Finished"},
        {"version": "2.10.3", "began": "Run began", "ended": "Run finished"},
    ],
)
def test_the_form_of_older_versions_is_read(words):
    output = dataclasses.replace(load("posix_np2.txt"), argv=(), stdout=OLDER.format(**words).encode())
    reading = TOOL.parse([output], TOOL.clean(TOOL.recover(output)))
    assert reading.value("write") == pytest.approx(229.47 * MIB)
    sizes = {name: reading.requested[name] for name in ("block_size", "transfer_size", "ranks", "file_per_process")}
    assert sizes == {"block_size": 1024 * MIB, "transfer_size": MIB, "ranks": 2, "file_per_process": False}
    assert reading.granted["tasks"] == 2
    assert reading.observed["working_set"] == 2048 * MIB
