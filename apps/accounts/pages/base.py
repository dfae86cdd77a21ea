"""What all pages over a team's things share."""

from typing import Any

from django.contrib.auth.mixins import LoginRequiredMixin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.views.generic.base import ContextMixin
from django.views.generic.detail import SingleObjectMixin

from apps.accounts import rights
from apps.accounts.models import Role, Team


class TeamPage(LoginRequiredMixin, ContextMixin):
    """What all pages share: the rows the person may see, the roles that change them, the addresses."""

    request: HttpRequest
    model: Any
    queryset: Any = None
    team_path = "team"
    write_role = Role.OPERATOR
    delete_role = Role.OPERATOR
    url_base = ""

    def get_queryset(self) -> QuerySet:
        """Return what the person's teams own."""
        rows = self.model._default_manager if self.queryset is None else self.queryset
        return self.narrow(rows.all())

    def narrow(self, rows: QuerySet) -> QuerySet:
        """Return those of the rows that the person may see."""
        return rights.visible(rows, self.request.user, path=self.team_path)

    def team_of(self, instance: Any) -> Team:
        """Return the team that owns a row."""
        for name in self.team_path.split("__"):
            instance = getattr(instance, name)
        return instance

    def url(self, action: str, **kwargs: object) -> str:
        """Return the address of an action on the model, "" where there is none."""
        base = self.url_base or f"{self.model._meta.app_label}:{self.model._meta.model_name}"
        try:
            return reverse(f"{base}_{action}", kwargs=kwargs or None)
        except NoReverseMatch:
            return ""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add what the model is called, the addresses, and what the person may do."""
        context = super().get_context_data(**kwargs)
        instance = context.get("object")
        context["kind"] = self.model._meta.verbose_name
        context["kinds"] = self.model._meta.verbose_name_plural
        context["urls"] = {action: self.url(action) for action in ("list", "create")}
        if isinstance(instance, Model) and instance.pk:
            actions = ("detail", "update", "delete", "clone")
            context["urls"] |= {action: self.url(action, pk=instance.pk) for action in actions}
            role = rights.role_in(self.request.user, self.team_of(instance))
            context["can_write"] = rights.suffices(role, self.write_role)
            context["can_delete"] = rights.suffices(role, self.delete_role)
        else:
            context["can_write"] = rights.teams_for(self.request.user, self.write_role).exists()
        return context


class ChangePage(TeamPage, SingleObjectMixin):
    """What pages that change one thing share: the role is asked for before anything is shown."""

    changes_with = "write_role"

    def get_object(self, queryset: QuerySet | None = None) -> Any:
        """Return the thing; Http404 for a stranger, PermissionDenied for a role that is too low."""
        thing = super().get_object(queryset)
        rights.require(self.request.user, self.team_of(thing), getattr(self, self.changes_with))
        # A form that is refused has already changed the object in memory, but not its name in the heading.
        self.shown_name = str(thing)
        return thing

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the name as it is stored."""
        return super().get_context_data(**kwargs) | {"shown_name": self.shown_name}


def said(text: str | Promise, instance: Model) -> str:
    """Return a sentence on an object, with its `%(kind)s` and `%(name)s`."""
    return capfirst(str(text) % {"kind": instance._meta.verbose_name, "name": instance})
