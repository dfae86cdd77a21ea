"""List what the rules conclude: ``manage.py findings --json --campaign 12``."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from apps.accounts.models import Team
from apps.bench import strict_json
from apps.campaigns.models import Campaign
from apps.core import messages
from apps.core.commands import BaseCommand
from apps.tuning import queries, records, untold
from apps.tuning.models import Finding


class Command(BaseCommand):
    """All findings with their kind, their evidence and their confidence."""

    help = "List findings: what the rules conclude, from which figures, how sure, and what else it may be."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what may be asked for."""
        parser.add_argument("--json", action="store_true", help="whole records as one JSON list, not one line each")
        parser.add_argument("--campaign", help="only those of a campaign, by number or by name")
        parser.add_argument("--refuted", action="store_true", help="only those that a measurement refuted")
        parser.add_argument("--team", help="only those of a team, by its short name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print them; CommandError if the campaign or the team does not exist."""
        state = Finding.State.REFUTED if options["refuted"] else ""
        findings = queries.standing(Finding.objects.filter(campaign__deleting_at=None), state)
        if options["team"]:
            if not Team.objects.filter(slug=options["team"]).exists():
                raise CommandError(_("There is no team “%s”.") % options["team"])
            findings = findings.filter(team__slug=options["team"])
        campaign_ids = _campaigns(options["campaign"]) if options["campaign"] else []
        if campaign_ids:
            findings = findings.filter(campaign__in=campaign_ids)
        documents = records.of_findings(findings)
        for campaign, message in untold.silent_among(Campaign.objects.filter(pk__in=campaign_ids).order_by("pk")):
            self.stderr.write(f"{campaign.name}: {messages.render(message)}")
        if options["json"]:
            self.stdout.write(strict_json.dumps(documents, ensure_ascii=False, indent=2))
            return
        for record in documents:
            words = (
                record["campaign_name"],
                record["rule"],
                record["kind"],
                record["confidence_label"],
                record["title"],
            )
            self.stdout.write("\t".join(map(str, words)))


def _campaigns(text: str) -> list[int]:
    """Return the campaigns of a number or a name."""
    by_name = Campaign.objects.filter(name=text)
    numbered = Campaign.objects.filter(pk=int(text)) if text.isascii() and text.isdigit() else by_name
    ids = [campaign.pk for campaign in (numbered or by_name)]
    if not ids:
        raise CommandError(_("There is no campaign “%s”: give its number or its name.") % text)
    return ids
