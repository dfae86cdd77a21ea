"""No transfer that was measured is dropped in silence, and what several pairs carry is held against all of them."""

import dataclasses
import itertools
import re

import pytest

from apps.bench import network
from apps.bench.rules import gridftp
from apps.bench.rules.base import Evidence, LinkFacts, PathFacts
from tests.bench.rules import cases
from tests.bench.rules.cases import Maker

SOURCES, DESTINATIONS = ("a0", "a1", "a2", "a3"), ("b0", "b1", "b2", "b3")
ONE_PAIR = 117.7
# Rates (MB/s) of each choice of streams and data nodes; one link for each pair carries 117.7.
WORLD = {(1, 1): 60, (4, 1): 108, (1, 4): 240, (4, 4): 430}


def path(name: str) -> PathFacts:
    return PathFacts(1e9, 0.02, 1500, (LinkFacts(name, 1e9, 0.02, 1500),), name)


def striped(rates, *, repeated=3, is_shared=False, are_known=True):
    """Return evidence of transfers between four nodes of each end, with a link for each pair or one for all."""
    make = Maker()
    tool = cases.tools.get("gridftp-third-party")
    roles = {"source": SOURCES, "destination": DESTINATIONS}
    points = [
        dataclasses.replace(
            make.point(
                tool,
                {"streams": streams, "data_nodes": nodes},
                *({"throughput": rate * 1e6 * (1 + 0.002 * n)} for n in range(repeated)),
            ),
            roles=roles,
        )
        for (streams, nodes), rate in rates.items()
    ]
    points += [make.ping(0.02), make.tcp([941e6], rtt=0.02)]
    pairs = zip(SOURCES, DESTINATIONS, strict=True) if are_known else ()
    paths = {pair: path("shared" if is_shared else "-".join(pair)) for pair in pairs}
    return Evidence(tuple(points), path("a0-b0"), paths=paths)


def drafts_of(evidence):
    return {draft.rule: draft for draft in gridftp.findings(evidence)}


def reasons_of(draft):
    return [str(line) for line in (*draft.why, *draft.against)]


def test_the_best_of_striped_transfers_is_advised_against_the_ceiling_of_all_pairs():
    draft = drafts_of(striped(WORLD))["gridftp-options"]
    assert "-p 4 -stripe (4 × 4)" in str(draft.title)
    assert draft.change == "globus-url-copy -vb -p 4 -stripe SOURCE DESTINATION\n"
    assert any("Of 4 choices" in line for line in reasons_of(draft))
    (share,) = [line for line in reasons_of(draft) if "all data nodes at once" in line]
    assert "470." in share
    assert not draft.against


def test_where_all_pairs_share_a_link_its_ceiling_is_all_there_is():
    draft = drafts_of(striped(WORLD, is_shared=True))["gridftp-options"]
    # It was repeated: one of both figures is wrong, and no one knows which.
    assert draft.predicted == pytest.approx(431e6, rel=0.01)
    assert any("one of them is wrong" in line for line in reasons_of(draft))


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("are_known", [False, True])
@pytest.mark.parametrize("repeated", [1, 2, 3])
@pytest.mark.parametrize("factor", [0.5, 1.0, 1.5, 4.0])
def test_every_choice_is_looked_at_or_told_to_be_left_out(factor, repeated, are_known, is_shared):
    rates = {setting: factor * rate for setting, rate in WORLD.items()}
    evidence = striped(rates, repeated=repeated, are_known=are_known, is_shared=is_shared)
    own = {id(point): {*point.trials("throughput")} for point in evidence.points if point.values("throughput")}
    for draft in drafts_of(evidence).values():
        if draft.rule != "gridftp-options":
            continue
        dropped = [trials for trials in own.values() if not trials & {*draft.evidence}]
        told = sum(int(found[1]) for line in reasons_of(draft) if (found := re.match(r"(\d+) of \d+ choices", line)))
        assert len(dropped) == told
        assert not dropped or repeated == 1
        if not are_known:
            # Of pairs whose links nobody described there is no ceiling: theirs are not left out.
            assert not [trials for trials in dropped if trials in [*own.values()][2:]]


def test_choices_of_other_files_are_counted():
    evidence = striped(WORLD)
    other = dataclasses.replace(evidence.points[0], parameters={**evidence.points[0].parameters, "size": 1000})
    draft = drafts_of(dataclasses.replace(evidence, points=(*evidence.points, other)))["gridftp-options"]
    assert any(line.startswith("1 choices that were measured with other files") for line in reasons_of(draft))


def test_pairs_wrap_around_where_one_end_has_fewer_nodes():
    for first, second in itertools.product(range(4), repeat=2):
        pairs = network.pairs_at_once(SOURCES[:first], DESTINATIONS[:second])
        assert len(pairs) == (max(first, second) if min(first, second) else 0)
        assert {a for a, _b in pairs} == ({*SOURCES[:first]} if second else set())
