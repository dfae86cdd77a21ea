"""REST: jobs, and what they printed."""

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.request import Request

from apps.accounts import rights
from apps.accounts.api import get_scoped_or_404
from apps.accounts.filters import NameFilter, RowFilter
from apps.accounts.models import User
from apps.agents import outputs, queries
from apps.agents.models import Job, JobFile, OwedRemoval
from apps.core import rest
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox


def nodes_of(user: User) -> QuerySet[Node]:
    """Return the nodes of the person's teams."""
    return rights.visible(Node.objects.all(), user)


class JobSerializer(serializers.ModelSerializer):
    """A job: its exact argv, its times in server time, how it ended, how much it printed."""

    stdout_bytes = serializers.IntegerField(read_only=True, allow_null=True)
    stderr_bytes = serializers.IntegerField(read_only=True, allow_null=True)
    truncated = serializers.BooleanField(read_only=True, allow_null=True)
    cut_on_way = serializers.BooleanField(read_only=True, allow_null=True)

    class Meta:
        model = Job
        fields = [
            "id", "node", "run_ref", "role", "stage", "argv", "background", "time_limit_s", "start_at", "state",
            "delivered_at", "started_at", "ready_at", "ended_at", "exit_code", "signal", "timed_out", "fault",
            "fault_detail", "clock_offset_s", "clock_error_s", "facts",
            "stdout_bytes", "stderr_bytes", "truncated", "cut_on_way", "optional", "created_at",
        ]  # fmt: skip


class JobFileSerializer(serializers.ModelSerializer):
    """A file that a job gave back; its content is at `files/{name}/`."""

    class Meta:
        model = JobFile
        fields = ["name", "size", "truncated", "cut_on_way"]


class JobDetailSerializer(JobSerializer):
    """A job with the files that it was given and that it gave back."""

    files = serializers.ListField(child=serializers.ListField(child=serializers.CharField()), read_only=True)
    environment = serializers.ListField(child=serializers.ListField(child=serializers.CharField()), read_only=True)
    collected = JobFileSerializer(many=True, read_only=True)

    class Meta(JobSerializer.Meta):
        fields = [*JobSerializer.Meta.fields, "files", "environment", "collect", "collected"]


class RemovalSerializer(serializers.ModelSerializer):
    """Files that an ended run left on a node: their paths, and how often the agent failed to remove them, and why.

    `reason`: why the last of the `tries` removed nothing. `is_given_up`: the node measures all the same, and it is
    tried again once an hour; `command_line` removes them by hand.
    """

    paths = serializers.ListField(child=serializers.CharField(), read_only=True)
    command_line = serializers.CharField(read_only=True)
    is_given_up = serializers.BooleanField(read_only=True)

    class Meta:
        model = OwedRemoval
        fields = ["paths", "command_line", "tries", "reason", "is_given_up", "created_at"]


class JobFilter(filters.FilterSet):
    """Filters of jobs; `run` is the number of the run they belong to."""

    node = RowFilter(nodes_of)
    run = filters.NumberFilter(field_name="run_ref", min_value=1)
    role = NameFilter("role", lambda user: [role.name for tool in toolbox.tools_of(user) for role in tool.roles])

    class Meta:
        model = Job
        fields = ["node", "state", "run", "role"]


class JobViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, rest.GenericViewSet):
    """Jobs on the nodes of the person's teams, the latest first."""

    queryset = Job.objects.none()
    serializer_class = JobSerializer
    filterset_class = JobFilter
    ordering_fields = ["created_at", "started_at"]

    def get_queryset(self) -> QuerySet[Job]:
        """Return the jobs on the person's teams' nodes."""
        return queries.jobs_for(rights.user_of(self.request))

    def get_serializer_class(self) -> type[JobSerializer]:
        """Return the serializer: with files for one job, without for many."""
        return JobSerializer if self.action == "list" else JobDetailSerializer

    @extend_schema(
        parameters=[OpenApiParameter("stream", str, OpenApiParameter.PATH, enum=["stdout", "stderr"])],
        responses={(200, "text/plain"): OpenApiTypes.BINARY},
    )
    @action(detail=True, url_path="output/(?P<stream>stdout|stderr)")
    def output(self, request: Request, pk: str, stream: str) -> StreamingHttpResponse:
        """Return what the job printed, byte for byte."""
        return outputs.download(request, self.get_object(), stream)

    @extend_schema(
        parameters=[OpenApiParameter("name", str, OpenApiParameter.PATH)],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    @action(detail=True, url_path="files/(?P<name>[A-Za-z0-9._+-]{1,100})")
    def files(self, request: Request, pk: str, name: str) -> StreamingHttpResponse:
        """Return a file that the job gave back, byte for byte."""
        return outputs.download_file(
            request, get_scoped_or_404(JobFile.objects.filter(job=self.get_object()).defer("content_z"), name=name)
        )
