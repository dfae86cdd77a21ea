"""A common start lies so far ahead that every agent has its commands ready by then."""

from datetime import timedelta

from django.utils import timezone

from apps.agents.models import Agent
from apps.testbeds.models import Node
from workers import common_start


def lead(nodes: list[Node]) -> timedelta:
    now = timezone.now()
    return common_start.common_start(nodes=[node.pk for node in nodes]) - now


def test_it_lies_as_far_ahead_as_is_set(pair: list[Node], settings) -> None:
    settings.START_LEAD_S = 3.0
    assert timedelta(seconds=3) < lead(pair) < timedelta(seconds=4)


def test_several_commands_on_one_node_need_longer(pair: list[Node]) -> None:
    assert lead([pair[0]] * 100) - lead(pair) > timedelta(seconds=90 * common_start.EACH_S)


def test_an_agent_far_away_needs_longer(pair: list[Node]) -> None:
    near = lead(pair)
    Agent.objects.filter(node=pair[1]).update(clock_error_s=0.5)
    assert lead(pair) - near > timedelta(seconds=2)
