"""The OpenAPI schema at its address."""

from typing import Any

from drf_spectacular.views import SpectacularAPIView


class SchemaView(SpectacularAPIView):
    """Answers with the schema, as YAML or, where `format=json` or the header asks for it, as JSON."""

    def get_format_suffix(self, **_kwargs: Any) -> str | None:
        """Return the form that the address asks for: elsewhere `format` is a parameter like others."""
        return self.request.GET.get("format")
