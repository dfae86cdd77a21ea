"""What an archive says is the word of who brings it in, under ids of its own, and is told so everywhere."""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.db import models
from django.test import Client
from django.utils import timezone
from rest_framework.serializers import ModelSerializer

from apps.accounts.models import Membership, Role, Team, User
from apps.archive.campaigns import form
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.incoming import services
from apps.archive.models import IncomingArchive
from apps.campaigns import permanent_ids
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign
from apps.reports.campaign import build
from apps.reports.files import imprints
from apps.reports.files.services import _document_of, request_rendering
from apps.reports.models import Edition
from apps.tuning.models import Decision
from tests.archive.exports.conftest import lines, repacked, unpacked
from tests.archive.exports.test_archives import came_in, packed, rich  # noqa: F401  (fixtures)
from tests.archive.exports.test_hostile_archives import summed
from tests.factories import signed_in

PERSONS = ("created_by", "requested_by", "user", "invalid_by")
# How a row says that it is an archive's word, itself or by its campaign.
TOLD = {"told_by", "invalid_told_by", "brought_in"}


def forged(data: bytes, name: str, permanent_id: str = "") -> bytes:
    """Return an archive in which one person wrote, marked, decided, asked for and froze everything."""
    files = unpacked(data)
    old = json.loads(files[form.MANIFEST])["campaign"]

    def signed(value: Any) -> Any:
        if isinstance(value, list):
            return [signed(item) for item in value]
        if isinstance(value, dict):
            return {key: name if key in PERSONS else signed(item) for key, item in value.items()}
        return value

    for path in (form.TRIALS, form.FINDINGS, form.REPORTS):
        files[path] = b"".join(json.dumps(signed(line)).encode() + b"\n" for line in lines(files[path]))
    about = signed(json.loads(files[form.CAMPAIGN])) | {"people": [{"username": name, "name": "Vic Tim"}]}
    files[form.CAMPAIGN] = json.dumps(about).encode()
    if permanent_id:
        for path in (form.CAMPAIGN, form.MANIFEST):
            files[path] = files[path].replace(old.encode(), permanent_id.encode())
    return repacked(summed(files).items())


