"""What a path holds is said of the day on which it was measured: another campaign may tell another figure of it."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.rules.base import LinkFacts, PathFacts
from apps.bench.rules.path import findings
from tests.bench.rules.cases import Maker, evidence

DAY = 86_400.0


def means(make, name):
    """Return what finds a capacity by one means or both, or what more came through than these."""
    dispersion = make.point(
        tools.get("pathrate"), {}, {"capacity": 9e8, "capacity_low": 8.9e8, "capacity_high": 9.1e8}
    )
    loads = [make.udp(min(rate, 9e8), 1 - min(1, 9e8 / rate), rate=round(rate)) for rate in (4e8, 8e8, 12e8, 15e8)]
    return {"dispersion": [dispersion], "loads": loads, "both": [dispersion, *loads],
            "more": [dispersion, make.udp(14e8, 0.0, rate=1_400_000_000)]}[name]  # fmt: skip


@pytest.mark.parametrize("name", ["dispersion", "loads", "both", "more"])
@pytest.mark.parametrize("days", [(0,), (0, 1), (0, 400)])
def test_a_capacity_is_dated_unless_it_was_published(name, days):
    make, at = Maker(), 1.6e9
    points = means(make, name)
    times = [at + DAY * days[place % len(days)] for place in range(len(points))]
    dated = [dataclasses.replace(point, at=time) for point, time in zip(points, times, strict=True)]
    path = PathFacts(1e9, 0.02, 1500, (LinkFacts("WAN", 1e9),), "WAN")
    for own, is_dated in (
        (dated, True),
        (points, False),
        ([dataclasses.replace(point, observed={"published": {}}) for point in dated], False),
    ):
        (draft,) = [item for item in findings(evidence(own, path)) if item.rule == "path-capacity"]
        assert ("2020-09-13" in str(draft.applies_when)) == is_dated, draft.applies_when
        if is_dated and len(points) > 1 and days[-1]:
            assert " – " in str(draft.applies_when)
