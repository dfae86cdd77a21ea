"""Whoever reads that something waits, and not until when, reads since when it does."""

import ast
from pathlib import Path
from types import SimpleNamespace

from apps.agents.models import Agent
from apps.campaigns import waits
from apps.campaigns.models import Campaign
from apps.campaigns.waits import REASONS, queries
from apps.testbeds.models import Node
from tests.campaigns.conftest import LATER


def test_each_wait_whose_end_is_not_known_says_since_when() -> None:
    """Walk each reason that is told, and each obstacle of a node."""
    codes = set()
    for node in ast.walk(ast.parse(Path(queries.__file__).read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("reason", "WaitReason"):
            given = {keyword.arg for keyword in node.keywords}
            named = [item.value for item in ast.walk(node) if isinstance(item, ast.Constant)]
            told = {code for code in named if code in REASONS}
            codes |= told
            assert "since" in given or (told and all(REASONS[code].is_bounded for code in told)), ast.unparse(node)
    assert codes == set(REASONS)


def test_a_node_without_an_agent_is_waited_for_since_the_launch(
    campaign: Campaign, cast: SimpleNamespace, nodes: list[Node]
) -> None:
    Agent.objects.filter(node=nodes[0]).delete()
    (why,) = waits.waits_of([campaign], cast.bob, LATER)[campaign.pk].reasons
    assert (why.code, why.since) == ("no-agent", campaign.launched_at)
