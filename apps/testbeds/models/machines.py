"""Testbeds (kinds of machine), their nodes, and clusters of nodes."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core.models import LineField, TimeStamped
from apps.testbeds.models import validators
from apps.testbeds.models.base import InventoryItem
from apps.testbeds.models.sites import Site


class Testbed(InventoryItem):
    """A group of like machines at a site: the row of a specification table."""

    site = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="testbeds", verbose_name=_("site"))
    cpu = LineField(_("CPU"), max_length=200, blank=True)
    cores_per_node = models.PositiveIntegerField(
        _("cores per node"), null=True, blank=True, validators=validators.POSITIVE
    )
    ram_bytes = models.PositiveBigIntegerField(_("RAM"), null=True, blank=True, validators=validators.POSITIVE)
    os = LineField(_("operating system"), max_length=200, blank=True)
    nic = LineField(_("network interfaces"), max_length=200, blank=True)
    nic_count = models.PositiveIntegerField(
        _("number of interfaces"), null=True, blank=True, validators=validators.POSITIVE
    )
    nic_bps = models.PositiveBigIntegerField(
        _("rate of an interface"), null=True, blank=True, validators=validators.POSITIVE
    )
    bonding = LineField(_("bonding"), max_length=100, blank=True)
    mtu = models.PositiveIntegerField(_("MTU"), null=True, blank=True, validators=validators.MTU)
    interconnect = LineField(_("interconnect"), max_length=200, blank=True)
    location = LineField(_("location"), max_length=200, blank=True)

    class Meta(InventoryItem.Meta):
        verbose_name = _("testbed")
        verbose_name_plural = _("testbeds")


class Node(InventoryItem):
    """One machine on which an agent can run."""

    name = models.CharField(_("name"), max_length=100, validators=[validators.node_name])
    testbed = models.ForeignKey(Testbed, on_delete=models.PROTECT, related_name="nodes", verbose_name=_("testbed"))

    class Meta(InventoryItem.Meta):
        verbose_name = _("node")
        verbose_name_plural = _("nodes")

    @property
    def site(self) -> Site:
        """Return the site the node stands at."""
        return self.testbed.site


class NodeAddress(TimeStamped):
    """An address of a node on the data plane, the first (lowest `position`) being its usual one."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="addresses", verbose_name=_("node"))
    address = models.CharField(_("address"), max_length=255, validators=[validators.host_address])
    interface = models.CharField(_("interface"), max_length=32, blank=True, validators=[validators.interface_name])
    position = models.PositiveSmallIntegerField(_("order"), default=0)
    # Since when the node's own agent is known to have had it among its interfaces'. It stays: one that restarts may
    # report before its addresses are there.
    reported_at = models.DateTimeField(_("reported"), null=True, blank=True, editable=False)
    # When a manager of the team entered or confirmed it, None if none did; nobody where it was done on the server's
    # command line, by an earlier version, or by somebody whose account is gone.
    confirmed_at = models.DateTimeField(_("confirmed"), null=True, blank=True, editable=False)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("confirmed by"),
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["node", "address"], name="address_unique_on_node")]
        verbose_name = _("data-plane address")
        verbose_name_plural = _("data-plane addresses")

    def __str__(self) -> str:
        return self.address

    @property
    def counts(self) -> bool:
        """Return whether agents may be told to call it: the node's agent reported it, or a manager confirmed it.

        Every operator enters addresses, and by them alone nodes would send to whoever has one of them.
        """
        return self.confirmed_at is not None or self.reported_at is not None


class Cluster(InventoryItem):
    """Nodes, of one or more testbeds, that work together; its node count is computed."""

    nodes = models.ManyToManyField(Node, related_name="clusters", blank=True, verbose_name=_("nodes"))

    class Meta(InventoryItem.Meta):
        verbose_name = _("cluster")
        verbose_name_plural = _("clusters")
