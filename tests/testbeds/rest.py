"""Calls of the REST interface, and where each kind of thing is found."""

from typing import Any

from django.test import Client

from tests import factories as people

ADDRESSES = {
    "site": "sites",
    "testbed": "testbeds",
    "node": "nodes",
    "cluster": "clusters",
    "switch": "switches",
    "link": "links",
    "sitepair": "site-pairs",
    "filesystem": "file-systems",
}
KINDS = sorted(ADDRESSES)
NAMED = [kind for kind in KINDS if kind != "sitepair"]


class Api:
    """Calls as one person, who has a token."""

    def __init__(self, client: Client, person=None, scope: str = "write") -> None:
        self.client = client
        self.headers = people.bearer(person, scope) if person else {}

    def __getattr__(self, method: str) -> Any:
        def call(address: str, data: Any = None, status: int = 200) -> Any:
            kwargs: dict[str, Any] = {"data": data} if method == "get" else {
                "data": data or {}, "content_type": "application/json",
            }  # fmt: skip
            response = getattr(self.client, method)(f"/api/v1/{address}", **kwargs, **self.headers)
            assert response.status_code == status, response.content
            return response.json() if response.content else None

        return call
