"""Every mistake in a definition is named at its field, and nothing else ever comes of one."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.bench import custom
from apps.bench.custom import patterns
from apps.bench.custom.patterns import Pattern
from apps.bench.custom.units import read_unit
from tests.bench.custom import definitions


def errors(**changes):
    with pytest.raises(custom.DefinitionError) as caught:
        custom.read_definition(definitions.minimal(**changes))
    return caught.value.errors


def metric(**changes):
    return [{"name": "rate", "unit": "MB/s", "where": r"(\d+)", **changes}]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"program": ""}, "program"),
        ({"program": "/bin/sh"}, "program"),
        ({"program": "a b"}, "program"),
        ({"group": "nonsense"}, "group"),
        ({"nonsense": 1}, "nonsense"),
        ({"metrics": []}, "metrics"),
        ({"metrics": "x"}, "metrics"),
        ({"metrics": metric(where="(")}, "metrics.0.where"),
        ({"metrics": metric(where=r"\d+")}, "metrics.0.where"),
        ({"metrics": metric(where=r"(\d+)(?=x)")}, "metrics.0.where"),
        ({"metrics": metric(where="a..b", find="json")}, "metrics.0.where"),
        ({"metrics": metric(name="Rate")}, "metrics.0.name"),
        ({"metrics": metric(name="server")}, "metrics.0.name"),
        ({"metrics": metric(unit="M")}, "metrics.0.unit"),
        ({"metrics": metric(better="best")}, "metrics.0.better"),
        ({"metrics": metric(optional=True)}, "metrics.0.optional"),
        ({"metrics": [*metric(), *metric()]}, "metrics.1.name"),
        ({"parameters": [{"name": "rate", "kind": "size", "default": "1"}]}, "metrics.0.name"),
        ({"parameters": [{"name": "x", "kind": "size"}]}, "parameters.0.default"),
        ({"parameters": [{"name": "x", "kind": "size", "default": "1 furlong"}]}, "parameters.0.default"),
        ({"parameters": [{"name": "x", "kind": "choice", "default": "a"}]}, "parameters.0.choices"),
        ({"parameters": [{"name": "x", "kind": "integer", "default": 1, "minimum": 2}]}, "parameters.0.default"),
        ({"parameters": [{"name": "x", "kind": "shape"}]}, "parameters.0.kind"),
        ({"arguments": ["{nonsense}"]}, "arguments"),
        ({"arguments": ["{server.address}"]}, "arguments"),
        ({"arguments": ["a { b"]}, "arguments"),
        ({"arguments": ["'open"]}, "arguments"),
        ({"arguments": ["{node.name:MiB}"]}, "arguments"),
        ({"parts": "server"}, "server_program"),
        ({"ready": "x"}, "ready"),
        ({"parts": "server", "server_program": "s", "ready": "(?=a)"}, "ready"),
        ({"success": "["}, "success"),
        ({"conditions": ["rate >"]}, "conditions"),
        ({"conditions": ["rate > 5 ms"]}, "conditions"),
        ({"conditions": ["nonsense > 5"]}, "conditions"),
        ({"time_limit_s": 0}, "time_limit_s"),
        ({"time_limit_s": "8 d"}, "time_limit_s"),
        ({"time_limit_adds": "rate"}, "time_limit_adds"),
        ({"result_file": "../x"}, "result_file"),
        ({"name": "a\0b"}, "name"),
        ({"name": "x" * 101}, "name"),
    ],
)
def test_a_mistake_is_named_at_its_field(changes, field):
    found = errors(**changes)
    assert field in found
    assert str(found[field])


def test_a_condition_needs_metrics_that_are_always_there():
    rows = [*metric(), {"name": "more", "unit": "s", "where": r"(\d)", "optional": True}]
    assert "optional" in str(errors(metrics=rows, conditions=["more > 1 ms"])["conditions"])


@pytest.mark.parametrize("name", ["site-digest", "site-zero"])
def test_a_definition_survives_being_kept_as_plain_data(name):
    found = custom.read_definition(definitions.data(name))
    again = custom.read_definition(json.loads(json.dumps(found.as_json())))
    assert again == found


@pytest.mark.parametrize(
    ("unit", "base", "factor"),
    [
        ("MB/s", "B/s", 1e6),
        ("MiB/s", "B/s", 1024**2),
        ("Mbit/s", "bit/s", 1e6),
        ("ms", "s", 1e-3),
        ("us", "s", 1e-6),
        ("KiB", "B", 1024),
        ("%", "%", 1),
        ("", "count", 1),
        ("IOPS", "IOPS", 1),
        ("GFLOP/s", "GFLOP/s", 1),
    ],
)
def test_printed_units_are_read(unit, base, factor):
    found = read_unit(unit)
    assert (found.base, found.factor) == (base, pytest.approx(factor))


def test_a_pattern_that_would_take_for_ever_elsewhere_is_quick():
    started = time.process_time()
    assert not Pattern(r"(a+)+$x").finds(b"a" * 200_000)
    assert time.process_time() - started < 5


LARGE = "[a-q]" + "[a-z]{999}" * 40 + "x"


@pytest.mark.parametrize("place", ["metrics.0.where", "success", "failure", "version"])
def test_a_pattern_that_is_large_once_written_out_is_refused_at_its_field(place):
    rule = {**definitions.minimal()["metrics"][0], "where": f"({LARGE})"}
    changes = {"metrics": [rule]} if place.startswith("metrics") else {place: LARGE}
    definition = definitions.minimal(**changes)
    with pytest.raises(custom.DefinitionError) as caught:
        custom.read_definition(definition)
    assert list(caught.value.errors) == [place]


def test_nothing_of_a_stored_definition_is_compiled_for_the_tools_name(monkeypatch):
    stored = definitions.minimal(
        success=LARGE, failure=LARGE, version=LARGE, ready="x", parts="server", server_program="x"
    )
    stored["metrics"][0]["where"] = f"({LARGE})"
    for name in ("_compile", "check_ready"):
        monkeypatch.setattr(patterns, name, lambda text: pytest.fail(text))
    tool = custom.make_tool(custom.restore_definition(stored), "site.v1")
    assert (tool.name, tool.definition.as_json()["success"]) == (stored["name"], LARGE)


@pytest.mark.parametrize("text", [r"\p{L}+: (\d+)", r".{1,100}x", r"^(?:[^;]*;){30}(\d+)", r"(?i)error|cannot|abort"])
def test_what_people_write_is_not_large(text):
    assert not Pattern(text).is_too_large


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_no_data_gives_anything_but_a_definition_or_its_mistakes(data):
    whole = definitions.data(data.draw(st.sampled_from(["site-digest", "site-zero"])))
    for _round in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.sampled_from(["top", "parameters", "metrics"]))
        rows = whole.get(place)
        target = (
            whole if place == "top" or not isinstance(rows, list) or not rows else data.draw(st.sampled_from(rows))
        )
        if isinstance(target, dict) and target:
            target[data.draw(st.sampled_from(sorted(target)))] = data.draw(JSON)
    try:
        found = custom.read_definition(data.draw(st.just(whole) | JSON))
    except custom.DefinitionError as error:
        assert error.errors
        assert all(str(message) for message in error.errors.values())
    else:
        assert custom.make_tool(found, "x.v1").name
        assert custom.read_definition(json.loads(json.dumps(found.as_json()))) == found


def test_patterns_that_are_large_together_are_refused_and_what_passes_is_quick_to_make():
    heavy = r"(?i)([\pL\pN\pP\pS\pM\pC\pZ×22])k"
    wide = [metric(name=f"m{number}", where=f"{heavy}{number}")[0] for number in range(30)]
    (field,) = errors(metrics=wide)
    assert field.startswith("metrics.")
    count = next(number for number in range(1, 31) if is_refused(wide[:number])) - 1
    began = time.process_time()
    custom.restore_definition(definitions.minimal(metrics=wide[:count]))
    assert 2 <= count < 20
    assert time.process_time() - began < 1


def is_refused(metrics):
    try:
        custom.read_definition(definitions.minimal(metrics=metrics))
    except custom.DefinitionError:
        return True
    return False
