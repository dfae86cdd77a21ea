"""Describe pairs of nodes with agents, and a campaign that measures each pair.

python -m benchmarks.crowd PAIRS TRIALS

Runs with the service's environment, for the inventory is made in bulk and not over REST; prints JSON.
"""

import json
import sys

import django

django.setup()

from django.utils import timezone  # noqa: E402

from apps.accounts.models import Team, User  # noqa: E402
from apps.agents.models import Agent  # noqa: E402
from apps.campaigns import services  # noqa: E402
from apps.core import secrets  # noqa: E402
from apps.testbeds.models import Node, NodeAddress, Site, Testbed  # noqa: E402


def describe(team: Team, count: int) -> tuple[list[Node], list[str]]:
    """Make `count` nodes, each with an address and an agent; return them and the agents' tokens."""
    site = Site.objects.create(team=team, name="Crowd")
    testbed = Testbed.objects.create(team=team, site=site, name="Crowd")
    names = (f"crowd-{number:04}" for number in range(count))
    nodes = Node.objects.bulk_create(Node(team=team, testbed=testbed, name=name) for name in names)
    NodeAddress.objects.bulk_create(
        NodeAddress(
            node=node, address=f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", confirmed_at=timezone.now()
        )
        for number, node in enumerate(nodes, start=1)
    )
    tokens = [secrets.issue("agent") for _node in nodes]
    Agent.objects.bulk_create(
        Agent(node=node, prefix=token.prefix, digest=token.digest, version="1.0")
        for node, token in zip(nodes, tokens, strict=True)
    )
    return nodes, [token.text for token in tokens]


def plan(team: Team, user: User, nodes: list[Node], trials: int) -> int:
    """Make a campaign in which each pair of nodes carries out so many pings; return its id."""
    campaign = services.create_campaign(team=team, user=user, now=timezone.now(), name="Crowd")
    for client, server in zip(nodes[::2], nodes[1::2], strict=True):
        services.create_experiment(
            campaign=campaign,
            user=user,
            name=f"{client.name} to {server.name}",
            tool="ping",
            fixed={"count": "10"},
            repetitions=trials,
            context=False,
            roles=[services.Player("client", node=client), services.Player("server", node=server)],
        )
    return campaign.pk


def main() -> None:
    """Describe, and print {"campaign": id, "tokens": [text]}."""
    pairs, trials = map(int, sys.argv[1:])
    team, user = Team.objects.get(), User.objects.get()
    nodes, tokens = describe(team, 2 * pairs)
    print(json.dumps({"campaign": plan(team, user, nodes, trials), "tokens": tokens}))


if __name__ == "__main__":
    main()
