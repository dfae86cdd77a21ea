"""Import, export or load the example: ``manage.py inventory import FILE --team grid``."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from apps.accounts.models import Team
from apps.core.commands import BaseCommand
from apps.testbeds import inventory, services


class Command(BaseCommand):
    """A team's inventory as a file, in and out."""

    help = "Import or export a team's inventory as YAML, or load the published example."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the three actions."""
        actions = parser.add_subparsers(dest="action", required=True)
        reading = actions.add_parser("import", help="read a file; - is the standard input")
        reading.add_argument("file")
        writing = actions.add_parser("export", help="write a file; - is the standard output")
        writing.add_argument("file", nargs="?", default="-")
        example = actions.add_parser("example", help="load the published example")
        for action in (reading, writing, example):
            action.add_argument("--team", required=True, help="short name of the team")
        for action in (reading, example):
            action.add_argument("--dry-run", action="store_true", help="only say what would be done")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it; CommandError says what is wrong."""
        team = Team.objects.filter(slug=options["team"]).first()
        if team is None:
            slugs = ", ".join(Team.objects.values_list("slug", flat=True)) or "–"
            raise CommandError(_("There is no team “%(team)s”; there are: %(known)s.") % {**options, "known": slugs})
        if options["action"] == "export":
            _write(options["file"], inventory.export_inventory(team=team), self.stdout)
            return
        try:
            text = inventory.example_text() if options["action"] == "example" else _read(options["file"])
            changes = inventory.import_inventory(
                team=team, text=text, dry_run=options["dry_run"], confirmation=services.Confirmation()
            )
        except ValidationError as error:
            raise CommandError("\n".join(error.messages)) from error
        for change in changes:
            if change.action != inventory.SAME:
                self.stdout.write(f"{change.action} {change.kind}: {change.item}")
        same = sum(change.action == inventory.SAME for change in changes)
        self.stdout.write(
            _("%(done)s created or changed, %(same)s the same.") % {"done": len(changes) - same, "same": same}
        )


def _read(name: str) -> str:
    try:
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            return inventory.decode(file.read(inventory.MOST_BYTES + 1))
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from error


def _write(name: str, text: str, stdout: Any) -> None:
    if name == "-":
        stdout.write(text)
        return
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from error
