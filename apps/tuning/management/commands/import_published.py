"""Read published figures into a team's archive: ``manage.py import_published FILE --team grid``."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.models import Team
from apps.core import messages
from apps.core.commands import BaseCommand
from apps.tuning import published

# The team that has the figures where nobody says which.
ARCHIVE = "published"


class Command(BaseCommand):
    """Published figures as an archive, with what the rules conclude of them."""

    help = "Import published figures (JSON) as campaigns marked as such; the same file again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the file and the team."""
        parser.add_argument("file", help="the figures; - is the standard input")
        parser.add_argument("--facts", help="a second file, with the sources' slips, to be shown beside the figures")
        parser.add_argument(
            "--team",
            help="short name of the team; without it the only one there is, else a team “published” of its own",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it; CommandError says what is wrong, and where."""
        team = _team(options["team"])
        try:
            done = published.import_published(
                team=team,
                text=_read(options["file"]),
                facts=_read(options["facts"]) if options["facts"] else "",
                now=timezone.now(),
                dry_run=options["dry_run"],
            )
        except ValidationError as error:
            raise CommandError("\n".join(error.messages)) from error
        for remark in done.remarks:
            self.stdout.write(messages.render(remark))
        words = {
            "team": team.slug,
            "created": len(done.created),
            "changed": len(done.changed),
            "same": len(done.same),
            "described": done.described,
        }
        self.stdout.write(
            gettext(
                "%(team)s: cases created %(created)s, changed %(changed)s, the same %(same)s;"
                " things of the inventory created or changed: %(described)s."
            )
            % words
        )


def _team(slug: str | None) -> Team:
    """Return the team of a short name; without one the only team there is, else an archive's own team."""
    teams = {team.slug: team for team in Team.objects.order_by("slug")}
    if slug is None and len(teams) == 1:
        return next(iter(teams.values()))
    if slug in teams:
        return teams[slug]
    if slug is None:
        return teams.get(ARCHIVE) or Team.objects.create(slug=ARCHIVE, name=gettext("Published figures"))
    words = {"team": slug, "known": ", ".join(teams) or "–"}
    raise CommandError(gettext("There is no team “%(team)s”; there are: %(known)s.") % words)


def _read(name: str) -> str:
    try:
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            return published.decode(file.read(published.MOST_BYTES + 1))
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from error
