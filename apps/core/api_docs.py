"""The OpenAPI schema at its address."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import translation
from django.utils.encoding import force_bytes
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from apps.core.once import made_once


class SchemaView(SpectacularAPIView):
    """Answers with the schema, as YAML or, where `format=json` or the header asks for it, as JSON."""

    def get_format_suffix(self, **_kwargs: Any) -> str | None:
        """Return the form that the address asks for: elsewhere `format` is a parameter like others."""
        return self.request.GET.get("format")

    def _get_schema_response(self, request: Request) -> HttpResponse:
        form: Callable[[], BaseRenderer] = type(request.accepted_renderer)
        active_language = translation.get_language() or ""
        language = active_language if active_language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
        file = self._get_filename(request, None)
        return HttpResponse(
            _schema(form, language),
            content_type=request.accepted_renderer.media_type,
            headers={"Content-Disposition": f'inline; filename="{file}"'},
        )


@made_once(most=8)
def _schema(form: Callable[[], BaseRenderer], language: str) -> bytes:
    """Return the schema as text of a form: it takes two seconds of a core, and is the same for all who ask."""
    with translation.override(language):
        generator = SchemaView.generator_class(urlconf=SchemaView.urlconf)
        return force_bytes(form().render(generator.get_schema(request=None, public=True)))
