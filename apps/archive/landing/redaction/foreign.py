"""Names of others that came with what a campaign was made from, and those that its definition takes to others."""

import functools
from collections.abc import Iterable, Iterator

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from apps.accounts.models import User
from apps.archive.landing.models import FormerName
from apps.archive.landing.redaction import addresses
from apps.archive.landing.redaction.inventory import rows_of
from apps.archive.landing.redaction.named import NAMED
from apps.archive.landing.redaction.spelling import readings
from apps.archive.landing.redaction.stand_ins import Entry, StandIns, TooManyNamesError, dictionary_of
from apps.bench import strict_json
from apps.campaigns import runnable
from apps.campaigns.models import Campaign, ForeignNames
from apps.campaigns.models.foreign_names import ForeignName, NameKind
from apps.core.row_versions import versions_of
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox
from apps.toolbox.models import VERSION_MARK

K = NameKind
_HOW = {
    K.NODE: StandIns.add_host,
    K.HOST: StandIns.add_host,
    K.INTERFACE: StandIns.add_plain_address,
    K.MACHINE: StandIns.add_machine,
}
# As what a name stands that is of another kind.
_AS = {K.HOST: K.NODE, K.INTERFACE: K.ADDRESS, K.MACHINE: K.ADDRESS, K.PERSON: K.USER}
_TEXTS = {
    K.NODE: gettext_noop("node %(number)s elsewhere"),
    K.ADDRESS: gettext_noop("address %(number)s elsewhere"),
    K.USER: gettext_noop("person %(number)s elsewhere"),
}
_OTHER_TEXT = gettext_noop("name %(number)s elsewhere")
# Before the kind of a name, where that is asked for and not what stands for it.
_MARK = "\0"


def foreign_entries(names: Iterable[ForeignName]) -> Iterator[Entry]:
    """Yield names that came from others with what stands for them: each has its number among them."""
    for number, name in enumerate(names, start=1):
        values = {"number": number}
        words = {kind: _(_TEXTS.get(kind, _OTHER_TEXT)) % values for kind in (_kind_of(name), K.NODE)}
        yield _entry(name, words[_kind_of(name)], words[K.NODE])


def names_said(campaign: Campaign) -> list[ForeignName]:
    """Return those names of a campaign's team, and of those that came to it, that its definition says, as it does.

    Others who take the definition know nothing of these names. Of a team that has more than can be hidden none.
    """
    played = tuple(played_in(campaign))
    versions = tuple(versions_of(*rows_of(campaign.team_id, list(played))))
    text = strict_json.dumps(_texts_of(campaign), ensure_ascii=False)
    numbers = tuple(node.pk for node in played)
    return list(_said_in(text, campaign.team_id, numbers, campaign.foreign_names_id, versions))


# Those who take a definition do so one after the other; a text may be of a megabyte.
@functools.lru_cache(maxsize=8)
def _said_in(
    text: str, team: int, played: tuple[int, ...], foreign: int | None, _versions: tuple[object, ...]
) -> list[ForeignName]:
    """Return the names that a text says, as long as the rows are of these versions: 20,000 take a second."""
    came = ForeignNames.objects.get(pk=foreign).all if foreign else []
    own = [*_names_of(team, list(Node.objects.filter(pk__in=played).order_by("pk"))), *came]
    try:
        names = dictionary_of(tuple(_entry(name, _MARK + _kind_of(name), _MARK + K.NODE) for name in own))
    except TooManyNamesError:
        return []
    return [
        ForeignName(word.removeprefix(_MARK), text[slice(*folded.span(start, end))])
        for folded in readings(text)
        for start, end, word in (
            *names.spans(folded.text, folded.breaks()),
            *addresses.spans(folded.text, names.addresses, names.figures, names.word),
        )
        if word.startswith(_MARK)
    ]


def played_in(campaign: Campaign) -> Iterable[Node]:
    """Return the nodes that play a role in a campaign."""
    played = Q(experiment_roles__experiment__campaign=campaign)
    members = Q(clusters__experiment_roles__experiment__campaign=campaign)
    return Node.objects.filter(played | members).distinct().order_by("pk")


def _kind_of(name: ForeignName) -> NameKind:
    kind = NameKind(name.kind)
    return _AS.get(kind, kind)


def _entry(name: ForeignName, word: str, node: str) -> Entry:
    if name.kind == K.PERSON:
        return StandIns.add_person, (name.name, name.family, word)
    if name.kind == K.ADDRESS:
        return StandIns.add_address, (name.name, word, node)
    return _HOW.get(NameKind(name.kind), StandIns.add), (name.name, word)


def _names_of(team: int, played: list[Node]) -> Iterator[ForeignName]:
    """Yield a team's names as redaction reads them, those in force and those that were."""
    for rows in rows_of(team, played):
        if rows.model is FormerName:
            yield from map(ForeignName._make, rows.values_list("kind", "name", "family"))
        elif rows.model is User:
            for user, given, family in rows.values_list("username", "first_name", "last_name"):
                yield from (ForeignName(K.USER, user), ForeignName(K.PERSON, given, family))
        else:
            for named in (named for named in NAMED if named.model is rows.model):
                yield from (ForeignName(named.kind, name) for name in rows.values_list(named.field, flat=True))


def _texts_of(campaign: Campaign) -> list[object]:
    """Return what others may take of a campaign: its recipe, and what its team's tools call what they measure."""
    recipe = runnable.recipe_of(campaign)
    slugs = {item["tool"] for item in recipe["experiments"]}
    tools = [toolbox.get_tool(slug) for slug in sorted(slugs) if VERSION_MARK in slug]
    words = [[tool.name, *(item.name for item in tool.parameters)] for tool in tools]
    metrics = [[item.name, item.label, item.unit] for tool in tools for item in tool.metrics]
    return [recipe, words, metrics]
