"""Answers in JSON, of pages and of REST, written by the one writer that every reader of the standard takes."""

from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import JsonResponse
from rest_framework.renderers import JSONRenderer
from rest_framework.utils.encoders import JSONEncoder

from apps.bench import strict_json


class _OfPages(strict_json.Encoder, DjangoJSONEncoder):
    """Writes dates, decimals and lazy texts, too."""


class _OfRest(strict_json.Encoder, JSONEncoder):
    """Writes what serializers return, too."""


class JsonAnswer(JsonResponse):
    """An answer that is JSON."""

    def __init__(self, data: Any, **options: Any) -> None:
        super().__init__(data, encoder=_OfPages, **options)


class Renderer(JSONRenderer):
    """Writes the answers of REST."""

    encoder_class = _OfRest
