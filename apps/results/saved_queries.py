"""What is kept under a name as the query of its address, such as views and searches: its pages and its interface."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.contrib import messages as notices
from django.db import transaction
from django.http import HttpResponse
from rest_framework import serializers

from apps.accounts import rights
from apps.accounts.api import TeamField, TeamScopedViewSet, refuse_other_team, team_for_new
from apps.accounts.pages import CreatePage, ListPage, UpdatePage
from apps.bench.text import Message
from apps.core import messages
from apps.core.versions import hold


def refuse(errors: Mapping[str, Iterable[Message]]) -> None:
    """Raise ValidationError with all that could not be read of a query; nothing if all could."""
    if texts := [messages.render(message) for messages_of_field in errors.values() for message in messages_of_field]:
        raise forms.ValidationError(texts)


class KeptList(ListPage):
    """Those of one's teams."""

    search_fields = ("name",)

    def get_queryset(self) -> Any:
        """Return them with who made them."""
        return super().get_queryset().select_related("team", "created_by")


class KeptCreate(CreatePage):
    """Keep one under a name."""

    def get_initial(self) -> dict[str, Any]:
        """Take the query from the address."""
        return {"query": self.request.GET.get("query", "")}

    def perform_create(self, form: Any) -> Any:
        """Keep it, with who made it."""
        form.instance.created_by = rights.user_of(self.request)
        return form.save()

    def get_success_url(self) -> str:
        """Go back to what it shows."""
        return self.object.get_absolute_url()

    def form_invalid(self, form: Any) -> HttpResponse:
        """Say also what is wrong with the query itself, which has no field to be seen."""
        for text in form.errors.get("query", []):
            notices.error(self.request, text)
        return super().form_invalid(form)


class KeptUpdate(UpdatePage):
    """Change the name of one."""

    def get_success_url(self) -> str:
        """Go back to the list."""
        return self.url("list")


class KeptSerializer(serializers.ModelSerializer):
    """One over REST; `query` is what follows the “?” in the address of its page."""

    team = TeamField()
    created_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)
    url = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        fields = ["id", "team", "name", "query", "url", "created_by", "created_at", "updated_at"]
        # Whether the name is new in the team is asked once the team is known.
        validators: list[Any] = []


class KeptViewSet(TeamScopedViewSet):
    """Those of one's teams, over REST."""

    ordering_fields = ["id", "name", "created_at"]

    def perform_create(self, serializer: Any) -> None:
        """Keep it in the team given, or the only one the person may write in."""
        team = team_for_new(self.request, serializer.validated_data, self.write_role)
        values = {**serializer.validated_data, "team": team, "created_by": rights.user_of(self.request)}
        self.get_queryset().model(**values).full_clean()
        serializer.save(**{name: values[name] for name in ("team", "created_by")})

    def perform_update(self, serializer: Any) -> None:
        """Change name or query; it stays in its team."""
        refuse_other_team(serializer)
        with transaction.atomic():
            hold(serializer.instance)
            for name, value in serializer.validated_data.items():
                setattr(serializer.instance, name, value)
            serializer.instance.full_clean()
            serializer.save()
