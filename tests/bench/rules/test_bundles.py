"""What one flow had may be what a member of a bundle of links has: every rule that names a limit says so."""

import ast
import itertools
import re
from pathlib import Path

import pytest

from apps.bench import rules
from apps.bench.rules.base import LinkFacts, PathFacts
from tests.bench.rules.cases import Maker, tools
from tests.bench.rules.test_said_of_paths import LOADS, RTT, drafts_of, row

NOTHING = PathFacts(None, RTT)
# Four members of 1 Gbit/s.
BUNDLE = PathFacts(4e9, RTT, 1500, (LinkFacts("LAG", 4e9),), "LAG")
WIDE = PathFacts(1e10, RTT, 1500, (LinkFacts("LAN", 1e10),), "LAN")


def udp(make):
    return [
        make.udp(arrived * 1e6, 1 - arrived / rate, rate=round(rate * 1e6), duration=10)
        for rate, arrived in LOADS["full"].items()
    ]


def dispersion(make):
    return [make.point(tools.get("pathrate"), {}, *[{"capacity_low": 0.99e9, "capacity_high": 1e9}] * 2)]


def words_of(draft):
    return " ".join(map(str, (*draft.limits, *draft.against, *(item.title for item in draft.alternatives))))


@pytest.mark.parametrize(("means", "links"), [*itertools.product((udp, dispersion), (NOTHING, BUNDLE, WIDE))])
@pytest.mark.parametrize("rate", [150, 400, 935])
def test_a_limit_that_one_flow_met_names_the_bundle(means, links, rate):
    make = Maker()
    one = [make.ping(RTT, RTT), *means(make), row(make, rate)]
    drafts = {draft.rule: draft for draft in drafts_of(one, links)}
    assert drafts.keys() & {"path-capacity", "path-datagrams"}
    rules_of_limits = ("path-capacity", "path-datagrams", "path-bottleneck", "tcp-limit")
    named = [drafts[rule] for rule in rules_of_limits if rule in drafts]
    silent = [draft.rule for draft in named if draft.subject != "loss" and "bundle" not in words_of(draft)]
    assert not silent, silent
    # Several flows together had no more: no bundle gives them more.
    several = drafts_of([*one, row(make, rate, streams=4), row(make, rate, streams=8)], links)
    assert not [draft.rule for draft in several if "Measured with one flow" in words_of(draft)]


def test_whoever_names_what_holds_each_flow_names_a_member():
    """In every message of the rules."""
    trees = [ast.parse(path.read_text()) for path in Path(rules.__file__).parent.rglob("*.py")]
    texts = [
        node.args[0].value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_"
    ]
    about = [
        text
        for text in texts
        if re.search(r"(shaper|policer)( or policer)?( on the way that)? (gives|holds) each flow", text)
    ]
    assert about
    assert not [text for text in about if "bundle" not in text]
