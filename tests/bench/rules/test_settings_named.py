"""What is said of a curve names each setting in which others of its metric differ: any parameter of any tool."""

import pytest

from apps.bench import tools
from apps.bench.rules import shapes, storage
from apps.bench.rules.base import FILE_SYSTEM, Evidence, FileSystemFacts
from apps.bench.rules.shapes.names import canonical
from tests.bench.rules.storing import GIB, MB, Storing
from tests.rotation import part_of

FACTOR, COUNTS = "tasks_tried", (1, 2, 4, 8)
STORED = ("iozone", "fio", "ior")
# How many take part is told of all findings, or is what they are about.
NUMBERS = {"clients", "threads", "jobs", "ranks"}
MANY = tuple(f"c{place}" for place in range(1, 9))
FACTS = {"lus": FileSystemFacts("lus", "lustre", 2**20, ("s1",))}
BASE = {
    "iozone": {"record_size": 2**20, "file_size": 4 * GIB, "threads": 1},
    "fio": {"block_size": 2**20, "file_size": 4 * GIB, "jobs": 1, "pattern": "read"},
    "ior": {"transfer_size": 2**20, "block_size": 4 * GIB},
}


def two_values(parameter):
    """Return two values that a parameter may have, neither of them nothing."""
    if parameter.choices:
        return [value for value, _label in parameter.choices if value][:2]
    if parameter.kind == "boolean":
        return [False, True]
    if parameter.kind == "text":
        return ["one", "other"]
    return [40, 60] if parameter.unit == "%" else [2**20, 2**22]


def all_parameters(slugs=None):
    return [
        pytest.param(tool.slug, parameter, id=f"{tool.slug}-{parameter.name}")
        for tool in tools.all_tools()
        for parameter in tool.parameters
        if not parameter.aside and (slugs is None or tool.slug in slugs) and len(two_values(parameter)) == 2
    ]


def two_curves(slug, parameter, storing=None):
    """Return points of two rates that grow with a factor: one with each of two values of a parameter."""
    storing = storing or Storing()
    for times, value in zip((1, 3), two_values(parameter), strict=True):
        for count in COUNTS:
            figures = [times * count * MB * share for share in (0.99, 1, 1.01)]
            storing.point(
                FILE_SYSTEM, {"write": figures}, tool=slug, file_system="lus", roles={"client": MANY},
                **{FACTOR: count, parameter.name: value},
            )  # fmt: skip
    return storing


@pytest.mark.parametrize(("slug", "parameter"), part_of(all_parameters()))
def test_curves_that_differ_in_a_parameter_have_different_names(slug, parameter):
    evidence = Evidence(tuple(two_curves(slug, parameter).points))
    ways = [shapes.way_of(trend) for trend in shapes.trends(evidence, factor=FACTOR)]
    assert len(ways) == 2
    assert len(set(ways)) == 2, ways
    assert all(f"{parameter.name} = " in way for way in ways), ways


def storage_sweep(slug, parameter, factor, counts):
    """Return findings of two sweeps over clients or records, alike but for one parameter and the rate."""
    storing = Storing()
    for times, value in zip((1.0, 0.4), two_values(parameter), strict=True):
        for count in counts:
            figures = [times * min(count / counts[0], 4) * 90 * MB * share for share in (0.99, 1, 1.01)]
            # Of a tool that tells its pattern a way has a metric of its own.
            own = {**BASE[slug], factor: count, parameter.name: value}
            pattern = own.get("pattern", "write")
            metric = "read" if "read" in pattern else "write"
            storing.point(
                FILE_SYSTEM, {metric: figures}, tool=slug, file_system="lus", roles={"client": MANY}, **own
            )  # fmt: skip
    return storing, storage.overview(Evidence(tuple(storing.points), file_systems=FACTS))


FACTORS = {
    "clients": {"iozone": "clients", "fio": "clients", "ior": "ranks"},
    "records": {"iozone": "record_size", "fio": "block_size", "ior": "transfer_size"},
}
SWEPT = {"clients": (1, 2, 4, 8), "records": (65536, 2**18, 2**20, 2**22)}


@pytest.mark.parametrize("kind", FACTORS)
@pytest.mark.parametrize(("slug", "parameter"), all_parameters(STORED))
def test_findings_on_one_of_several_curves_say_of_which(slug, parameter, kind):
    factor = FACTORS[kind][slug]
    if factor == parameter.name or {canonical(slug, parameter.name), parameter.name} & NUMBERS:
        return
    made, findings = storage_sweep(slug, parameter, factor, SWEPT[kind])
    values = {trial: point.parameters[parameter.name] for point in made.points for trial in point.metrics[
        next(iter(point.metrics))
    ]}  # fmt: skip
    drafts = [draft for draft in findings if "(write" in str(draft.title) or "(read" in str(draft.title)]
    metrics = {next(iter(point.metrics)) for point in made.points}
    assert drafts or len(metrics) > 1
    for draft in drafts:
        used = {values[trial] for trial in draft.evidence}
        if len(used) == 1 and len(metrics) == 1:
            assert f"{parameter.name} = " in str(draft.title), str(draft.title)


def test_a_default_that_nobody_wrote_is_told_where_another_chose_otherwise():
    storing = Storing()
    for own in ({}, {"direct": True}):
        for count in COUNTS:
            rate = count * MB / (1 + len(own))
            storing.point(FILE_SYSTEM, {"write": [rate] * 3}, file_system="lus", roles={"client": MANY},
                       **BASE["iozone"], **{FACTOR: count}, **own)  # fmt: skip
    ways = {shapes.way_of(trend) for trend in shapes.trends(Evidence(tuple(storing.points)), factor=FACTOR)}
    assert {way.rpartition(", ")[2] for way in ways} == {"direct = no", "direct = yes"}


@pytest.mark.parametrize("pattern", ["read", "randread"])
def test_what_applies_to_a_curve_is_of_its_own_pattern(pattern):
    storing = Storing()
    for factor, counts in (("clients", (1, 2, 4, 8)), ("block_size", (4096, 65536, 2**20, 2**22))):
        for place, value in enumerate(counts):
            figures = [(place + 1) * 20 * MB * share for share in (0.99, 1, 1.01)]
            own = {**BASE["fio"], "pattern": pattern, factor: value}
            storing.point(
                FILE_SYSTEM, {"read": figures}, tool="fio", file_system="lus", roles={"client": MANY}, **own
            )
    findings = storage.overview(Evidence(tuple(storing.points), file_systems=FACTS))
    conditions = [" ".join(map(str, (draft.applies_when, *draft.limits))) for draft in findings]
    assert any("at random places" in words for words in conditions) == (pattern == "randread")
    assert any("in order" in words for words in conditions) == (pattern == "read")


@pytest.mark.parametrize("own", [True, False])
def test_what_applies_to_a_curve_is_of_its_own_files(own):
    storing = Storing()
    for count in (1, 2, 4, 8):
        figures = [count * 20 * MB * share for share in (0.99, 1, 1.01)]
        storing.point(
            FILE_SYSTEM, {"write": figures}, tool="ior", file_system="lus", roles={"node": MANY},
            **BASE["ior"], ranks=count, file_per_process=own,
        )  # fmt: skip
    (draft,) = [item for item in storage.overview(Evidence(tuple(storing.points))) if item.rule == "storage-clients"]
    assert str(draft.applies_when).startswith("Each task" if own else "All tasks")
