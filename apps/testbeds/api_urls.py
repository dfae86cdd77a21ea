"""REST addresses."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from apps.testbeds.api import files, grants, items, paths

router = SimpleRouter()
router.register("sites", items.SiteViewSet)
router.register("testbeds", items.TestbedViewSet)
router.register("nodes", items.NodeViewSet)
router.register("clusters", items.ClusterViewSet)
router.register("switches", items.SwitchViewSet)
router.register("links", items.LinkViewSet)
router.register("file-systems", items.FileSystemViewSet)
router.register("site-pairs", items.SitePairViewSet)
router.register("setting-grants", grants.GrantViewSet)

urlpatterns = [
    *router.urls,
    path("paths/", paths.PathView.as_view(), name="paths"),
    path("inventory/", files.InventoryView.as_view(), name="inventory"),
    path("inventory/example/", files.ExampleView.as_view(), name="inventory-example"),
]
