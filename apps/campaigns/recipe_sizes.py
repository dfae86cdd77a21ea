"""How large the recipe of a campaign may become: whoever may read it has it written, whole, at each look."""

from django.db.models import F, QuerySet, Sum, TextField
from django.db.models.functions import Cast, Coalesce, Length

from apps.bench.text import Message, _
from apps.campaigns.models import Campaign, ExperimentRole
from apps.core.octets import OctetLength

# What a recipe that is read again may have (bytes): the sum of its experiments' texts, and of who plays their roles.
MOST_BYTES = 1_000_000
_TEXTS = ("fixed", "factors", "zips", "exclusions")
# Of a player beside its name.
_PLAYER_BYTES = 16


def size_of(campaign: Campaign) -> int:
    """Return how large the texts of the campaign's recipe are together (bytes)."""
    texts = campaign.experiments.order_by().aggregate(
        size=sum((_bytes(Cast(name, TextField())) for name in _TEXTS), start=_bytes(F("name")))
    )
    roles: QuerySet[ExperimentRole] = ExperimentRole.objects.filter(experiment__campaign=campaign)
    players = roles.aggregate(size=Sum(Length(Coalesce("node__name", "cluster__name")) + _PLAYER_BYTES))
    return (texts["size"] or 0) + (players["size"] or 0)


def excess_of(campaign: Campaign) -> Message | None:
    """Return why the campaign may not have so many texts, None if it may."""
    if size_of(campaign) <= MOST_BYTES:
        return None
    text = _(
        "The texts of the campaign's experiments are longer than %(most)s bytes together: divide it among several"
        " campaigns."
    )
    return Message(text, {"most": MOST_BYTES})


def _bytes(text: F | Cast) -> Sum:
    return Sum(OctetLength(text))
