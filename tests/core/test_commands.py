"""Every command of manage.py that is Fathom's."""

import os

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.db import OperationalError

from apps.core.commands import BaseCommand


def test_none_loads_every_page_before_it_begins() -> None:
    ours = {name: app for name, app in get_commands().items() if app.startswith("apps.")}
    assert len(ours) > 8
    for name, app in ours.items():
        assert isinstance(load_command_class(app, name), BaseCommand), name


def test_one_that_meets_a_database_that_is_away_says_that_it_may_be_run_again() -> None:
    class Away(BaseCommand):
        needs_tables = False

        def handle(self, *_args: object, **_options: object) -> None:
            raise OperationalError("terminating connection due to administrator command")

    with pytest.raises(CommandError, match="The database is away: terminating") as refusal:
        call_command(Away())
    assert refusal.value.returncode == os.EX_TEMPFAIL
