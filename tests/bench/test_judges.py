"""What a run's reading takes from beside the tool's own output."""

import dataclasses
import math

import pytest

from apps.bench import judges, tools
from tests.bench.tools import recordings

PING = "ok.txt"


def version(slug: str, name: str, role: str, said: str) -> str:
    """Return the version of a recording's reading when its node's agent knows the program as `said`."""
    tool = tools.get(slug)
    output = recordings.load(slug, name, role)
    facts = {"tools": {tool.programs[0]: {"path": "/usr/bin/it", "version": said}}}
    return judges.read_run(
        [dataclasses.replace(output, facts=facts)], tool.clean(tool.recover(output)), tool
    ).tool_version


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("ping from iputils 20221126", "20221126"),
        ("Modern traceroute for Linux, version 2.1.2", "2.1.2"),
        ("iperf version 2.1.8 (12 August 2022) pthreads", "2.1.8"),
        ("nuttcp-6.1.2", "6.1.2"),
        ("mtr 0.95", "0.95"),
        ("globus-url-copy: 10.13", "10.13"),
        ("netperf v2.7.0rc1", "2.7.0rc1"),
        ("usage: bing [-dDnrRPvVwz] host1 host2", ""),
        ("", ""),
    ],
)
def test_a_version_that_the_output_does_not_tell_is_the_agents(said: str, expected: str) -> None:
    assert version("ping", PING, "client", said) == expected


def test_what_the_output_tells_goes_before_what_the_agent_knows() -> None:
    assert version("iperf3-tcp", "winsweep_pnu/w1M_cubic_r0.json", "client", "iperf 3.99") == "3.12"


def test_nothing_known_is_no_version() -> None:
    tool, output = tools.get("ping"), recordings.load("ping", PING, "client")
    assert judges.read_run([output], tool.clean(tool.recover(output)), tool).tool_version == ""


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    tool, output = tools.get("ping"), recordings.load("ping", PING, "client")
    params = tool.clean(tool.recover(output))
    whole = tool.parse([output], params)
    broken = [dataclasses.replace(item, value=value) if item.metric == "rtt_max" else item for item in whole.samples]
    monkeypatch.setattr(tool, "parse", lambda outputs, params: dataclasses.replace(whole, samples=tuple(broken)))
    reading = judges.read_run([output], params, tool)
    assert [item.metric for item in reading.samples] == [
        item.metric for item in whole.samples if item.metric != "rtt_max"
    ]
    (flag,) = [flag for flag in reading.flags if flag.name == "no-number"]
    assert str(flag.message) == "What the tool printed for rtt_max is no number: it was left out."
