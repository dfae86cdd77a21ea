"""Store what was concluded: findings with their history, and reports with their editions."""

import hashlib
from collections.abc import Mapping
from typing import Any

from apps.accounts.models import User
from apps.archive.campaigns import fields, form, records
from apps.archive.campaigns.form import ArchiveError, wrong
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.records import Json
from apps.archive.campaigns.store.choices import Here
from apps.archive.campaigns.store.measured import MeasurementStore
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign, Experiment
from apps.core import documents
from apps.reports import foreign, serialisation
from apps.reports.models import Edition, Report, new_permanent_id
from apps.testbeds.models import Node
from apps.tuning.models import LONGEST_ORIGIN, Decision, Finding, Verification
from apps.tuning.services.findings import subject_of

People = Mapping[str, User]

# An open verification would be carried on with.
_VERDICTS = (Verification.Verdict.VERIFIED, Verification.Verdict.REFUTED, Verification.Verdict.UNDECIDED)


class ConclusionStore:
    """Stores what an archive says was concluded of a campaign.

    Of nobody here it is the word: `arrival` (`apps.campaigns.brought_in.write`) says who brought it in. Editions have
    the ids that they say where `keeps_ids`, else ids of their own.
    """

    def __init__(
        self, archive: Archive, campaign: Campaign, user: User, arrival: dict[str, str], *, keeps_ids: bool
    ) -> None:
        self._archive = archive
        self._campaign = campaign
        self._user = user
        self._arrival = arrival
        self._keeps_ids = keeps_ids

    def store_findings(
        self, experiments: list[Experiment], measured: MeasurementStore, here: Here, people: People | None
    ) -> None:
        """Store the findings with the trials they rest on, what was decided of them, and their verifications.

        `people` are whose the decisions are known to be; None where only the archive says so.
        """
        archive, campaign = self._archive, self._campaign
        for place, data in archive.lines(form.FINDINGS):
            finding = _finding(archive, campaign, experiments, measured, here, data, place)
            trials = records.sequence(data.get("trials"), f"{place}, trials")
            finding.trials.set([measured.trial(item, f"{place}, trials") for item in trials])
            # A campaign that the archive names is one that is here only where somebody answers for that.
            is_linked = people is not None or self._keeps_ids
            verifications = [
                _verification(
                    archive, finding, records.mapping(item, place), people, f"{place}, verifications", is_linked
                )
                for item in records.sequence(data.get("verifications"), f"{place}, verifications")
            ]
            for item in records.sequence(data.get("decisions"), f"{place}, decisions"):
                _decision(finding, verifications, records.mapping(item, place), people, f"{place}, decisions")
            records.restamp([finding], [records.stamps(Finding, data, place)])

    def store_reports(self, *, is_back: bool) -> None:
        """Store the reports with their editions, as they were frozen.

        Of a campaign that was deleted here, and is back (`is_back`), the editions are here already, and stay as they
        are.
        """
        for place, data in self._archive.lines(form.REPORTS):
            editions = [
                records.mapping(item, place) for item in records.sequence(data.get("editions"), f"{place}, editions")
            ]
            report = self._remnant(data, editions, place) if is_back else None
            report = report or self._report(data, place)
            records.restamp([report], [records.stamps(Report, data, place)])
            for item in editions:
                self._keep(report, item, f"{place}, editions")

    def _remnant(self, data: Json, editions: list[Json], place: str) -> Report | None:
        """Return the report of the deleted campaign that editions of the archive belong to, with the campaign."""
        ids = [records.text(item.get("permanent_id"), place) for item in editions]
        left = Report.objects.filter(
            team_id=self._campaign.team_id, campaign=None, of_campaign=self._campaign.permanent_id
        )
        report = left.filter(editions__permanent_id__in=ids, language=data.get("language")).first()
        if report is not None:
            report.campaign = self._campaign
            report.save(update_fields=["campaign", "updated_at"])
        return report

    def _report(self, data: Json, place: str) -> Report:
        values = records.values(Report, data, ("kind", "language", "title"), place)
        if values["kind"] != Report.Kind.CAMPAIGN:
            raise wrong(f"{place}, kind", Message(_("An archive has reports of its campaign only.")))
        campaign = self._campaign
        return Report.objects.create(team_id=campaign.team_id, campaign=campaign, created_by=self._user, **values)

    def _keep(self, report: Report, data: Json, place: str) -> None:
        values = records.values(Edition, data, fields.EDITION, place)
        archive_id = values["permanent_id"]
        canonical = self._archive.report(f"reports/{archive_id}.json", place)
        if hashlib.sha256(canonical).hexdigest() != values["checksum"]:
            raise wrong(place, Message(_("The document is not the one that was frozen: its checksum differs.")))
        here = report.editions.filter(number=values["number"]).first()
        if here is not None:
            if here.checksum != values["checksum"]:
                text = _("The edition %(id)s is here with another content.")
                raise ArchiveError("known", Message(text, {"id": here.permanent_id}))
            return
        if not self._keeps_ids:
            values["permanent_id"] = new_permanent_id()
        elif Edition.objects.filter(permanent_id=archive_id).exists():
            text = _("The edition %(id)s is another team's or another campaign's here.")
            raise ArchiveError("known", Message(text, {"id": archive_id}))
        try:
            document = documents.read_json(canonical, form.DOCUMENT_LIMITS)
            records.check(document, place)
            foreign.check(serialisation.from_json(document))
        except (documents.UnreadableError, serialisation.DocumentError) as error:
            raise wrong(place, Message(_("This is no document of a report."))) from error
        author = records.text(data.get("created_by") or "", f"{place}, created_by", 150)
        arrival = {**self._arrival, "id": archive_id, "made_by": author}
        Edition.objects.create(
            report=report, canonical=canonical.decode(), created_by=self._user, brought_in=arrival, **values
        )


