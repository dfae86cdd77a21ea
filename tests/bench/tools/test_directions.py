"""Which way the data went is a parameter, and both ways at once are no rate of either, in whatever tool."""

import dataclasses
import shlex

import pytest

from apps.bench import recognition, tools
from apps.bench.toolkit import NodeRef
from tests.bench.tools import reading, recordings

# {tool: (recording of a forward run, options that turn it, options that double it)}.
TURNS = {
    "iperf3-tcp": ("json_tcp.txt", ("-R", "--reverse", "-JR"), ("--bidir",)),
    "iperf3-udp": ("json_udp.txt", ("-R", "--reverse"), ("--bidir",)),
    "iperf2": ("tcp_csv.txt", ("-R", "--reverse", "-eR"), ("-d", "-r", "--dualtest", "--tradeoff", "--full-duplex")),
    "nuttcp": ("tcp.txt", ("-r",), ()),
}
# Both directions are a parameter of the tool, with figures for each.
KNOWS_BOTH = {"iperf3-tcp", "iperf3-udp"}


def with_options(output, options):
    program, *rest = output.argv
    return dataclasses.replace(output, argv=(program, *shlex.split(options), *rest))


@pytest.mark.parametrize(("slug", "option"), [(slug, option) for slug in TURNS for option in TURNS[slug][1]])
def test_an_option_that_turns_the_direction_is_recovered(slug, option):
    output = recordings.load(slug, TURNS[slug][0])
    if slug.startswith("iperf3"):
        # The report itself tells, and is believed first.
        output = dataclasses.replace(output, stdout=b"iperf3: error - unable to connect to server")
    tool = tools.get(slug)
    assert tool.recover(output).get("direction", "forward") == "forward"
    assert tool.recover(with_options(output, option))["direction"] == "reverse"


@pytest.mark.parametrize(("slug", "option"), [(slug, option) for slug in TURNS for option in TURNS[slug][2]])
def test_both_ways_at_once_are_several_results_or_both(slug, option):
    output = with_options(recordings.load(slug, TURNS[slug][0]), option)
    if slug in KNOWS_BOTH:
        silent = dataclasses.replace(output, stdout=b"iperf3: error - unable to connect to server")
        assert tools.get(slug).recover(silent)["direction"] == "both"
    else:
        assert reading.fail(slug, output).code == "several-results"


@pytest.mark.parametrize("name", ["full_duplex.txt", "dual.txt", "tradeoff.txt"])
def test_what_iperf2_prints_of_both_ways_is_enough(name):
    findings = recognition.read_file(recordings.load("iperf2", name).stdout)
    assert {item.failure and item.failure.code for item in findings} == {"several-results"}


@pytest.mark.parametrize(("slug", "name"), [("iperf2", "reverse.txt"), ("nuttcp", "plan_reverse_N4.txt")])
def test_what_is_printed_of_the_direction_is_enough(slug, name):
    (finding,) = recognition.read_file(recordings.load(slug, name).stdout)
    assert finding.parameters["direction"] == "reverse"
    assert finding.reading.value("goodput")


def test_the_other_way_is_another_setting():
    forward, back = (
        tools.get("iperf2").recover(recordings.load("iperf2", name)) for name in ("tcp_e.txt", "reverse.txt")
    )
    assert (forward["direction"], back["direction"]) == ("forward", "reverse")


@pytest.mark.parametrize("slug", list(TURNS))
def test_what_is_planned_and_what_it_sends_go_the_same_way(slug):
    tool = tools.get(slug)
    nodes = {"client": [NodeRef(name="a", address="10.0.0.1")], "server": [NodeRef(name="b", address="10.0.0.2")]}
    for direction, way in (("forward", ("client", "server")), ("reverse", ("server", "client"))):
        params = tool.clean({"direction": direction})
        plan = tool.plan(params, nodes)
        argv = next(c.argv for stage in plan.stages for c in stage.commands if c.measures)
        output = dataclasses.replace(reading.said(slug), argv=tuple(argv))
        assert tool.recover(output).get("direction", "forward") == direction
        assert set(tool.estimate(params, 1e9).bytes_sent) == {way}
