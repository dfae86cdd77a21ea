"""An address without its final slash: readers are sent on, and what changes something is refused with the address."""

import pytest
from django.test import Client

from tests import factories
from tests.rest import schema
from tests.rotation import part_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quiet")]


def test_no_write_is_sent_on(cast: factories.Cast) -> None:
    headers, wrong, addresses = factories.bearer(cast.alice), [], []
    for path, method, _operation in schema.operations(schema.document()):
        address = path.rstrip("/")
        for name in ("id", "campaign", "a", "b"):
            address = address.replace(f"{{{name}}}", "1")
        address = address.replace("{slug}", "grid").replace("{permanent_id}", "717g-zcj6-zzb9")
        if "{" not in address and path.endswith("/"):
            addresses.append((address, method))
    assert len([method for _address, method in addresses if method != "get"]) > 100
    for address, method in part_of(addresses):
        answer = getattr(Client(), method)(address, content_type="application/json", **headers)
        if method == "get":
            if answer.status_code not in (301, 302):
                wrong.append(f"GET {address}: {answer.status_code}")
            continue
        if answer.status_code != 404 or f"{address}/" not in answer.json()["detail"]:
            wrong.append(f"{method} {address}: {answer.status_code}")
    assert wrong == []


def test_what_is_nowhere_is_not_there(cast: factories.Cast, client: Client) -> None:
    answer = client.post("/api/v1/nosuch", {}, "application/json", **factories.bearer(cast.alice))
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is nothing at this address.")
