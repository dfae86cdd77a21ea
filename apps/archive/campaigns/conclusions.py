"""Findings and reports of a campaign as records of an archive."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import Prefetch, QuerySet

from apps.accounts.models import User
from apps.archive.campaigns import fields
from apps.archive.campaigns.places import CampaignInventory
from apps.archive.campaigns.records import Json, record
from apps.campaigns.models import Campaign
from apps.reports import queries as reports
from apps.reports.models import Edition
from apps.testbeds.models import Node
from apps.tuning import queries as findings
from apps.tuning import readers

# Whose a row is: by the person's number, or as only an archive told.
Person = Callable[[int | None, str], str | None]


def finding_lines(
    campaign: Campaign,
    places: CampaignInventory,
    trial: Callable[[int, int], list[int]],
    person: Person,
    reader: User | None,
) -> Iterator[Json]:
    """Yield the findings, with the places of the trials they rest on, decisions and verifications `reader` sees."""
    numbers = {item.pk: place for place, item in enumerate(campaign.experiments.order_by("position", "pk"))}
    verified = findings.verifications_for(reader) if reader else "verifications"
    rows = campaign.findings.order_by("pk").prefetch_related("trials", "decisions", verified)
    for finding in readers.as_read_by(rows, reader):
        trials = {item.pk: trial(item.experiment_id, item.position) for item in finding.trials.all()}
        verifications = sorted(finding.verifications.all(), key=lambda item: item.pk)
        order = {item.pk: place for place, item in enumerate(verifications)}
        data: dict[str, Any] = record(finding, fields.FINDING)
        # Of trials that are gone nothing is left to rest on.
        rests = [trials[pk] for pk in finding.details.get("evidence", ()) if pk in trials]
        data["details"] = {**finding.details, "evidence": rests}
        yield {
            **data,
            "experiment": numbers[finding.experiment_id] if finding.experiment_id else None,
            "ends": [[role, places.name(Node, node)] for role, node in finding.ends],
            "trials": sorted(trials.values()),
            # Who concluded it: whoever imports this keeps and shows it.
            "origin": finding.imported_from or campaign.team.name,
            "verifications": [
                {
                    **record(item, fields.VERIFICATION),
                    "origin": item.imported_from or campaign.team.name,
                    "campaign": item.of_campaign or None,
                    "requested_by": person(item.requested_by_id, item.told_by),
                }
                for item in verifications
            ],
            "decisions": [
                {
                    **record(item, fields.DECISION),
                    # What was measured is told with its verification only.
                    **({"note": None} if item.verification_id and item.verification_id not in order else {}),
                    "user": person(item.user_id, item.told_by),
                    "verification": order.get(item.verification_id or 0),
                }
                for item in sorted(finding.decisions.all(), key=lambda item: item.pk)
            ],
        }


def editions_of(campaign: Campaign, reader: User | None) -> QuerySet[Edition]:
    """Return the editions of a campaign's reports that the reader may read; all of them without one."""
    rows = Edition.objects.all() if reader is None else reports.editions_for(reader)
    return rows.filter(report__campaign=campaign).order_by("pk")


def report_lines(campaign: Campaign, person: Person, reader: User | None) -> Iterator[Json]:
    """Yield the reports with their editions; the documents are files of their own."""
    editions = Prefetch("editions", editions_of(campaign, reader))
    for report in campaign.reports.order_by("pk").prefetch_related(editions):
        yield {
            **record(report, fields.REPORT),
            "created_by": person(report.created_by_id, ""),
            "editions": [
                {
                    **record(reports.as_read_by(item, reader), fields.EDITION),
                    "created_by": person(item.created_by_id, item.brought_in.get("made_by", "")),
                }
                for item in sorted(report.editions.all(), key=lambda item: item.pk)
            ],
        }
