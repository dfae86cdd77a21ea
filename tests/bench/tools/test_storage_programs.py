"""IOzone and fio, planned and carried out for real on a file system in memory, and read back."""

import dataclasses
import pathlib
import shutil
import tempfile

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, ToolFailure
from tests.bench.tools import carrying

MOUNT = pathlib.Path("/dev/shm")


def needs(program):
    there = carrying.installed(program) and MOUNT.is_mount()
    return pytest.mark.skipif(not there, reason=f"{program} or {MOUNT} is not there on this machine")


@pytest.fixture
def folder():
    """Yield the name of a folder below the mount that the jobs' user may write in."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="fathom-test-", dir=MOUNT))
    path.chmod(0o777)
    yield path.name
    shutil.rmtree(path)


def nodes(directory=str(MOUNT), count=1):
    return {"client": [NodeRef(f"client{number}", "127.0.0.1", directory) for number in range(count)]}


def run(slug, tmp_path, at, **params):
    """Return the outputs of a measurement, and its reading."""
    tool = tools.get(slug)
    cleaned = tool.clean(params)
    outputs = carrying.carry_out(tool.plan(cleaned, at), at, tmp_path / "jobs")
    return outputs, tool.parse(outputs, cleaned)


@pytest.fixture(autouse=True)
def jobs(tmp_path):
    (tmp_path / "jobs").mkdir()


def left(folder):
    return list((MOUNT / folder).iterdir())


@needs("iozone")
def test_iozone_does_every_test_and_leaves_nothing(tmp_path, folder):
    params = {"file_size": "4M", "record_size": "64K", "random": True, "backward": True, "strided": True}
    outputs, reading = run("iozone", tmp_path, nodes(), folder=folder, **params)
    own = [output.stage for output in outputs if not output.stage.startswith(("drop-", "look-"))]
    assert own == ["check", "write", "read", "random", "backward", "strided", "clean"]
    # What lies in memory cannot be taken out of it.
    assert reading.observed["uncached"] == []
    metrics = {sample.metric for sample in reading.samples}
    assert metrics == {
        "write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "strided_read",
    }  # fmt: skip
    assert all(sample.value > 1e6 for sample in reading.samples)
    assert reading.observed["working_set"] == 4 * 1024**2
    assert reading.observed["file_system"] == "tmpfs"
    assert not left(folder)


@needs("iozone")
@pytest.mark.skipif(not carrying.installed("dd", "fincore"), reason="dd and fincore are not there on this machine")
def test_the_cache_is_empty_before_files_are_read(tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    place.chmod(0o777)
    mount = place
    while not mount.is_mount():
        mount = mount.parent
    subfolder = place.relative_to(mount)
    params = {"file_size": "8M", "record_size": "1M", "random": True, "folder": str(subfolder)}
    _outputs, reading = run("iozone", tmp_path, nodes(str(mount)), **params)
    if reading.observed["file_system"] == "tmpfs":
        pytest.skip("what lies in memory cannot be taken out of it")
    assert reading.observed["uncached"] == ["read", "random_read"]
    assert not list(place.iterdir())


@needs("iozone")
def test_iozone_runs_threads_on_several_clients(tmp_path, folder):
    params = {"file_size": "16M", "record_size": "1M", "threads": 2, "retest": False, "neighbour": True}
    _outputs, reading = run("iozone", tmp_path, nodes(count=2), folder=folder, **params)
    each = [client["write"] for client in reading.observed["clients"]]
    assert len(each) == 2
    assert reading.value("write") == pytest.approx(sum(each))
    assert 0.5 <= reading.value("fairness") <= 1
    assert 0 <= reading.observed["overlap"] <= 1
    assert not left(folder)


@needs("iozone")
@pytest.mark.parametrize("slug", [pytest.param(slug, marks=needs(slug)) for slug in ("iozone", "fio")])
def test_nothing_is_written_where_nothing_is_mounted(tmp_path, slug):
    place = tmp_path / "no-mount"
    place.mkdir(mode=0o777)
    with pytest.raises(ToolFailure) as caught:
        run(slug, tmp_path, nodes(str(place)), file_size="4M")
    assert caught.value.code == "not-mounted"
    assert not list(place.iterdir())


@needs("iozone")
def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ToolFailure) as caught:
        run("iozone", tmp_path, nodes(), folder="fathom-no-such-folder", file_size="4M")
    assert caught.value.code == "no-directory"
    assert not (MOUNT / "fathom-no-such-folder").exists()


@needs("iozone")
def test_what_a_stopped_iozone_wrote_is_removed(tmp_path, folder):
    tool = tools.get("iozone")
    params = tool.clean({"file_size": "64M", "folder": folder, "read": False})
    plan = tool.plan(params, nodes())

    def kill(jobs):
        for job in jobs:
            job.process.kill()

    slow = dataclasses.replace(plan.stages[1].commands[0], argv=(*plan.stages[1].commands[0].argv, "-s", "3g"))
    stages = (plan.stages[0], dataclasses.replace(plan.stages[1], commands=(slow,)), plan.stages[2])
    outputs = carrying.carry_out(
        dataclasses.replace(plan, stages=stages), nodes(), tmp_path / "jobs", disturb=kill, after_s=0.1
    )
    with pytest.raises(ToolFailure) as caught:
        tool.parse(outputs, params)
    assert caught.value.code == "stopped"
    assert not left(folder)


@needs("fio")
def test_fio_reads_files_it_laid_out_and_leaves_nothing(tmp_path, folder):
    params = {"pattern": "randread", "block_size": "4K", "file_size": "4M", "duration": "2 s", "ramp": 0, "jobs": 2}
    outputs, reading = run("fio", tmp_path, nodes(), folder=folder, engine="psync", direct=False, **params)
    assert [output.stage for output in outputs] == ["check", "prepare", "measure", "clean"]
    assert reading.value("read") == reading.value("rate") > 1e6
    assert reading.value("read_latency") > 0
    assert reading.value("read_iops") == pytest.approx(reading.value("read") / 4096, rel=0.01)
    (series,) = [item for item in reading.series if item.metric == "rate"]
    assert len(series.values) >= 2
    assert sum(series.values) / len(series.values) == pytest.approx(reading.value("rate"), rel=0.5)
    # Two seconds over four megabytes: more than once.
    assert reading.observed["uncached"] == []
    assert not left(folder)


@needs("fio")
def test_fio_writes_and_verifies(tmp_path, folder):
    params = {"pattern": "randwrite", "block_size": "64K", "file_size": "4M", "duration": 0, "verify": "crc32c"}
    _outputs, reading = run("fio", tmp_path, nodes(), folder=folder, engine="psync", direct=False, **params)
    assert reading.value("write") > 1e6
    assert reading.value("read") is None
    assert "verified" in {flag.name for flag in reading.flags}
    assert not left(folder)


@needs("fio")
def test_fio_mixes_on_several_clients_at_one_time(tmp_path, folder):
    params = {"pattern": "randrw", "block_size": "64K", "file_size": "4M", "duration": "1 s", "ramp": 0}
    _outputs, reading = run("fio", tmp_path, nodes(count=2), folder=folder, engine="psync", direct=False, **params)
    assert reading.value("rate") == pytest.approx(sum(client["rate"] for client in reading.observed["clients"]))
    assert reading.value("read") > 0
    assert reading.value("write") > 0
    assert not left(folder)
