"""A person's browser and REST client, addresses of pages, and what is sent to them."""

from typing import Any

from django.test import Client
from django.urls import reverse

from apps.testbeds.models import Node
from tests import factories

API = "/api/v1"


def browser(user: Any) -> Client:
    """Return the browser of a person, signed in unless it is nobody's."""
    client = Client()
    if user:
        client.force_login(user)
    return client


def address(name: str, *arguments: int) -> str:
    return reverse(name if ":" in name else f"campaigns:{name}", args=arguments)


def form(pair: list[Node], **changes: Any) -> dict[str, Any]:
    """Return what a browser sends of the experiment form."""
    return {
        "tool": "iperf3-tcp",
        "name": "windows",
        "role_client": [f"node:{pair[0].pk}"],
        "role_server": [f"node:{pair[1].pk}"],
        "param_window": "64KiB..256KiB x2",
        "param_duration": "2 s",
        "repetitions": "2",
        "warmups": "0",
        "order": "as-given",
        "seed": "1",
        "max_attempts": "3",
        "retry_wait_s": "5",
        **changes,
    }


class Api:
    """A person's REST client."""

    def __init__(self, user: Any, **token: Any) -> None:
        self.client = Client(headers={"authorization": f"Bearer {factories.token(user, **token)}"} if user else {})

    def __call__(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Return the response to a request; a body is sent as JSON."""
        call = getattr(self.client, method)
        if method == "get":
            return call(API + path, query)
        return call(API + path, body if body is not None else {}, content_type="application/json")


def experiment_body(campaign: int, pair: list[Node], **changes: Any) -> dict[str, Any]:
    """Return an experiment of three windows as REST takes it."""
    body = {
        "campaign": campaign,
        "name": "windows",
        "tool": "iperf3-tcp",
        "roles": [{"role": "client", "node": pair[0].pk}, {"role": "server", "node": pair[1].pk}],
        "fixed": {"duration": "2 s"},
        "factors": [{"name": "window", "expression": "64KiB..256KiB x2"}],
        "repetitions": 2,
    }
    return {**body, **changes}
