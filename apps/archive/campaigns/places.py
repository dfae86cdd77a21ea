"""What of the inventory a campaign touches: as an inventory file has it, and by name what rows have by number."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model, QuerySet

from apps.accounts.models import User
from apps.agents.models import Job
from apps.archive.campaigns.form import ArchiveError
from apps.bench import strict_json
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign, Lane
from apps.testbeds.inventory.entries import VERSION
from apps.testbeds.inventory.sections import SECTIONS
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, SitePair, Switch, Testbed
from apps.testbeds.queries.readers import of_own_nodes

Numbers = dict[type[Model], set[int]]
# How lanes name what they reserve: "node:3", "link:7", "fs:1".
_RESOURCES: dict[str, type[Any]] = {"node": Node, "link": Link, "fs": FileSystem}


class CampaignInventory:
    """The inventory that a campaign touches: what took part, the links between, and all that these stand in."""

    def __init__(self, campaign: Campaign, runs: QuerySet[Any, Any]) -> None:
        self._campaign = campaign
        self._wanted = _wanted(campaign, runs)
        self._names: dict[type[Model], dict[int, str]] = {
            kind: dict(kind._default_manager.filter(pk__in=numbers).values_list("pk", "name"))
            for kind, numbers in self._wanted.items()
            if kind is not SitePair
        }

    def name(self, kind: type[Model], pk: int) -> str:
        """Return the name of a thing; ArchiveError if it is no longer there."""
        try:
            return self._names[kind][pk]
        except KeyError:
            text = _("A %(kind)s of this campaign is no longer in the inventory.")
            raise ArchiveError("gone", Message(text, {"kind": str(kind._meta.verbose_name)})) from None

    def roles(self, roles: Mapping[str, Iterable[int]]) -> dict[str, list[str]]:
        """Return the roles of a lane with the names of their nodes."""
        return {role: [self.name(Node, pk) for pk in members] for role, members in roles.items()}

    def resources(self, keys: Iterable[str]) -> list[list[str]]:
        """Return what a lane reserves as [kind, name]; links that are gone are left out."""
        resources = []
        for key in keys:
            kind, _colon, number = key.partition(":")
            name = self._names[_RESOURCES[kind]].get(int(number))
            if name is not None:
                resources.append([kind, name])
        return resources

    def as_inventory(self, reader: User | None) -> str:
        """Return the inventory file of it all, its notes for the own team only; JSON is YAML of a plain kind."""
        is_own = of_own_nodes(Campaign.objects.filter(pk=self._campaign.pk), reader, path="").exists()
        document: dict[str, Any] = {"version": VERSION}
        for section in SECTIONS:
            rows = section.rows_of(self._campaign.team).filter(pk__in=self._wanted[section.model])
            entries = []
            for item in rows:
                values = {field.name: field.written(field.value_of(item)) for field in section.fields}
                values |= {} if is_own else {"notes": None}
                entries.append({name: value for name, value in values.items() if value is not None})
            if section.model is FileSystem:
                entries = [self._mounted_by_known(entry) for entry in entries]
            if entries:
                document[section.name] = entries
        return strict_json.dumps(document, ensure_ascii=False, indent=1)

    def _mounted_by_known(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Leave out the mounts of clusters that have nothing to do with the campaign."""
        clusters = set(self._names[Cluster].values())
        mounts = [
            item
            for item in entry.get("mounted_by", [])
            if (item["cluster"] if isinstance(item, Mapping) else item) in clusters
        ]
        return {**entry, "mounted_by": mounts}


def _wanted(campaign: Campaign, runs: QuerySet[Any, Any]) -> Numbers:
    numbers: Numbers = {section.model: set() for section in SECTIONS}
    experiments = list(campaign.experiments.prefetch_related("roles"))
    for experiment in experiments:
        for part in experiment.roles.all():
            if part.node_id:
                numbers[Node].add(part.node_id)
            if part.cluster_id:
                numbers[Cluster].add(part.cluster_id)
        if experiment.file_system_id:
            numbers[FileSystem].add(experiment.file_system_id)
    for roles, resources in Lane.objects.filter(experiment__campaign=campaign).values_list("roles", "resources"):
        numbers[Node] |= {pk for members in roles.values() for pk in members}
        for key in resources:
            kind, _colon, number = key.partition(":")
            numbers[_RESOURCES[kind]].add(int(number))
    numbers[Node] |= set(Job.objects.filter(run_ref__in=runs).order_by().values_list("node_id", flat=True).distinct())
    systems = FileSystem.objects.filter(pk__in=numbers[FileSystem])
    numbers[Cluster] |= {pk for pk in systems.values_list("server_cluster_id", flat=True) if pk}
    mounted = Cluster.objects.filter(mounts__file_system__in=numbers[FileSystem], nodes__in=numbers[Node])
    numbers[Cluster] |= set(mounted.values_list("pk", flat=True))
    numbers[Node] |= set(Node.objects.filter(clusters__in=numbers[Cluster]).values_list("pk", flat=True))
    for link in Link.objects.filter(pk__in=numbers[Link]):
        numbers[Node] |= {pk for pk in (link.a_node_id, link.b_node_id) if pk}
        numbers[Switch] |= {pk for pk in (link.a_switch_id, link.b_switch_id) if pk}
    numbers[Testbed] |= set(Node.objects.filter(pk__in=numbers[Node]).values_list("testbed_id", flat=True))
    numbers[Site] |= set(Testbed.objects.filter(pk__in=numbers[Testbed]).values_list("site_id", flat=True))
    numbers[Site] |= set(Switch.objects.filter(pk__in=numbers[Switch]).values_list("site_id", flat=True))
    pairs = SitePair.objects.filter(team=campaign.team, site_a__in=numbers[Site], site_b__in=numbers[Site])
    numbers[SitePair] |= set(pairs.values_list("pk", flat=True))
    return numbers
