"""Which programs the nodes of a team allow, as their agents told."""

from collections import defaultdict

from apps.accounts.models import Team
from apps.agents import queries as agents
from apps.testbeds.models import Node
from apps.toolbox.uses import Permit


def permits_of_team(*, team: Team) -> list[Permit]:
    """Return every program that agents of the team's nodes have installed and allow, with the nodes' names."""
    names = dict(Node.objects.filter(team=team).values_list("pk", "name"))
    allowed = defaultdict(list)
    for node, facts in agents.latest_facts(names).items():
        programs = facts.get("tools")
        for program in programs if isinstance(programs, dict) else ():
            allowed[program].append(names[node])
    return [Permit(program, tuple(sorted(allowed[program]))) for program in sorted(allowed)]
