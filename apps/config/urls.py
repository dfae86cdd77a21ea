"""Every address of the service."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularSwaggerSplitView

from apps.core import views
from apps.core.api_docs import SchemaView
from apps.home.views import home
from apps.reports.views import editions

api: list[URLPattern | URLResolver] = [
    path("", include("apps.accounts.api_urls")),
    path("", include("apps.testbeds.api_urls")),
    path("", include("apps.toolbox.api_urls")),
    path("", include("apps.agents.api_urls")),
    path("", include("apps.campaigns.api_urls")),
    path("", include("apps.results.api_urls")),
    path("", include("apps.comparison.api_urls")),
    path("", include("apps.tuning.api_urls")),
    path("", include("apps.reports.api_urls")),
    path("", include("apps.reports.schedules.api_urls")),
    path("", include("apps.reports.files.api_urls")),
    path("", include("apps.archive.api_urls")),
    path("", include("apps.home.api_urls")),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(template_name="core/api_docs.html"), name="api-docs"),
]

urlpatterns = [
    path("", home, name="home"),
    path("home/", include("apps.home.urls")),
    path("campaigns/", include("apps.campaigns.urls")),
    path("results/", include("apps.results.urls")),
    path("figures/", include("apps.comparison.figures.urls")),
    path("history/", include("apps.comparison.history.urls")),
    path("matrix/", include("apps.comparison.matrix.urls")),
    path("compare/", include("apps.comparison.comparisons.urls")),
    path("archive/", include("apps.archive.search.urls")),
    path("imports/", include("apps.archive.imports.urls")),
    path("reports/", include("apps.reports.urls")),
    path("reports/management/", include("apps.reports.overview.urls")),
    path("reports/schedules/", include("apps.reports.schedules.urls")),
    path("reports/files/", include("apps.reports.files.urls")),
    path("ref/<path:ref>", editions.reference, name="reference"),
    path("exports/", include("apps.archive.exports.urls")),
    path("retention/", include("apps.archive.retention.urls")),
    path("c/", include("apps.archive.landing.urls")),
    path("findings/", include("apps.tuning.urls")),
    path("published/", include("apps.tuning.published.urls")),
    path("accounts/", include("apps.accounts.urls")),
    path("inventory/", include("apps.testbeds.urls")),
    path("tools/", include("apps.toolbox.urls")),
    path("agents/", include("apps.agents.urls")),
    path("api/v1/", include(api)),
    path("i18n/", include("django.conf.urls.i18n")),
    path("health/", views.health, name="health"),
    path("health/live/", views.alive, name="alive"),
    path("admin/", admin.site.urls),
]

handler400 = views.bad_request
handler403 = views.permission_denied
handler404 = views.not_found
handler500 = views.server_error
