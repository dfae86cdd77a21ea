"""The probes around a run: which, when, and what they say of it."""

import dataclasses
import json

import pytest

from apps.bench import context, judges, tools
from apps.bench.toolkit import Command, NodeRef, Output, Plan, Reading, SampleValue, Stage
from tests.bench.tools import carrying, recordings

TCP, UDP = tools.get("iperf3-tcp"), tools.get("iperf3-udp")
NODES = {"client": [NodeRef("north", "127.0.1.1")], "server": [NodeRef("south", "127.0.1.2")]}
PING = (recordings.DATA / "context" / "ping.txt").read_bytes().partition(b"\n")[2].rpartition(b"[exit")[0]
LOST = (recordings.DATA / "context" / "ping_lost.txt").read_bytes().partition(b"\n")[2].rpartition(b"[exit")[0]

NOTHING = Reading(samples=())


def bracketed(tool=TCP, nodes=NODES, **params):
    return context.bracket(tool.plan(tool.clean(params), nodes), nodes, tool)


def stage_names(plan):
    return [stage.name for stage in plan.stages]


def test_probes_stand_before_and_after_the_tools_own_stages():
    plan = bracketed()
    assert stage_names(plan) == ["around-before", "serve", "measure", "around-after"]
    before, after = plan.stages[0], plan.stages[-1]
    assert before.commands == after.commands
    assert [command.argv[0] for command in before.commands] == ["ping", "tracepath"]
    for command in before.commands:
        assert command.role == "client"
        assert command.optional
        assert not command.measures
        assert not command.background
        assert command.time_limit_s <= 3
    assert Plan.from_json(json.loads(json.dumps(plan.as_json()))) == plan


def test_settings_are_applied_before_the_first_probe():
    tool = TCP
    settings = Stage("around-settings", (Command(role="client", node_index=0, argv=("x",), time_limit_s=1),))
    plan = Plan((settings, *tool.plan(tool.clean({}), NODES).stages))
    assert stage_names(context.bracket(plan, NODES, tool))[:3] == ["around-settings", "around-before", "serve"]


def test_traceroute_is_used_where_the_node_has_it():
    nodes = {**NODES, "client": [NodeRef("north", "127.0.1.1", facts={"tools": {"traceroute": {"path": "/x"}}})]}
    commands = bracketed(nodes=nodes).stages[0].commands
    assert [command.argv[0] for command in commands] == ["ping", "traceroute"]
    assert commands[1].argv[:3] == ("traceroute", "-N", "4")


def test_transfers_are_looked_around_from_source_to_destination():
    nodes = {
        "source": [NodeRef("a", "10.0.0.1"), NodeRef("a2", "10.0.0.2")],
        "destination": [NodeRef("b", "10.1.0.1")],
    }
    plan = bracketed(tools.get("gridftp"), nodes)
    assert plan.stages[0].commands[0].role == "source"
    assert plan.stages[0].commands[0].argv[-1] == "10.1.0.1"


@pytest.mark.parametrize("slug", ["ping", "tracepath", "traceroute"])
def test_a_probe_needs_no_probes_around_it(slug):
    tool = tools.get(slug)
    plan = tool.plan(tool.clean({}), NODES)
    assert context.bracket(plan, NODES, tool) is plan


def test_a_tool_that_is_no_matter_of_the_network_stays_as_it_is():
    tool = type("Disk", (type(TCP),), {"group": "storage"})()
    plan = TCP.plan(TCP.clean({}), NODES)
    assert context.bracket(plan, NODES, tool) is plan


# Judging


def probe(stage, program, text):
    return Output("client", f"around-{stage}", "north", (program, "10.9.2.2"), text, b"", 0)


def ping(stage, scale=1.0, text=PING):
    if scale != 1:
        for milliseconds in (b"0.024", b"0.028", b"0.033", b"0.029"):
            text = text.replace(milliseconds, f"{float(milliseconds) * scale:.3f}".encode())
    return probe(stage, "ping", text)


def route(stage, **change):
    text = recordings.load("tracepath", "ok.txt").stdout
    for old, new in change.items():
        text = text.replace(old.replace("_", ".").lstrip("a").encode(), new.encode())
    return probe(stage, "tracepath", text)


def judged(*outputs, tool=TCP, reading=NOTHING, **params):
    return context.judge(reading, outputs, tool.clean(params), tool)


def flags(*outputs, **kwargs):
    return {flag.name: flag for flag in judged(*outputs, **kwargs).flags}


def test_both_looks_are_kept():
    reading = judged(ping("before"), route("before"), ping("after"), route("after"))
    seen = reading.observed["context"]
    assert seen["before"] == seen["after"]
    assert seen["before"]["rtt_min"] == pytest.approx(0.024e-3)
    assert seen["before"]["loss"] == 0
    assert seen["before"]["route"] == [["10.9.1.1"], ["10.9.0.2"], ["10.9.2.2"]]
    assert reading.flags == ()
    assert Reading.from_json(json.loads(json.dumps(reading.as_json()))) == reading


def test_another_route_makes_a_run_suspect():
    found = flags(route("before"), route("after", a10_9_0_2="10.9.0.6"))
    assert set(found) == {"suspect-route"}
    assert found["suspect-route"].severity == "warning"
    assert "hop 2: 10.9.0.2 became 10.9.0.6" in str(found["suspect-route"].message)


