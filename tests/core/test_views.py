"""Health, error pages, and what every answer carries."""

import pytest
from django.test import Client

from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["/health/", "/health/live/"])
def test_health_is_told_to_anyone_and_cannot_be_posted_to(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 200
    head = client.head(address)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == response.headers["Content-Length"]
    assert client.post(address).status_code == 405


def test_an_unknown_address_is_a_page_in_the_frame(client: Client) -> None:
    client.force_login(factories.user("alice"))
    response = client.get("/nowhere/")
    assert response.status_code == 404
    html = response.content.decode()
    assert "There is nothing here" in html
    assert "Skip to the content" in html
    assert "alice" in html


def test_a_stranger_gets_the_same_page(client: Client) -> None:
    assert "There is nothing here" in client.get("/nowhere/").content.decode()


def test_an_unknown_address_of_the_rest_interface_answers_in_json(client: Client) -> None:
    response = client.get("/api/v1/nowhere/")
    assert response.status_code == 404
    assert response.json() == {"detail": "There is nothing at this address.", "fields": {}}


@pytest.mark.urls("tests.core.broken")
@pytest.mark.parametrize("path", ["/boom/", "/refuse/", "/confuse/", "/rewrite/"])
def test_each_error_has_its_page(path: str) -> None:
    client = Client(raise_request_exception=False)
    expected = {"/boom/": 500, "/refuse/": 403, "/confuse/": 400, "/rewrite/": 409}
    response = client.get(path)
    assert response.status_code == expected[path]
    assert response.headers["Content-Type"].startswith("text/html")
    assert "Fathom" in response.content.decode()


@pytest.mark.urls("tests.core.broken")
@pytest.mark.parametrize("path", ["/boom/", "/refuse/", "/confuse/", "/rewrite/"])
def test_each_error_of_the_rest_interface_is_json(path: str) -> None:
    response = Client(raise_request_exception=False).get(f"/api{path}")
    assert response.status_code >= 400
    assert set(response.json()) == {"detail", "fields"}


@pytest.mark.urls("tests.core.broken")
def test_a_refusal_shows_its_reason() -> None:
    assert "Your role is viewer" in Client().get("/refuse/").content.decode()


@pytest.mark.urls("tests.core.broken")
def test_that_the_database_keeps_what_was_measured_is_said_in_words() -> None:
    words = "What was measured, published or frozen never changes"
    assert words in Client().get("/rewrite/").content.decode()
    assert words in Client().get("/api/rewrite/").json()["detail"]


def test_a_form_without_its_token_says_what_to_do() -> None:
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"username": "x", "password": "y"})
    assert response.status_code == 403
    assert "The form is out of date" in response.content.decode()


def test_every_answer_carries_a_strict_content_policy(client: Client) -> None:
    policy = client.get("/accounts/login/").headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
