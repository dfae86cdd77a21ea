"""A rate that the sender's own option capped is a lower bound, whatever the tool and however it is spelled."""

import dataclasses
import shlex

import pytest

from apps.bench import recognition, tools
from apps.bench.rules import base, pace
from apps.bench.toolkit import NodeRef, doubts
from tests.bench.tools import reading, recordings

# {tool: (recording, what it reached in the unit of the options, the options that cap it with their place)}.
RATE = {
    "iperf3-tcp": (
        "json_parallel.txt",
        ("-b {}", "-b{}", "--bitrate {}", "--bandwidth={}", "-b {}/10", "--fq-rate {}"),
    ),
    "iperf2": ("plan_P2.txt", ("-b {}", "-b{}", "--bandwidth {}", "-b {},1")),
    "nuttcp": ("tcp.txt", ("-R {}", "-Ri{}", "-R{}", "-R {}/4")),
    "fio": ("seq_write_text.txt", ("--rate={}", "--rate={},{}", "--rate {}", "--rate=1,{}")),
}
PAUSES = {
    "iperf2": ("plan_P2.txt", ("--isochronous=60:1m,0", "--burst-period 1", "--near-congestion")),
    "netperf": ("stream.txt", ("-b 1 -w 10", "-w10")),
    "fio": ("seq_write_text.txt", ("--thinktime=1ms", "--thinktime 500", "--latency_target=10ms")),
}
# Tools without an option that holds back what they measure the rate of, or whose every rate is one that was asked for
# and is a parameter of theirs (offered loads, probes, messages a second).
NONE = {
    "iperf3-udp", "irtt", "sockperf", "qperf", "ping", "tracepath", "traceroute", "mtr", "pathrate", "pathload",
    "bing", "pchar", "gridftp", "gridftp-third-party", "ior", "mdtest", "osu-latency", "osu-bandwidth", "imb",
    "mpi-pingpong", "mpi-contention", "btio",
}  # fmt: skip
ELSEWHERE = {"iozone"}


def with_options(output, options):
    """Return an output as if its command had had further options, before those of a test."""
    program, *rest = output.argv
    return dataclasses.replace(output, argv=(program, *shlex.split(options), *rest))


def flagged(slug, output):
    return [flag for flag in reading.parse(slug, output).flags if flag.name == doubts.HELD_BY_LIMIT]


def reached(slug, output):
    """Return what each stream reached, as the tool's option takes it: bit/s, or bytes a second."""
    figures = reading.figures(reading.parse(slug, output))
    params = tools.get(slug).recover(output)
    whole = max(figures.get(name, 0) for name in ("goodput", "sent_rate", "write", "read"))
    return whole / (int(params.get("streams", 1)) if slug != "nuttcp" else 1)


RATE_CASES = [(slug, name, option) for slug, (name, options) in RATE.items() for option in options]
PAUSE_CASES = [(slug, name, option) for slug, (name, options) in PAUSES.items() for option in options]


def test_every_tool_is_told_of():
    assert {tool.slug for tool in tools.all_tools()} == {*RATE, *PAUSES, *NONE, *ELSEWHERE}


@pytest.mark.parametrize(("slug", "name", "option"), RATE_CASES)
def test_a_limit_that_was_reached_is_told_and_one_far_above_is_not(slug, name, option):
    output = recordings.load(slug, name)
    rate = reached(slug, output)
    assert not flagged(slug, output)
    for share, held in ((1.0, True), (1.15, True), (2.0, False)):
        amount = f"{share * rate / 1000:.0f}k"
        found = flagged(slug, with_options(output, option.format(amount, amount)))
        assert bool(found) == held, (share, amount)


@pytest.mark.parametrize(("slug", "name", "option"), PAUSE_CASES)
def test_a_pause_makes_any_rate_the_senders_own(slug, name, option):
    output = recordings.load(slug, name)
    assert not flagged(slug, output)
    assert flagged(slug, with_options(output, option))


@pytest.mark.parametrize(
    ("slug", "name", "limit"),
    [
        ("iperf3-tcp", "limited.txt", 100e6),
        ("iperf3-tcp", "limited_fq.txt", 100e6),
        ("iperf2", "limited_P2.txt", 2 * 100 * 2**20),
        ("iperf2", "limited_fq.txt", 800e6),
        ("iperf2", "limited_reverse.txt", 100e6),
        ("nuttcp", "limited_fparse.txt", 100e6),
        ("nuttcp", "limited_brief.txt", 100e6),
        ("nuttcp", "limited_verbose.txt", 100e6),
    ],
)
def test_limits_of_real_programs_are_parameters(slug, name, limit):
    output = recordings.load(slug, name)
    assert tools.get(slug).recover(output)["pace"] == pytest.approx(limit, rel=0.05)
    assert flagged(slug, output)


@pytest.mark.parametrize(
    ("slug", "name"), [("iperf3-tcp", "limited.txt"), ("iperf2", "limited_fq.txt"), ("nuttcp", "limited_verbose.txt")]
)
def test_what_was_printed_is_enough(slug, name):
    (finding,) = recognition.read_file(recordings.load(slug, name).stdout)
    assert finding.slug == slug
    assert finding.parameters["pace"]
    assert doubts.HELD_BY_LIMIT in {flag.name for flag in finding.reading.flags}


PACED = [tool.slug for tool in tools.all_tools() if any(p.name == "pace" for p in tool.parameters)]


@pytest.mark.parametrize("slug", PACED)
def test_what_is_planned_is_read_back(slug):
    tool = tools.get(slug)
    params = tool.clean({"pace": "100 Mbit/s", "streams": 4})
    nodes = {"client": [NodeRef(name="a", address="10.0.0.1")], "server": [NodeRef(name="b", address="10.0.0.2")]}
    plan = tool.plan(params, nodes)
    argv = next(c.argv for stage in plan.stages for c in stage.commands if c.measures)
    output = dataclasses.replace(reading.said(slug), argv=tuple(argv))
    assert tool.recover(output)["pace"] == 100e6


def test_fio_names_what_its_limits_bear_on():
    output = recordings.load("fio", "limited.txt")
    (flag,) = flagged("fio", output)
    assert set(flag.metrics) == {"rate", "write", "write_iops"}
    operations = with_options(recordings.load("fio", "seq_write_text.txt"), "--rate_iops=453")
    assert flagged("fio", operations)


def test_what_iozone_computed_meanwhile():
    output = recordings.load("iozone", "auto_small.txt")
    thinks = b"\t>>> Think time is included in throughput cal. <<<\n"
    text = output.stdout.replace(b"\tOutput is in", thinks + b"\tOutput is in", 1)
    assert not flagged("iozone", output)
    assert flagged("iozone", dataclasses.replace(output, stdout=text))


def test_rules_take_it_for_no_evidence_of_the_path():
    point = base.Point(parameters={}, metrics={"goodput": {1: 50e6}}, warnings=frozenset({doubts.HELD_BY_LIMIT}))
    assert pace.flags_of(point)
    assert pace.undoubted(point, "goodput") == []
