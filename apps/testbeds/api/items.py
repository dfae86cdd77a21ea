"""REST: what is in the inventory, one view set a kind."""

from typing import Any

from django.db.models import ProtectedError
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import TeamScopedViewSet, refuse_other_team, team_for_new
from apps.core import api as core
from apps.core import withheld
from apps.testbeds import filters, queries, services
from apps.testbeds.api import serializers as shapes


class ItemViewSet(TeamScopedViewSet):
    """What all kinds share: writes go through the services, which say what is wrong and what depends on what."""

    search_fields = ["name", "notes"]
    ordering_fields = ["id", "name", "created_at", "updated_at"]

    def perform_create(self, serializer: Any) -> None:
        """Make an item in the team given, or the only one the person may write in."""
        values = dict(serializer.validated_data)
        team = team_for_new(self.request, values, self.write_role)
        values.pop("team", None)
        confirmation = services.confirmation_of(rights.user_of(self.request), team)
        item = services.create_item(kind=serializer.Meta.model, team=team, values=values, confirmation=confirmation)
        serializer.instance = self.get_queryset().get(pk=item.pk)

    def perform_update(self, serializer: Any) -> None:
        """Change an item; it stays in its team."""
        refuse_other_team(serializer)
        confirmation = services.confirmation_of(rights.user_of(self.request), serializer.instance.team)
        item = services.update_item(
            item=serializer.instance, values=serializer.validated_data, confirmation=confirmation
        )
        serializer.instance = self.get_queryset().get(pk=item.pk)

    @extend_schema(responses={204: None, 409: OpenApiResponse(description="Others depend on it: `dependents`.")})
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Delete an item on which nothing depends; else 409 with the list of what would break, and their pages."""
        item = self.get_object()
        try:
            services.delete_item(item=item)
        except ProtectedError as error:
            response: Any = core.exception_handler(error, {"request": request})
            named = withheld.shown(error.protected_objects, request.user)
            pages = {core.describe([thing])[0]: _page_of(thing, request) for thing in named}
            response.data["links"] = [{"text": text, "url": pages[text]} for text in response.data["dependents"]]
            return response
        return Response(status=status.HTTP_204_NO_CONTENT)


def _page_of(item: Any, request: Request) -> str | None:
    return request.build_absolute_uri(item.get_absolute_url()) if hasattr(item, "get_absolute_url") else None


class NamedViewSet(ItemViewSet):
    """What kinds with a name share."""

    # What answers 201 with the thing itself.
    making_actions = ("clone",)

    @extend_schema(request=shapes.CloneSerializer)
    @action(detail=True, methods=["post"])
    def clone(self, request: Request, pk: str) -> Response:
        """Make a copy under another name; answers with the copy."""
        wish = shapes.CloneSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        copy = services.clone_item(item=self.get_object(), name=wish.validated_data["name"])
        serializer = self.get_serializer(self.get_queryset().get(pk=copy.pk))
        return Response(serializer.data, status=status.HTTP_201_CREATED)


class SiteViewSet(NamedViewSet):
    """Sites."""

    queryset = queries.sites()
    serializer_class = shapes.SiteSerializer
    filterset_class = filters.SiteApiFilter
    search_fields = ["name", "place", "notes"]


class TestbedViewSet(NamedViewSet):
    """Testbeds."""

    queryset = queries.testbeds()
    serializer_class = shapes.TestbedSerializer
    filterset_class = filters.TestbedApiFilter
    search_fields = ["name", "cpu", "os", "location", "notes"]

    @extend_schema(request=shapes.AddNodesSerializer, responses={201: shapes.NodeSerializer(many=True)})
    @action(detail=True, methods=["post"], url_path="add-nodes", pagination_class=None, filter_backends=[])
    def add_nodes(self, request: Request, pk: str) -> Response:
        """Add the nodes of a pattern such as kgfs[01-04], each with a link to a switch if one is given."""
        testbed = self.get_object()
        wish = shapes.AddNodesSerializer(data=request.data, context=self.get_serializer_context())
        wish.is_valid(raise_exception=True)
        values = dict(wish.validated_data)
        link = {name: values.pop(name, None) for name in ("capacity_bps", "rtt_s", "mtu")}
        confirmation = services.confirmation_of(rights.user_of(request), testbed.team)
        nodes = services.add_nodes(testbed=testbed, link=link, confirmation=confirmation, **values)
        rows = queries.nodes().filter(pk__in=[node.pk for node in nodes])
        serializer = shapes.NodeSerializer(rows, many=True, context=self.get_serializer_context())
        return Response(serializer.data, status=status.HTTP_201_CREATED)


class NodeViewSet(NamedViewSet):
    """Nodes."""

    queryset = queries.nodes()
    serializer_class = shapes.NodeSerializer
    filterset_class = filters.NodeApiFilter


class ClusterViewSet(NamedViewSet):
    """Clusters."""

    queryset = queries.clusters().annotate(node_ids=queries.node_ids())
    serializer_class = shapes.ClusterSerializer
    filterset_class = filters.ClusterApiFilter


class SwitchViewSet(NamedViewSet):
    """Switches."""

    queryset = queries.switches()
    serializer_class = shapes.SwitchSerializer
    filterset_class = filters.SwitchApiFilter


class LinkViewSet(NamedViewSet):
    """Links."""

    queryset = queries.links()
    serializer_class = shapes.LinkSerializer
    filterset_class = filters.LinkApiFilter
    ordering_fields = ["id", "name", "capacity_bps", "rtt_s", "mtu", "created_at", "updated_at"]


class FileSystemViewSet(NamedViewSet):
    """File systems."""

    queryset = queries.file_systems()
    serializer_class = shapes.FileSystemSerializer
    filterset_class = filters.FileSystemApiFilter
    search_fields = ["name", "mount_path", "disks", "notes"]


class SitePairViewSet(ItemViewSet):
    """RTTs measured end to end."""

    queryset = queries.site_pairs()
    serializer_class = shapes.SitePairSerializer
    filterset_class = filters.SitePairApiFilter
    search_fields = ["site_a__name", "site_b__name", "notes"]
    ordering_fields = ["id", "rtt_s", "created_at", "updated_at"]