def _finding(
    archive: Archive,
    campaign: Campaign,
    experiments: list[Experiment],
    measured: MeasurementStore,
    here: Here,
    data: Json,
    place: str,
) -> Finding:
    names = [name for name in fields.FINDING if name not in ("created_at", "updated_at")]
    values = records.values(Finding, data, names, place)
    details = values["details"]
    evidence = records.sequence(details["evidence"], f"{place}, evidence")
    if len(evidence) > len(measured.trials):
        raise wrong(place, Message(_("A finding rests on each trial once.")))
    values["details"] = {**details, "evidence": [measured.trial(item, f"{place}, evidence") for item in evidence]}
    ends = tuple(_end(item, here, f"{place}, ends") for item in records.sequence(data.get("ends"), f"{place}, ends"))
    experiment = None
    if data.get("experiment") is not None:
        number = records.whole(data["experiment"], f"{place}, experiment")
        if number >= len(experiments):
            raise wrong(place, Message(_("It names an experiment or a lane that is not in the archive.")))
        experiment = experiments[number]
    return Finding.objects.create(
        team_id=campaign.team_id,
        campaign=campaign,
        experiment=experiment,
        ends=[list(end) for end in ends],
        subject=subject_of(ends, records.text(details["subject"], f"{place}, subject", 2000)),
        imported_from=_origin(archive, data, place),
        **values,
    )


def _origin(archive: Archive, data: Json, place: str) -> str:
    """Return whose word something is; an archive that was made before it said so is its team's."""
    if data.get("origin"):
        return records.text(data["origin"], f"{place}, origin", LONGEST_ORIGIN)
    team = records.mapping(archive.json(form.CAMPAIGN), form.CAMPAIGN).get("team") or archive.permanent_id
    return records.text(team, f"{form.CAMPAIGN}, team", LONGEST_ORIGIN)


def _end(item: Any, here: Here, place: str) -> tuple[str, int]:
    if not isinstance(item, list) or len(item) != 2:
        raise wrong(place, Message(_("An end is a role and a node.")))
    return records.text(item[0], place, 32), here.number(Node, item[1], place)


def _verification(
    archive: Archive, finding: Finding, data: Json, people: People | None, place: str, is_linked: bool
) -> Verification:
    names = [name for name in fields.VERIFICATION if name not in ("created_at", "updated_at")]
    values = records.values(Verification, data, names, place)
    # Its campaign never comes to an end here.
    if values["verdict"] not in _VERDICTS:
        values["verdict"] = Verification.Verdict.UNDECIDED
    campaign, permanent_id = None, ""
    if data.get("campaign") is not None and is_linked:
        permanent_id = records.text(data["campaign"], f"{place}, campaign", 20)
        campaign = Campaign.objects.filter(
            team_id=finding.team_id, permanent_id=permanent_id, verification__isnull=True
        ).first()
    verification = Verification.objects.create(
        finding=finding,
        campaign=campaign,
        of_campaign=permanent_id,
        **_whose("requested_by", data.get("requested_by"), people, place),
        imported_from=_origin(archive, data, place),
        **values,
    )
    records.restamp([verification], [records.stamps(Verification, data, place)])
    return verification


def _decision(
    finding: Finding, verifications: list[Verification], data: Json, people: People | None, place: str
) -> None:
    names = [name for name in fields.DECISION if name not in ("created_at", "updated_at")]
    values = records.values(Decision, data, names, place)
    verification = None
    if data.get("verification") is not None:
        number = records.whole(data["verification"], f"{place}, verification")
        if number >= len(verifications):
            raise wrong(place, Message(_("It names a verification that is not in the archive.")))
        verification = verifications[number]
    decision = Decision.objects.create(
        finding=finding, verification=verification, **_whose("user", data.get("user"), people, place), **values
    )
    records.restamp([decision], [records.stamps(Decision, data, place)])


def _whose(field: str, name: object, people: People | None, place: str) -> dict[str, Any]:
    """Return whose a row is: a person who is known to have done it, or the name that only the archive says."""
    written = records.text(name or "", f"{place}, {field}", 150)
    return {"told_by": written} if people is None else {field: people.get(written)}
