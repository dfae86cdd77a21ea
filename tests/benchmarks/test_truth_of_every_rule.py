"""Each rule's statements are decided by a judge of some world, or it is written down why no world can."""

import ast
import inspect
from collections import Counter
from pathlib import Path

import pytest

from apps.bench import rules
from benchmarks.truth.judging.judge import BY_FAMILY, UNJUDGED
from benchmarks.truth.worlds.besides import GRIDFTP
from benchmarks.truth.worlds.draw import world_of
from benchmarks.truth.worlds.messages import OTHER, SAME, SMALLEST
from benchmarks.truth.worlds.tcp import READER, TIMESTAMPS

FOLDER = Path(rules.__path__[0])
JUDGED = {name for judges in BY_FAMILY.values() for name in judges}
WORLDS = 300


def names_in(tree: ast.AST) -> set[str]:
    """Return what findings are called in a source: `RULE = …`, `RULE, VERSION = …`, or `rule=…`."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and "RULE" in ast.unparse(node.targets[0]).strip("()").split(", "):
            value = node.value.elts[0] if isinstance(node.value, ast.Tuple) else node.value
            names |= {value.value} if isinstance(value, ast.Constant) else set()
        elif isinstance(node, ast.keyword) and node.arg == "rule" and isinstance(node.value, ast.Constant):
            names.add(node.value.value)
    return {name for name in names if isinstance(name, str)}


def all_rules() -> set[str]:
    told = {name for path in FOLDER.rglob("*.py") for name in names_in(ast.parse(path.read_text()))}
    return told | {rule.name for rule in rules.registered()}


def test_every_rule_has_a_judge_or_a_reason_for_none() -> None:
    assert all_rules() == JUDGED | UNJUDGED.keys()
    assert not JUDGED & UNJUDGED.keys()
    assert all(len(reason.split()) > 3 for reason in UNJUDGED.values())


@pytest.mark.parametrize("name", sorted(JUDGED))
def test_every_judge_decides(name: str) -> None:
    judges = [own[name] for own in BY_FAMILY.values() if name in own]
    for judge in judges:
        tree = ast.parse(inspect.getsource(judge))
        returns = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
        assert any(not ast.unparse(value).startswith("undecided(") for value in returns if value), name


def test_worlds_have_what_rules_speak_of() -> None:
    seen: Counter[str] = Counter()
    for seed in range(WORLDS):
        world = world_of(seed, "network")
        seen["slow readers"] += world.reach({}).limit == READER
        seen["standing queues"] += bool(world.way.standing)
        seen["late"] += bool(world.way.late)
        trials = [trial for setup in world.setups for cell in setup.cells for trial in cell.trials]
        seen["out of order"] += any(trial.figures.get("out_of_order") for trial in trials)
        off = [host for host in (world.client, world.server) if host.sysctls[TIMESTAMPS] == "0"]
        seen["timestamps off"] += bool(off)
        seen["transfers"] += any(setup.tool == GRIDFTP for setup in world.setups)
        seen["both ways"] += any("direction" in setup.factors for setup in world.setups)
        seen["elsewhere"] += any(setup.days for setup in world.setups)
    assert all(count >= 3 for count in seen.values()), seen


def test_datagrams_that_come_late_are_not_lost_and_slow_tcp_down() -> None:
    late = next(world for seed in range(WORLDS) if (world := world_of(seed, "network")).way.late > 1e-3)
    reached = late.reach({"streams": 1, "window": 0})
    assert reached.lost >= late.way.late
    assert reached.terms["loss"] < float("inf") or late.client.sysctls["net.ipv4.tcp_congestion_control"] == "bbr"


def test_the_other_way_is_that_of_the_hosts_at_the_other_ends() -> None:
    worlds = (world_of(seed, "network") for seed in range(WORLDS))
    world = next(item for item in worlds if any("direction" in setup.factors for setup in item.setups))
    (setup,) = [item for item in world.setups if "direction" in item.factors]
    forth, back = (cell.truth["goodput"] for cell in setup.cells)
    assert forth == world.reach({"streams": 1, "window": 0}).rate
    assert back == world.reach({"streams": 1, "window": 0, "direction": "reverse"}).rate


def test_latency_goes_by_its_own_ratio() -> None:
    worlds = [world_of(seed, "messages") for seed in range(WORLDS)]
    ratios = {round(world.time(OTHER, SMALLEST) / world.time(SAME, SMALLEST), 1) for world in worlds}
    assert any(ratio < 0.7 for ratio in ratios)
    assert any(ratio > 2.5 for ratio in ratios)
