"""IOzone: its plans, what it refuses, and what it costs."""

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, ParameterError

TOOL = tools.get("iozone")
NODES = {"client": [NodeRef(name, "192.0.2.1", "/mnt/fs") for name in ("one", "two", "three")]}


def plan(**params):
    return TOOL.plan(TOOL.clean(params), NODES)


def argvs(stage):
    return [" ".join(command.argv) for command in stage.commands]


def test_each_test_is_a_stage_that_all_clients_begin_together():
    params = {"random": True, "strided": True, "stride": 5, "drop_cache": False}
    run_plan = plan(clients=2, file_size="64M", record_size="64K", **params)
    assert [stage.name for stage in run_plan.stages] == ["check", "write", "read", "random", "strided", "clean"]
    assert [stage.together for stage in run_plan.stages] == [False, True, True, True, True, False]
    assert argvs(run_plan.stages[1]) == [
        f"iozone -e -c -w -r 64k -s 65536k -i 0 -f /mnt/fs/.fathom-iozone-{index}.0" for index in (0, 1)
    ]
    assert argvs(run_plan.stages[4])[1] == "iozone -e -c -r 64k -s 65536k -i 5 -j 5 -f /mnt/fs/.fathom-iozone-1.0"
    assert all(command.time_limit_s == 1800 for command in run_plan.stages[1].commands)


def test_threads_have_files_of_their_own_and_all_are_removed():
    run_plan = plan(
        clients=1, file_size="64M", threads=2, direct=True, sync=True, read=False, retest=False, folder="a/b"
    )
    files = "/mnt/fs/a/b/.fathom-iozone-0.0 /mnt/fs/a/b/.fathom-iozone-0.1"
    assert argvs(run_plan.stages[1]) == [f"iozone -e -c -I -o -+n -r 1024k -s 65536k -i 0 -t 2 -F {files}"]
    (clean,) = run_plan.stages[-1].commands
    assert " ".join(clean.argv) == f"rm -rf -- {files}"
    assert clean.optional
    assert not clean.measures


def test_the_neighbours_files_are_read():
    run_plan = plan(clients=3, file_size="64M", neighbour=True, drop_cache=False)
    files = [argv.split()[-1][-3] for argv in argvs(run_plan.stages[2])]
    assert files == ["1", "2", "0"]
    assert [argv.split()[-1][-3] for argv in argvs(run_plan.stages[1])] == ["0", "1", "2"]


def test_the_cache_is_emptied_and_looked_at_before_each_reading():
    run_plan = plan(clients=1, file_size="64M", threads=2, random=True)
    names = ["check", "write", "drop-read", "look-read", "read", "drop-random", "look-random", "random", "clean"]
    assert [stage.name for stage in run_plan.stages] == names
    files = [f"/mnt/fs/.fathom-iozone-0.{thread}" for thread in (0, 1)]
    assert argvs(run_plan.stages[2]) == [f"dd if={path} iflag=nocache count=0 status=none" for path in files]
    assert argvs(run_plan.stages[3]) == [f"fincore --bytes --noheadings --output RES,SIZE,FILE -- {' '.join(files)}"]
    assert all(command.optional for stage in run_plan.stages[2:4] for command in stage.commands)


def test_direct_io_needs_no_empty_cache():
    assert [stage.name for stage in plan(direct=True).stages] == ["check", "write", "read", "clean"]


def test_the_neighbours_files_are_those_whose_cache_is_emptied():
    run_plan = plan(clients=3, file_size="64M", neighbour=True)
    assert [argv.split()[1][-3] for argv in argvs(run_plan.stages[2])] == ["1", "2", "0"]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"file_size": "64K", "record_size": "1M"}, "file_size"),
        ({"file_size": "100K", "record_size": "64K"}, "file_size"),
        ({"record_size": 1500}, "record_size"),
        ({"folder": "../etc"}, "folder"),
        ({"folder": "/etc"}, "folder"),
        ({"folder": "-rf"}, "folder"),
    ],
)
def test_it_refuses_what_iozone_would_not_do(params, field):
    with pytest.raises(ParameterError) as caught:
        TOOL.clean(params)
    assert set(caught.value.errors) == {field}


def test_it_refuses_more_clients_than_nodes_and_nodes_without_a_file_system():
    assert set(TOOL.check_cast(TOOL.clean({"clients": 3}), {"client": 2})) == {"clients"}
    assert TOOL.check_cast(TOOL.clean({"clients": 2}), {"client": 2}) == {}
    with pytest.raises(ParameterError) as caught:
        TOOL.plan(TOOL.clean({}), {"client": [NodeRef("one", "192.0.2.1")]})
    assert set(caught.value.errors) == {"file_system"}


def test_the_estimate_counts_every_pass():
    short = TOOL.estimate(TOOL.clean({"file_size": "100M", "record_size": "1M", "read": False, "retest": False}))
    long = TOOL.estimate(TOOL.clean({"file_size": "100M", "record_size": "1M"}))
    assert long.duration_s - 1 == pytest.approx(4 * (short.duration_s - 1))
