"""The same run in every form that its program prints it in gives the same figures and the same parameters."""

import json
import re
import struct
import subprocess

import pytest

from apps.bench import recognition
from tests.bench.tools import recordings
from tests.bench.tools.test_real_programs import needs

WORKBOOKS = recordings.DATA / "iozone" / "workbook"


def only(raw):
    (finding,) = recognition.read_file(raw if isinstance(raw, bytes) else raw.encode())
    assert finding.failure is None, str(finding.failure.message)
    return finding


def figures(raw):
    return {sample.metric: sample.value for sample in only(raw).reading.samples}


def plain(slug, name):
    """Return a recording's stdout: what people keep, without the command line."""
    return recordings.load(slug, name).stdout.decode()


def events(report):
    """Return a report of iperf3 as --json-stream prints it since version 3.17."""
    pieces = [("start", report["start"]), *(("interval", one) for one in report["intervals"]), ("end", report["end"])]
    return "".join(json.dumps({"event": name, "data": data}) + "\n" for name, data in pieces)


@pytest.mark.parametrize("slug", ["iperf3-tcp", "iperf3-udp"])
def test_iperf3_in_one_line_and_as_events(slug):
    name = {"iperf3-tcp": "json_tcp.txt", "iperf3-udp": "json_udp.txt"}[slug]
    report = json.loads(recordings.load(slug, name).stdout)
    whole = only(json.dumps(report, indent=4))
    assert whole.slug == slug
    for form in (json.dumps(report), events(report)):
        assert only(form).slug == slug
        assert only(form).parameters == whole.parameters
        assert figures(form) == figures(json.dumps(report, indent=4))


def test_an_error_among_events_is_the_reason():
    stream = '{"event":"start","data":{"version":"iperf 3.17"}}\n{"event":"error","data":"unable to connect to server'
    (finding,) = recognition.read_file(f'{stream}: Connection refused"}}\n{{"event":"end","data":{{}}}}\n'.encode())
    assert finding.failure.code == "refused"


@pytest.mark.parametrize("prefix", ["WAN:  ", "Mon Nov 23 05:06:13 2026 ", "2026-11-23T05:06:13+0900 "])
def test_iperf3_with_a_title_or_times_before_each_line(prefix):
    text = plain(
        "iperf3-tcp", next(name for name in recordings.names("iperf3-tcp", "text_*.txt") if "err" not in name)
    )
    prefixed = "".join(prefix + line if line.strip() else line for line in text.splitlines(keepends=True))
    assert figures(prefixed) == figures(text)
    assert only(prefixed).parameters == only(text).parameters


def test_a_receiver_that_counted_nothing_is_no_rate():
    report = json.loads(plain("iperf3-tcp", "json_tcp.txt"))
    for part in (report["end"]["sum_received"], *(stream["receiver"] for stream in report["end"]["streams"])):
        part.update(bytes=0, bits_per_second=0)
    flags = {flag.name: flag for flag in only(json.dumps(report)).reading.flags}
    assert flags["nothing-received"].severity == "invalid"
    assert flags["nothing-received"].metrics == ("goodput",)


@pytest.mark.parametrize("sent", [0, 300_000])
@pytest.mark.parametrize("slug", ["iperf3-tcp", "iperf3-udp"])
def test_a_run_in_which_nothing_arrived_has_a_rate_of_zero(slug, sent):
    report = json.loads(plain(slug, {"iperf3-tcp": "json_tcp.txt", "iperf3-udp": "json_udp.txt"}[slug]))
    end = report["end"]
    end["sum_sent"].update(bytes=sent, bits_per_second=sent * 8 / end["sum_sent"]["seconds"])
    end["sum_received"].update(bytes=0, bits_per_second=0)
    if slug == "iperf3-udp":
        end["sum_received"]["lost_packets"] = end["sum_received"]["packets"]
    text = json.dumps(report)
    assert figures(text)["goodput"] == 0
    flags = {flag.name: flag for flag in only(text).reading.flags}
    assert flags["nothing-received"].severity == "warning"
    assert str(sent) in str(flags["nothing-received"].message)
    assert "below-digits" not in flags


