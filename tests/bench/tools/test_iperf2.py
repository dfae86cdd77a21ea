"""iperf 2: its units, what the receiver counted, and its ways to fail without saying so."""

import dataclasses
import re

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef
from tests.bench.tools import recordings
from tests.bench.tools.reading import changed, fail, figures, flags, parse, read, recognised_as, said

NODES = {"server": [NodeRef("south", "192.0.2.2")], "client": [NodeRef("north", "192.0.2.1")]}


def argv_of(**params):
    tool = tools.get("iperf2")
    return [" ".join(stage.commands[0].argv) for stage in tool.plan(tool.clean(params), NODES).stages]


def test_the_receivers_bytes_are_the_goodput():
    reading = read("iperf2", "plan_w64k.txt", "plan_w64k_server.txt")
    assert figures(reading) == pytest.approx(
        {
            "goodput": 113135537,
            "sent_rate": 112713819,
            "retransmits": 0,
            "cwnd_max": 294 * 1024,
            "mean_rtt": (4.813e-3 + 6.827e-3) / 2,
            "window_granted": 131072,
        }
    )
    assert reading.granted == {"buffer": 131072}
    assert reading.observed == {"streams": 1, "mss": 1448, "connect_rtt": 4.796e-3}
    assert reading.flags == ()
    assert reading.tool_version == "2.1.8"
    (series,) = reading.series
    assert (series.metric, series.unit, len(series.values)) == ("sent_rate", "bit/s", 2)


def test_the_rates_of_streams_are_summed_over_the_time_of_the_longest():
    reading = read("iperf2", "plan_P2.txt", "plan_P2_server.txt")
    assert reading.value("goodput") == pytest.approx((123732028 + 92143676) * 8 / 2.0644, rel=1e-4)
    assert reading.value("fairness") == pytest.approx(0.979, abs=1e-3)
    assert reading.observed["streams"] == 2


def test_its_own_sum_that_exceeds_the_link_is_not_taken():
    reading = read("iperf2", "tcp_P4.txt")
    assert b"1.02 Gbits/sec" in recordings.load("iperf2", "tcp_P4.txt").stdout
    assert reading.value("sent_rate") == pytest.approx(980e6, rel=2e-3)
    assert reading.value("goodput") is None
    assert flags(reading) == {"receiver-unseen": "warning"}


@pytest.mark.parametrize(
    ("name", "rate", "buffer"),
    [
        ("tcp_e.txt", 972e6, 16384),
        ("tcp_csv.txt", 977126516, None),
        # Two rows without a sum, whose times have one digit: bytes and rates tell when they ended.
        ("tcp_P2_csv.txt", (114425916 + 137101372) * 8 / (114425916 * 8 / 445654069), None),
    ],
)
def test_text_and_csv_of_the_sender_are_read(name, rate, buffer):
    reading = read("iperf2", name)
    assert reading.value("sent_rate") == pytest.approx(rate, rel=1e-3)
    assert reading.granted.get("buffer") == buffer


def test_text_with_more_than_rates_gives_windows_and_rtt():
    reading = read("iperf2", "tcp_e.txt")
    assert reading.value("cwnd_max") == 1712 * 1024
    assert reading.value("mean_rtt") == pytest.approx((10.783e-3 + 9.699e-3) / 2)
    assert reading.value("retransmits") == 0
    assert reading.series[0].values == pytest.approx((990e6, 989e6))


def test_datagrams_are_counted_by_the_server_even_through_the_client():
    reading = read("iperf2", "plan_udp_over.txt")
    assert figures(reading) == pytest.approx(
        {
            "goodput": 261478185,
            "sent_rate": 834153965,
            "loss": 17117 / 26086,
            "jitter": 5.799e-3,
            "out_of_order": 0,
        },
        rel=1e-3,
    )
    assert flags(reading) == {"sender-too-slow": "warning"}


def test_the_datagrams_of_streams_are_summed():
    reading = read("iperf2", "plan_udp.txt", "plan_udp_server.txt")
    lines = recordings.load("iperf2", "plan_udp.txt").stdout.decode()
    assert "Server Report" in lines
    assert reading.value("loss") == pytest.approx(0.1459, abs=1e-3)
    assert reading.value("sent_rate") == pytest.approx(1e8, rel=0.01)
    assert reading.value("goodput") == pytest.approx(66.97e6, rel=1e-3)
    assert reading.observed["streams"] == 2


