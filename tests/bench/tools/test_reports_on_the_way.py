"""What a program reports while it runs is no job, repetition or sample: figures are those of its last report."""

import json
import re
import subprocess

import pytest

from apps.bench import recognition
from tests.bench.tools import recordings
from tests.bench.tools.test_real_programs import needs

_FIO_JOB = re.compile(r"^\S.*: \(groupid=\d+, jobs=\d+\): err=", re.M)
_STREAM_LINE = re.compile(r"^\[ *(\w+)\](?:\[\w+-\w+\])? +([\d.]+)- *([\d.]+) +sec .*\n", re.M)
# Lines that a program prints on its way to the last ones.
LINES = {
    "netperf": re.compile(r"^Interim result: .*\n", re.M),
    "nuttcp": re.compile(r"^ *[\d.]+ MB / +[\d.]+ sec = +[\d.]+ Mbps(?!.*%TX).*\n|^.*\breal_sec=.*\n", re.M),
    "ping": re.compile(r"^\d+/\d+ packets, .*\n", re.M),
    "iperf2": re.compile(r"^\d{14},(?:[^,\n]+,){5}(?!0\.0-)[\d.]+-.*\n|^\d{14},(?:[^,\n]+,){5}0\.0-1\.0,.*\n", re.M),
}


def only(raw):
    (finding,) = recognition.read_file(raw.encode())
    assert finding.failure is None, str(finding.failure.message)
    return finding


def figures(raw):
    return {sample.metric: sample.value for sample in only(raw).reading.samples}


def without_lines(slug, raw):
    """Return a recording without what its program printed on the way."""
    if slug in LINES and LINES[slug].search(raw):
        return LINES[slug].sub("", raw)
    if slug not in ("iperf2", "iperf3-tcp", "iperf3-udp"):
        return raw
    ends = {}
    for line in _STREAM_LINE.finditer(raw):
        if not float(line[2]):
            ends[line[1]] = max(ends.get(line[1], 0.0), float(line[3]))

    def kept(line):
        return line[0] if not float(line[2]) and float(line[3]) > 0.9 * ends[line[1]] else ""

    return _STREAM_LINE.sub(kept, raw)


def last_report(raw):
    """Return what fio printed last, with what stands before its first report."""
    if raw.startswith("{"):
        return raw[raw.rindex("\n{\n") + 1 :]
    if starts := [match.start() for match in _FIO_JOB.finditer(raw)]:
        return raw[: starts[0]] + raw[starts[-1] :]
    return raw.splitlines(keepends=True)[-1]


@pytest.mark.parametrize("name", [*recordings.names("fio", "status_interval*"), "sigusr1.txt"])
def test_a_later_report_of_fio_replaces_the_earlier(name):
    raw = (recordings.DATA / "fio" / name).read_text()
    assert last_report(raw) != raw
    assert figures(raw) == figures(last_report(raw))
    assert only(raw).parameters == only(last_report(raw)).parameters


def test_every_recording_with_lines_on_the_way_has_the_figures_of_its_last_lines():
    shorter = set()
    for slug in (*LINES, "iperf3-tcp", "iperf3-udp"):
        for name in recordings.names(slug, "*.txt"):
            raw = (recordings.DATA / slug / name).read_text(errors="surrogateescape")
            rest = without_lines(slug, raw)
            if rest == raw or "err" in name:
                continue
            findings = recognition.read_file(raw.encode(errors="surrogateescape"))
            if len(findings) > 1 or findings[0].reading is None:
                continue
            shorter.add(slug)
            read = figures(raw)
            assert {metric: read.get(metric) for metric in figures(rest)} == figures(rest), f"{slug}/{name}"
    assert shorter == {*LINES, "iperf3-tcp", "iperf3-udp"}


@needs("fio")
@pytest.mark.parametrize("form", ["normal", "json", "terse"])
@pytest.mark.parametrize("jobs", [("--numjobs=2",), ("--numjobs=2", "--group_reporting")], ids=["apart", "together"])
@pytest.mark.parametrize("is_known", [True, False], ids=["with its command", "without"])
def test_jobs_that_report_while_they_run_are_as_many_as_they_are(tmp_path, form, jobs, is_known):
    argv = ["fio", "--name=a", f"--directory={tmp_path}", "--rw=write", "--bs=64k", "--size=4m", "--rate=20m", *jobs]
    argv += ["--time_based", "--runtime=3", "--status-interval=1", f"--output-format={form}", "--eta=never"]
    text = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout
    read = only(f"$ {' '.join(argv)}\n{text}[exit 0]\n" if is_known else text)
    # The second of them is printed when about a second has passed: each has both jobs' rate, none more.
    assert figures(text)["write"] == pytest.approx(2 * 20 * 2**20, rel=0.15)
    assert read.reading.value("write") == figures(text)["write"]
    assert read.parameters.get("jobs", 2) == 2


