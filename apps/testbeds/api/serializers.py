"""The shape of what is in the inventory; the rules are the services'."""

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from apps.accounts.api import ScopedRelatedField, TeamField
from apps.core.entries import ReferringList, ReferringRows
from apps.core.names import check_seen
from apps.testbeds import models, services
from apps.testbeds.api.fields import QuantityValueField

_COMMON = ["id", "team", "name", "notes", "created_at", "updated_at"]


def _reference(model: type[Any], **kwargs: Any) -> ScopedRelatedField:
    return ScopedRelatedField(queryset=model.objects.all(), **kwargs)


def _optional(model: type[Any]) -> ScopedRelatedField:
    return _reference(model, required=False, allow_null=True)


class ItemSerializer(serializers.ModelSerializer):
    """What all kinds share; that a name is free is checked by the service, which knows the team."""

    team = TeamField()

    def get_validators(self) -> list[Any]:
        """Leave what concerns several fields to the service."""
        return []


class SiteSerializer(ItemSerializer):
    """A site."""

    class Meta:
        model = models.Site
        fields = [*_COMMON, "place"]


class TestbedSerializer(ItemSerializer):
    """A testbed; RAM in bytes, rates in bit/s, MTU in bytes."""

    site = _reference(models.Site)
    ram_bytes = QuantityValueField("size")
    nic_bps = QuantityValueField("rate")
    node_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = models.Testbed
        fields = [
            *_COMMON, "site", "location", "cpu", "cores_per_node", "ram_bytes", "os", "nic", "nic_count", "nic_bps",
            "bonding", "mtu", "interconnect", "node_count",
        ]  # fmt: skip


class AddressSerializer(serializers.ModelSerializer):
    """A data-plane address, and the interface that has it.

    It `counts`, and agents are told to call it, once the node's agent reported it (`reported_at`) or a manager of the
    team entered or confirmed it, on the node's page (`confirmed_at`, `confirmed_by`).
    """

    confirmed_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)
    counts = serializers.BooleanField(read_only=True)

    class Meta:
        model = models.NodeAddress
        fields = ["address", "interface", "reported_at", "confirmed_at", "confirmed_by", "counts"]
        read_only_fields = ["reported_at", "confirmed_at"]


class NodeSerializer(ItemSerializer):
    """A node; the first of its addresses is the one measurements use."""

    testbed = _reference(models.Testbed)
    site = serializers.IntegerField(source="testbed.site_id", read_only=True)
    addresses = AddressSerializer(many=True, required=False)

    class Meta:
        model = models.Node
        fields = [*_COMMON, "testbed", "site", "addresses"]

    def validate_addresses(self, rows: list[dict[str, str]]) -> list[services.Address]:
        """Return them as the service takes them."""
        return [services.Address(row["address"], row.get("interface", "")) for row in rows]


class _NodesField(ReferringList):
    """The nodes of a cluster; of one that was read with their ids none is read itself."""

    def get_attribute(self, instance: Any) -> Any:
        """Return the ids, or else the nodes."""
        ids: list[int] | None = getattr(instance, "node_ids", None)
        return super().get_attribute(instance) if ids is None else ids

    def to_representation(self, iterable: Iterable[Any]) -> list[Any]:
        """Return the ids."""
        return [item if isinstance(item, int) else item.pk for item in iterable]


class ClusterSerializer(ItemSerializer):
    """A cluster; its node count is computed."""

    nodes = _NodesField(child_relation=_reference(models.Node), required=False)
    node_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = models.Cluster
        fields = [*_COMMON, "nodes", "node_count"]


class SwitchSerializer(ItemSerializer):
    """A switch, router or exchange point."""

    site = _reference(models.Site)

    class Meta:
        model = models.Switch
        fields = [*_COMMON, "site"]


class LinkSerializer(ItemSerializer):
    """A link; each end is either a node or a switch. Capacity in bit/s, RTT in s, MTU in bytes.

    `udp_limit_bps` (bit/s), or without it `udp_share_limit` of the capacity, and `streams_limit` are the most that
    campaigns may offer it.
    """

    a_node = _optional(models.Node)
    a_switch = _optional(models.Switch)
    b_node = _optional(models.Node)
    b_switch = _optional(models.Switch)
    capacity_bps = QuantityValueField("rate")
    rtt_s = QuantityValueField("duration")
    udp_limit_bps = QuantityValueField("rate")

    class Meta:
        model = models.Link
        fields = [
            *_COMMON, "a_node", "a_switch", "b_node", "b_switch", "capacity_bps", "rtt_s", "mtu", "udp_limit_bps",
            "udp_share_limit", "streams_limit",
        ]  # fmt: skip


class MountSerializer(serializers.ModelSerializer):
    """A cluster that mounts a file system; the path only if it differs."""

    cluster = _reference(models.Cluster)

    class Meta:
        model = models.Mount
        list_serializer_class = ReferringRows
        fields = ["cluster", "path"]


class FileSystemSerializer(ItemSerializer):
    """A file system and the clusters that mount it; the block size in bytes."""

    server_cluster = _optional(models.Cluster)
    block_size_bytes = QuantityValueField("size")
    mounts = MountSerializer(many=True, required=False)

    class Meta:
        model = models.FileSystem
        fields = [*_COMMON, "kind", "server_cluster", "mount_path", "block_size_bytes", "disks", "mounts"]

    def validate_mounts(self, rows: list[dict[str, Any]]) -> list[services.MountPoint]:
        """Return them as the service takes them."""
        return [services.MountPoint(**row) for row in rows]


class SitePairSerializer(ItemSerializer):
    """An RTT (s) measured end to end between two sites."""

    site_a = _reference(models.Site)
    site_b = _reference(models.Site)
    rtt_s = QuantityValueField("duration", required=True, allow_null=False)

    class Meta:
        model = models.SitePair
        fields = ["id", "team", "site_a", "site_b", "rtt_s", "notes", "created_at", "updated_at"]


class CloneSerializer(serializers.Serializer):
    """What the copy is called."""

    name = serializers.CharField(max_length=100, validators=[check_seen])


class AddNodesSerializer(serializers.Serializer):
    """Names and addresses by pattern, and the link that each node gets to a switch."""

    names = serializers.CharField(max_length=2000)
    addresses = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
    switch = _optional(models.Switch)
    capacity_bps = QuantityValueField("rate")
    rtt_s = QuantityValueField("duration")
    mtu = serializers.IntegerField(required=False, allow_null=True)
