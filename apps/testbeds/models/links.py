"""Switches, links and what was measured end to end between sites."""

from typing import Any

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Greatest, Least
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.core.models import BoundedTextField
from apps.testbeds.models import validators
from apps.testbeds.models.base import HasPage, InventoryItem
from apps.testbeds.models.machines import Node
from apps.testbeds.models.sites import Site

# What a link's owner who says nothing allows: no more than fills the link, and no crowd of connections.
DEFAULT_UDP_SHARE = 1.0
DEFAULT_STREAMS = 64
SAME_ENDS = _("A link joins two different things: choose another end B.")


class Switch(InventoryItem):
    """A switch or router (also an exchange point) that links meet at."""

    site = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="switches", verbose_name=_("site"))

    class Meta(InventoryItem.Meta):
        verbose_name = _("switch")
        verbose_name_plural = _("switches")


def _end(kind: Any, end: str, target: type[models.Model]) -> models.ForeignKey:
    return models.ForeignKey(
        target,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name=f"links_{end}",
        verbose_name=kind,
    )


class Link(InventoryItem):
    """A full-duplex link between two ends, each a node or a switch; capacity in bit/s, RTT in seconds."""

    a_node = _end(_("end A: node"), "a", Node)
    a_switch = _end(_("end A: switch"), "a", Switch)
    b_node = _end(_("end B: node"), "b", Node)
    b_switch = _end(_("end B: switch"), "b", Switch)
    capacity_bps = models.PositiveBigIntegerField(
        _("capacity"), null=True, blank=True, validators=validators.POSITIVE
    )
    rtt_s = models.FloatField(_("RTT"), null=True, blank=True, validators=[validators.rtt])
    mtu = models.PositiveIntegerField(_("MTU"), null=True, blank=True, validators=validators.MTU)
    # What the owner allows campaigns to do to the others who use the link.
    udp_share_limit = models.FloatField(
        _("max UDP rate, as a share of the capacity"), default=DEFAULT_UDP_SHARE, validators=[validators.share]
    )
    udp_limit_bps = models.PositiveBigIntegerField(
        _("max UDP rate"), null=True, blank=True, validators=validators.POSITIVE
    )
    streams_limit = models.PositiveIntegerField(
        _("max streams"), default=DEFAULT_STREAMS, validators=validators.STREAMS
    )

    class Meta(InventoryItem.Meta):
        verbose_name = _("link")
        verbose_name_plural = _("links")
        constraints = [
            *InventoryItem.Meta.constraints,
            models.CheckConstraint(
                condition=Q(a_node__isnull=True) ^ Q(a_switch__isnull=True),
                name="link_end_a_is_node_or_switch",
                violation_error_message=_("End A is either a node or a switch: choose one."),
            ),
            models.CheckConstraint(
                condition=Q(b_node__isnull=True) ^ Q(b_switch__isnull=True),
                name="link_end_b_is_node_or_switch",
                violation_error_message=_("End B is either a node or a switch: choose one."),
            ),
            models.CheckConstraint(
                condition=~Q(a_node=F("b_node")) & ~Q(a_switch=F("b_switch")),
                name="link_joins_two_things",
                violation_error_message=SAME_ENDS,
            ),
        ]

    @property
    def most_udp_bps(self) -> int | None:
        """Return the most UDP (bit/s) that may be offered: the rate set, else the share of the capacity.

        None, that is any load, only where neither a rate is set nor the capacity is known.
        """
        if self.udp_limit_bps is not None:
            return self.udp_limit_bps
        return round(self.udp_share_limit * self.capacity_bps) if self.capacity_bps is not None else None

    @property
    def key(self) -> str:
        """Return the name under which the link is reserved and found in paths."""
        return f"link:{self.pk}"

    @property
    def end_a(self) -> Node | Switch:
        """Return what the link begins at."""
        return self.a_node or self.a_switch

    @property
    def end_b(self) -> Node | Switch:
        """Return the node or switch at the second end."""
        return self.b_node or self.b_switch

    @property
    def a_key(self) -> str:
        """Return the key of end A, "node:3" or "switch:1"."""
        return f"node:{self.a_node_id}" if self.a_node_id else f"switch:{self.a_switch_id}"

    @property
    def b_key(self) -> str:
        """Return the key of end B, "node:3" or "switch:1"."""
        return f"node:{self.b_node_id}" if self.b_node_id else f"switch:{self.b_switch_id}"


class SitePair(HasPage, TeamOwned):
    """An end-to-end RTT between two sites, in seconds; it takes precedence over the sum of the links'."""

    site_a = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="+", verbose_name=_("site A"))
    site_b = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="+", verbose_name=_("site B"))
    rtt_s = models.FloatField(_("RTT"), validators=[validators.rtt])
    notes = BoundedTextField(_("notes"), blank=True, max_length=10_000)

    class Meta:
        ordering = ["site_a__name", "site_b__name"]
        verbose_name = _("end-to-end RTT")
        verbose_name_plural = _("end-to-end RTTs")
        constraints = [
            models.UniqueConstraint(
                Least("site_a", "site_b"),
                Greatest("site_a", "site_b"),
                name="one_rtt_per_site_pair",
                violation_error_message=_("These two sites already have an end-to-end RTT: change that one."),
            ),
            models.CheckConstraint(
                condition=~Q(site_a=F("site_b")),
                name="site_pair_is_two_sites",
                violation_error_message=_("Choose two different sites."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.site_a} – {self.site_b}"