def person_fields() -> Iterator[tuple[type[models.Model], Any]]:
    """Yield each column of the service that names a person."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if field.related_model is User:
                yield model, field


def named() -> dict[tuple[str, str, Any], Any]:
    """Return {(table, column, row): person} of all rows that name one or could."""
    return {
        (model._meta.label, field.name, pk): person
        for model, field in person_fields()
        for pk, person in model._base_manager.values_list("pk", field.attname)
    }


def victim_of(team: Team) -> User:
    victim = User.objects.create_user("zqvictim", password="x")
    Membership.objects.create(team=team, user=victim, role=Role.MANAGER)
    return victim


def test_nobody_but_who_brings_it_in_is_made_its_author(rich: Campaign, cast: SimpleNamespace) -> None:  # noqa: F811
    data = packed(rich)
    victim = victim_of(cast.other_team)
    before = named()
    new = came_in(forged(data, "zqvictim"), cast.other_team, cast.charlie)
    made = {key: person for key, person in named().items() if key not in before}
    people = {person for person in made.values() if person is not None}
    assert people == {cast.charlie.pk}, [key for key, person in made.items() if person == victim.pk]
    # Every kind of row that names a person is there, and each says that it is the archive's word.
    kinds = {(label, field) for label, field, _pk in made}
    assert {label.split(".")[1] for label, _field in kinds} >= {
        "Campaign", "Note", "Trial", "Decision", "Verification", "Report", "Edition",
    }  # fmt: skip
    # A manager who agrees to an inventory confirms its addresses, which is said of whoever did.
    for label in {label for label, _field in kinds} - {"testbeds.NodeAddress"}:
        model = apps.get_model(label)
        columns = {field.name for field in model._meta.concrete_fields}
        assert columns & {*TOLD, "campaign", "report"}, label
    assert {note.told_by for note in new.notes.all()} == {"zqvictim"}
    assert {item.told_by for finding in new.findings.all() for item in finding.decisions.all()} == {"zqvictim"}
    assert new.trials.get(invalid_at__isnull=False).invalid_told_by == "zqvictim"
    edition = Edition.objects.filter(report__campaign=new).first()
    assert edition and (edition.brought_in["made_by"], edition.created_by) == ("zqvictim", cast.charlie)
    # What goes on from here says it still.
    again = json.loads(unpacked(packed(new))[form.CAMPAIGN])
    assert (again["created_by"], again["notes"][0]["created_by"]) == ("zqvictim", "zqvictim")


def serializers_of(kind: Any = ModelSerializer) -> Iterator[Any]:
    for one in kind.__subclasses__():
        yield from (one, *serializers_of(one))


def test_each_serializer_that_names_a_person_of_such_a_row_says_whose_word_it_is() -> None:
    brought = {Campaign, *(apps.get_model(label) for label in (
        "campaigns.Note", "campaigns.Trial", "tuning.Decision", "tuning.Verification", "tuning.Finding",
        "reports.Report", "reports.Edition",
    ))}  # fmt: skip
    assert signed_in  # the addresses are loaded with the client
    Client().get("/api/v1/")
    seen = set()
    for kind in serializers_of():
        meta = getattr(kind, "Meta", None)
        if getattr(meta, "model", None) in brought and {*PERSONS, "imported_from"} & set(meta.fields):
            seen.add(meta.model)
            # A management report is of no campaign, and in no archive.
            assert {*TOLD} & set(meta.fields) or kind.__module__ == "apps.reports.overview.api", kind
    assert len(seen) >= 6, seen


def test_every_reader_is_told_who_brought_it_in(rich: Campaign, cast: SimpleNamespace, settings: Any) -> None:  # noqa: F811
    said, said_edition = rich.permanent_id, Edition.objects.order_by("pk").first()
    new = came_in(forged(packed(rich), "zqvictim"), cast.other_team, cast.charlie)
    edition = Edition.objects.filter(report__campaign=new, language="en").get()
    assert said_edition and said_edition.permanent_id != edition.permanent_id != ""
    assert new.permanent_id != said
    client = signed_in(cast.charlie)
    finding, trial = new.findings.first(), new.trials.first()
    report = edition.report
    for page in (
        new.get_absolute_url(), f"/c/{new.permanent_id}/", edition.get_absolute_url(), f"/findings/{finding.pk}/",
        f"/results/trials/{trial.pk}/", f"/results/experiments/{trial.experiment_id}/", report.get_absolute_url(),
    ):  # fmt: skip
        text = client.get(page).content.decode()
        assert "Brought in by charlie on" in text, page
    text = client.get(edition.get_absolute_url()).content.decode()
    assert f"According to the archive it is {said_edition.permanent_id}." in text
    assert "Frozen, according to the archive" in text
    rest = {
        "by": "charlie", "permanent_id": said, "made_by": "zqvictim", "agrees": False,
    }  # fmt: skip
    addresses = {
        f"campaigns/{new.pk}": rest, f"findings/{finding.pk}": rest, f"permanent-ids/{new.permanent_id}": rest,
        f"reports/{report.pk}": rest,
        f"editions/{edition.permanent_id}": rest | {"permanent_id": said_edition.permanent_id},
    }  # fmt: skip
    for address, expected in addresses.items():
        told = client.get(f"/api/v1/{address}/").json()["brought_in"]
        assert told.pop("at")
        assert told == expected, address
    # Where names are hidden the people's are.
    Campaign.objects.filter(pk=new.pk).update(visibility="public", redacted=True)
    public = Client().get(f"/api/v1/permanent-ids/{new.permanent_id}/").json()
    assert (public["brought_in"]["by"], public["brought_in"]["permanent_id"]) == ("", said)
    assert f"from an archive, which calls it {said}" in public["citation"]["plain"]
    page = Client().get(f"/c/{new.permanent_id}/").content.decode()
    assert "Brought in by –" in page
    assert "charlie" not in page + str(public) and "zqvictim" not in page + str(public)
    assert "Brought in by charlie" in str(build([new], user=cast.charlie, language="en").meta)
    request_rendering(report=report, edition=edition, name="pdf", user=cast.charlie, now=timezone.now())
    rendering = edition.renderings.get()
    assert "Brought in by charlie" in str(imprints.lines_of(_document_of(rendering)[1]))


def sent(cast: SimpleNamespace, data: bytes, **choices: Any) -> IncomingArchive:
    """Return what becomes of an archive that charlie sends, and agrees to."""
    archive = services.take(team=cast.other_team, user=cast.charlie, file=ContentFile(data, name="a.zip"))
    while services.carry_out_next(now=timezone.now()):
        pass
    archive.refresh_from_db()
    if archive.state == "ready":
        services.agree(incoming=archive, user=cast.charlie, **choices)
        while services.carry_out_next(now=timezone.now()):
            pass
        archive.refresh_from_db()
    return archive


def test_a_hidden_id_is_answered_as_an_unknown_one_and_squatted_by_nobody(
    rich: Campaign,  # noqa: F811
    cast: SimpleNamespace,
    settings: Any,
    tmp_path: Path,
) -> None:
    settings.VAR_DIR = tmp_path
    Campaign.objects.filter(pk=rich.pk).update(visibility="private", created_by=cast.oscar)
    mate = victim_of(cast.other_team)
    data = packed(rich)
    answers = []
    for permanent_id in (rich.permanent_id, permanent_ids.new()):
        archive = sent(cast, forged(data, "charlie", permanent_id))
        told = [
            signed_in(user).get(f"/api/v1/campaign-archives/{archive.pk}/").json() for user in (cast.charlie, mate)
        ]
        made = Campaign.objects.get(pk=told[0]["campaign"])
        assert made.permanent_id != permanent_id == made.brought_in["id"]
        pages = [f"/c/{made.permanent_id}/", Edition.objects.filter(report__campaign=made).first().get_absolute_url()]
        statuses = [signed_in(user).get(page).status_code for page in pages for user in (cast.charlie, mate)]
        assert statuses == [200] * 4
        for answer in told:
            for name in ("id", "campaign", "created_at", "size"):
                answer.pop(name)
            assert answer["preview"].pop("campaign") == permanent_id
            # Of the second the inventory is here already.
            answer["preview"].pop("new")
            answer["preview"]["totals"].pop("new")
        answers.append((told, made.visibility))
    assert answers[0] == answers[1]
    # Whose it is brings in what is true under its own id all the same: as an administrator, who answers for it.
    campaigns.delete_campaign(campaign=rich, user=cast.oscar, now=timezone.now())
    assert came_in(data, cast.team, cast.oscar).permanent_id == rich.permanent_id
    other = permanent_ids.new()
    squatted = sent(cast, forged(data, "charlie", other))
    assert squatted.state == "done"
    true = came_in(forged(data, "oscar", other), cast.team, cast.oscar, keeps_ids=False)
    assert true.permanent_id != other
    with pytest.raises(ArchiveError, match="known"):
        came_in(forged(data, "oscar", other), cast.team, cast.oscar)


@pytest.mark.parametrize(("decider", "whose"), [("oscar", ("oscar", "")), ("alice", (None, "alice"))])
def test_decisions_come_back_as_whose_they_were_and_forged_ones_as_nobodys(
    rich: Campaign,  # noqa: F811
    cast: SimpleNamespace,
    decider: str,
    whose: tuple[str | None, str],
) -> None:
    files = unpacked(packed(rich))
    found = lines(files[form.FINDINGS])
    for decision in (decision for line in found for decision in line["decisions"]):
        decision["user"] = decider
    files[form.FINDINGS] = b"".join(json.dumps(line).encode() + b"\n" for line in found)
    campaigns.delete_campaign(campaign=rich, user=cast.oscar, now=timezone.now())
    archive = Archive(BytesIO(repacked(summed(files).items())), "a.zip")
    back = store(archive=archive, team=cast.team, user=cast.alice, choices=Choices(), now=timezone.now())
    assert back.permanent_id == rich.permanent_id
    rows = Decision.objects.filter(finding__campaign=back)
    assert set(rows.values_list("user__username", "told_by")) == {whose}
    # Notes and marks agree, and are whose they were.
    assert back.notes.get().created_by == cast.bob
    assert back.trials.get(invalid_at__isnull=False).invalid_by == cast.oscar


def test_to_delete_it_and_bring_it_back_makes_nothing_true(rich: Campaign, cast: SimpleNamespace) -> None:  # noqa: F811
    new = came_in(forged(packed(rich), "zqvictim"), cast.other_team, cast.charlie)
    data = packed(new)
    victim_of(cast.other_team)
    campaigns.delete_campaign(campaign=new, user=cast.charlie, now=timezone.now())
    back = came_in(data, cast.other_team, cast.charlie)
    assert (back.permanent_id, back.brought_in) == (new.permanent_id, new.brought_in)
    assert back.origin_text == "measured, as an archive says"
    assert {(note.created_by, note.told_by) for note in back.notes.all()} == {(None, "zqvictim")}
