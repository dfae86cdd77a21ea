"""Write the archive of a campaign: ``manage.py export_campaign 7k3m-9qxt-2v4h FILE``."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext

from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.writer import archive_of
from apps.campaigns import permanent_ids
from apps.campaigns.models import Campaign
from apps.core import messages, regular_files, whole_files
from apps.core.commands import BaseCommand


class Command(BaseCommand):
    """A campaign as one file, with all that its figures rest on."""

    help = "Write the archive of a campaign, from which import_campaign makes the same campaign elsewhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the campaign and the file."""
        parser.add_argument("campaign", help="permanent id of the campaign, or its number")
        parser.add_argument("file", help="where to write the archive; - is the standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write it; CommandError says what is wrong."""
        campaign = _campaign(options["campaign"])
        try:
            pieces = archive_of(campaign, now=timezone.now())
            if options["file"] == "-":
                for piece in pieces:
                    sys.stdout.buffer.write(piece)
                return
            regular_files.require_no_device(Path(options["file"]))
            # Under another name until it is whole.
            part = Path(f"{options['file']}.part")
            with part.open("wb") as file:
                for piece in pieces:
                    file.write(piece)
            whole_files.put_in_place(part, Path(options["file"]))
        except ArchiveError as error:
            raise CommandError(messages.render(error.message)) from error
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from error
        size = Path(options["file"]).stat().st_size
        words = {"campaign": campaign.name, "file": options["file"], "size": size}
        self.stdout.write(gettext("“%(campaign)s” is in %(file)s (%(size)s bytes).") % words)


def _campaign(text: str) -> Campaign:
    campaigns = Campaign.objects.filter(deleting_at=None).select_related("team")
    identity = permanent_ids.normalise(text)
    campaign = campaigns.filter(permanent_id=identity).first() if identity else None
    if campaign is None and text.isascii() and text.isdigit() and len(text) < 19:
        campaign = campaigns.filter(pk=int(text)).first()
    if campaign is None:
        raise CommandError(gettext("There is no campaign “%(campaign)s”.") % {"campaign": text})
    return campaign
