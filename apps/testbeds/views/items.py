"""Lists and forms, the same for every kind of thing; the addresses say which kind."""

from collections.abc import Iterable
from typing import Any

from django.db.models import ForeignKey, Model
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from apps.accounts import pages
from apps.core import withheld
from apps.testbeds import queries, services
from apps.testbeds.models import Node


class ItemList(pages.ListPage):
    """A list of one kind."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add whether a team that has nothing yet may be given the example."""
        context = super().get_context_data(**kwargs)
        return context | {"shows_team": len(context["teams"]) > 1}


class ItemCreate(pages.CreatePage):
    """A new thing; `?site=3` and the like choose what it belongs to."""

    def get_initial(self) -> dict[str, Any]:
        """Return what the address asks for."""
        query = self.request.GET
        references = [field.name for field in self.model._meta.concrete_fields if isinstance(field, ForeignKey)]
        return {name: query[name] for name in [*references, "a", "b"] if name in query and name != "team"}

    def perform_create(self, form: Any) -> Any:
        """Make the item in the form's team."""
        confirmation = services.confirmation_of(form.user, form.team)
        return services.create_item(kind=self.model, team=form.team, values=form.values(), confirmation=confirmation)


class ItemUpdate(pages.UpdatePage):
    """A thing changed."""

    def perform_update(self, form: Any) -> Any:
        """Save the item with the form's values."""
        confirmation = services.confirmation_of(form.user, form.instance.team)
        return services.update_item(item=form.instance, values=form.values(), confirmation=confirmation)


class ItemClone(pages.ClonePage):
    """A copy."""

    def perform_clone(self, original: Any, name: str) -> Any:
        """Copy the item under another name."""
        return services.clone_item(item=original, name=name)


class ItemDelete(pages.DeletePage):
    """A thing deleted, unless others depend on it: then they are listed, each with its page."""

    def perform_delete(self, instance: Any) -> None:
        """Delete the item; ProtectedError names what depends on it."""
        services.delete_item(item=instance)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add what would break: what can be changed or deleted with its page, of the rest that it is kept."""
        rows = withheld.shown(queries.dependents(self.object), self.request.user)
        records = [item for item in rows if getattr(item, "is_record", False)]
        context = {
            "dependents": [linked(item) for item in rows if item not in records],
            "records": sorted({str(item._meta.verbose_name_plural) for item in records}),
            "agent_url": self._agent_url(rows),
        }
        return super().get_context_data(**kwargs | context)

    def _agent_url(self, rows: Iterable[Model]) -> str:
        """Return the page of the agent that keeps a node from being deleted, "" without one."""
        agents: list[Any] = [item for item in rows if item._meta.label == "agents.Agent"]
        return str(agents[0].get_absolute_url()) if agents and isinstance(self.object, Node) else ""


def linked(item: Model) -> SafeString:
    """Return "Link: KISTI – PNU", the name leading to its page if it has one."""
    kind = capfirst(item._meta.verbose_name)
    if not hasattr(item, "get_absolute_url"):
        return format_html("{}: {}", kind, item)
    return format_html('{}: <a href="{}">{}</a>', kind, item.get_absolute_url(), item)
