"""Switches that change a program's units change how it prints or takes an amount, and not what is read of it."""

import json
import shutil
import subprocess

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output
from tests.bench.tools.test_fio import load
from tests.bench.tools.test_forms import cases, judge, run_with_server

KIB, KB = 1024, 1000
# A size, what it is to fio by default, and with kb_base=1000 (measured of fio 3.33).
SIZES = {"4k": (4 * KIB, 4 * KB), "4KiB": (4 * KB, 4 * KIB), "8192": (8192, 8192)}
BASES = [(("--kb_base=1000",), 1), (("--kb_base=1024",), 0), ((), 0), (("--unit_base=1", "--kb_base=1000"), 1)]
FORMS = ("normal", "json", "json+", "terse")
# A second at the longest, of a known rate (bit/s).
RATE = 80e6
PACED = [
    (f"iperf3 -b 80M -n 2M -f {unit} -c 127.0.0.1 -p PORT", "iperf3-tcp", {"goodput", "sent_rate"}, {"streams": 1})
    for unit in "kKmMgGtT"
] + [
    (f"iperf -b 80M -t 1 -f {unit} -c 127.0.0.1 -p PORT", "iperf2", {"sent_rate"}, {"protocol": "tcp"})
    for unit in "bBkKmM"
]  # fmt: skip


def recovered(argv, stdout):
    output = Output("client", "measure", "north", argv, stdout, b"", 0)
    tool = tools.get("fio")
    params = tool.recover(output)
    reading = tool.parse([output], tool.clean(params))
    return params, {sample.metric: sample.value for sample in reading.samples}


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed on this machine")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("switches", "column"), BASES)
def test_sizes_are_what_the_switches_make_of_them(form, switches, column):
    for size, meanings in SIZES.items():
        # A k is of the base that was named before it.
        orders = ((switches, (), column), ((), switches, 0))
        for before, after, of_it in orders if size == "4k" and column else orders[:1]:
            argv = ("fio", "--name=a", *before, f"--bs={size}", "--size=1000000b", *after)
            argv += ("--ioengine=null", "--rw=write", "--rate=100m", f"--output-format={form}")
            stdout = subprocess.run(argv, capture_output=True, check=True, timeout=60).stdout
            params, read = recovered(argv, stdout)
            assert (params["block_size"], params["file_size"]) == (meanings[of_it], 1_000_000), argv
            assert read["write"] / read["write_iops"] == pytest.approx(meanings[of_it], rel=0.02), argv
            # The report alone: JSON has the options, text the sizes, and not that no block is for direct I/O.
            if form.startswith("json") or (form == "normal" and not meanings[of_it] % 512):
                params, _read = recovered((), stdout)
                assert params["block_size"] == meanings[of_it], stdout


def test_a_job_of_json_goes_by_the_base_that_is_given_to_all():
    job = {"jobname": "a", "groupid": 0, "error": 0, "job options": {"rw": "write", "bs": "4k", "size": "1m"}}
    way = {"io_bytes": 10**6, "bw_bytes": 10**6, "iops": 250.0, "runtime": 1000, "total_ios": 250}
    nothing = dict.fromkeys(way, 0)
    document = {"fio version": "fio-3.33", "global options": {"kb_base": "1000"}}
    document["jobs"] = [job | {"read": nothing, "write": way}]
    params, _read = recovered((), json.dumps(document).encode())
    assert (params["block_size"], params["file_size"]) == (4000, 10**6)


@pytest.mark.parametrize(("switch", "size"), [((), 256 * KIB**2), (("--kb_base=1000",), 256e6)])
def test_an_old_report_has_the_base_of_its_command(switch, size):
    # Until version 2.21: with unit_base=1 a rate is in bits.
    printed = load("seq_write_text.txt").stdout
    line = next(line for line in printed.splitlines() if b"IOPS=" in line)
    printed = printed.replace(line, b"  write: io=256.0MB, bw=3624.7Mbit/s, iops=453, runt=   565msec")
    argv = ("fio", "--name=a", *switch, "--unit_base=1", "--rw=write", "--bs=1m", "--size=256m")
    assert recovered(argv, printed)[1]["write"] == pytest.approx(size / 0.565)


@pytest.mark.parametrize(("printed", "size"), [
    ("4096B", 4096), ("512kB", 512 * KB), ("1024KiB", KIB**2), ("16.0MiB", 16 * KIB**2), ("4K", 4 * KIB),
    # 16000 B: three digits do not tell it.
    ("15.6KiB", None),
])  # fmt: skip
def test_a_printed_size_is_told_where_its_digits_tell_it(printed, size):
    stdout = load("seq_write_text.txt").stdout
    old = stdout[stdout.index(b"bs=") : stdout.index(b", ioengine")]
    new = f"bs=(R) {printed}-{printed}, (W) {printed}-{printed}, (T) {printed}-{printed}".encode()
    assert recovered((), stdout.replace(old, new))[0].get("block_size") == size


@pytest.mark.parametrize(("command", "slug", "metrics", "parameters"), cases(PACED))
def test_a_rate_is_the_same_in_every_unit(command, slug, metrics, parameters):
    read = judge(run_with_server(command).stdout, slug, metrics, parameters)
    # A busy machine paces loosely; another unit is at least 8 times as much.
    assert RATE / 2 < read["sent_rate"] < 2 * RATE
