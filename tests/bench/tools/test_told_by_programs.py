"""Programs that are given options beside their own defaults print some of them: what is read of these was given."""

import dataclasses
import pathlib

import pytest

from apps.bench import recognition, tools
from tests.bench.tools import test_forms
from tests.bench.tools.test_real_programs import needs
from tests.bench.tools.test_told_alone import NEAR

FIO = "fio --name=a --directory=FOLDER --size=1M --unlink=1 --eta=never"
# Command, and which of its parameters its output tells by itself.
COMMANDS = [
    (f"{FIO} --rw=randread --bs=8k --ioengine=psync", "pattern block_size engine depth jobs"),
    (f"{FIO} --rw=randrw --bs=4k,16k --ioengine=sync --numjobs=2", "pattern engine depth jobs"),
    (f"{FIO} --rw=write --bs=64k --ioengine=libaio --iodepth=4 --direct=1", "pattern block_size engine depth jobs"),
    (f"{FIO} --rw=randwrite --bs=4k --ioengine=sync --output-format=json", "pattern block_size engine depth direct"),
    ("iperf3 -t 1 -P 2 -w 128K -M 1000 -c 127.0.0.1 -p PORT", "duration streams direction port"),
    ("iperf3 -t 2 -O 1 -R -V -c 127.0.0.1 -p PORT", "omit streams direction port congestion"),
    ("iperf3 -u -b 3M -l 1000 -P 2 -t 1 -J -c 127.0.0.1 -p PORT", "rate length streams direction port window"),
    ("iperf3 -u -b 3M -l 1000 -t 1 -c 127.0.0.1 -p PORT", "streams direction port"),
    ("iperf -t 1 -b 10m -w 64K -c 127.0.0.1 -p PORT", "streams protocol port window"),
    ("ping -c 2 -i 0.3 -s 100 127.0.0.1", "count payload"),
]


@pytest.mark.parametrize(
    ("command", "names"),
    [pytest.param(*case, marks=needs(case[0].split()[0]), id=case[0].replace("FOLDER", "")) for case in COMMANDS],
)
def test_what_is_read_of_an_output_is_what_was_asked_for(command: str, names: str, tmp_path: pathlib.Path) -> None:
    command = command.replace("FOLDER", str(tmp_path))
    for _attempt in range(5):
        done = test_forms.run_with_server(command) if "PORT" in command else test_forms.run(command)
        if done.returncode and b"libaio" in done.stderr + done.stdout + command.encode():
            pytest.skip("no direct I/O here")
        (finding,) = recognition.read_file(done.stdout)
        assert finding.tool is not None, done.stdout
        tool = tools.get(finding.tool.slug)
        argv = dataclasses.replace(finding.output, argv=tuple(done.args))
        given = tool.clean(tool.recover(argv))
        parameters = finding.parameters
        # How long it was to run is not known of one that a full machine kept at it for longer.
        if "duration" in parameters or "duration" not in names:
            break
    assert {*names.split()} <= parameters.keys()
    wrong = {
        name: (value, given[name])
        for name, value in parameters.items()
        if value != given[name] and not (name in NEAR and abs(float(value) - given[name]) <= 0.1 * given[name])
    }
    # What a kernel takes by itself is told by its name.
    assert wrong.keys() <= ({"congestion"} if "-C" not in command else set())


def test_a_block_size_of_reads_that_is_not_that_of_writes_is_not_told() -> None:
    head = (
        b"a: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 16.0KiB-16.0KiB, (T) 4096B-4096B, ioengine=sync, iodepth=1\n"
    )
    whole = pathlib.Path("tests/data/fio/text_randrw.txt").read_bytes().partition(b"\n")[2].partition(b"[exit")[0]
    (finding,) = recognition.read_file(head + whole.partition(b"\n")[2])
    assert "block_size" not in finding.parameters and finding.parameters["pattern"] == "randrw"
