"""pathrate and pathload: capacity and available bandwidth with their doubts, and why there may be none."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, Output, ToolFailure
from tests.bench.tools import recordings

NODES = {"server": [NodeRef("south", "192.0.2.2")], "client": [NodeRef("north", "192.0.2.1")]}


def parse(slug, output, **params):
    tool = tools.get(slug)
    return tool.parse([output], tool.clean(params))


def figures(reading):
    return {sample.metric: sample.value for sample in reading.samples}


def flags(reading):
    return {flag.name: flag.severity for flag in reading.flags}


def said(slug, stdout=b"", stderr=b"", role="client"):
    argv = (tools.get(slug).programs[0], "-s", "192.0.2.2")
    return Output(role, "measure", "north", argv, stdout, stderr, 255)


def fail(slug, *outputs):
    tool = tools.get(slug)
    with pytest.raises(ToolFailure) as caught:
        tool.parse(outputs, tool.clean({}))
    return caught.value


def changed(slug, name, *pairs):
    output = recordings.load(slug, name)
    stdout = output.stdout
    for old, new in pairs:
        assert old in stdout
        stdout = stdout.replace(old, new)
    return dataclasses.replace(output, stdout=stdout)


def test_pathrate_gives_the_capacity_in_bits_per_second():
    reading = parse("pathrate", recordings.load("pathrate", "quick_1G.txt"))
    assert figures(reading) == pytest.approx(
        {
            "capacity": 1027e6,
            "capacity_low": 1002e6,
            "capacity_high": 1052e6,
            "resolution": 49e6,
            "variation": 0.096,
            "rtt_mean": 4.8e-3,
        }
    )
    assert reading.flags == ()


def test_pathrate_with_a_large_variation_is_not_believed():
    reading = parse("pathrate", recordings.load("pathrate", "quick_457.txt"))
    assert reading.value("capacity") == 1742e6
    assert reading.value("variation") == 0.565
    assert reading.value("rtt_mean") == pytest.approx(0.136)
    assert flags(reading) == {"capacity-uncertain": "invalid"}


@pytest.mark.parametrize(
    ("variation", "expected"),
    [
        (b"0.150", {}),
        (b"0.151", {"capacity-uncertain": "warning"}),
        (b"0.300", {"capacity-uncertain": "warning"}),
        (b"0.301", {"capacity-uncertain": "invalid"}),
    ],
)
def test_the_variation_is_pathrates_confidence(variation, expected):
    assert flags(parse("pathrate", changed("pathrate", "quick_1G.txt", (b"0.096", variation)))) == expected


def test_pathrate_reads_slow_links_in_kilobits():
    output = changed("pathrate", "quick_1G.txt", (b" 1002 Mbps ", b" 512 kbps "), (b" 1052 Mbps ", b" 1.5 Mbps "))
    reading = parse("pathrate", output)
    assert (reading.value("capacity_low"), reading.value("capacity_high")) == (512e3, 1.5e6)


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (b"\tPhase II will report lower bound on path capacity.\n", "lower-bound"),
        (b"Detected Interrupt Coalescence... \n", "interrupt-coalescence"),
        (b"    WARNING: Phase II did not lead to unimodal distribution.\n", "several-modes"),
    ],
)
def test_pathrates_own_warnings_are_kept(words, flag):
    output = changed("pathrate", "quick_1G.txt", (b" - Requested Quick Termination", words))
    assert flags(parse("pathrate", output)) == {flag: "warning"}


def test_pathload_gives_the_range_of_the_available_bandwidth():
    reading = parse("pathload", recordings.load("pathload", "rcv_1G.txt"))
    assert figures(reading) == pytest.approx(
        {
            "available_bandwidth": 980.51e6,
            "available_low": 933.82e6,
            "available_high": 1027.2e6,
            "probe_bytes": 236992000,
        }
    )
    assert reading.observed["duration"] == 20.7
    assert reading.observed["fleets"] == 22
    assert reading.observed["fleet_rates"][0] == 998.67e6
    assert reading.flags == ()
    other = parse("pathload", recordings.load("pathload", "rcv_457.txt"))
    assert (other.value("available_low"), other.value("available_high")) == (428.57e6, 480e6)


def test_pathload_that_found_no_upper_end_gives_a_lower_bound():
    line = b"Available bandwidth range : 933.82 - 1027.20 (Mbps)"
    for words in (
        b"Avail-bw > maximum sending rate.\nAvail-bw > 933.82 (Mbps)",
        b"Receiver NIC has interrupt coalescence enabled\nAvailable bandwidth is greater than 933.82 (Mbps)",
    ):
        reading = parse("pathload", changed("pathload", "rcv_1G.txt", (line, words)))
        assert reading.value("available_bandwidth") is None
        assert reading.value("available_low") == 933.82e6
        assert flags(reading)["lower-bound"] == "warning"
        assert ("interrupt-coalescence" in flags(reading)) == words.startswith(b"Receiver")


def test_pathload_that_was_interrupted_says_so():
    line = b"Available bandwidth range"
    words = b"Measurement terminated due to frequent CS @ sender/receiver.\n" + line
    assert flags(parse("pathload", changed("pathload", "rcv_1G.txt", (line, words)))) == {
        "context-switches": "warning"
    }


def test_the_log_that_pathload_writes_is_read_for_its_warnings():
    output = recordings.load("pathload", "rcv_1G.txt")
    log = {"pathload.log": b"Actual probing rate != desired probing rate.\n"}
    assert flags(parse("pathload", dataclasses.replace(output, collected=log))) == {"sender-too-slow": "warning"}


@pytest.mark.parametrize(
    ("slug", "stdout", "stderr", "code"),
    [
        ("pathrate", b"", b"Make sure that pathrate_snd runs at sender:: Connection refused\n", "refused"),
        ("pathrate", b"", b"bind(sock_udp):: Address already in use\n", "port-busy"),
        ("pathrate", b"", b"nosuch.invalid: unknown host\n", "bad-host"),
        ("pathrate", b"\tpathrate run from a to b\n\nSender sent terminate signal. Exiting...\n", b"", "stopped"),
        ("pathrate", b"\tpathrate run from a to b\n", b"", "unreadable"),
        ("pathrate", b"", b"pathrate_rcv: invalid option -- 'Z'\n", "unknown-option"),
        ("pathrate", b"", b"", "no-result"),
        ("pathload", b"\t*****  RESULT *****\nAvail-bw < minimum sending rate.\n", b"", "out-of-range"),
        ("pathload", b"\t*****  RESULT *****\nAvail-bw > maximum sending rate.\n", b"", "out-of-range"),
        ("pathload", b"pathload_snd did not respond for 60 sec\n", b"", "no-reply"),
        ("pathload", b"", b"Unable to connect to 192.0.2.2 port 55002\n", "no-reply"),
        ("pathload", b"", b"ERROR :: failed to bind DGRAM socket:: Address already in use\n", "port-busy"),
        ("pathload", b"Receiver a starts measurements at sender b\n", b"", "unreadable"),
        ("pathload", b"", b"usage: pathload_rcv\n", "no-result"),
    ],
)
def test_no_estimate_is_a_failure_with_its_reason(slug, stdout, stderr, code):
    assert fail(slug, said(slug, stdout, stderr)).code == code


@pytest.mark.parametrize("slug", ["pathrate", "pathload"])
def test_a_sender_that_could_not_serve_tells_why(slug):
    output = said(slug, stderr=b"bind(sock_tcp):: Address already in use\n", role="server")
    assert fail(slug, output).code == "port-busy"


@pytest.mark.parametrize(
    ("slug", "name", "old", "new"),
    [
        ("pathrate", "quick_1G.txt", b" 1052 Mbps ", b" 52 Mbps "),
        ("pathload", "rcv_1G.txt", b"933.82 -", b"9933.82 -"),
        ("pathload", "rcv_1G.txt", b"933.82 -", b"0.00 -"),
    ],
)
def test_a_range_whose_ends_are_exchanged_is_refused(slug, name, old, new):
    assert fail(slug, changed(slug, name, (old, new))).code == "unreadable"


@pytest.mark.parametrize(("slug", "name"), [("pathrate", "quick_1G.txt"), ("pathload", "rcv_1G.txt")])
def test_two_results_in_one_output_are_refused(slug, name):
    output = recordings.load(slug, name)
    assert fail(slug, dataclasses.replace(output, stdout=2 * output.stdout)).code == "several-results"


def test_pathrate_is_quick_or_takes_its_time():
    tool = tools.get("pathrate")
    quick, full = (tool.plan(tool.clean({"quick": quick}), NODES) for quick in (True, False))
    assert quick.stages[0].commands[0].argv == ("pathrate_snd",)
    assert quick.stages[1].commands[0].argv == ("pathrate_rcv", "-v", "-Q", "-s", "192.0.2.2")
    assert full.stages[1].commands[0].argv == ("pathrate_rcv", "-v", "-s", "192.0.2.2")
    assert quick.stages[1].commands[0].time_limit_s == 600
    assert full.stages[1].commands[0].time_limit_s == 3600


def test_pathload_keeps_its_log():
    tool = tools.get("pathload")
    serve, measure = (stage.commands[0] for stage in tool.plan(tool.clean({"resolution": "2.5M"}), NODES).stages)
    assert serve.argv == ("pathload_snd",)
    assert serve.ends_by_itself
    assert measure.argv == ("pathload_rcv", "-o", "pathload.log", "-w", "2.5", "-s", "192.0.2.2")
    assert measure.collect == ("pathload.log",)
    assert tool.clean(tool.recover(Output("client", "", "", measure.argv, b"", b"", 0)))["resolution"] == 2_500_000


@pytest.mark.parametrize("slug", ["pathrate", "pathload"])
def test_their_outputs_are_recognised(slug):
    tool = tools.get(slug)
    for name in recordings.names(slug):
        output = recordings.load(slug, name)
        assert [other.slug for other in tools.all_tools() if other.recognises(output)] == [slug]
        assert tool.clean(tool.recover(output))


def test_the_estimators_load_the_path_a_little():
    for slug, least in (("pathrate", 1e6), ("pathload", 5e7)):
        tool = tools.get(slug)
        estimate = tool.estimate(tool.clean({}), 1e9)
        assert least < estimate.offered_bps < 1e8
        assert list(estimate.bytes_sent) == [("server", "client")]
