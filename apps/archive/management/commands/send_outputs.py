"""Send files to be imported: ``manage.py send_outputs FILE... --team grid --user oscar``; the page does the rest."""

from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.files import File
from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.archive.imports import services
from apps.archive.imports.models import Import
from apps.core.commands import BaseCommand


class Command(BaseCommand):
    """What the page of imports takes, from the server's own disk."""

    help = "Send raw outputs, archives of them, or a table to be imported; prints the address of the import's page."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the files, and whose they are."""
        parser.add_argument("files", nargs="+", help="raw outputs, zip, tar, tar.gz; or one CSV or XLSX")
        parser.add_argument("--team", required=True, help="short name of the team that gets the campaign")
        parser.add_argument("--user", required=True, help="user name of whoever imports: an operator of the team")
        parser.add_argument("--name", default="", help="name of the campaign")
        parser.add_argument("--table", action="store_true", help="the file is a table of figures")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it; CommandError says what is wrong."""
        team = Team.objects.filter(slug=options["team"]).first()
        user = User.objects.filter(username=options["user"]).first()
        if team is None or user is None or not rights.can(user, team, Role.OPERATOR):
            raise CommandError(_("There is no such team, or no operator of it with this user name."))
        kind = Import.Kind.TABLE if options["table"] else Import.Kind.OUTPUTS
        with ExitStack() as opened:
            try:
                files = [
                    File(opened.enter_context(Path(name).open("rb")), Path(name).name) for name in options["files"]
                ]
                imported = services.create_import(team=team, user=user, kind=kind, files=files, name=options["name"])
            except OSError as error:
                raise CommandError(f"{error.filename}: {error.strerror}") from error
            except ValidationError as error:
                raise CommandError("\n".join(error.messages)) from error
        self.stdout.write(imported.get_absolute_url())
