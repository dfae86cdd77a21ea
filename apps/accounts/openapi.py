"""How the OpenAPI schema describes signing in by token; importing this registers it."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema


class TokenScheme(OpenApiAuthenticationExtension):
    """`Authorization: Bearer fth_api_…`."""

    target_class = "apps.accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """Return the scheme's definition."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "fth_api_…"}
