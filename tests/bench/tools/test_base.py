"""Parameters, plans, readings and failures."""

import json

import pytest

from apps.bench import tools, units
from apps.bench.text import Message
from apps.bench.toolkit import (
    Command,
    Flag,
    Parameter,
    ParameterError,
    Plan,
    Reading,
    SampleSeries,
    SampleValue,
    Stage,
    ToolFailure,
)

TCP = tools.get("iperf3-tcp")
SIZE = Parameter("window", "size", "Window", default=0, unit="B", minimum=0, maximum=1024)


def test_it_applies_defaults_and_reads_units():
    cleaned = TCP.clean({"window": "64 KiB", "streams": "4", "duration": "5 s"})
    assert cleaned["window"] == 65536
    assert cleaned["streams"] == 4
    assert cleaned["duration"] == 5.0
    assert cleaned["direction"] == "forward"
    assert cleaned["port"] == 5201
    assert set(cleaned) == {parameter.name for parameter in TCP.parameters}


def test_it_takes_what_it_has_cleaned():
    cleaned = TCP.clean({"window": "1 MiB", "direction": "both"})
    assert TCP.clean(cleaned) == cleaned
    assert TCP.clean(json.loads(json.dumps(cleaned))) == cleaned


def test_it_takes_an_empty_text_for_the_default():
    assert TCP.clean({"window": " "})["window"] == 0


def test_it_names_every_bad_field_at_once():
    with pytest.raises(ParameterError) as caught:
        TCP.clean({"window": "64 bananas", "streams": "129", "direction": "sideways", "frobnicate": "1"})
    assert set(caught.value.errors) == {"window", "streams", "direction", "frobnicate"}
    assert "128" in str(caught.value.errors["streams"])
    assert "forward, reverse, both" in str(caught.value.errors["direction"])
    assert "streams: " in str(caught.value)


@pytest.mark.parametrize("value", [True, 0.5, float("nan"), float("inf")])
def test_it_refuses_values_of_another_type(value):
    with pytest.raises(units.UnitError):
        SIZE.clean(value)


def test_it_takes_whole_floats_for_whole_numbers():
    cleaned = SIZE.clean(64.0)
    assert cleaned == 64
    assert isinstance(cleaned, int)


@pytest.mark.parametrize("value", [-1, 1025])
def test_it_refuses_values_out_of_range(value):
    with pytest.raises(units.UnitError, match=r"Too (small|large): the (minimum|maximum) is"):
        SIZE.clean(value)


def test_it_asks_for_what_is_required():
    with pytest.raises(units.UnitError, match="needed"):
        Parameter("path", "text", "Path", required=True).clean("")


def test_it_takes_booleans():
    flag = Parameter("flag", "boolean", "Flag", default=False)
    assert flag.clean("yes") is True
    assert flag.clean(True) is True
    assert flag.clean(None) is False
    with pytest.raises(units.UnitError):
        flag.clean(1)


def test_it_refuses_fractions_of_a_second_that_iperf3_would_drop():
    with pytest.raises(ParameterError) as caught:
        TCP.clean({"duration": "1.5 s", "omit": "500 ms"})
    assert set(caught.value.errors) == {"duration", "omit"}


@pytest.mark.parametrize("name", ["cubic; reboot", "--version", "Cubic", "a" * 16])
def test_it_refuses_what_is_no_congestion_control(name):
    with pytest.raises(ParameterError) as caught:
        TCP.clean({"congestion": name})
    assert set(caught.value.errors) == {"congestion"}


def test_it_refuses_an_mss_that_no_kernel_takes():
    with pytest.raises(ParameterError) as caught:
        TCP.clean({"mss": 87})
    assert set(caught.value.errors) == {"mss"}
    assert TCP.clean({"mss": 88})["mss"] == 88


def test_a_plan_survives_json():
    serve = Command(
        role="server",
        node_index=0,
        argv=("x", "-s"),
        time_limit_s=9.5,
        background=True,
        ready_pattern="on",
        measures=False,
    )
    send = Command(role="client", node_index=1, argv=("x", "-c"), time_limit_s=4.0)
    plan = Plan((Stage("serve", (serve,)), Stage("measure", (send,), together=True)))
    assert Plan.from_json(json.loads(json.dumps(plan.as_json()))) == plan


def test_a_reading_survives_json():
    reading = Reading(
        samples=(SampleValue("goodput", 1e9),),
        series=(SampleSeries("goodput", "sum", "bit/s", (1.0, 2.0), (9e8, 1e9)),),
        requested={"window": 65536},
        granted={"send_buffer": 131072},
        observed={"window": 92274.0},
        flags=(Flag("stalled", "warning", Message("%(n)s stalls", {"n": 2})),),
        tool_version="3.12",
    )
    assert Reading.from_json(json.loads(json.dumps(reading.as_json()))) == reading
    assert reading.value("goodput") == 1e9
    assert reading.value("loss") is None


@pytest.mark.parametrize("remedy", [None, Message("Wait %(s)s s", {"s": 5})])
def test_a_failure_survives_json(remedy):
    failure = ToolFailure("refused", Message("%(node)s refused", {"node": "south"}), True, remedy)
    again = ToolFailure.from_json(json.loads(json.dumps(failure.as_json())))
    assert vars(again) == vars(failure)
    assert str(again) == "refused: south refused"
