"""The one reader of JSON bodies of the REST interface."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions, parsers, status

from apps.core import documents, messages, storable

# Values and keys; the largest of the service's own documents have some ten thousand.
MOST_VALUES = 200_000


class JsonTooLarge(exceptions.APIException):
    """More bytes than a request may have."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = _("The request is too large.")
    default_code = "too_large"


class JSONParser(parsers.JSONParser):
    """Takes documents of values that can be stored, of at most `FORM_MOST_BYTES` and MOST_VALUES."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the values; 400 names the place that is wrong, 413 for too many bytes."""
        most: int = settings.FORM_MOST_BYTES
        body = stream.read(most + 1)
        if len(body) > most:
            raise JsonTooLarge
        try:
            limits = documents.DocumentLimits(most_bytes=most, deepest=storable.DEEPEST, most_values=MOST_VALUES)
            values = documents.read_json(body, limits, takes_endless=True)
            storable.check(values)
        except documents.UnreadableError as error:
            raise exceptions.ParseError(messages.render(error.message)) from error
        except storable.UnstorableError as error:
            text = messages.render(error.message)
            if error.place:
                raise exceptions.ValidationError({error.place: [text]}) from error
            raise exceptions.ParseError(text) from error
        return values
