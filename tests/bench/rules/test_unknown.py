"""What is not known of a point no rule reads: whatever its value were, it would have said the same."""

import dataclasses
import itertools
from typing import Any

import pytest

from apps.bench import rules, tools
from apps.bench.rules import folding
from apps.bench.rules.base import FILE_SYSTEM, Evidence, FileSystemFacts, FindingDraft
from apps.bench.rules.runner import drafts_of, failures_of, of_known
from apps.bench.rules.told import Told, UnknownParameter, known_or_none, names_in, rest_of
from apps.bench.toolkit import ParameterError
from tests.bench.rules import cases

WORLDS = ("window", "streams", "recorded", "gridftp", "records")


def world(name: str) -> Evidence:
    """Return evidence of which rules say something."""
    make = cases.Maker()
    if name == "window":
        rates = {0: [400, 404, 398], 64: [105, 104, 106], 1024: [930, 928, 931], 4096: [931, 930, 932]}
        return cases.evidence([make.ping(0.005), *make.window_sweep(rates)])
    if name == "streams":
        rates = {1: [105, 104, 106], 2: [210, 208, 211], 4: [415, 413, 418], 8: [800, 803, 799], 16: [930, 931, 929]}
        return cases.evidence([make.ping(0.005), *make.stream_sweep(rates, window=65536)])
    if name == "recorded":
        return cases.evidence(make.recorded("winsweep_pnu"))
    if name == "gridftp":
        return cases.evidence(cases.gridftp(make))
    sizes = {65536: 40e6, 262144: 70e6, 1048576: 100e6, 4194304: 101e6}
    fio = tools.get("fio")
    points = [
        make.point(fio, {"block_size": size}, *[{"write": rate * f} for f in (1, 1.01)])
        for size, rate in sizes.items()
    ]
    placed = [
        dataclasses.replace(point, layer=FILE_SYSTEM, file_system="gfs", roles={"client": ("a",)}) for point in points
    ]
    return Evidence(tuple(placed), file_systems={"gfs": FileSystemFacts("gfs", "gpfs", 1048576)})


def all_drafts(evidence: Evidence) -> list[FindingDraft]:
    """Return what all rules say; none of them fails."""
    of_ends, of_whole = rules.ask_ends(evidence), rules.ask_whole(evidence)
    assert failures_of([*of_ends, *of_whole]) == []
    folded = folding.fold_ends(drafts_of(of_ends), evidence)
    return [*drafts_of(of_ends), *drafts_of(of_whole), *(draft for draft in folded if not draft.parts)]


def conclusion(draft: FindingDraft) -> tuple[Any, ...]:
    return draft.rule, draft.kind, draft.subject, draft.title.msgid, draft.value, draft.change


def unknown(evidence: Evidence, name: str) -> Evidence:
    """Return evidence of which a parameter is not known of any point that has it."""
    points = [
        dataclasses.replace(point, parameters=Told(rest_of(point.parameters, name), frozenset({name})))
        if name in point.parameters
        else point
        for point in evidence.points
    ]
    return dataclasses.replace(evidence, points=tuple(points))


def without_points(evidence: Evidence, name: str) -> Evidence:
    """Return evidence without the points that have a parameter."""
    points = [point for point in evidence.points if name not in point.parameters]
    return dataclasses.replace(evidence, points=tuple(points))


def at(evidence: Evidence, name: str, value: Any) -> Evidence:
    """Return evidence of which all points have one value of a parameter."""
    points = [
        dataclasses.replace(point, parameters={**point.parameters, name: value})
        if name in point.parameters
        else point
        for point in evidence.points
    ]
    return dataclasses.replace(evidence, points=tuple(points))


def legal(evidence: Evidence, name: str) -> list[Any]:
    """Return two values, one of them no default, that every point may have of a parameter."""
    values: list[Any] = []
    owners = [tools.get(point.tool) for point in evidence.points if name in point.parameters]
    parameter = next(item for item in owners[0].parameters if item.name == name)
    choices = [value for value, _label in parameter.choices] or [
        parameter.default,
        0,
        1,
        2,
        65536,
        1e8,
        True,
        "bbr",
        3.0,
    ]
    for value in choices:
        try:
            for tool, point in zip(owners, (p for p in evidence.points if name in p.parameters), strict=True):
                cleaned = tool.clean({**point.parameters, name: value})
        except (ParameterError, ValueError, TypeError):
            continue
        if cleaned[name] not in values:
            values.append(cleaned[name])
    return values[:2]


@pytest.mark.parametrize("name", WORLDS)
def test_what_is_said_without_knowing_is_said_at_any_value(name: str) -> None:
    evidence = world(name)
    assert all_drafts(evidence), "a world of which nothing is said proves nothing"
    wrong = []
    # Who took part tells the number of clients; of a port and the like no rule knows anything.
    own = {item.name for point in evidence.points for item in tools.get(point.tool).parameters if not item.aside}
    for parameter in sorted(own & {key for point in evidence.points for key in point.parameters}):
        without = [draft for draft in all_drafts(unknown(evidence, parameter)) if draft.trials]
        # What the points say of which it is known.
        others = {conclusion(draft) for draft in all_drafts(without_points(evidence, parameter))}
        for value in legal(evidence, parameter) if without else ():
            there = others | {conclusion(draft) for draft in all_drafts(at(evidence, parameter, value))}
            wrong += [(parameter, value, conclusion(draft)) for draft in without if conclusion(draft) not in there]
        for draft in without:
            settings = {**draft.proof.now, **draft.proof.then} if draft.proof else {}
            if parameter in settings or f"{parameter} = " in str(draft.title):
                wrong.append((parameter, draft.rule, str(draft.title)))
    assert wrong == []


def test_points_of_which_something_is_not_known_are_left_out_and_told() -> None:
    evidence = world("window")
    make = cases.Maker()
    make.ids = itertools.count(1000)
    (other,) = make.window_sweep({256: [800, 801]})
    blind = dataclasses.replace(other, parameters=Told(rest_of(other.parameters, "window"), frozenset({"window"})))
    before, after = all_drafts(evidence), all_drafts(dataclasses.replace(evidence, points=(*evidence.points, blind)))
    assert {conclusion(draft) for draft in after} == {conclusion(draft) for draft in before}
    notices = [draft for draft in after if any("Not known of 1 " in str(message) for message in draft.missing)]
    assert "tcp-window-knee" in {draft.rule for draft in notices}
    assert not any({*draft.trials} & {*other.trials("goodput")} for draft in notices)


def test_what_is_not_known_has_no_default() -> None:
    parameters = Told({"streams": 4}, frozenset({"window"}))
    for ask in (lambda: parameters["window"], lambda: parameters.get("window", 0), lambda: "window" in parameters):
        with pytest.raises(UnknownParameter, match="window"):
            ask()
    assert (parameters["streams"], parameters.get("colour"), "colour" in parameters) == (4, None, False)
    assert dict(parameters) == {"streams": 4} and known_or_none(parameters, "window") is None
    assert names_in(parameters) == {"streams", "window"}
    with pytest.raises(UnknownParameter):
        rest_of(parameters, "streams")["window"]
    assert rest_of(parameters, "window").get("window") is None


def test_what_is_computed_outside_of_rules_is_of_what_is_known() -> None:
    evidence = unknown(world("streams"), "window")
    assert (
        of_known(lambda part: [point.parameters["window"] for point in part.points if point.tool != "ping"], evidence)
        == []
    )
