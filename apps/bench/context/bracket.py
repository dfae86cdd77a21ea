"""The short probes around a measurement between two nodes."""

from collections.abc import Mapping, Sequence

from apps.bench import tools
from apps.bench.outputs import texts
from apps.bench.toolkit import AROUND, Command, NodeRef, ParameterError, Plan, Stage, Tool

BEFORE, AFTER = f"{AROUND}before", f"{AROUND}after"
# Tools that look at the path themselves need no look around them.
PROBES = ("ping", "tracepath", "traceroute", "mtr")
GROUPS = ("network", "transfer")

PING = {"count": 4, "interval": 0.2, "timeout": 1.0}
TRACEROUTE = {"queries": 1, "wait": 0.5, "max_hops": 24}
TRACEPATH: dict[str, int] = {}
AT_ONCE = 4
# All of a bracket's probes end by then, whatever the path does to them.
LIMIT_S = 3.0


def bracket(plan: Plan, nodes: Mapping[str, Sequence[NodeRef]], tool: Tool) -> Plan:
    """Return the plan with probes from the one end to the other before its own stages and after them.

    The ends are the first nodes of the tool's first two roles; a tool that has not two roles, one that is no matter
    of the network, and one that is a probe itself stay as they are. A probe that fails stops nothing.
    """
    if tool.group not in GROUPS or tool.slug in PROBES or len(tool.roles) < 2:
        return plan
    role, other = (item.name for item in tool.roles[:2])
    here, there = nodes[role][0], nodes[other][0]
    try:
        commands = _probes(role, here, there)
    except ParameterError:
        # Two IP versions: the tool itself has its own say about that.
        return plan
    settings = [stage for stage in plan.stages if stage.name.startswith(AROUND)]
    own = [stage for stage in plan.stages if not stage.name.startswith(AROUND)]
    return Plan((*settings, Stage(BEFORE, commands), *own, Stage(AFTER, commands)))


def _probes(role: str, here: NodeRef, there: NodeRef) -> tuple[Command, ...]:
    texts.refuse_mixed_families(there, here)
    ends = {"client": [here], "server": [there]}
    # It asks several hops at once. tracepath goes hop by hop, and waits for each that keeps silent.
    route = ("traceroute", TRACEROUTE) if "traceroute" in here.facts.get("tools", {}) else ("tracepath", TRACEPATH)
    commands = []
    for slug, params in (("ping", PING), route):
        tool = tools.get(slug)
        (command,) = tool.plan(tool.clean(params), ends).stages[0].commands
        # Few at a time: hosts limit how often they tell that they were reached, and the next look needs it, too.
        argv = (slug, "-N", str(AT_ONCE), *command.argv[1:]) if slug == "traceroute" else command.argv
        commands.append(
            Command(role=role, node_index=0, argv=argv, time_limit_s=LIMIT_S, measures=False, optional=True)
        )
    return tuple(commands)
