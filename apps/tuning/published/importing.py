"""Import a file of published figures: all of it or nothing, and the same again changes nothing."""

from dataclasses import dataclass, field
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from apps.accounts.models import Team, User
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign
from apps.testbeds import inventory, queries
from apps.tuning import services
from apps.tuning.published import places, slips, storing
from apps.tuning.published.cases import READERS, PublishedCase
from apps.tuning.published.drafts import CaseDraft
from apps.tuning.published.places import At, WrongPlace
from apps.tuning.published.world import World, ends_of, read_world

MOST_PROBLEMS = 20
# What the file may hold beside these is left alone.
KNOWN = ("sites", "testbeds", "clusters", "links", "cases")


@dataclass
class Imported:
    """What an import did, or would do: campaigns made, changed or found alike; things of the inventory; doubts."""

    created: list[Campaign] = field(default_factory=list)
    changed: list[Campaign] = field(default_factory=list)
    same: list[Campaign] = field(default_factory=list)
    items: list[inventory.ItemChange] = field(default_factory=list)
    remarks: list[Message] = field(default_factory=list)

    @property
    def campaigns(self) -> list[Campaign]:
        """Return all campaigns of the file, in its order within what was done."""
        return [*self.created, *self.changed, *self.same]

    @property
    def described(self) -> int:
        """Return how many things of the inventory were created or changed."""
        return sum(change.action != inventory.SAME for change in self.items)


@transaction.atomic
def import_published(
    *,
    team: Team,
    text: str,
    now: datetime,
    user: User | None = None,
    facts: str = "",
    dry_run: bool = False,
) -> Imported:
    """Store the places, machines, figures and conclusions of a file as campaigns that nobody carried out here.

    A case is known by its `id`: one that is there already is changed where it differs. `facts` is a second file with
    the sources' slips, which are shown beside the cases and never computed with. What the rules conclude is drawn
    anew. ValidationError names the place of every problem under "published"; with `dry_run` everything is checked and
    nothing kept.
    """
    # Whoever adds something of the team goes on meanwhile; only another import waits.
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    world, drafts, remarks = read_cases(text, facts)
    done = Imported(remarks=remarks, items=_describe(team, world))
    store = storing.Store(team, user, now)
    for draft in drafts:
        action, campaign = store.keep(draft)
        getattr(done, action).append(campaign)
        if not dry_run:
            services.draw_conclusions(campaign=campaign, now=now)
    if dry_run:
        transaction.set_rollback(True)
    return done


def read_cases(text: str, facts: str = "") -> tuple[World, list[CaseDraft], list[Message]]:
    """Return the inventory, the cases and the doubts of a file; ValidationError names every place that is wrong."""
    document = places.read(text)
    world = read_world(document)
    if not document.has("cases"):
        lists = ", ".join(KNOWN)
        raise WrongPlace("cases", gettext("this is no file of published figures: it has the lists %s.") % lists)
    facts_read = slips.read_facts(facts) if facts else slips.FactDoubts()
    remarks, problems, drafts = [*facts_read.remarks], [], []
    places_by_name: dict[str, str] = {}
    for item in document.get("cases").items():
        try:
            draft = _read_case(item, world, places_by_name, remarks, facts_read)
        except ValidationError as error:
            problems += error.messages
        else:
            drafts += [draft] if draft else []
    if problems:
        more = len(problems) - MOST_PROBLEMS
        rest = [gettext("… and %(number)s more.") % {"number": more}] if more > 0 else []
        raise ValidationError({"published": problems[:MOST_PROBLEMS] + rest})
    return world, drafts, [*world.remarks, *remarks, *slips.between(drafts)]


def _read_case(
    item: At, world: World, places_by_name: dict[str, str], remarks: list[Message], facts: slips.FactDoubts
) -> CaseDraft | None:
    name = item.get("id").text()
    if name in places_by_name:
        raise WrongPlace(f"{item.place}.id", gettext("%s has the same: leave one out.") % places_by_name[name])
    places_by_name[name] = item.place
    if name not in READERS:
        text = _("%(place)s: nothing is known of a case “%(name)s”, so it is left out. Known are %(known)s.")
        remarks.append(Message(text, {"place": item.place, "name": name, "known": ", ".join(READERS)}))
        return None
    words = {key: part.text() if (part := item.find(key)) else "" for key in ("conclusion", "note")}
    given = item.get("given")
    reading = READERS[name](PublishedCase(name, given, " ".join(words.values()), world))
    for setup in reading.setups:
        if setup.file_system:
            world.mount(setup.file_system, [node for nodes in setup.roles.values() for node in nodes])
    own = (*slips.of_case(item, given), *facts.of_case(name))
    return CaseDraft(
        name=name,
        **words,
        given=dict(given.value),
        setups=reading.setups,
        path=reading.path,
        remarks=own,
    )


def _describe(team: Team, world: World) -> list[inventory.ItemChange]:
    """Store the inventory; what it refuses is told as what is wrong with the file."""
    names_by_ends = {}
    for link in queries.links().filter(team=team):
        ends = {
            side: {kind: str(end) for kind in ("node", "switch") if (end := getattr(link, f"{side}_{kind}"))}
            for side in ("a", "b")
        }
        names_by_ends[ends_of(ends)] = link.name
    try:
        return inventory.import_inventory(team=team, text=world.as_inventory(names_by_ends))
    except ValidationError as error:
        raise ValidationError({"published": error.messages}) from error
