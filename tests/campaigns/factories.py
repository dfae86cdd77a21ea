"""A small inventory and campaigns upon it."""

from collections.abc import Collection
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from apps.accounts.models import Team
from apps.campaigns import services
from apps.campaigns.models import Campaign, Experiment, Run, Share, Trial
from apps.testbeds.models import Cluster, Link, Node, NodeAddress, Site, Switch, Testbed

NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


def nodes(team: Team, *names: str, site: str = "Daejeon") -> list[Node]:
    """Return nodes of the team, each with an address."""
    place, _created = Site.objects.get_or_create(team=team, name=site)
    testbed, _created = Testbed.objects.get_or_create(team=team, name=f"{site} testbed", site=place)
    made = Node.objects.bulk_create(Node(team=team, name=name, testbed=testbed) for name in names)
    NodeAddress.objects.bulk_create(
        NodeAddress(node=node, address=f"10.0.0.{node.pk % 250 + 1}", confirmed_at=NOW) for node in made
    )
    return made


def link(a: Node | Switch, b: Node | Switch, name: str, capacity_bps: int | None = 10**9) -> Link:
    """Return a link between two things of a team."""
    ends = {}
    for end, thing in (("a", a), ("b", b)):
        ends[f"{end}_{'node' if isinstance(thing, Node) else 'switch'}"] = thing
    return Link.objects.create(
        team=a.team, name=name, capacity_bps=capacity_bps, rtt_s=0.0048, mtu=9000, streams_limit=128, **ends
    )


def joined(team: Team) -> list[Node]:
    """Return two nodes joined by a link."""
    a, b = nodes(team, "kisti01", "pnu01")
    link(a, b, "WAN")
    return [a, b]


def cluster(team: Team, name: str, *members: Node) -> Cluster:
    """Return a cluster of nodes."""
    made = Cluster.objects.create(team=team, name=name)
    made.nodes.set(members)
    return made


def wan(team: Team, pairs: int = 1) -> SimpleNamespace:
    """Return `pairs` of nodes (`left`, `right`) behind two switches joined by one link, `wan`."""
    left = nodes(team, *(f"left{i}" for i in range(pairs)))
    right = nodes(team, *(f"right{i}" for i in range(pairs)), site="Busan")
    here = Switch.objects.create(team=team, name="here", site=left[0].testbed.site)
    there = Switch.objects.create(team=team, name="there", site=right[0].testbed.site)
    for node in left:
        link(node, here, f"{node.name}-lan", 10**10)
    for node in right:
        link(node, there, f"{node.name}-lan", 10**10)
    return SimpleNamespace(left=left, right=right, wan=link(here, there, "KREONET"))


def campaign(cast: SimpleNamespace, **values: Any) -> Campaign:
    """Return a draft of the team's operator."""
    defaults = {"team": cast.team, "user": cast.oscar, "now": NOW, "name": "Window sweep"}
    return services.create_campaign(**{**defaults, **values})


def players(**roles: Any) -> list[services.Player]:
    """Return who plays which role: ``players(client=node, server=[node, cluster])``."""
    return [
        services.Player(role, **{"cluster" if isinstance(thing, Cluster) else "node": thing})
        for role, things in roles.items()
        for thing in (things if isinstance(things, list) else [things])
    ]


def experiment(draft: Campaign, client: Any, server: Any, **values: Any) -> Experiment:
    """Return an experiment of the draft: two windows, two repetitions, as given, unless told otherwise."""
    defaults = {
        "name": "windows",
        "tool": "iperf3-tcp",
        "fixed": {"duration": "2 s"},
        "factors": [{"name": "window", "expression": "64KiB, 1MiB"}],
        "repetitions": 2,
        "order": "as-given",
        "retry_wait_s": 5,
        # Most tests look at the tool's own stages only.
        "context": False,
    }
    return services.create_experiment(
        campaign=draft,
        user=draft.created_by,
        roles=players(client=client, server=server),
        **{**defaults, **values},
    )


def launched(cast: SimpleNamespace, client: Any, server: Any, name: str = "Window sweep", **values: Any) -> Campaign:
    """Return a running campaign with one experiment."""
    draft = campaign(cast, name=name)
    experiment(draft, client, server, **values)
    return services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)


def take(*ready: Node, now: datetime = NOW, limit: int = 1000, needing: Collection[str] | None = None) -> list[Run]:
    """Claim what can start if these nodes are ready; all of them unless given."""
    ids = {node.pk for node in ready} or set(Node.objects.values_list("pk", flat=True))
    return services.take_runs(ready_nodes=ids, now=now, limit=limit, needing=needing).runs


def states(of: Campaign) -> list[str]:
    """Return the states of the campaign's trials in their order."""
    return list(Trial.objects.filter(campaign=of).order_by("experiment", "position").values_list("state", flat=True))


def share(campaign: Campaign, team: Team, state: str = "accepted") -> Share:
    """Return the offer of a campaign to a team, which accepted it unless said otherwise."""
    Campaign.objects.filter(pk=campaign.pk).update(visibility=Campaign.Visibility.SHARED)
    return Share.objects.create(
        campaign=campaign,
        name=team.slug,
        team=team if state == "accepted" else None,
        state=state,
        offered_by=campaign.created_by,
    )
