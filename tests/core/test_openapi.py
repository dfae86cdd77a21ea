"""The OpenAPI schema and its browsable page."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from apps.core import api_docs
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


def test_it_is_made_once_a_form_and_language_and_is_that_of_the_command(client: Client) -> None:
    """To make it takes two seconds: nobody may ask for that as often as they like."""
    address = "/api/v1/schema/?format=json"
    texts = {language: client.get(f"{address}&lang={language}").content for language in ("en", "ko", "xx")}
    assert texts["en"] == texts["xx"] != texts["ko"]
    results = dict(api_docs._schema._results)
    for language in ("en", "ko", *(f"x{number}" for number in range(20))):
        client.get(f"{address}&lang={language}&version={language}")
    assert api_docs._schema._results == results
    printed = StringIO()
    call_command("spectacular", "--format", "openapi-json", stdout=printed)
    assert json.loads(texts["en"]) == json.loads(printed.getvalue())
