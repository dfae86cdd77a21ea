"""Make a campaign of an archive: ``manage.py import_campaign FILE --team grid --user alice``."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.management.base import CommandError
from django.db import transaction
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.models import Team, User
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.core import messages
from apps.core.commands import BaseCommand


class Command(BaseCommand):
    """The campaign of an archive, whole or not at all."""

    help = "Make the same campaign of an archive that export_campaign (or the page) wrote; all of it or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the file, whose it becomes, and what its names stand for."""
        parser.add_argument("file", help="the archive")
        parser.add_argument("--team", required=True, help="short name of the team that takes it")
        parser.add_argument("--user", required=True, help="user name of an operator of the team")
        parser.add_argument("--node", action="append", default=[], metavar="NAME=OTHER", help="a node's name here")
        parser.add_argument(
            "--keep-ids", action="store_true", help="give it the permanent ids that it says: of a source you trust"
        )
        parser.add_argument("--dry-run", action="store_true", help="only say whether it would come in")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it; CommandError says what is wrong."""
        team = Team.objects.filter(slug=options["team"]).first()
        user = User.objects.filter(username=options["user"]).first()
        if team is None or user is None:
            slugs = ", ".join(Team.objects.order_by("slug").values_list("slug", flat=True)) or "–"
            words = {"team": options["team"], "user": options["user"], "known": slugs}
            raise CommandError(
                gettext("There is no team “%(team)s” (there are: %(known)s) or no user “%(user)s”.") % words
            )
        choices = Choices(nodes=_pairs(options["node"]), keeps_ids=options["keep_ids"])
        try:
            with Path(options["file"]).open("rb") as file, transaction.atomic():
                archive = Archive(file, options["file"])
                archive.verify()
                campaign = store(archive=archive, team=team, user=user, choices=choices, now=timezone.now())
                transaction.set_rollback(options["dry_run"])
        except ArchiveError as error:
            raise CommandError(messages.render(error.message)) from error
        except (Http404, PermissionDenied) as error:
            raise CommandError(gettext("“%(user)s” is no operator of the team.") % options) from error
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from error
        text = (
            gettext("“%(name)s” (%(id)s) would come in.")
            if options["dry_run"]
            else gettext("“%(name)s” (%(id)s) came in.")
        )
        self.stdout.write(text % {"name": campaign.name, "id": campaign.permanent_id})


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, other = text.partition("=")
        if not name or not equals:
            raise CommandError(gettext("Write NAME=OTHER instead of “%(text)s”.") % {"text": text})
        pairs[name] = other
    return pairs
