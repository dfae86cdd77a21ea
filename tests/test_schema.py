"""The OpenAPI schema is complete and says what it means: no warning of the generator, and a page to read it."""

import pytest
from django.core.management import call_command
from django.test import Client

from tests import factories


def test_the_schema_is_generated_without_a_warning(tmp_path) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))


@pytest.mark.django_db
def test_the_browsable_page_is_there(client: Client) -> None:
    client.force_login(factories.user())
    assert client.get("/api/v1/docs/").status_code == 200
    assert client.get("/api/v1/schema/").status_code == 200