def test_a_text_report_of_datagrams_that_were_all_lost_has_a_rate_of_zero():
    text = """Connecting to host 127.0.0.1, port 5201
[  5] local 127.0.0.1 port 42546 connected to 127.0.0.1 port 5201
[ ID] Interval           Transfer     Bitrate         Total Datagrams
[  5]   0.00-1.00   sec  5.97 MBytes  50.1 Mbits/sec  191
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec  5.97 MBytes  50.1 Mbits/sec  0.000 ms  0/191 (0%)  sender
[  5]   0.00-1.00   sec  0.00 Bytes  0.00 bits/sec  0.000 ms  191/191 (100%)  receiver

iperf Done.
"""
    assert figures(text)["goodput"] == 0
    assert figures(text)["loss"] == 1
    assert {flag.name for flag in only(text).reading.flags} >= {"nothing-received"}


@pytest.mark.parametrize(
    ("times", "omit", "is_flagged"), [(1.0, 0, False), (1.05, 0, True), (1.05, 1, False), (1.3, 1, True)]
)
def test_a_receiver_that_counted_more_than_was_sent_is_no_rate(times, omit, is_flagged):
    report = json.loads(plain("iperf3-tcp", "json_tcp.txt"))
    report["start"]["test_start"]["omit"] = omit
    sent = report["end"]["sum_sent"]["bytes"]
    seconds = report["end"]["sum_received"]["seconds"]
    report["end"]["sum_received"].update(bytes=int(times * sent), bits_per_second=times * sent * 8 / seconds)
    flags = {flag.name: flag for flag in only(json.dumps(report)).reading.flags}
    assert ("more-received" in flags) is is_flagged
    assert not is_flagged or (flags["more-received"].severity, flags["more-received"].metrics) == (
        "invalid",
        ("goodput",),
    )


def test_no_recorded_run_of_tcp_received_more_than_it_sent():
    names = [name for name in recordings.names("iperf3-tcp", "*.json") if "err" not in name]
    assert len(names) > 20
    for name in names:
        for answer in recognition.read_file(recordings.load("iperf3-tcp", name).stdout):
            flags = answer.reading.flags if answer.reading else ()
            assert "more-received" not in {flag.name for flag in flags}, name


@needs("fio")
def test_fio_in_all_its_forms_at_once(tmp_path):
    argv = ["fio", "--name=w", "--rw=write", "--bs=64k", "--size=8m", "--thinktime=2000", "--group_reporting"]
    argv += [f"--filename={tmp_path / 'file'}", "--output-format=normal,terse,json"]
    text = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout
    begin = re.search(r"^\{$", text, re.M).start()
    document, end = json.JSONDecoder().raw_decode(text, begin)
    terse = re.search(r"^3;fio-.*$", text, re.M)[0]
    report = text[:begin].replace(terse, "") + text[begin + end - begin :].replace(terse, "")
    exact = figures(json.dumps(document, indent=2))
    assert figures(json.dumps(document)) == exact
    for form in (terse, report):
        read = figures(form)
        assert read.keys() == exact.keys()
        # People's and terse reports round rates to whole units and times to whole milliseconds.
        assert read["write"] == pytest.approx(exact["write"], rel=0.05)
        assert read["write_iops"] == pytest.approx(exact["write_iops"], rel=0.05)
        assert read["write_latency"] == pytest.approx(exact["write_latency"], rel=0.1, abs=1e-6)


def test_fio_before_its_version_3():
    text = plain("fio", "seq_write_text.txt")
    old = re.sub(
        r"write: IOPS=453, BW=.*", "write: io=262144KB, bw=463972KB/s, iops=453, runt=   565msec", text
    ).replace("fio-3.33", "fio-2.1.11")
    assert figures(old) == pytest.approx(figures(text), rel=0.01)


@pytest.mark.parametrize("name", sorted(path.stem for path in WORKBOOKS.glob("*.xls")))
def test_iozone_as_a_workbook(name):
    printed, written = (WORKBOOKS / f"{name}.txt").read_bytes(), (WORKBOOKS / f"{name}.xls").read_bytes()
    # Cells are of 32 bits.
    assert figures(written) == pytest.approx(figures(printed), rel=1e-6)
    parameters = only(printed).parameters
    # The workbook does not say whether it went past the page cache.
    assert only(written).parameters == {key: value for key, value in parameters.items() if key != "direct"}


@pytest.mark.parametrize("value", [1e308, float("inf"), float("nan"), -1.0, 0.0])
def test_a_workbook_with_a_number_that_is_none_is_refused(value):
    raw = (WORKBOOKS / "all_tests.xls").read_bytes()
    for number in (512.0, 64.0):
        (finding,) = recognition.read_file(raw.replace(struct.pack("<d", number), struct.pack("<d", value)))
        assert finding.failure


