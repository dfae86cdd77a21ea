"""What was typed stays when another team is chosen, in the browser's own module."""

from tests.core.javascript import run

_ELEMENTS = """
const text = (name, value, before = "") => ({ name, type: "text", value, defaultValue: before });
const box = (name, value, checked, before) => ({ name, type: "checkbox", value, checked, defaultChecked: before });
const list = (name, ...values) => ({ name, type: "select-one", options: values.map(
  ([value, selected, before]) => ({ value, selected, defaultSelected: before })) });
"""


def test_what_was_typed_and_chosen_is_kept_and_put_back() -> None:
    program = """
    const token = { name: "csrfmiddlewaretoken", type: "hidden", value: "x", defaultValue: "y" };
    const secret = { name: "password", type: "password", value: "x", defaultValue: "" };
    const values = typedIn([token, secret, text("name", "WAN"), text("goal", "as it came", "as it came"),
      box("nodes", "1", true, false), box("nodes", "2", true, true),
      list("site", ["1", false, true], ["2", true, false]), list("kind", ["a", true, true])]);
    const fresh = [text("name", ""), text("goal", "other"), box("nodes", "1", false, false),
      box("nodes", "2", true, true), list("site", ["7", true, true], ["2", false, false]), list("kind", ["a", true])];
    const filled = fillIn(fresh, values);
    done([values, filled.map((element) => element.name), fresh.map((element) => element.value ??
      element.options.filter((option) => option.selected).map((option) => option.value)), fresh[2].checked]);
    """
    values, filled, shown, is_ticked = run(program, "typed.js", before=_ELEMENTS)
    assert values == [["name", "WAN", True], ["nodes", "1", True], ["site", ["2"], True]]
    assert filled == ["name", "nodes", "site"]
    assert shown == ["WAN", "other", "1", "2", ["2"], ["a"]]
    assert is_ticked


def test_what_the_other_team_does_not_have_is_left_as_it_came() -> None:
    program = """
    const fresh = [list("site", ["7", true, true], ["8", false, false])];
    done([fillIn(fresh, [["site", ["2"], true], ["gone", "x", true]]).length, fresh[0].options[0].selected]);
    """
    assert run(program, "typed.js", before=_ELEMENTS) == [0, True]


def test_a_form_that_was_refused_keeps_what_it_came_with() -> None:
    program = """done(typedIn([text("name", "WAN", "WAN")], true));"""
    assert run(program, "typed.js", before=_ELEMENTS) == [["name", "WAN", True]]
