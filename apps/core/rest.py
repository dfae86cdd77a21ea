"""The bases of all REST views: they take what the schema says, and refuse all else by name."""

import contextlib
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from rest_framework import generics as plain_generics
from rest_framework import views as plain_views
from rest_framework import viewsets as plain
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core import contract, editing, etags, read_only
from apps.core.limits import at_once, crowds


class Strict(plain_views.APIView):
    """Refuses unknown parameters and fields once it is known who asks, and writes on what was not read as it is.

    `passing_fields` of an answer change by themselves: they are no part of its ETag, and a body may say any value.
    """

    passing_fields: frozenset[str] = frozenset()
    # Actions that work long before they hold anything: they look at the condition again (`etags`) once they do.
    late_conditions: frozenset[str] = frozenset()

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer; what is written on a condition is written in the transaction that looked at it, or not at all."""
        self._has_begun = False
        with contextlib.ExitStack() as self._around:
            answer = super().dispatch(request, *args, **kwargs)
            if self._has_begun and answer.status_code >= 400:
                transaction.set_rollback(True)
            return answer

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Look at who asks, then at what is asked."""
        super().initial(request, *args, **kwargs)
        # Who waits for a turn gives the connection back: no transaction begins before.
        asker = at_once.asker_of(request)
        crowds.of_process.note(request, asker)
        self._around.enter_context(at_once.of_process.turn(asker))
        is_late = getattr(self, "action", None) in self.late_conditions
        if etags.is_conditional(self, request) and not is_late:
            self._around.enter_context(transaction.atomic())
            self._has_begun = True
        if any("\0" in value for value in kwargs.values() if isinstance(value, str)):
            raise Http404
        contract.refuse_unknown(self, request)
        etags.refuse_stale(self, request)
        read_only.refuse_others(self, request)

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Say with what is read by which tag it may be changed."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        is_one = getattr(self, "action", "retrieve") == "retrieve" and request.method in ("GET", "HEAD")
        if is_one and answer.status_code == 200 and isinstance(answer, Response) and etags.is_changeable(self):
            answer.headers["ETag"] = etags.tag_of(self, answer.data)
        return answer

    def get_subject(self) -> Model | None:
        """Return the row that the address is about, None for none: it is held while a condition is looked at."""
        return self.get_object() if isinstance(self, plain_generics.GenericAPIView) else None


class _Noting(Strict, plain_generics.GenericAPIView):
    """Keeps who changed a row, for those who have a form of it open."""

    def get_object(self) -> Any:
        """Return the row that the address is about."""
        self.changed = super().get_object()
        return self.changed

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Keep who changed it, where it was."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        if request.method in ("PUT", "PATCH") and answer.status_code < 300 and hasattr(self, "changed"):
            editing.note_change(self.changed, request.user.get_username())
        return answer


class APIView(Strict):
    """A view of its own methods."""


class ListAPIView(Strict, plain_generics.ListAPIView):
    """A GET that lists rows."""


class ViewSet(Strict, plain.ViewSet):
    """Actions on what is no model."""


class GenericViewSet(_Noting, plain.GenericViewSet):
    """Actions on rows."""


class ReadOnlyModelViewSet(Strict, plain.ReadOnlyModelViewSet):
    """Rows to read."""


class ModelViewSet(_Noting, plain.ModelViewSet):
    """Rows to read, make, change and delete."""
