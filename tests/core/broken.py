"""Addresses that go wrong, beside those of the service."""

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.config.urls import handler400, handler403, handler404, handler500
from apps.config.urls import urlpatterns as of_the_service

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]


def boom(request: HttpRequest) -> HttpResponse:
    raise ZeroDivisionError


def refuse(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied("Your role is viewer.")


def confuse(request: HttpRequest) -> HttpResponse:
    raise SuspiciousOperation("strange")


def rewrite(request: HttpRequest) -> HttpResponse:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'integrity_constraint_violation'; END $$")
    return HttpResponse()


# What the pages below raise: the first of them.
errors: list[Exception] = []


def raise_first(request: HttpRequest) -> HttpResponse:
    raise errors[0]


class RaiseFirst(APIView):
    authentication_classes = permission_classes = []

    def get(self, request: Request) -> Response:
        raise errors[0]


_broken = {"boom/": boom, "refuse/": refuse, "confuse/": confuse, "rewrite/": rewrite, "raise/": raise_first}
urlpatterns = [
    path("api/view/", RaiseFirst.as_view()),
    *(path(prefix + name, view) for name, view in _broken.items() for prefix in ("", "api/")),
    *of_the_service,
]
