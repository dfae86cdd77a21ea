"""Filters of lists, the same in the browser and over REST; they offer only what the person's teams have."""

from collections.abc import Callable
from typing import Any

import django_filters as filters
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field

from apps.accounts import rights
from apps.accounts.filters import team_filter
from apps.core.forms import QuantityField
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, SitePair, Switch, Testbed


class _ReadQuantity(QuantityField):
    """A quantity that is compared with and stored nowhere: REST asks for it in base units, too."""

    asks_for_unit = False


class QuantityFilter(filters.Filter):
    """Compares with a quantity such as "1 Gbit/s"; `kind` as in `apps.bench.units`."""

    field_class = _ReadQuantity


def _of_person(model: type[Model]) -> Callable[[HttpRequest | None], QuerySet]:
    """Return what offers the rows of a model to the person who asks, and none where nobody does (in a schema)."""

    def rows(request: HttpRequest | None) -> QuerySet:
        if request is None:
            return model._default_manager.none()
        return rights.visible(model._default_manager.all(), request.user)

    return rows


def _choice(model: type[Model], label: Any, **kwargs: Any) -> filters.ModelChoiceFilter:
    return filters.ModelChoiceFilter(queryset=_of_person(model), label=label, empty_label=_("all"), **kwargs)


class SiteFilter(filters.FilterSet):
    """By nothing of its own."""

    class Meta:
        model = Site
        fields: list[str] = []


class TestbedFilter(filters.FilterSet):
    """By site."""

    site = _choice(Site, _("Site"))

    class Meta:
        model = Testbed
        fields: list[str] = []


class NodeFilter(filters.FilterSet):
    """By site, testbed and cluster."""

    site = _choice(Site, _("Site"), field_name="testbed__site")
    testbed = _choice(Testbed, _("Testbed"))
    cluster = _choice(Cluster, _("Cluster"), field_name="clusters")

    class Meta:
        model = Node
        fields: list[str] = []


class ClusterFilter(filters.FilterSet):
    """By the site and the testbed of any of their nodes."""

    site = _choice(Site, _("Site"), field_name="nodes__testbed__site", distinct=True)
    testbed = _choice(Testbed, _("Testbed"), field_name="nodes__testbed", distinct=True)

    class Meta:
        model = Cluster
        fields: list[str] = []


class SwitchFilter(filters.FilterSet):
    """By site."""

    site = _choice(Site, _("Site"))

    class Meta:
        model = Switch
        fields: list[str] = []


class LinkFilter(filters.FilterSet):
    """By what they end at, and by capacity (bit/s)."""

    site = _choice(Site, _("Site"), method="filter_site")
    switch = _choice(Switch, _("Switch"), method="filter_switch")
    capacity_min = QuantityFilter("capacity_bps", lookup_expr="gte", kind="rate", label=_("Capacity from"))
    capacity_max = QuantityFilter("capacity_bps", lookup_expr="lte", kind="rate", label=_("Capacity to"))

    class Meta:
        model = Link
        fields: list[str] = []

    @extend_schema_field(OpenApiTypes.INT)
    def filter_site(self, rows: QuerySet[Link], _name: str, site: Site) -> QuerySet[Link]:
        """Return the links with an end at the site."""
        return rows.filter(
            Q(a_node__testbed__site=site)
            | Q(a_switch__site=site)
            | Q(b_node__testbed__site=site)
            | Q(b_switch__site=site)
        )

    @extend_schema_field(OpenApiTypes.INT)
    def filter_switch(self, rows: QuerySet[Link], _name: str, switch: Switch) -> QuerySet[Link]:
        """Return the links that end at the switch."""
        return rows.filter(Q(a_switch=switch) | Q(b_switch=switch))


class FileSystemFilter(filters.FilterSet):
    """By kind, by the cluster that serves them and by one that mounts them."""

    kind = filters.ChoiceFilter(choices=FileSystem.Kind.choices, label=_("Kind"), empty_label=_("all"))
    server_cluster = _choice(Cluster, _("Server cluster"))
    mounted_by = _choice(Cluster, _("Mounted by"))

    class Meta:
        model = FileSystem
        fields: list[str] = []


class SitePairFilter(filters.FilterSet):
    """Filters of end-to-end RTTs."""

    site = _choice(Site, _("Site"), method="filter_site")

    class Meta:
        model = SitePair
        fields: list[str] = []

    @extend_schema_field(OpenApiTypes.INT)
    def filter_site(self, rows: QuerySet[SitePair], _name: str, site: Site) -> QuerySet[SitePair]:
        """Return the pairs with the site at either end."""
        return rows.filter(Q(site_a=site) | Q(site_b=site))


class _OfTeam(filters.FilterSet):
    """Filters that lists in the browser have of their own: by team, and by the exact name."""

    team = team_filter(label=_("Team"))


class _Named(_OfTeam):
    name = filters.CharFilter(field_name="name", label=_("Name"))


class SiteApiFilter(_Named, SiteFilter):
    """Filters of sites over REST."""


class TestbedApiFilter(_Named, TestbedFilter):
    """Filters of testbeds over REST."""


class NodeApiFilter(_Named, NodeFilter):
    """Filters of nodes over REST."""

    address = filters.CharFilter(field_name="addresses__address", label=_("Address"), distinct=True)


class ClusterApiFilter(_Named, ClusterFilter):
    """Filters of clusters over REST."""

    node = _choice(Node, _("Node"), field_name="nodes", distinct=True)


class SwitchApiFilter(_Named, SwitchFilter):
    """Filters of switches over REST."""


class LinkApiFilter(_Named, LinkFilter):
    """Filters of links over REST."""

    node = _choice(Node, _("Node"), method="filter_node")

    @extend_schema_field(OpenApiTypes.INT)
    def filter_node(self, rows: QuerySet[Link], _name: str, node: Node) -> QuerySet[Link]:
        """Return the links that end at the node."""
        return rows.filter(Q(a_node=node) | Q(b_node=node))


class FileSystemApiFilter(_Named, FileSystemFilter):
    """Filters of file systems over REST."""


class SitePairApiFilter(_OfTeam, SitePairFilter):
    """Filters of end-to-end RTTs over REST."""
