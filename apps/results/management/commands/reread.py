"""Read the raw archive again with today's parsers: ``manage.py reread --tool iperf3-tcp [--apply --reason "…"]``."""

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import Team
from apps.bench import units
from apps.bench.tools import UnknownTool
from apps.campaigns import permanent_ids
from apps.campaigns.models import Campaign
from apps.core import messages
from apps.core.commands import BaseCommand
from apps.results.corrections import changes, services
from apps.results.corrections.changes import Looked, ResultChange
from apps.toolbox import queries as toolbox

LONGEST_REASON = 500


class Command(BaseCommand):
    """Shows what changes; keeps it, as new editions of the results, only where asked to."""

    help = "Read raw outputs again with today's parsers, and show what changes before anything is changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what may be asked for."""
        parser.add_argument("--tool", default="", help="only runs of this tool, by its short name")
        parser.add_argument("--campaign", default="", help="only those of a campaign, by number or permanent id")
        parser.add_argument("--team", default="", help="only those of a team, by its short name")
        parser.add_argument("--apply", action="store_true", help="keep what changed as new editions of the results")
        parser.add_argument("--reason", default="", help="why, for example: iperf3 3.17 writes another field")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, show and, if asked to, keep; CommandError for a tool, campaign or team that there is not."""
        reason = options["reason"].strip()
        if options["apply"] and not 0 < len(reason) <= LONGEST_REASON:
            raise CommandError(_("Say with --reason why the results change, in 500 characters at most."))
        runs = changes.runs_to_read(
            tool=_tool(options["tool"]), campaign=_campaign(options["campaign"]), team=_team(options["team"])
        )
        looked, changes_count, kept_by_campaign = Looked(), 0, Counter[int]()
        for change in changes.changes(runs, looked):
            changes_count += 1
            self.stdout.write(_line(change))
            if options["apply"] and services.apply(change, reason=reason, now=timezone.now()):
                kept_by_campaign[change.run.trial.campaign_id] += 1
        for campaign, count in kept_by_campaign.items():
            services.tell(campaign_id=campaign, count=count, reason=reason)
        counts = {
            "read": looked.read,
            "gone": looked.gone,
            "changed": changes_count,
            "kept": kept_by_campaign.total(),
        }
        self.stdout.write(
            _("Runs read again: %(read)s; without raw output: %(gone)s; changed: %(changed)s; kept: %(kept)s.")
            % counts
        )
        if changes_count and not options["apply"]:
            self.stdout.write(_("Nothing was changed. --apply --reason “…” keeps it, and the earlier editions."))


def _line(change: ResultChange) -> str:
    trial = change.run.trial
    units_of = {metric.name: metric.unit for metric in toolbox.get_tool(trial.experiment.tool).metrics}

    def shown(name: str, value: float | None) -> str:
        if value is None:
            return "–"
        return units.format_quantity(value, units_of.get(name, ""))

    parts = [
        f"{name} {shown(name, old)} → {shown(name, new)}"
        + (f" ({old!r} → {new!r})" if shown(name, old) == shown(name, new) else "")
        for name, (old, new) in change.figures.items()
    ]
    parts += change.parts
    if change.before is None:
        parts.insert(0, _("can be read now"))
    if change.failure:
        parts.append(_("refused: %(why)s") % {"why": messages.render(change.failure.message)})
    place = f"{trial.campaign.permanent_id} {trial.experiment.name} #{trial.position}"
    return f"{place} [{trial.experiment.tool}] " + "; ".join(parts)


def _tool(slug: str) -> str:
    if slug:
        try:
            toolbox.get_tool(slug)
        except UnknownTool:
            raise CommandError(_("There is no tool “%s”.") % slug) from None
    return slug


def _team(slug: str) -> str:
    if slug and not Team.objects.filter(slug=slug).exists():
        raise CommandError(_("There is no team “%s”.") % slug)
    return slug


def _campaign(text: str) -> int | None:
    if not text:
        return None
    by_permanent_id = Campaign.objects.filter(permanent_id=permanent_ids.normalise(text))
    numbered = text.isascii() and text.isdigit() and len(text) < 10
    campaign = by_permanent_id.first() or (Campaign.objects.filter(pk=int(text)).first() if numbered else None)
    if campaign is None:
        raise CommandError(_("There is no campaign “%s”: give its number or its permanent id.") % text)
    return campaign.pk