def test_a_servers_log_of_one_test_is_enough():
    assert read("iperf2", "plan_w64k_server.txt").value("goodput") == 113135537
    reading = read("iperf2", "plan_udp_over_server.txt")
    assert reading.value("loss") == pytest.approx(17117 / 26086)
    assert reading.value("sent_rate") is None


@pytest.mark.parametrize(("name", "count"), [("server_log.txt", 7), ("server_udp_log.txt", 2)])
def test_a_servers_log_of_several_tests_is_refused(name, count):
    failure = fail("iperf2", recordings.load("iperf2", name))
    assert failure.code == "several-results"
    assert failure.message.params["n"] == count


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_badhost.txt", "bad-host", "nosuch.invalid"),
        ("err_refused.txt", "refused", "10.9.2.2"),
        # It tells of an option that it does not know, measures for 10 s without, and exits with 0.
        ("err_badopt.txt", "unknown-option", "--frob"),
        ("udp_csv.txt", "refused", "10.9.2.2"),
        ("udp_over.txt", "refused", "10.9.2.2"),
        ("err_udp_no_report.txt", "no-reply", "10.9.12.2"),
        ("version.txt", "no-result", "iperf version 2.1.8"),
    ],
)
def test_a_failure_has_its_reason_whatever_the_exit_status(name, code, words):
    failure = fail("iperf2", recordings.load("iperf2", name))
    assert failure.code == code
    assert words in str(failure.message)


def test_the_servers_words_tell_why_it_did_not_serve():
    server = said("iperf2", stderr=b"bind failed: Address already in use\n", role="server")
    assert fail("iperf2", server).code == "port-busy"


def test_a_server_that_broke_is_told_rather_than_the_refusal_that_follows():
    client = dataclasses.replace(recordings.load("iperf2", "err_refused.txt"), role="client")
    server = dataclasses.replace(said("iperf2", b"Server listening on TCP port 5001\n", role="server"), signal=11)
    assert fail("iperf2", client, server).code == "stopped"
    assert fail("iperf2", client, dataclasses.replace(server, signal=15)).code == "refused"


def test_the_first_words_are_told_and_no_rule():
    failure = fail("iperf2", said("iperf2", b"-----------\n___\n\nSomething broke\n"))
    assert failure.code == "no-result"
    assert "Something broke" in str(failure.message)


def test_a_window_that_the_kernel_capped_is_told():
    output = changed(
        "iperf2",
        "plan_w64k.txt",
        (b"131072 Byte (WARNING: requested 65536 Byte)", b"425984 Byte (WARNING: requested 1048576 Byte)"),
    )
    output = dataclasses.replace(output, argv=tuple("1M" if word == "65536" else word for word in output.argv))
    tool = tools.get("iperf2")
    reading = tool.parse([output], tool.clean(tool.recover(output)))
    assert reading.requested["window"] == 2**20
    assert reading.value("window_granted") == 425984
    assert flags(reading)["window-capped"] == "warning"


@pytest.mark.parametrize(
    ("pairs", "code"),
    [
        ([(b"112713819 bits/sec", b"512713819 bits/sec")], "unreadable"),
        ([(b"2.0188 sec", b"1.0094 sec"), (b"112713819 bits/sec", b"225427688 bits/sec")], "stopped"),
        ([(b"bits/sec", b"Bit/s")], "unreadable"),
        ([(b".", b",")], "unreadable"),
    ],
)
def test_a_report_that_contradicts_itself_or_ends_early_is_refused(pairs, code):
    assert fail("iperf2", changed("iperf2", "plan_w64k.txt", *pairs)).code == code


def in_unit(size, rate):
    """Return the report of 28 MB in about 2 s with its bytes and its rate in these words."""
    output = recordings.load("iperf2", "plan_w64k.txt")
    text = re.sub(rb"\d+ Bytes  \d+ bits/sec", size + b"  " + rate, output.stdout)
    assert text != output.stdout
    return dataclasses.replace(output, stdout=text)


@pytest.mark.parametrize("rate", [b"0.11 Gbits/sec", b"0.01 GBytes/sec", b"0.00 TBytes/sec"])
def test_a_rate_in_too_large_a_unit_is_that_of_its_bytes(rate):
    plain = read("iperf2", "plan_w64k.txt").value("goodput")
    assert parse("iperf2", in_unit(b"28444160 Bytes", rate)).value("goodput") == pytest.approx(plain, rel=0.01)


