"""The OpenAPI schema and its browsable page."""

import pytest
from django.test import Client

from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def schema(client: Client) -> dict:
    return client.get("/api/v1/schema/?format=json").json()


def test_every_operation_describes_its_errors(schema: dict) -> None:
    operations = [operation for path in schema["paths"].values() for operation in path.values()]
    assert len(operations) > 20
    for operation in operations:
        for code in ("400", "404", "406", "429", "503"):
            answer = operation["responses"][code]["content"]["application/json"]["schema"]
            assert answer == {"$ref": "#/components/schemas/Error"}, (operation["operationId"], code)
    assert schema["components"]["schemas"]["Error"]["required"] == ["detail", "fields"]


def test_the_browsable_page_stands_in_the_frame_and_keeps_the_content_policy(client: Client) -> None:
    client.force_login(factories.user("alice"))
    response = client.get("/api/v1/docs/")
    html = response.content.decode()
    assert response.status_code == 200
    assert "Skip to the content" in html
    assert 'src="/api/v1/docs/?script' in html
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    script = client.get("/api/v1/docs/?script")
    assert script.headers["Content-Type"].startswith("application/javascript")
    assert "SwaggerUIBundle" in script.content.decode()


def test_a_stranger_may_read_what_there_is_to_ask(client: Client) -> None:
    assert client.get("/api/v1/docs/").status_code == 200
    assert client.get("/api/v1/schema/").status_code == 200
