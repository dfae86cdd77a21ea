"""mdtest: readings and reasons of recorded reports."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, Output, ParameterError, ToolFailure
from tests.bench.tools import recordings

TOOL = tools.get("mdtest")
NODES = {"node": [NodeRef("one", "192.0.2.1", "/mnt/fs")]}


def output_with(old=b"", new=b""):
    output = recordings.load("mdtest", "np2.txt")
    assert old in output.stdout
    return dataclasses.replace(output, stdout=output.stdout.replace(old, new) if old else output.stdout)


def parse(*outputs, **params):
    return TOOL.parse(outputs, TOOL.clean(TOOL.recover(outputs[-1]) | params))


def fail(*outputs, **params):
    with pytest.raises(ToolFailure) as caught:
        parse(*outputs, **params)
    return caught.value


def test_it_gives_operations_a_second():
    reading = parse(output_with())
    assert {sample.metric: sample.value for sample in reading.samples} == {
        "directory_create": 41885.253,
        "directory_stat": 910797.823,
        "directory_rename": 68032.833,
        "directory_remove": 9698.728,
        "file_create": 53963.211,
        "file_stat": 823117.525,
        "file_read": 486666.155,
        "file_remove": 259982.315,
        "tree_create": 38983.983,
        "tree_remove": 1281.095,
    }
    assert {metric.unit for metric in TOOL.metrics if metric.name != "queue_time"} == {"op/s"}
    assert reading.tool_version == "4.1.0+dev"
    assert reading.granted == {"tasks": 2, "nodes": 1}
    assert reading.observed["standard_deviation"]["file_create"] == 48692.748
    assert reading.requested["items"] == 200
    assert reading.requested["iterations"] == 2


def test_the_older_form_with_colons_is_read():
    output = output_with(b"SUMMARY rate (in ops/sec): (of", b"SUMMARY: (of")
    text = output.stdout.replace(b"   File creation   ", b"   File creation   :")
    assert parse(dataclasses.replace(output, stdout=text)).value("file_create") == 53963.211


@pytest.mark.parametrize("head", [b"SUMMARY: (of", b"SUMMARY rate: (of", b"SUMMARY rate (in ops/sec): (of"])
def test_the_summary_of_every_version_is_read(head):
    """That of 3.3 and 4.0 says "rate" without its unit."""
    assert parse(output_with(b"SUMMARY rate (in ops/sec): (of", head)).value("file_create") == 53963.211


def test_summaries_of_several_numbers_of_tasks_are_several_results():
    """With -f, -l and -s each number of tasks has its own: the first is not that of all."""
    text = output_with().stdout
    begin = text.index(b"2 tasks, ")
    both = text[:begin] + text[begin : text.index(b"-- finished")].replace(b"2 tasks, ", b"1 tasks, ") + text[begin:]
    assert fail(output_with(text, both)).code == "several-results"


def test_the_tasks_are_those_of_the_summary():
    found = parse(output_with(b"launched with 2 total", b"launched with 4 total"))
    assert found.granted["tasks"] == found.requested["ranks"] == 2


def test_what_a_time_limit_kept_from_being_made_is_not_told():
    output = output_with()
    assert "items" in TOOL.recover(output)
    assert "items" not in TOOL.recover(dataclasses.replace(output, argv=(*output.argv, "-W", "5")))


def test_what_was_not_done_has_no_figure():
    row = b"   Directory rename            68108.700      67956.967      68032.833        107.291\n"
    nothing = b"   Directory rename                0.000          0.000          0.000          0.000\n"
    assert parse(output_with(row, nothing)).value("directory_rename") is None


def test_a_report_that_breaks_off_is_not_a_result():
    assert fail(output_with(b"-- finished at", b"-- fin")).code == "unreadable"


def test_a_mean_beyond_the_largest_is_refused():
    failure = fail(output_with(b"      53963.211 ", b"      99963.211 "))
    assert "contradicts" in str(failure.message)


def test_other_ranks_than_asked_for_make_it_invalid():
    names = {flag.name: flag.severity for flag in parse(output_with(), ranks=8).flags}
    assert names["ranks-differ"] == "invalid"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b"ERROR: unable to create directory /mnt/fs/x (No space left on device), (mdtest.c:1)\n", "no-space"),
        (b"ERROR: unable to remove file /mnt/fs/x: Read-only file system, (mdtest.c:1)\n", "read-only"),
        (b"ERROR: something else, (mdtest.c:1)\n", "no-result"),
        (b"Error invalid argument: --frob\n", "unknown-option"),
        (b"There are not enough slots available in the system\n", "mpi-slots"),
        (b"", "no-result"),
    ],
)
def test_errors_have_reasons(said, code):
    output = Output("node", "measure", "one", ("mpirun", "mdtest"), said, b"", 1)
    assert fail(output).code == code


def test_an_operation_that_is_missing_is_no_result():
    table = b"Filesystem Type 1B-blocks Avail Mounted on\n/dev/x ext4 100 100 /mnt/fs\n"
    check = Output("node", "check", "one", ("df", "--", "/mnt/fs"), table, b"", 0)
    row = b"   File stat                  892880.043     753355.007     823117.525      98659.099\n"
    assert "file_stat" in str(fail(check, output_with(row, b"")).message)
    assert parse(check, output_with(row, b""), kind="directories").value("file_stat") is None


def test_the_plan_starts_the_ranks_in_a_folder_of_ours():
    params = TOOL.clean({"items": 100, "kind": "files", "own_directory": True, "write_size": "4K", "read_size": "4K"})
    run_plan = TOOL.plan(params, NODES)
    assert [stage.name for stage in run_plan.stages] == ["check", "measure", "clean"]
    argv = " ".join(run_plan.stages[1].commands[0].argv)
    assert argv.endswith("{program:mdtest} -n 100 -i 1 -F -u -N 1 -w 4096 -e 4096 -d /mnt/fs/.fathom-mdtest-0")
    assert run_plan.stages[2].commands[0].argv == ("rm", "-rf", "--", "/mnt/fs/.fathom-mdtest-0")


def test_it_refuses_to_read_more_than_is_written():
    with pytest.raises(ParameterError) as caught:
        TOOL.clean({"read_size": "4K"})
    assert set(caught.value.errors) == {"read_size"}
