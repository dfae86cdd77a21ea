"""The sections of an inventory file, in the order in which one refers to the other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, QuerySet

from apps.accounts.models import Team, TeamOwned
from apps.testbeds import queries
from apps.testbeds.inventory import fields
from apps.testbeds.inventory.fields import Field
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, SitePair, Switch, Testbed
from apps.testbeds.models.links import DEFAULT_STREAMS, DEFAULT_UDP_SHARE


@dataclass(frozen=True)
class InventorySection:
    """One list of the file: its model, its fields, and the rows a team has of it."""

    name: str
    model: type[TeamOwned]
    fields: tuple[Field, ...]
    rows: Callable[[], QuerySet]
    # The fields that tell one entry from the others.
    identity: tuple[str, ...] = ("name",)

    def rows_of(self, team: Team) -> QuerySet:
        """Return the team's rows, in the order in which they are written."""
        return self.rows().filter(team=team).order_by(*(self.model._meta.ordering or ()))

    def key_in(self, values: Mapping[str, Any]) -> object:
        """Return what identifies an entry with these values: its name, or its two ends in either order."""
        parts = [values[name] for name in self.identity]
        return parts[0] if len(parts) == 1 else frozenset(parts)

    def key_of(self, item: Model) -> object:
        """Return what identifies an item of the database."""
        return self.key_in({field.name: field.value_of(item) for field in self.fields if field.name in self.identity})

    def field_of(self, column: str) -> Field | None:
        """Return the field that sets a column."""
        return next((item for item in self.fields if column in item.columns), None)


SECTIONS = (
    InventorySection("sites", Site, (fields.text("name"), fields.text("place"), fields.text("notes")), queries.sites),
    InventorySection(
        "testbeds",
        Testbed,
        (
            fields.text("name"),
            fields.reference("site", Site),
            fields.text("location"),
            fields.text("cpu"),
            fields.whole_number("cores_per_node"),
            fields.quantity("ram", "ram_bytes", "size"),
            fields.text("os"),
            fields.text("nic"),
            fields.whole_number("nic_count"),
            fields.quantity("nic_rate", "nic_bps", "rate"),
            fields.text("bonding"),
            fields.whole_number("mtu"),
            fields.text("interconnect"),
            fields.text("notes"),
        ),
        queries.testbeds,
    ),
    InventorySection(
        "nodes",
        Node,
        (fields.text("name"), fields.reference("testbed", Testbed), fields.addresses(), fields.text("notes")),
        queries.nodes,
    ),
    InventorySection(
        "switches",
        Switch,
        (fields.text("name"), fields.reference("site", Site), fields.text("notes")),
        queries.switches,
    ),
    InventorySection(
        "links",
        Link,
        (
            fields.text("name"),
            fields.end("a"),
            fields.end("b"),
            fields.quantity("capacity", "capacity_bps", "rate"),
            fields.quantity("rtt", "rtt_s", "duration"),
            fields.whole_number("mtu"),
            fields.quantity("udp_limit", "udp_limit_bps", "rate"),
            fields.limit("udp_share_limit", "float", DEFAULT_UDP_SHARE),
            fields.limit("streams_limit", "integer", DEFAULT_STREAMS),
            fields.text("notes"),
        ),
        queries.links,
    ),
    InventorySection(
        "clusters",
        Cluster,
        (fields.text("name"), fields.nodes(), fields.text("notes")),
        lambda: queries.clusters().prefetch_related("nodes"),
    ),
    InventorySection(
        "file_systems",
        FileSystem,
        (
            fields.text("name"),
            fields.text("kind"),
            fields.reference("server_cluster", Cluster),
            fields.text("mount_path"),
            fields.quantity("block_size", "block_size_bytes", "size"),
            fields.text("disks"),
            fields.mounts(),
            fields.text("notes"),
        ),
        queries.file_systems,
    ),
    InventorySection(
        "site_pairs",
        SitePair,
        (
            fields.reference("a", Site, "site_a"),
            fields.reference("b", Site, "site_b"),
            fields.quantity("rtt", "rtt_s", "duration"),
            fields.text("notes"),
        ),
        queries.site_pairs,
        identity=("a", "b"),
    ),
)
