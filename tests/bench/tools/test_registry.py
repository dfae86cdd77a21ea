"""The registry of tools, and what every tool must keep to."""

import types

import pytest

from apps.bench import tools, units
from apps.bench.toolkit import Tool


def make_module(name, *slugs):
    module = types.ModuleType(name)
    for index, slug in enumerate(slugs):
        members = {
            "slug": slug,
            "__module__": name,
            "plan": lambda self, params, nodes: None,
            "parse": lambda self, outputs, params: None,
            "estimate": lambda self, params, capacity_bps=None: None,
        }
        setattr(module, f"Tool{index}", type(f"Tool{index}", (Tool,), members))
    return module


def test_it_finds_the_tools_of_its_folder():
    slugs = [tool.slug for tool in tools.all_tools()]
    assert slugs == sorted(slugs)
    assert {"ping", "tracepath", "traceroute", "iperf3-tcp", "iperf3-udp"} <= set(slugs)


def test_it_gives_a_tool_by_its_slug():
    assert tools.get("ping").slug == "ping"


def test_it_names_the_known_tools_when_asked_for_another():
    with pytest.raises(tools.UnknownTool, match="iperf3-tcp"):
        tools.get("iperf4")


def test_it_refuses_two_tools_of_one_slug():
    with pytest.raises(tools.RegistryError, match=r"second.*first.*'a'"):
        tools.register([make_module("first", "a"), make_module("second", "a")])


@pytest.mark.parametrize("slugs", [(), ("a", "b")])
def test_it_refuses_a_file_that_is_not_one_tool(slugs):
    with pytest.raises(tools.RegistryError, match="exactly one"):
        tools.register([make_module("odd", *slugs)])


def test_it_takes_a_tool_that_is_spread_over_a_folder():
    module = make_module("large.part", "large")
    module.__name__ = "large"
    assert list(tools.register([module])) == ["large"]


@pytest.mark.parametrize("tool", tools.all_tools(), ids=lambda tool: tool.slug)
def test_a_tool_keeps_to_the_rules(tool):
    names = [parameter.name for parameter in tool.parameters]
    assert len(names) == len(set(names))
    for parameter in tool.parameters:
        assert parameter.kind in units.KINDS
        assert parameter.default is None or parameter.check(parameter.default) is None
        assert parameter.unit == units.BASE_UNITS.get(parameter.kind, parameter.unit)
    metrics = [metric.name for metric in tool.metrics]
    assert len(metrics) == len(set(metrics))
    assert sum(metric.primary for metric in tool.metrics) == 1
    assert all(metric.axis and metric.label for metric in tool.metrics)
    if tool.group == "network":
        assert {role.name for role in tool.roles} == {"server", "client"}
    assert tool.programs
    assert tool.clean({}) == tool.clean(tool.clean({}))
