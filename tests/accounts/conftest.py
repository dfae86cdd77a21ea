"""The cast, and browsers signed in as each of them."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from tests import factories


@pytest.fixture
def cast(db: None) -> factories.Cast:
    return factories.cast()


@pytest.fixture
def signed_in() -> Callable[[User], Client]:
    def sign_in(person: User) -> Client:
        client = Client()
        client.force_login(person)
        return client

    return sign_in