@pytest.mark.parametrize(("scale", "names"), [(1.5, set()), (60, {"suspect-rtt"})])
def test_a_shifted_rtt_makes_a_run_suspect_unless_it_is_small(scale, names):
    assert set(flags(ping("before"), ping("after", scale))) == names


def test_a_tenth_of_a_long_rtt_is_no_shift():
    assert flags(ping("before", 5000), ping("after", 5200)) == {}


def lossy():
    return PING.replace(b"4 received, 0% packet loss", b"3 received, 25% packet loss")


def test_loss_makes_a_run_suspect():
    found = flags(ping("before", text=lossy()), ping("after"))
    assert "12 %" in str(found["suspect-loss"].message)
    found = flags(ping("before"), ping("after", text=LOST))
    assert "50 %" in str(found["suspect-loss"].message)


def test_a_path_that_answers_no_probe_says_nothing():
    reading = judged(ping("before", text=LOST), ping("after", text=LOST))
    assert reading.flags == ()
    assert reading.observed["context"]["before"] == {"loss": 1.0}


def test_probes_that_failed_leave_nothing():
    broken = dataclasses.replace(ping("before"), stdout=b"", timed_out=True)
    odd = dataclasses.replace(ping("after"), argv=())
    reading = judged(broken, odd, probe("before", "tracepath", b"\xff\x00"))
    assert reading.observed == {}
    assert reading.flags == ()


# Foreign traffic


def measured(role="client", interface="eth0", sent=0.0, received=0.0, seconds=11.0):
    nic = {"tx_bytes": [0, sent], "rx_bytes": [0, received]}
    telemetry = {"v": 1, "times": [0, seconds], "ended": seconds, "interface": interface, "nic": nic, "sockets": []}
    return Output(role, "measure", "north", ("iperf3",), b"", b"", 0, telemetry=telemetry)


def run_of(rate_bps):
    return Reading(samples=(SampleValue("goodput", rate_bps),))


# 10 s and 1 s of slow start at 800 Mbit/s are 1.1 GB.
OWN = 1.1e9


@pytest.mark.parametrize(
    ("kwargs", "is_suspect"),
    [
        ({"sent": 1.05 * OWN, "received": 0.03 * OWN}, False),
        ({"sent": 1.5 * OWN, "received": 0.03 * OWN}, True),
        ({"sent": 1.05 * OWN, "received": 0.5 * OWN}, True),
        ({"role": "server", "sent": 0.03 * OWN, "received": 1.05 * OWN}, False),
        ({"role": "server", "sent": 0.03 * OWN, "received": 2 * OWN}, True),
        ({"interface": "lo", "sent": 9 * OWN, "received": 9 * OWN}, False),
        ({"interface": "", "sent": 9 * OWN}, False),
    ],
)
def test_traffic_beside_the_runs_own_makes_it_suspect(kwargs, is_suspect):
    found = flags(measured(**kwargs), reading=run_of(800e6))
    assert set(found) == ({"suspect-foreign-traffic"} if is_suspect else set())


def test_what_was_sent_again_is_the_runs_own():
    reading = Reading(
        samples=(SampleValue("goodput", 800e6), SampleValue("retransmits", 300_000.0)), observed={"mss": 1448}
    )
    assert flags(measured(sent=1.45 * OWN, received=0.03 * OWN), reading=reading) == {}
    reading = Reading(samples=(SampleValue("goodput", 800e6),), observed={"tcp": {"bytes_retransmitted": 0.4 * OWN}})
    assert flags(measured(sent=1.45 * OWN, received=0.03 * OWN), reading=reading) == {}


def test_a_little_traffic_beside_a_quiet_run_is_no_matter():
    assert flags(measured(sent=5e6), tool=UDP, reading=NOTHING, rate="1K", duration=10) == {}
    found = flags(measured(sent=50e6), tool=UDP, reading=NOTHING, rate="1K", duration=10)
    assert str(found["suspect-foreign-traffic"].message).startswith("eth0 of north carried 50.0 MB of other traffic")


def test_the_judges_of_a_run_hear_the_probes_and_the_parser_does_not():
    params = TCP.clean({"duration": 4, "omit": 1})
    output = recordings.load("iperf3-tcp", "winsweep_pnu/w1M_cubic_r0.json", "client")
    reading = judges.read_run([ping("before", 100), output, ping("after", 100)], params, TCP, 1e9)
    assert reading.observed["rfc6349"]["baseline_source"] == "measured"
    assert reading.observed["rfc6349"]["baseline_rtt"] == pytest.approx(2.4e-3)


@pytest.mark.skipif(not carrying.installed("ping", "tracepath", "iperf3"), reason="its programs are not installed")
def test_a_real_bracket_says_the_path_stayed_as_it_was(tmp_path):
    own = tools.get("ping")
    # One echo stands for the measurement.
    plan = own.plan(own.clean({"count": 1}), NODES)
    outputs = carrying.carry_out(context.bracket(plan, NODES, TCP), NODES, tmp_path)
    reading = context.judge(NOTHING, outputs, TCP.clean({}), TCP)
    assert reading.observed["context"]["before"]["route"] == [["127.0.1.2"]]
    assert reading.observed["context"]["after"]["rtt_min"] > 0
    assert "suspect-route" not in [flag.name for flag in reading.flags]
