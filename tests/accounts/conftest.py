"""The cast, and browsers signed in as each of them."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User


@pytest.fixture
def signed_in() -> Callable[[User], Client]:
    def sign_in(person: User) -> Client:
        client = Client()
        client.force_login(person)
        return client

    return sign_in
