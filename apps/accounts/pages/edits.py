"""Pages with a form: make, change, copy."""

import copy
from functools import cached_property
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.base import ModelState
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import generic
from django.views.generic.edit import FormMixin

from apps.accounts import rights, team_choice
from apps.accounts.forms import CloneForm
from apps.accounts.models import Team
from apps.accounts.pages.base import ChangePage, TeamPage, said
from apps.core import editing
from apps.core.forms import add_errors
from apps.core.versions import lock_row


class FormPage(TeamPage, FormMixin):
    """What pages with a form share: the form is for one team, and a service's refusal is shown on it."""

    object: Any
    template_name: str | None = "components/form_page.html"
    done: str | Promise = ""

    def get_team(self) -> Team:
        """Return whose right it takes to save: that of what is edited."""
        return self.team_of(self.object)

    def get_form_kwargs(self) -> dict[str, Any]:
        """Give the form its team and its user."""
        return super().get_form_kwargs() | {"team": self.get_team(), "user": self.request.user}

    def perform(self, form: Any) -> Any:
        """Do what the form asks for and return the object."""
        return form.save()

    def form_valid(self, form: Any) -> HttpResponse:
        """Do it, say so and go on; or show on the form why it was refused."""
        try:
            with transaction.atomic():
                self.object = self.perform(form)
        except ValidationError as error:
            add_errors(form, error)
        except IntegrityError:
            form.add_error(None, _("Someone changed the same thing at this moment: look at it again, then repeat."))
        else:
            messages.success(self.request, said(self.done, self.object))
            return HttpResponseRedirect(self.get_success_url())
        return self.form_invalid(form)

    def get_success_url(self) -> str:
        """Return where to go on: the thing's own page, else the list."""
        return self.url("detail", pk=self.object.pk) or self.url("list")


class CreatePage(FormPage, generic.CreateView):
    """A form for a new thing; `?team=` chooses among the teams the person may write in."""

    done = gettext_lazy("%(kind)s “%(name)s” was created.")

    @cached_property
    def teams(self) -> list[Team]:
        """Return the teams the person may write in."""
        return list(rights.teams_for(self.request.user, self.write_role))

    def get_team(self) -> Team:
        """Return the team asked for, else the usual one; refuse a stranger's (404) and too low a role (403)."""
        return team_choice.team_to_write_in(self.request, self.write_role)

    def perform(self, form: Any) -> Any:
        """Make the object of a valid form and return it."""
        return self.perform_create(form)

    def perform_create(self, form: Any) -> Any:
        """Make the object, by the app's service where it has one, and return it."""
        return form.save()

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the teams to choose from."""
        return super().get_context_data(**kwargs) | {
            "teams": self.teams,
            "team": self.get_team(),
            "into_team": self.get_team(),
        }


class UpdatePage(editing.GuardedPage, ChangePage, FormPage, generic.UpdateView):
    """A form for a thing that is there; what somebody else saved since it was shown is not undone unseen (409)."""

    done = gettext_lazy("%(kind)s “%(name)s” was saved.")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Save it, the thing held from before it is looked at."""
        with transaction.atomic():
            return super().post(request, *args, **kwargs)

    def get_object(self, queryset: QuerySet | None = None) -> Any:
        """Return the thing; where it is to be changed, as it is while nobody else can change it."""
        row = super().get_object(queryset)
        if self.request.method != "POST":
            return row
        lock_row(row)
        return super().get_object(queryset)

    def perform(self, form: Any) -> Any:
        """Save it, and keep who did."""
        changed = self.perform_update(form)
        editing.note_change(changed, rights.user_of(self.request).get_username())
        return changed

    def perform_update(self, form: Any) -> Any:
        """Save the object, by the app's service where it has one, and return it."""
        return form.save()


class ClonePage(ChangePage, FormPage, generic.FormView):
    """Asks for the name of a copy, and goes on to the copy."""

    form_class = CloneForm
    template_name = "components/clone.html"
    done = gettext_lazy("%(kind)s “%(name)s” was made as a copy: change what differs.")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Find the original first."""
        if request.user.is_authenticated:
            self.object = self.get_object()
        return super().dispatch(request, *args, **kwargs)

    def get_initial(self) -> dict[str, Any]:
        """Propose a name."""
        return {"name": _("%(name)s (copy)") % {"name": self.shown_name}}

    def get_form_kwargs(self) -> dict[str, Any]:
        """Give the form its model, in which the name must be new."""
        return super().get_form_kwargs() | {"model": self.model}

    def perform(self, form: Any) -> Any:
        """Make the copy."""
        return self.perform_clone(self.object, form.cleaned_data["name"])

    def perform_clone(self, original: Any, name: str) -> Any:
        """Make the copy, by the app's service where it has one, and return it; here a plain copy of the row."""
        clone = copy.copy(original)
        clone.pk = None
        clone._state = ModelState()
        clone.name = name
        clone.full_clean()
        clone.save()
        return clone

    def get_success_url(self) -> str:
        """Go on to the copy's form, to change what differs."""
        return self.url("update", pk=self.object.pk) or super().get_success_url()
