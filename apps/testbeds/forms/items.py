"""One form a kind of thing."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.forms import TeamForm
from apps.core.forms import QuantityField
from apps.testbeds import services
from apps.testbeds.forms.fields import AddressesField, EndField, MountsField, NodesField
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, SitePair, Switch, Testbed
from apps.testbeds.models.links import DEFAULT_STREAMS, DEFAULT_UDP_SHARE, SAME_ENDS

_USUAL_LIMITS = {"udp_share_limit": DEFAULT_UDP_SHARE, "streams_limit": DEFAULT_STREAMS}
_NOTES = {"notes": forms.Textarea(attrs={"rows": 2})}


def _rate(label: Any) -> QuantityField:
    return QuantityField(kind="rate", label=label, required=False, help_text=_("For example 1 Gbit/s or 622M."))


def _rtt(required: bool = False) -> QuantityField:
    return QuantityField(kind="duration", label=_("RTT"), required=required, help_text=_("For example 4.8 ms."))


class ItemForm(TeamForm):
    """What the forms of all kinds share."""

    fields: dict[str, Any]

    def values(self) -> dict[str, Any]:
        """Return what the service is to store, by column and part."""
        return dict(self.cleaned_data)


class SiteForm(ItemForm):
    """A site and the place where it is."""

    class Meta:
        model = Site
        fields = ["name", "place", "notes"]
        widgets = _NOTES
        help_texts = {"place": _("City and country, for example Daejeon, KR.")}


class TestbedForm(ItemForm):
    """A testbed: the row of a specification table."""

    ram_bytes = QuantityField(
        kind="size", label=_("RAM of a node"), required=False, help_text=_("For example 16 GiB.")
    )
    nic_bps = _rate(_("Rate of an interface"))

    class Meta:
        model = Testbed
        fields = [
            "name", "site", "location", "cpu", "cores_per_node", "ram_bytes", "os", "nic", "nic_count", "nic_bps",
            "bonding", "mtu", "interconnect", "notes",
        ]  # fmt: skip
        widgets = _NOTES
        help_texts = {
            "location": _("Room or rack, if that matters."),
            "bonding": _("How interfaces are joined, for example 4 bonded (LACP)."),
            "interconnect": _("For example InfiniBand 4X QDR."),
            "mtu": _("In bytes: 1500, or 9000 for jumbo frames."),
        }


class NodeForm(ItemForm):
    """A node and its addresses."""

    addresses = AddressesField(
        label=_("Data-plane addresses"),
        help_text=_("One a line, the usual one first; the interface may stand behind it."),
    )

    class Meta:
        model = Node
        fields = ["name", "testbed", "addresses", "notes"]
        widgets = _NOTES

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["addresses"] = list(self.instance.addresses.all())


class ClusterForm(ItemForm):
    """A cluster and its nodes."""

    nodes = NodesField(label=_("Nodes"), help_text=_("Names and patterns with commas between: KIGFS[01-04], HEXA01."))

    class Meta:
        model = Cluster
        fields = ["name", "notes"]
        widgets = _NOTES

    field_order = ["name", "nodes", "notes"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["nodes"].team = self.team
        if self.instance.pk:
            self.initial["nodes"] = list(self.instance.nodes.all())


class SwitchForm(ItemForm):
    """A switch and its site."""

    class Meta:
        model = Switch
        fields = ["name", "site", "notes"]
        widgets = _NOTES


class LinkForm(ItemForm):
    """A link and its two ends; without a name it is called after them."""

    a = EndField(label=_("End A"))
    b = EndField(label=_("End B"))
    capacity_bps = _rate(_("Capacity"))
    rtt_s = _rtt()
    udp_limit_bps = QuantityField(
        kind="rate",
        label=_("Max UDP rate"),
        required=False,
        help_text=_("What campaigns may offer, for example 400 Mbit/s; empty takes the share below."),
    )

    class Meta:
        model = Link
        fields = [
            "a", "b", "name", "capacity_bps", "rtt_s", "mtu", "udp_limit_bps", "udp_share_limit", "streams_limit",
            "notes",
        ]  # fmt: skip
        widgets = _NOTES
        help_texts = {
            "name": _("Left empty, it is called after its ends."),
            "mtu": _("In bytes: 1500, or 9000 for jumbo frames."),
            "udp_share_limit": _("1 is all of the capacity; more lets campaigns fill the link to measure its loss."),
            "streams_limit": _("Connections that a campaign may have open over the link at once."),
        }

    field_order = [
        "a", "b", "name", "capacity_bps", "rtt_s", "mtu", "udp_limit_bps", "udp_share_limit", "streams_limit",
        "notes",
    ]  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("name", *_USUAL_LIMITS):
            self.fields[name].required = False
        for end in "ab":
            self.fields[end].offer(self.team)
            if self.instance.pk:
                self.initial[end] = getattr(self.instance, f"{end}_key")

    def clean(self) -> dict[str, Any] | None:
        """Name the link after its ends if it has no name, and allow the usual where nothing is written."""
        cleaned = self.cleaned_data
        cleaned |= {name: usual for name, usual in _USUAL_LIMITS.items() if cleaned.get(name, "") is None}
        if not cleaned.get("name") and cleaned.get("a") and cleaned.get("b"):
            names = {key: name for _group, members in self.fields["a"].choices[1:] for key, name in members}
            cleaned["name"] = f"{names[cleaned['a']]} – {names[cleaned['b']]}"
        if cleaned.get("a") and cleaned.get("a") == cleaned.get("b"):
            self.add_error("b", SAME_ENDS)
        return super().clean()

    def values(self) -> dict[str, Any]:
        """Return the ends as the columns they are stored in."""
        values = super().values()
        for end in "ab":
            values |= self.fields[end].columns(end, values.pop(end))
        return values


class FileSystemForm(ItemForm):
    """A file system and the clusters that mount it."""

    block_size_bytes = QuantityField(
        kind="size", label=_("Block size"), required=False, help_text=_("For example 256 KiB.")
    )
    mounts = MountsField(label=_("Mounted by"), required=False)

    class Meta:
        model = FileSystem
        fields = ["name", "kind", "server_cluster", "mount_path", "block_size_bytes", "disks", "notes"]
        widgets = _NOTES
        help_texts = {
            "mount_path": _("Where clients mount it, for example /gpfs."),
            "disks": _("What it is stored on, for example 8 SATA disks, RAID 1."),
        }

    field_order = ["name", "kind", "server_cluster", "mount_path", "block_size_bytes", "disks", "mounts", "notes"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["mounts"].offer(self.team)
        if self.instance.pk:
            rows = self.instance.mounts.select_related("cluster")
            self.initial["mounts"] = [services.MountPoint(row.cluster, row.path) for row in rows]


class SitePairForm(ItemForm):
    """An RTT measured end to end between two sites."""

    rtt_s = _rtt(required=True)

    class Meta:
        model = SitePair
        fields = ["site_a", "site_b", "rtt_s", "notes"]
        widgets = _NOTES
