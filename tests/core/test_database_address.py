"""The address of the database, read into Django's settings."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from apps.config.settings import database


def test_an_address_names_server_database_and_how_queries_are_planned() -> None:
    found = database.from_url("postgresql://fathom:se%40cret@db.example.org:5433/results?sslmode=require")
    kept = ("NAME", "USER", "PASSWORD", "HOST", "PORT", "OPTIONS")
    options = {"sslmode": "require", "options": database.PLANNING}
    assert [found[name] for name in kept] == ["results", "fathom", "se@cret", "db.example.org", 5433, options]


def test_an_address_can_plan_queries_its_own_way() -> None:
    assert database.from_url("postgresql:///results?options=")["OPTIONS"] == {"options": ""}


def test_another_database_or_none_is_refused_with_what_to_write() -> None:
    for address in ("mysql://db/results", "postgresql://db/"):
        with pytest.raises(ImproperlyConfigured, match="postgresql://"):
            database.from_url(address)
