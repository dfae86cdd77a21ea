"""Pages that delete."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import router, transaction
from django.db.models import Model, ProtectedError, RestrictedError
from django.db.models.deletion import Collector
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views import generic

from apps.accounts.pages.base import ChangePage, said
from apps.core import withheld
from apps.core.api import describe


class DeletePage(ChangePage, generic.DetailView):
    """Asks before something is lost; what others depend on is not deleted, and they are listed.

    Where more would be lost than was shown (`loss`), it asks once more (409).
    """

    template_name = "components/confirm_delete.html"
    changes_with = "delete_role"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Delete it and go to the list; 409 with the list of what would break."""
        self.object = self.get_object()
        if request.POST.get("loss", loss := self.get_loss()) != loss:
            text = _(
                "What would go with it has changed after you were asked: look at what it is now, then delete it."
            )
            return self.render_to_response(self.get_context_data(refusals=[text]), status=409)
        try:
            with transaction.atomic():
                self.perform_delete(self.object)
        except (ProtectedError, RestrictedError) as error:
            return self.render_to_response(
                self.get_context_data(dependents=self._named(_blocking(error))), status=409
            )
        except ValidationError as error:
            return self.render_to_response(self.get_context_data(refusals=error.messages), status=409)
        messages.success(request, said(_("%(kind)s “%(name)s” was deleted."), self.object))
        return HttpResponseRedirect(self.get_success_url())

    def perform_delete(self, instance: Any) -> None:
        """Delete the object, by the app's service where it has one."""
        instance.delete()

    def get_loss(self) -> str:
        """Return a sentence on what goes with it, "" for nothing; whoever agrees to it agrees to no more."""
        return ""

    def get_success_url(self) -> str:
        """Return where to go on: the list."""
        return self.url("list")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add what would break, so that nobody has to try."""
        if "dependents" not in kwargs:
            kwargs["dependents"] = self._named(self.get_dependents())
        return super().get_context_data(**{"loss": self.get_loss()} | kwargs)

    def _named(self, objects: Iterable[Model]) -> list[str]:
        return describe(withheld.shown(objects, self.request.user))

    def get_dependents(self) -> Iterable[Model]:
        """Return the objects that forbid the deletion."""
        try:
            Collector(using=router.db_for_write(self.model), origin=self.object).collect([self.object])
        except (ProtectedError, RestrictedError) as error:
            return _blocking(error)
        return []


def _blocking(error: ProtectedError | RestrictedError) -> Iterable[Model]:
    return error.protected_objects if isinstance(error, ProtectedError) else error.restricted_objects
