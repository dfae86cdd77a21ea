"""Every address of the service."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from apps.core import views
from apps.core.api_docs import SchemaView
from apps.reports.views import editions

api: list[URLPattern | URLResolver] = [
    path("", include("apps.accounts.api_urls")),
    path("", include("apps.testbeds.api_urls")),
    path("", include("apps.toolbox.api_urls")),
    path("", include("apps.agents.api_urls")),
    path("", include("apps.campaigns.api_urls")),
    path("", include("apps.results.api_urls")),
    path("", include("apps.tuning.api_urls")),
    path("", include("apps.reports.api_urls")),
    path("", include("apps.reports.schedules.api_urls")),
    path("", include("apps.reports.exports.api_urls")),
    path("", include("apps.reports.rendering.api_urls")),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(template_name="core/api_docs.html"), name="api-docs"),
]

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="campaigns:campaign_list"), name="home"),
    path("campaigns/", include("apps.campaigns.urls")),
    path("results/", include("apps.results.urls")),
    path("history/", include("apps.results.history.urls")),
    path("matrix/", include("apps.results.matrix.urls")),
    path("compare/", include("apps.results.comparison.urls")),
    path("archive/", include("apps.results.search.urls")),
    path("imports/", include("apps.results.imports.urls")),
    path("reports/", include("apps.reports.urls")),
    path("reports/management/", include("apps.reports.overview.urls")),
    path("reports/schedules/", include("apps.reports.schedules.urls")),
    path("reports/files/", include("apps.reports.rendering.urls")),
    path("ref/<path:ref>", editions.reference, name="reference"),
    path("exports/", include("apps.reports.exports.urls")),
    path("retention/", include("apps.results.retention.urls")),
    path("c/", include("apps.results.landing.urls")),
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
