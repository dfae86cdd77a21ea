"""Pages with the form of a thing that is there."""

from typing import Any

from django.http import HttpResponse
from django.views.generic.edit import FormMixin

from apps.core.editing.forms import guard, refuse_stale


class GuardedPage(FormMixin):
    """Mixin, before the view that saves `object`, which is held: what somebody else saved is not undone unseen (409).

    After `form_valid` the form's `conflict` is None if it was saved.
    """

    object: Any

    def get_form(self, form_class: Any = None) -> Any:
        """Return the form with the version of what it shows."""
        return guard(super().get_form(form_class))

    def form_valid(self, form: Any) -> HttpResponse:
        """Save it, unless somebody else changed it meanwhile."""
        return self.form_invalid(form) if refuse_stale(form, self.object) else super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form with what is wrong, and with what somebody else changed meanwhile (409)."""
        answer = super().form_invalid(form)
        if refuse_stale(form, self.object):
            answer.status_code = 409
        return answer