def json_of(text):
    """Return a run of IOR as version 4 prints it with summaryFormat=JSON."""
    table = re.findall(r"^(write|read) +" + r"([\d.]+) +" * 9 + r"(\d+) *$", text, re.M)
    names = ("bwMiB", "iops", "latency", "blockKiB", "xferKiB", "openTime", "wrRdTime", "closeTime", "totalTime")
    rows = [{"access": row[0], **dict(zip(names, map(float, row[1:10]), strict=True))} for row in table]
    means = re.findall(r"^(write|read) +[\d.]+ +[\d.]+ +([\d.]+) ", text[text.index("Summary of") :], re.M)
    options = dict(re.findall(r"^([a-z][\w ]{2,30}?) *: (\S.*)$", text, re.M))
    return {
        "Version": re.search(r"^IOR-(\S+):", text)[1],
        "Command line": re.search(r"^Command line *: (.*)$", text, re.M)[1],
        "tests": [{"TestID": 0, "Options": options, "Results": rows}],
        "summary": [{"operation": name, "bwMeanMIB": float(mean)} for name, mean in means],
        "Finished": "Sat Nov 21 08:27:49 2026",
    }


@pytest.mark.parametrize("shape", ["flat", "nested", "one line"])
def test_ior_as_json(shape):
    text = plain("ior", "posix_np2.txt")
    document = json_of(text)
    if shape == "nested":
        # As version 3 did: the rows of a pass in a list of their own.
        rows = document["tests"][0]["Results"]
        document["tests"][0]["Results"] = [rows[start : start + 2] for start in range(0, len(rows), 2)]
    form = json.dumps(document, indent=None if shape == "one line" else 2)
    assert figures(form) == figures(text)
    assert only(form).parameters == only(text).parameters


def test_ior_without_its_command_line_does_not_say_that_it_synchronised():
    text = re.sub(r"^Command line.*\n", "", plain("ior", "posix_np2.txt"), flags=re.M)
    finding = only(text)
    assert finding.parameters.keys().isdisjoint({"fsync", "direct", "reorder"})
    assert finding.reading.observed.keys().isdisjoint({"synced", "direct_io", "uncached"})
    assert finding.parameters["transfer_size"] == 2**20


def test_a_gridftp_servers_log_tells_of_its_own_end_only():
    logs = recordings.DATA / "gridftp" / "logs"
    assert only((logs / "server.log").read_bytes()).parameters == {"write_to": "file", "size": 52428800}
    assert only((logs / "striped_data_source.log").read_bytes()).parameters["read_from"] == "memory"
    assert "write_to" not in only((logs / "striped_data_source.log").read_bytes()).parameters


def test_an_osu_table_that_ends_early_is_whole_where_no_command_says_otherwise():
    text = plain("osu-bandwidth", "osu_bw_intra.txt")
    rows = text.splitlines(keepends=True)
    shorter = "".join(rows[: len(rows) - 4])
    finding = only(shorter)
    assert finding.parameters["max_size"] < only(text).parameters["max_size"]


def test_bt_says_itself_that_its_number_of_processes_is_wrong():
    text = " *** ERROR determining processor topology for 3 processes\n     Expecting a square number of processes"
    (finding,) = recognition.read_file(f"{text} (such as 1)\n".encode())
    assert finding.slug == "btio"
    assert "for 3 processes Expecting a square number" in str(finding.failure.message)


def test_a_ping_whose_answers_came_twice():
    text = (
        "PING 10.9.2.2 (10.9.2.2) 56(84) bytes of data.\n"
        "64 bytes from 10.9.2.2: icmp_seq=1 ttl=62 time=4.83 ms\n"
        "64 bytes from 10.9.2.2: icmp_seq=1 ttl=62 time=5.91 ms (DUP!)\n"
        "64 bytes from 10.9.2.2: icmp_seq=2 ttl=62 time=4.87 ms\n\n--- 10.9.2.2 ping statistics ---\n"
        "2 packets transmitted, 2 received, +1 duplicates, 0% packet loss, time 1001ms\n"
        "rtt min/avg/max/mdev = 4.830/5.203/5.910/0.500 ms\n"
    )
    reading = only(text).reading
    assert reading.value("loss") == 0
    assert [flag.name for flag in reading.flags] == ["duplicates"]
    assert reading.series[0].values == (4.83e-3, 4.87e-3)
