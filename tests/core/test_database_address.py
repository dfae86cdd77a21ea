"""The address of the database, read into Django's settings."""

import pytest

from apps.config.settings import database
from apps.core import connections

OPTIONS = f"{database.SERVER_KEEPALIVES} {database.PLANNING}"


def test_an_address_names_server_database_and_how_queries_are_planned() -> None:
    found = database.from_url("postgresql://fathom:se%40cret@db.example.org:5433/results?sslmode=require")
    kept = ("NAME", "USER", "PASSWORD", "HOST", "PORT", "OPTIONS")
    options = {"sslmode": "require", "options": OPTIONS, **database.KEEPALIVES}
    assert [found[name] for name in kept] == ["results", "fathom", "se@cret", "db.example.org", 5433, options]


def test_an_address_can_plan_queries_its_own_way() -> None:
    assert database.from_url("postgresql:///results?options=")["OPTIONS"]["options"] == ""


def test_an_address_can_have_keepalives_of_its_own() -> None:
    options = database.from_url("postgresql:///results?keepalives_idle=5&application_name=mine")["OPTIONS"]
    assert (options["keepalives"], options["keepalives_idle"], options["application_name"]) == ("1", "5", "mine")


def test_a_web_process_shares_a_few_connections_and_a_worker_keeps_one() -> None:
    web, worker = (database.from_url("postgresql:///results") for _process in range(2))
    assert web["CONN_MAX_AGE"] == 0
    connections.fit_to_web(web, most=7)
    connections.fit_to_worker(worker)
    assert web["OPTIONS"]["pool"]["max_size"] == 7
    # Django refuses a pool of connections that are kept.
    assert (web["CONN_MAX_AGE"], worker["CONN_MAX_AGE"]) == (0, 60)
    assert "pool" not in worker["OPTIONS"]
    for entry in (web, worker):
        assert entry["OPTIONS"]["options"] == f"{OPTIONS} {connections.LIMITS}"


def test_where_nothing_may_be_set_no_limits_are() -> None:
    entry = database.from_url("postgresql:///results?options=")
    connections.fit_to_worker(entry)
    assert entry["OPTIONS"]["options"] == ""


def test_another_database_or_none_is_refused_with_what_to_write() -> None:
    for address in ("mysql://db/results", "postgresql://db/", "postgresql://u@h:abc/results"):
        with pytest.raises(ValueError, match="postgresql://"):
            database.from_url(address)
