"""The bases of all REST views: they take what the schema says, and refuse all else by name."""

from typing import Any

from django.http import Http404
from rest_framework import generics as plain_generics
from rest_framework import views as plain_views
from rest_framework import viewsets as plain
from rest_framework.request import Request

from apps.core import contract


class Strict(plain_views.APIView):
    """Refuses unknown parameters and fields once it is known who asks, before anything is done."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Look at who asks, then at what is asked."""
        super().initial(request, *args, **kwargs)
        if any("\0" in value for value in kwargs.values() if isinstance(value, str)):
            raise Http404
        contract.refuse_unknown(self, request)


class APIView(Strict):
    """A view of its own methods."""


class ListAPIView(Strict, plain_generics.ListAPIView):
    """A list."""


class ViewSet(Strict, plain.ViewSet):
    """Actions on what is no model."""


class GenericViewSet(Strict, plain.GenericViewSet):
    """Actions on rows."""


class ReadOnlyModelViewSet(Strict, plain.ReadOnlyModelViewSet):
    """Rows to read."""


class ModelViewSet(Strict, plain.ModelViewSet):
    """Rows to read, make, change and delete."""
