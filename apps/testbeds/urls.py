"""Pages."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import URLPattern, path

from apps.accounts import pages
from apps.testbeds import filters, forms, models, queries
from apps.testbeds.views import actions, details, grants, items, overview

app_name = "testbeds"


@dataclass(frozen=True)
class _PageKind:
    """The pages of one kind of thing: `rows` with what lists show, `sortable` columns, `searched` fields."""

    address: str
    model: type[Any]
    rows: QuerySet
    form: type[forms.ItemForm]
    filters: type[Any]
    detail: type[pages.DetailPage]
    sortable: tuple[str, ...]
    searched: tuple[str, ...] = ("name", "notes")
    has_name: bool = True

    def patterns(self) -> list[URLPattern]:
        """Return the addresses."""
        base, name, model = self.address, self.model._meta.model_name, {"model": self.model}
        listing = items.ItemList.as_view(
            **model,
            queryset=self.rows,
            filterset_class=self.filters,
            sortable=self.sortable,
            search_fields=self.searched,
        )
        routes = [
            path(f"{base}/", listing, name=f"{name}_list"),
            path(f"{base}/new/", items.ItemCreate.as_view(**model, form_class=self.form), name=f"{name}_create"),
            path(f"{base}/<int:pk>/", self.detail.as_view(**model, queryset=self.rows), name=f"{name}_detail"),
            path(
                f"{base}/<int:pk>/edit/",
                items.ItemUpdate.as_view(**model, form_class=self.form),
                name=f"{name}_update",
            ),
            path(f"{base}/<int:pk>/delete/", items.ItemDelete.as_view(**model), name=f"{name}_delete"),
        ]
        if self.has_name:
            routes.append(path(f"{base}/<int:pk>/clone/", items.ItemClone.as_view(**model), name=f"{name}_clone"))
        return routes


_KINDS = (
    _PageKind(
        "sites",
        models.Site,
        queries.sites(),
        forms.SiteForm,
        filters.SiteFilter,
        details.SiteDetail,
        ("name", "place", "testbed_count", "node_count", "switch_count"),
        ("name", "place", "notes"),
    ),
    _PageKind(
        "testbeds",
        models.Testbed,
        queries.testbeds(),
        forms.TestbedForm,
        filters.TestbedFilter,
        details.TestbedDetail,
        ("name", "site__name", "cpu", "ram_bytes", "os", "node_count"),
        ("name", "cpu", "os", "location", "notes"),
    ),
    _PageKind(
        "nodes",
        models.Node,
        queries.nodes(),
        forms.NodeForm,
        filters.NodeFilter,
        details.NodeDetail,
        ("name", "testbed__name", "testbed__site__name"),
        ("name", "notes", "testbed__name"),
    ),
    _PageKind(
        "clusters",
        models.Cluster,
        queries.clusters(),
        forms.ClusterForm,
        filters.ClusterFilter,
        details.ClusterDetail,
        ("name", "node_count"),
    ),
    _PageKind(
        "switches",
        models.Switch,
        queries.switches(),
        forms.SwitchForm,
        filters.SwitchFilter,
        details.SwitchDetail,
        ("name", "site__name", "link_count"),
    ),
    _PageKind(
        "links",
        models.Link,
        queries.links(),
        forms.LinkForm,
        filters.LinkFilter,
        pages.DetailPage,
        ("name", "capacity_bps", "rtt_s", "mtu"),
    ),
    _PageKind(
        "rtts",
        models.SitePair,
        queries.site_pairs(),
        forms.SitePairForm,
        filters.SitePairFilter,
        pages.DetailPage,
        ("site_a__name", "site_b__name", "rtt_s"),
        ("site_a__name", "site_b__name", "notes"),
        has_name=False,
    ),
    _PageKind(
        "file-systems",
        models.FileSystem,
        queries.file_systems(),
        forms.FileSystemForm,
        filters.FileSystemFilter,
        details.FileSystemDetail,
        ("name", "kind", "server_cluster__name", "mount_path", "block_size_bytes"),
        ("name", "mount_path", "disks", "notes"),
    ),
)

urlpatterns = [
    path("", overview.home, name="home"),
    path("path/", actions.path, name="path"),
    path("export/", overview.export, name="export"),
    path("import/", overview.import_file, name="import"),
    path("example/", overview.load_example, name="example"),
    path("nodes/<int:pk>/settings/", grants.grants, name="node_grants"),
    path("nodes/<int:pk>/confirm/", actions.confirm, name="node_confirm"),
    path("settings/<int:pk>/withdraw/", grants.revoke, name="grant_revoke"),
    path("testbeds/<int:pk>/nodes/", actions.add_nodes, name="add_nodes"),
    *(pattern for kind in _KINDS for pattern in kind.patterns()),
]
