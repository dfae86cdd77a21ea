"""Every command of manage.py that is Fathom's."""

from django.core.management import get_commands, load_command_class

from apps.core.commands import BaseCommand


def test_none_loads_every_page_before_it_begins() -> None:
    ours = {name: app for name, app in get_commands().items() if app.startswith("apps.")}
    assert len(ours) > 8
    for name, app in ours.items():
        assert isinstance(load_command_class(app, name), BaseCommand), name