def test_terse_lines_that_may_be_jobs_or_reports_are_refused_in_words():
    (line,) = [
        line for line in recordings.load("fio", "terse_v3_read.txt").stdout.decode().splitlines() if ";" in line
    ]
    fields = line.split(";")
    fields[5], fields[8] = str(int(fields[5]) + 4), str(int(fields[8]) + 1)
    (finding,) = recognition.read_file(f"{line}\n{';'.join(fields)}\n".encode())
    assert finding.failure.code == "several-results"
    assert "cannot be told" in str(finding.failure.message)


def test_clients_that_ran_at_one_time_are_no_reports_of_one():
    raw = (recordings.DATA / "fio" / "status_interval.json").read_text()
    report = json.loads(last_report(raw))
    other = json.loads(last_report(raw))
    other["timestamp_ms"] += 5
    other["jobs"][0]["read"]["io_bytes"] = round(1.005 * other["jobs"][0]["read"]["io_bytes"])
    other["jobs"][0]["read"]["bw_bytes"] = round(1.005 * other["jobs"][0]["read"]["bw_bytes"])
    assert len(recognition.read_file(json.dumps(report).encode() + b"\n" + json.dumps(other).encode())) == 2


def test_runs_one_after_the_other_under_one_command_are_several_results():
    raw = (recordings.DATA / "fio" / "status_interval.json").read_text()
    again = json.loads(last_report(raw))
    again["timestamp_ms"] += 60_000
    again["jobs"][0]["read"]["total_ios"] += 1
    text = f"$ fio --output-format=json x.fio\n{last_report(raw)}{json.dumps(again)}\n[exit 0]\n"
    findings = recognition.read_file(text.encode())
    assert [finding.reading is not None for finding in findings] == [True, True]


@pytest.mark.parametrize("form", ["", "_json", "_terse"])
def test_options_of_several_jobs_that_differ_are_not_known(form):
    finding = only((recordings.DATA / "fio" / f"unlike_jobs{form}.txt").read_text())
    assert finding.parameters.keys().isdisjoint({"pattern", "block_size"})
    assert finding.parameters["jobs"] == 3
    assert (finding.parameters["file_size"], finding.parameters["duration"]) == (8 * 2**20, 1.0)


@pytest.mark.parametrize(
    "option", ["--rw=write", "--bs=4k", "--size=1m", "--ioengine=sync", "--iodepth=4", "--runtime=9"]
)
def test_each_option_that_a_second_job_has_otherwise_is_not_known(option):
    text = recordings.load("fio", "seq_write_text.txt").stdout.decode()
    command = (
        "fio --rw=read --bs=64k --size=8m --ioengine=psync --iodepth=1 --runtime=1 --time_based --name=a --name=b"
    )
    alike = only(f"$ {command}\n{text}[exit 0]\n").parameters
    unlike = only(f"$ {command} {option}\n{text}[exit 0]\n").parameters
    assert len(alike.keys() - unlike.keys()) == 1
    assert alike["jobs"] == unlike["jobs"] == 2


def test_what_a_job_file_may_have_otherwise_is_not_known():
    line = recordings.load("fio", "terse_v3_read.txt").stdout.decode()
    assert only(f"$ fio --minimal --bs=64k jobs.fio\n{line}[exit 0]\n").parameters == {}


@pytest.mark.parametrize("form", ["text", "json", "terse"])
def test_reads_and_writes_that_are_counted_as_one_are_refused_in_words(form):
    raw = (recordings.DATA / "fio" / "mixed.txt").read_text()
    if form == "json":
        report = json.loads(last_report((recordings.DATA / "fio" / "status_interval.json").read_text()))
        report["jobs"][0]["mixed"] = report["jobs"][0].pop("read")
        del report["jobs"][0]["write"]
        raw = json.dumps(report)
    if form == "terse":
        raw = raw.splitlines()[0] + " --minimal\n" + recordings.load("fio", "terse_v3_read.txt").stdout.decode()
    (finding,) = recognition.read_file(raw.encode())
    assert "as one" in str(finding.failure.message)
    assert "--unified_rw_reporting" in str(finding.failure.remedy)


@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("nuttcp", "amount.txt"),
        ("netperf", "amount.txt"),
        ("iperf2", "amount.txt"),
        ("iperf3-tcp", "text_amount.txt"),
    ],
)
def test_a_time_that_nobody_asked_for_is_not_expected(slug, name):
    finding = only((recordings.DATA / slug / name).read_text())
    assert finding.slug == slug
    assert "duration" not in finding.parameters


@pytest.mark.parametrize("slug", ["nuttcp", "netperf", "iperf2", "iperf3-tcp", "iperf3-udp", "sockperf", "irtt"])
def test_without_its_command_no_recording_ended_early(slug):
    """What a report itself tells of the time that it was told to take is the same report's."""
    for name in recordings.names(slug, "*.txt"):
        output = recordings.load(slug, name)
        told = re.search(rb"time_limit=|\"duration\"", output.stdout)
        for finding in recognition.read_file(output.stdout):
            assert told or finding.failure is None or "ended after" not in str(finding.failure.message), name
