"""Pages and REST views over sites, built on the base classes alone, beside the addresses of the service."""

from typing import Any

import django_filters
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.urls import include, path
from rest_framework import serializers
from rest_framework.routers import SimpleRouter

from apps.accounts.api import ScopedRelatedField, TeamField, TeamScopedViewSet
from apps.accounts.forms import TeamForm
from apps.accounts.models import Role
from apps.accounts.pages import ClonePage, CreatePage, DeletePage, DetailPage, ListPage, UpdatePage
from apps.config.urls import handler400, handler403, handler404, handler500
from apps.config.urls import urlpatterns as of_the_service
from apps.testbeds import models as testbeds

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]


class SiteForm(TeamForm):
    class Meta:
        model = testbeds.Site
        fields = ["name", "place"]


class TestbedForm(TeamForm):
    __test__ = False

    class Meta:
        model = testbeds.Testbed
        fields = ["name", "site"]


class SiteFilter(django_filters.FilterSet):
    place = django_filters.CharFilter(lookup_expr="iexact")

    class Meta:
        model = testbeds.Site
        fields = ["place"]


class _Sites:
    model = testbeds.Site
    delete_role = Role.MANAGER
    url_base = "probe:site"


class SiteList(_Sites, ListPage):
    queryset = testbeds.Site.objects.select_related("team")
    template_name = "components/list_page.html"
    search_fields = ("name", "place")
    sortable = ("name", "place")
    filterset_class = SiteFilter


class SiteDetail(_Sites, DetailPage):
    template_name = "components/form_page.html"


class SiteCreate(_Sites, CreatePage):
    form_class = SiteForm


class SiteUpdate(_Sites, UpdatePage):
    form_class = SiteForm

    def perform_update(self, form: Any) -> Any:
        if form.cleaned_data["place"] == "the moon":
            raise ValidationError({"place": ["Too far."], "orbit": ["Unknown."]})
        if form.cleaned_data["place"] == "here too":
            raise IntegrityError
        return super().perform_update(form)


class SiteClone(_Sites, ClonePage):
    pass


class SiteDelete(_Sites, DeletePage):
    def perform_delete(self, instance: Any) -> None:
        if instance.notes == "busy":
            raise ValidationError("It is being measured.")
        super().perform_delete(instance)


class TestbedCreate(CreatePage):
    __test__ = False
    model = testbeds.Testbed
    form_class = TestbedForm
    url_base = "probe:site"


class SiteSerializer(serializers.ModelSerializer):
    team = TeamField()

    class Meta:
        model = testbeds.Site
        fields = ["id", "team", "name", "place"]
        # The team may be left out; what is unique in it is looked after when it is known.
        validators = []


class SiteViewSet(TeamScopedViewSet):
    queryset = testbeds.Site.objects.select_related("team")
    serializer_class = SiteSerializer
    delete_role = Role.MANAGER


class TestbedSerializer(serializers.ModelSerializer):
    __test__ = False
    team = TeamField()
    site = ScopedRelatedField(queryset=testbeds.Site.objects.all())

    class Meta:
        model = testbeds.Testbed
        fields = ["id", "team", "name", "site"]
        validators = []


class TestbedViewSet(TeamScopedViewSet):
    __test__ = False
    queryset = testbeds.Testbed.objects.select_related("team", "site__team")
    serializer_class = TestbedSerializer
    team_path = "site__team"


router = SimpleRouter()
router.register("sites", SiteViewSet, basename="probe-site")
router.register("testbeds", TestbedViewSet, basename="probe-testbed")

_pages = [
    path("", SiteList.as_view(), name="site_list"),
    path("new/", SiteCreate.as_view(), name="site_create"),
    path("<int:pk>/", SiteDetail.as_view(), name="site_detail"),
    path("<int:pk>/edit/", SiteUpdate.as_view(), name="site_update"),
    path("<int:pk>/clone/", SiteClone.as_view(), name="site_clone"),
    path("<int:pk>/delete/", SiteDelete.as_view(), name="site_delete"),
    path("testbeds/new/", TestbedCreate.as_view(), name="testbed_create"),
]
urlpatterns = [
    path("probe/", include((_pages, "probe"))),
    path("api/probe/", include(router.urls)),
    *of_the_service,
]
