"""Figures are repetitions of each other only if all is the same that the tools declare to bear on them."""

import pytest

from apps.bench import tools
from apps.bench.rules import workloads
from apps.bench.rules.base import FileSystemFacts
from apps.bench.rules.workloads import Workload
from apps.bench.rules.workloads.supplies import supplies
from apps.bench.sweep.likeness import AS_IN
from tests.bench.rules.storing import CLIENTS, GIB, MB, RAID1, Storing

FASTER = FileSystemFacts("FASTER", "ext", None, ("PGFS01",))
NEAR = (0.99, 1.0, 1.01)
OF_RATES = [
    tool for tool in tools.all_tools() if tool.file_system == "required" and tool.slug in {"iozone", "fio", "ior"}
]
MDTEST = tools.get("mdtest")
# Whose number is one of the measurement, though it is no option that bears on its figures.
COUNTED = "clients"


def defaults(tool):
    return {item.name: item.default for item in tool.parameters if item.name != COUNTED}


def other(parameter):
    """Return another value of a parameter than its default."""
    if parameter.choices:
        return next(value for value, _label in parameter.choices if value != parameter.default)
    if parameter.kind == "boolean":
        return not parameter.default
    if parameter.kind == "text":
        return "x"
    return type(parameter.default)(2 * parameter.default + 2)


def point(make, tool, metric, rate, parameters, file_system=RAID1.name):
    role = "client" if any(role.name == "client" for role in tool.roles) else "node"
    make.point("file-system", {metric: [rate * part for part in NEAR]}, tool=tool.slug, file_system=file_system,
               roles={role: CLIENTS[:1]}, **parameters)  # fmt: skip
    return {*make.points[-1].trials(metric)}


def declared(tool_list):
    return [
        pytest.param(tool, item, id=f"{tool.slug}-{item.name}")
        for tool in tool_list
        for item in tool.parameters
        if item.name != COUNTED
    ]


def test_the_tools_that_give_rates_of_file_systems_are_all_here():
    giving = {
        tool.slug for tool in tools.all_tools()
        if tool.file_system == "required" and {"write", "read"} <= {metric.name for metric in tool.metrics}
    }  # fmt: skip
    assert giving == {tool.slug for tool in OF_RATES}


@pytest.mark.parametrize(("tool", "parameter"), declared(OF_RATES))
def test_no_figure_is_a_mean_over_settings_that_differ(tool, parameter):
    make, own = Storing(), defaults(tool)
    first = point(make, tool, "write", 900 * MB, own)
    second = point(make, tool, "write", 100 * MB, {**own, parameter.name: other(parameter)})
    evidence = make.evidence(RAID1, paths={})
    cells = [{*amount.trials} for supply in supplies(evidence, "write")
             for records in supply.cells.values() for amount in records.values()]  # fmt: skip
    if parameter.aside:
        assert cells == [first | second]
    else:
        assert all(not (first <= trials and second & trials) for trials in cells)
        assert first in cells
    for fit in workloads.fit(evidence, Workload("write", GIB)):
        assert parameter.aside or not (first & {*fit.trials} and second & {*fit.trials}) or fit.basis != "measured"


@pytest.mark.parametrize(("tool", "parameter"), declared(OF_RATES))
def test_no_file_system_is_the_best_by_other_settings(tool, parameter):
    def best(parameters):
        make = Storing()
        point(make, tool, "write", 100 * MB, {**defaults(tool), "ranks": 1})
        point(make, tool, "write", 900 * MB, {**defaults(tool), "ranks": 1, **parameters}, FASTER.name)
        found = workloads.overview(make.evidence(RAID1, FASTER, paths={}))
        return [draft for draft in found if draft.rule == "workload-best"]

    (named,) = best({})
    assert "FASTER does best" in str(named.title)
    value = other(parameter) if parameter.name != "ranks" else 4
    assert bool(best({parameter.name: value})) == parameter.aside


@pytest.mark.parametrize(("tool", "parameter"), declared([MDTEST]))
def test_files_made_in_different_ways_are_not_pooled(tool, parameter):
    make, own = Storing(), defaults(tool)
    point(make, tools.get("iozone"), "write", 100 * MB, defaults(tools.get("iozone")))
    first = point(make, tool, "file_create", 900, own)
    second = point(make, tool, "file_create", 100, {**own, parameter.name: other(parameter)})
    (fit,) = workloads.fit(make.evidence(RAID1, paths={}), Workload("write", 65536, tasks=own["ranks"]))
    both = bool(first & {*fit.trials} and second & {*fit.trials})
    assert both == parameter.aside
    assert second <= {*fit.trials} or parameter.name == "ranks"


def test_what_nobody_told_of_imports_makes_no_repetitions():
    make, own = Storing(), {"record_size": 1024**2, "threads": 1, "file_size": GIB}
    trials = [point(make, tools.get("iozone"), "write", rate * MB, {**own, AS_IN: mark})
              for rate, mark in ((900, "a"), (100, "b"), (101, "b"))]  # fmt: skip
    found = [{*fit.trials} for fit in workloads.fit(make.evidence(RAID1, paths={}), Workload("write", GIB))]
    assert sorted(found, key=min) == [trials[0], trials[1] | trials[2]]
