"""Files that a time limit left unfinished: what was moved is what counts, and not what was planned."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import ToolFailure
from tests.bench.tools import reading, recordings

MIB = 1024**2
# Recordings of tools that can be told to end after a time: the parameter that tells the plan, and where it stands.
LARGER = ((b"64 MiB", b"6400 MiB"), (b"256 MiB", b"25 GiB"), (b"-b 64m", b"-b 6400m"))
TEN_TIMES = tuple((f"{name:20}: ".encode(), f"{name:20}: 1".encode()) for name in ("blocksize", "aggregate filesize"))
PLANS = (
    ("ior", "posix_np2.txt", "block_size", LARGER),
    ("ior", "nfs/ior_libnfs_tuned_np2.txt", "block_size", TEN_TIMES),
    ("fio", "seq_write_text.txt", "file_size", ()),
)


def larger(slug, name, pairs):
    """Return a recording whose plan was of far more than it moved."""
    output = reading.changed(slug, name, *pairs)
    argv = tuple(word.replace("64m", "6400m").replace("256M", "25600M") for word in output.argv)
    return dataclasses.replace(output, argv=argv if slug == "fio" or "nfs" not in name else ())


@pytest.mark.parametrize(("slug", "name", "planned", "pairs"), PLANS)
def test_a_plan_that_was_not_carried_out_changes_no_figure(slug, name, planned, pairs):
    whole, output = recordings.load(slug, name), larger(slug, name, pairs)
    tool = tools.get(slug)
    before, after = reading.parse(slug, whole), reading.parse(slug, output)
    assert reading.figures(after) == pytest.approx(reading.figures(before), rel=0.02)
    assert after.observed["working_set"] == pytest.approx(before.observed["working_set"], rel=0.02)
    # Nobody is told that it was measured with files of that size.
    assert planned in tool.recover(whole)
    assert planned not in tool.recover(output)


@pytest.mark.parametrize("slug", [tool.slug for tool in tools.all_tools() if tool.file_system])
def test_no_files_are_larger_than_what_was_moved(slug):
    """Nor is that of any recording: its rates and times say how much it moved."""
    tool = tools.get(slug)
    for name in recordings.names(slug):
        output = recordings.load(slug, name)
        try:
            params = tool.clean(tool.recover(output))
            found = tool.parse([output], params)
        except (ToolFailure, ValueError):
            continue
        seconds, size = found.observed.get("measured_s", {}), found.observed.get("working_set")
        moved = [found.value(metric) * seconds[metric] for metric in seconds if found.value(metric)]
        if size and moved and not found.value("read"):
            assert size * (found.granted.get("nodes") or 1) <= 1.05 * max(moved), name


def test_the_files_of_a_limited_run_fit_into_memory_as_they_do_without_the_limit():
    """IOR -D: of 1 TiB planned 4.9 GiB were moved, which a page pool of 16 GiB holds."""
    output = larger(*PLANS[0][:2], PLANS[0][3])
    limited = dataclasses.replace(
        output, stdout=output.stdout.replace(b"\nResults: ", b"stonewallingTime    : 30\n\nResults: ")
    )
    found = reading.parse("ior", limited)
    assert found.observed["working_set"] < 300 * MIB
    assert found.value("write_transfer") < 2 * found.value("write")


def test_without_a_time_of_the_pass_the_size_of_a_limited_run_is_not_known():
    output = recordings.load("ior", "posix_np2.txt")
    # The table of old versions ends with the time of closing.
    rows = (
        [*line.split()[:-2], line.split()[-1]] if len(line.split()) == 11 else [line.rstrip(b"\n")]
        for line in output.stdout.splitlines(keepends=True)
    )
    plain = dataclasses.replace(output, stdout=b"".join(b" ".join(row) + b"\n" for row in rows))
    assert reading.parse("ior", plain).observed["working_set"] == 256 * MIB
    limited = dataclasses.replace(
        plain, stdout=plain.stdout.replace(b"\nResults: ", b"stonewallingTime    : 30\n\nResults: ")
    )
    found = reading.parse("ior", limited)
    assert "working_set" not in found.observed
    assert found.value("write_transfer") is None
    assert found.value("write") == pytest.approx(1450.33 * MIB)
