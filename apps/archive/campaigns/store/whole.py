"""Store an archive: the inventory it needs, its tools, the campaign as it was defined, and all that was measured."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import DatabaseError, transaction

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.archive.campaigns import fields, form, records
from apps.archive.campaigns.form import ArchiveError, wrong
from apps.archive.campaigns.names import keep_names
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.records import Json
from apps.archive.campaigns.store import brought_back
from apps.archive.campaigns.store.brought_back import ArchiveStanding
from apps.archive.campaigns.store.choices import Choices, Here, people_here
from apps.archive.campaigns.store.concluded import ConclusionStore
from apps.archive.campaigns.store.defined import store_tools, tool_of
from apps.archive.campaigns.store.measured import MeasurementStore
from apps.bench.text import Message, _
from apps.campaigns import brought_in, permanent_ids, recipe_sizes
from apps.campaigns.models import Campaign, Event, Experiment, ExperimentRole, Lane, Share, Tombstone
from apps.campaigns.models.annotations import Note
from apps.campaigns.queries.visibility import sees_whole, visible
from apps.core import troubles
from apps.testbeds.models import Cluster, FileSystem, Link, Node

_STATES = (Campaign.State.FINISHED, Campaign.State.CANCELLED)
_RESOURCES: dict[str, type[Any]] = {"node": Node, "link": Link, "fs": FileSystem}


def store(
    *,
    archive: Archive,
    team: Team,
    user: User,
    choices: Choices,
    now: datetime,
    progress: Callable[[int], None] = lambda _done: None,
) -> Campaign:
    """Return the campaign of an archive that was verified, whole; ArchiveError, and nothing is stored."""
    rights.require(user, team, Role.OPERATOR)
    keeps_id = choices.keeps_ids
    standing = brought_back.first_standing(archive.permanent_id, team, keeps_id=keeps_id)
    try:
        # As what was deleted here, unless it is not; then with nobody's word, and if need be under an id of its own.
        for _attempt in range(brought_back.MOST_ATTEMPTS):
            archive.read_anew()
            try:
                with transaction.atomic():
                    return _ArchiveStore(archive, team, user, choices, now, standing).campaign(progress)
            except brought_back.DiffersError as error:
                standing = error.standing
        raise AssertionError("What has an id of its own is compared with nothing.")
    except DatabaseError as error:
        if troubles.is_ours(error):
            raise
        # What contradicts itself: two trials in one place, a text that no column holds.
        text = _("The archive contradicts itself: export the campaign again.")
        raise ArchiveError("contradictory", Message(text)) from error


def known(permanent_id: str) -> Campaign | None:
    """Return the campaign of a permanent id, if it is here."""
    return Campaign.objects.filter(permanent_id=permanent_id).select_related("team").first()


def refuse_known(permanent_id: str, team: Team, user: User, *, keeps_id: bool = False) -> None:
    """Refuse the campaign of a permanent id that the user sees here, or that the team brought in before.

    Of what the user does not see nothing is said: it is as if it were not here. Who gives the archive the id that it
    says (`keeps_id`) is told of what has it, and of another team's that was deleted. Raises ArchiveError ("known").
    """
    here = known(permanent_id)
    if here and (keeps_id or sees_whole(here, user)):
        raise ArchiveError("known", Message(_("The campaign %(id)s is here already."), {"id": permanent_id}))
    before = Campaign.objects.filter(
        team=team, brought_in__id=permanent_id, brought_in__agrees=False, deleting_at=None
    )
    twin = visible(before, user).first()
    if twin and not brought_back.stone_of(permanent_id, team):
        text = _("What an archive calls %(said)s is here already, as %(id)s.")
        raise ArchiveError("known", Message(text, {"said": permanent_id, "id": twin.permanent_id}))
    if keeps_id and Tombstone.objects.filter(permanent_id=permanent_id).exclude(team=team).exists():
        text = _("The campaign %(id)s was another team's, which deleted it: only that team can bring it back.")
        raise ArchiveError("known", Message(text, {"id": permanent_id}))


class _ArchiveStore:
    def __init__(
        self, archive: Archive, team: Team, user: User, choices: Choices, now: datetime, standing: ArchiveStanding
    ) -> None:
        self._archive = archive
        self._team = team
        self._user = user
        self._choices = choices
        self._now = now
        self._standing = standing

    def campaign(self, progress: Callable[[int], None]) -> Campaign:
        archive = self._archive
        standing = self._standing
        refuse_known(archive.permanent_id, self._team, self._user, keeps_id=self._choices.keeps_ids)
        about = records.mapping(archive.json(form.CAMPAIGN), form.CAMPAIGN)
        members = people_here(people_in(about), self._team)
        people = members if standing.is_their_word else None
        maker = records.text(about.get("created_by") or "", f"{form.CAMPAIGN}, created_by", 150)
        arrival = brought_in.write(
            by=self._user.get_username(), at=self._now, permanent_id=archive.permanent_id, made_by=maker
        )
        self._here = Here(archive, self._team, self._choices)
        store_tools(archive, self._team, self._user)
        campaign = self._begin(about)
        self._store_notes(campaign, about, people)
        experiments, lanes = self._store_experiments(campaign)
        measured = MeasurementStore(archive, campaign, self._here, people)
        measured.store(experiments, lanes, progress)
        keep_names(archive, about, campaign, brought_back.stone_of(campaign.permanent_id, self._team))
        self._store_events(campaign, measured)
        concluded = ConclusionStore(archive, campaign, self._user, arrival, keeps_ids=self._choices.keeps_ids)
        concluded.store_findings(experiments, measured, self._here, members if standing.is_their_conclusion else None)
        concluded.store_reports(is_back=brought_back.is_back(campaign, standing))
        stamps = records.stamps(Campaign, about["campaign"], form.CAMPAIGN)
        records.restamp([campaign], [stamps])
        campaign.refresh_from_db()
        brought_back.check(campaign, standing, arrival, self._user)
        return campaign

    def _begin(self, about: Json) -> Campaign:
        place = form.CAMPAIGN
        names = [name for name in fields.CAMPAIGN if name not in ("created_at", "updated_at")]
        values = records.values(Campaign, about.get("campaign"), names, place)
        if values["permanent_id"] != self._archive.permanent_id:
            raise wrong(place, Message(_("It is another campaign than the archive says.")))
        if values["state"] not in _STATES:
            text = _("Only what has ended comes in; this is “%(state)s”.")
            raise wrong(f"{place}, state", Message(text, {"state": values["state"]}))
        stone = brought_back.stone_of(values["permanent_id"], self._team)
        if stone is None or not self._standing.has_same_id:
            if not self._standing.has_same_id:
                values["permanent_id"] = permanent_ids.new()
            if stone is not None and self._standing.refusal is not None:
                values["visibility"] = brought_back.visibility_beside(stone)
            # It is the word of who brings it in, whomever it names.
            return Campaign.objects.create(team=self._team, created_by=self._user, **values)
        # What was deleted here comes back to those who saw it, and to nobody else.
        values |= {name: getattr(stone, name) for name in ("name", "licence", "visibility", "redacted")}
        campaign = Campaign.objects.create(team=self._team, created_by=stone.created_by, **values)
        Share.objects.bulk_create(
            Share(campaign=campaign, name=team.slug, team=team, state=Share.State.ACCEPTED)
            for team in stone.shared_with.all()
        )
        return campaign

    def _store_notes(self, campaign: Campaign, about: Json, people: dict[str, User] | None) -> None:
        for item in records.sequence(about.get("notes"), f"{form.CAMPAIGN}, notes"):
            values = records.values(Note, item, ("text",), f"{form.CAMPAIGN}, notes")
            author = records.text(item.get("created_by") or "", f"{form.CAMPAIGN}, notes", 150)
            if people is None:
                values["told_by"] = author
            else:
                values["created_by"] = people.get(author)
            note = Note.objects.create(campaign=campaign, **values)
            records.restamp([note], [records.stamps(Note, item, f"{form.CAMPAIGN}, notes")])

    def _store_experiments(self, campaign: Campaign) -> tuple[list[Experiment], list[list[Lane]]]:
        experiments: list[Experiment] = []
        lanes: list[list[Lane]] = []
        for place, data in self._archive.lines(form.EXPERIMENTS):
            experiment = self._experiment(campaign, data, place, experiments)
            roles = [
                self._role(experiment, records.mapping(item, place), place)
                for item in records.sequence(data.get("roles"), f"{place}, roles")
            ]
            ExperimentRole.objects.bulk_create(roles)
            rows = [
                self._lane(experiment, records.mapping(item, place), f"{place}, lanes")
                for item in records.sequence(data.get("lanes"), f"{place}, lanes")
            ]
            Lane.objects.bulk_create(rows)
            records.restamp([experiment], [records.stamps(Experiment, data, place)])
            experiments.append(experiment)
            lanes.append(rows)
        if excess := recipe_sizes.excess_of(campaign):
            raise wrong(form.EXPERIMENTS, excess)
        return experiments, lanes

    def _experiment(self, campaign: Campaign, data: Json, place: str, before: list[Experiment]) -> Experiment:
        names = [name for name in fields.EXPERIMENT if name not in ("created_at", "updated_at")]
        values = records.values(Experiment, data, names, place)
        tool_of(values["tool"], self._team, f"{place}, tool")
        after = None
        if data.get("after") is not None:
            number = records.whole(data["after"], f"{place}, after")
            if number >= len(before):
                raise wrong(f"{place}, after", Message(_("It waits for an experiment that does not come before it.")))
            after = before[number]
        system = None
        if data.get("file_system") is not None:
            system = self._here.number(FileSystem, data["file_system"], f"{place}, file_system")
        return Experiment.objects.create(campaign=campaign, after=after, file_system_id=system, **values)

    def _role(self, experiment: Experiment, data: Json, place: str) -> ExperimentRole:
        role = records.text(data.get("role"), f"{place}, role", 32)
        kind: type[Any] = Node if data.get("node") is not None else Cluster
        name = "node" if kind is Node else "cluster"
        number = self._here.number(kind, data.get(name), f"{place}, {name}")
        return ExperimentRole(experiment=experiment, role=role, **{f"{name}_id": number})

    def _lane(self, experiment: Experiment, data: Json, place: str) -> Lane:
        roles = {
            records.text(role, place, 32): [
                self._here.number(Node, name, place) for name in records.sequence(members, place)
            ]
            for role, members in records.mapping(data.get("roles"), place).items()
        }
        resources = []
        for pair in records.sequence(data.get("resources"), place):
            if not isinstance(pair, list) or len(pair) != 2 or pair[0] not in _RESOURCES:
                raise wrong(place, Message(_("A resource is a kind and a name.")))
            resources.append(f"{pair[0]}:{self._here.number(_RESOURCES[pair[0]], pair[1], place)}")
        return Lane(experiment=experiment, roles=roles, resources=resources)

    def _store_events(self, campaign: Campaign, measured: MeasurementStore) -> None:
        for place, data in self._archive.lines(form.EVENTS):
            values = records.values(Event, data, ("level", "message"), place)
            trial = None if data.get("trial") is None else measured.trial(data["trial"], place)
            event = Event.objects.create(campaign=campaign, trial_id=trial, **values)
            records.restamp([event], [records.stamps(Event, data, place, ("at",))])


def people_in(about: Json) -> list[str]:
    """Return the user names of the people that an archive names."""
    place = f"{form.CAMPAIGN}, people"
    return [
        records.text(records.mapping(item, place).get("username"), place, 150)
        for item in records.sequence(about.get("people"), place)
    ]
