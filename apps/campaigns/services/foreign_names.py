"""Names of others that come along with what a campaign is made from."""

import hashlib
from collections.abc import Callable, Iterable, Iterator

from django.core.exceptions import ValidationError
from django.db.models import Exists, Func, IntegerField, OuterRef, Sum
from django.utils.translation import gettext as _

from apps.accounts.models import Team
from apps.bench import strict_json
from apps.campaigns.models import Campaign, Tombstone
from apps.campaigns.models.foreign_names import ForeignName, ForeignNames

# So many names can come with one campaign: a large site has some thousand. All of them are gone through, in the web
# process, where what it was made from is measured again; and so many a team can have of all, each time anew.
MOST_NAMES, MOST_OF_TEAM = 20_000, 500_000
_HOLDERS = (Campaign, Tombstone)
# What the room above knows of a campaign's names: those that its definition says.
_said: list[Callable[[Campaign], list[ForeignName]]] = []


def read_by(names_said: Callable[[Campaign], list[ForeignName]]) -> None:
    """Have a function of a campaign return those names that its definition says, of its team and of others.

    A room says so in its module `references`, which is imported at the start.
    """
    _said.append(names_said)


def names_with(campaign: Campaign) -> list[ForeignName]:
    """Return the names that leave with all of a campaign: those that its definition says, and that came with it."""
    return sorted({*_came(campaign), *_said_by(campaign)})


def names_from(original: Campaign | None, team: Team, more: Iterable[ForeignName] = ()) -> ForeignNames | None:
    """Return the names that come to a team with what is made of a campaign, and `more`; None if there are none.

    ValidationError if they are more than can be kept.
    """
    extra = set(more)
    if original is not None and original.team_id == team.pk and extra <= {*_came(original)}:
        return original.foreign_names
    return keep(team, {*extra, *_of(original, team)})


def _of(original: Campaign | None, team: Team) -> Iterable[ForeignName]:
    if original is None:
        return ()
    # To another team nothing goes that it does not read: it could try which words are hidden.
    return _came(original) if original.team_id == team.pk else _said_by(original)


def _came(campaign: Campaign) -> list[ForeignName]:
    return campaign.foreign_names.all if campaign.foreign_names else []


def _said_by(campaign: Campaign) -> Iterator[ForeignName]:
    return (name for names_said in _said for name in names_said(campaign))


def keep(team: Team, names: Iterable[ForeignName]) -> ForeignNames | None:
    """Return names as they are kept for a team, None of none; ValidationError if they are more than can be kept."""
    rows = [list(name) for name in sorted({name for name in names if any(part.strip() for part in name[1:])})]
    if not rows:
        return None
    if len(rows) > MOST_NAMES:
        raise _too_many(len(rows), MOST_NAMES)
    ForeignNames._meta.get_field("names").run_validators(rows)
    digest = hashlib.sha256(strict_json.dumps(rows).encode()).hexdigest()
    of_team = ForeignNames.objects.filter(team=team).annotate(
        number=Func("names", function="jsonb_array_length", output_field=IntegerField())
    )
    if (same := of_team.filter(digest=digest).first()) is not None:
        return same
    # Those of deleted campaigns go where the next are kept.
    of_team.filter(*(~Exists(model.objects.filter(foreign_names=OuterRef("pk"))) for model in _HOLDERS)).delete()
    number = len(rows) + (of_team.aggregate(total=Sum("number"))["total"] or 0)
    if number > MOST_OF_TEAM:
        raise _too_many(number, MOST_OF_TEAM)
    return ForeignNames.objects.get_or_create(team=team, digest=digest, defaults={"names": rows})[0]


def _too_many(number: int, most: int) -> ValidationError:
    text = _("%(number)s names came from others with campaigns; %(most)s at most can be hidden.")
    return ValidationError(text, params={"number": number, "most": most})
