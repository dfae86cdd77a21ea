"""The commands that definitions make."""

import pytest

from apps.bench import custom
from apps.bench.toolkit import NodeRef, ParameterError
from tests.bench.custom import definitions

NORTH = NodeRef("north", "10.0.0.1", "/mnt/gpfs")
SOUTH = NodeRef("south", "10.0.0.2")


def tool(**changes):
    return custom.make_tool(custom.read_definition(definitions.minimal(**changes)), "site.v1")


def argv(made, nodes=None, **params):
    plan = made.plan(made.clean(params), nodes or {"node": [NORTH]})
    return list(plan.stages[-1].commands[0].argv)


PARAMETERS = [
    {"name": "size", "kind": "size", "default": "64 MiB"},
    {"name": "direct", "kind": "boolean"},
    {"name": "label", "kind": "text"},
    {"name": "duration", "kind": "duration", "default": "1.5 s"},
]


def test_lines_of_the_template_become_words():
    made = tool(parameters=PARAMETERS, arguments=["run -s {size:MiB}", "--direct {direct}", '--label="{label} x"'])
    assert argv(made) == ["site", "run", "-s", "64"]
    assert argv(made, direct=True, label="a b") == ["site", "run", "-s", "64", "--direct", "--label=a b x"]


def test_values_are_in_the_base_unit_unless_another_is_asked_for():
    made = tool(parameters=PARAMETERS, arguments=["{size} {duration} {duration:ms}", "{{literal}}"])
    assert argv(made) == ["site", "67108864", "1.5", "1500", "{literal}"]


def test_a_line_whose_value_is_empty_is_left_out():
    made = tool(parameters=PARAMETERS, arguments=["--label {label}", "--end"])
    assert argv(made) == ["site", "--end"]
    assert argv(made, label="x") == ["site", "--label", "x", "--end"]


def test_the_nodes_and_folders_have_names():
    made = tool(arguments=["{node.address} {node.name} {directory}/f {work}/out"])
    assert made.file_system == "required"
    assert argv(made) == ["site", "10.0.0.1", "north", "/mnt/gpfs/f", "{work}/out"]


def test_a_server_runs_first_and_the_client_learns_its_address():
    made = tool(
        parts="server",
        arguments=["-c {server.address}"],
        server_program="sited",
        server_arguments=["-B {server.address}"],
        ready="listening on port",
        time_limit_s="30 s",
    )
    assert [role.name for role in made.roles] == ["client", "server"]
    assert made.programs == ("site", "sited")
    plan = made.plan(made.clean({}), {"client": [NORTH], "server": [SOUTH]})
    serve, measure = (stage.commands[0] for stage in plan.stages)
    assert serve.argv == ("sited", "-B", "10.0.0.2")
    assert (serve.background, serve.ready_pattern, serve.measures) == (True, "listening on port", False)
    assert measure.argv == ("site", "-c", "10.0.0.2")
    assert (measure.role, measure.time_limit_s) == ("client", 30)


def test_limits_and_estimates_may_depend_on_a_parameter():
    made = tool(
        parameters=[*PARAMETERS, {"name": "load", "kind": "rate", "default": "10M"}],
        parts="address",
        time_limit_s=10,
        time_limit_adds="duration",
        takes_s=1,
        takes_adds="duration",
        offered_load="load",
    )
    params = made.clean({"duration": "5 s"})
    plan = made.plan(params, {"client": [NORTH], "server": [SOUTH]})
    assert plan.stages[0].commands[0].time_limit_s == 15
    estimate = made.estimate(params)
    assert (estimate.duration_s, estimate.offered_bps) == (6, 10e6)
    assert estimate.bytes_sent == {("client", "server"): 7_500_000}


@pytest.mark.parametrize("value", ["-rf", "--exec=x", "{work}", "a{b"])
def test_a_text_that_would_be_taken_for_something_else_is_refused(value):
    made = tool(parameters=PARAMETERS, arguments=["{label}"])
    with pytest.raises(ParameterError) as caught:
        made.clean({"label": value})
    assert list(caught.value.errors) == ["label"]


def test_a_text_behind_an_option_may_begin_with_a_minus():
    made = tool(parameters=PARAMETERS, arguments=["--label={label}"])
    assert argv(made, label="-5") == ["site", "--label=-5"]


def test_the_result_file_is_asked_back():
    plan = tool(result_file="out.json").plan({}, {"node": [NORTH]})
    assert plan.stages[0].commands[0].collect == ("out.json",)