def test_a_report_whose_bytes_are_as_coarse_as_its_rate_tells_no_rate():
    failure = fail("iperf2", in_unit(b"0.03 GBytes", b"0.01 GBytes/sec"))
    assert failure.code == "unreadable"
    assert "too few digits" in str(failure.message)


@pytest.mark.parametrize(
    ("text", "rate"),
    [("200M", 209_715_200), ("200m", 200_000_000), ("1g", 1_000_000_000), ("64K", 65536), ("5000", 5000)],
)
def test_its_upper_case_letters_are_binary(text, rate):
    output = said("iperf2", words=("-c", "192.0.2.2", "-u", "-b", text, "-t", "1"))
    assert tools.get("iperf2").recover(output)["rate"] == rate


def test_parameters_are_recovered():
    recovered = tools.get("iperf2").recover(recordings.load("iperf2", "plan_w64k.txt"))
    assert recovered == {"protocol": "tcp", "window": 65536, "streams": 1, "duration": "2", "port": "5001"} | {
        "direction": "forward",
        "pace": 0,
    }


def test_both_sides_report_whole_bytes_and_the_load_is_shared():
    assert argv_of(window="64K", streams=3, duration=5) == [
        "iperf -s -B 192.0.2.2 -p 5001 -f b -e -w 65536",
        "iperf -c 192.0.2.2 -B 192.0.2.1 -p 5001 -f b -e -w 65536 -t 5 -i 1 -P 3",
    ]
    assert argv_of(protocol="udp", rate="10M", streams=4, length=8000) == [
        "iperf -s -B 192.0.2.2 -p 5001 -f b -e -u -l 8000",
        "iperf -c 192.0.2.2 -B 192.0.2.1 -p 5001 -f b -e -t 10 -i 1 -P 4 -u -b 2500000 -l 8000",
    ]


def test_an_offered_load_is_declared():
    tool = tools.get("iperf2")
    estimate = tool.estimate(tool.clean({"protocol": "udp", "rate": "80M", "streams": 2}), 1e6)
    assert (estimate.offered_bps, estimate.streams) == (80e6, 2)
    assert estimate.bytes_sent == {("client", "server"): 100_000_000}
    assert tool.estimate(tool.clean({}), 1e9).offered_bps == 0


@pytest.mark.parametrize("name", recordings.names("iperf2"))
def test_its_outputs_are_recognised(name):
    assert recognised_as("iperf2", name) == ["iperf2"]


@pytest.mark.parametrize(
    ("name", "rtt", "cwnd"), [("tcp_e_intervals.txt", (85 + 146) / 2e6, 895), ("tcp_e_P2.txt", None, None)]
)
def test_window_and_rtt_under_load_are_those_of_the_intervals(name, rtt, cwnd):
    output = recordings.load("iperf2", name)
    figures = {sample.metric: sample.value for sample in read("iperf2", name).samples}
    lines = re.findall(r"^\[ *\d+\] (\S+)-(\S+) sec .*? (\d+)K/(\d+)\(", output.stdout.decode(), re.M)
    ends = max(float(end) for _start, end, _cwnd, _rtt in lines)
    intervals = [
        (int(k), int(us)) for start, end, k, us in lines if not (float(start) == 0 and float(end) >= 0.9 * ends)
    ]
    assert figures["mean_rtt"] == pytest.approx(rtt or sum(us for _k, us in intervals) / len(intervals) / 1e6)
    assert figures["cwnd_max"] == 1024 * (cwnd or max(int(k) for _s, _e, k, _us in lines))


def test_the_last_sample_alone_is_no_mean_and_no_largest():
    output = recordings.load("iperf2", "tcp_e_intervals.txt")
    final = [
        line for line in output.stdout.splitlines(keepends=True) if b"-0.5000" not in line and b"0.5000-" not in line
    ]
    figures = {
        sample.metric for sample in parse("iperf2", dataclasses.replace(output, stdout=b"".join(final))).samples
    }
    assert "retransmits" in figures
    assert not figures & {"mean_rtt", "cwnd_max"}


def test_a_way_that_was_not_measured_is_told_beside_the_other():
    """With -r or -d, of which the report tells nothing, the client goes on where its listener cannot begin."""
    whole = recordings.load("iperf2", "tcp_P4.txt")
    output = dataclasses.replace(
        whole, argv=(), stdout=b"listener bind failed: Address already in use\n" + whole.stdout
    )
    assert flags(parse("iperf2", output)).keys() - flags(parse("iperf2", dataclasses.replace(whole, argv=()))) == {
        "one-way-alone"
    }
