"""What a search of a list looks for: words, each of which a row must hold. One definition for pages and REST."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from rest_framework.filters import search_smart_split

# Each word costs a pass over every text that is searched: so many characters, and so many words, are looked for.
LONGEST = 200
MOST_WORDS = 20


def words_of(text: str) -> list[str]:
    """Return the words of a search; ValidationError for more than is looked for.

    Quotes hold several together. One that stands there twice, or in another, is looked for once.
    """
    if len(text) > LONGEST:
        raise ValidationError(_("At most %(most)s characters are searched for.") % {"most": LONGEST})
    # It is typed as if it took a list.
    split: Any = search_smart_split
    words = list(dict.fromkeys(word for word in split(text) if word.strip()))
    folded = [_folded(word) for word in words]
    wanted = [
        word
        for place, word in enumerate(words)
        if not any(
            folded[place] in other and (folded[place] != other or earlier < place)
            for earlier, other in enumerate(folded)
            if earlier != place
        )
    ]
    if len(wanted) > MOST_WORDS:
        raise ValidationError(_("At most %(most)s words are searched for.") % {"most": MOST_WORDS})
    return wanted


def _folded(word: str) -> str:
    """Return a word without what the database does not tell apart, as far as that is sure."""
    return word.upper() if word.isascii() else word


def condition(words: Sequence[str], lookups: Iterable[str]) -> Q:
    """Return the one condition that each word is found by one of the lookups (such as "name__icontains")."""
    paths = tuple(lookups)
    return reduce(and_, (reduce(or_, (Q(**{path: word}) for path in paths)) for word in words), Q())


class ListSearch:
    """The search of a page's list, as it was written; with an `error` nothing is found."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\0", "").strip()
        self.words: list[str] = []
        self.error = ""
        try:
            self.words = words_of(self.text)
        except ValidationError as error:
            (self.error,) = error.messages

    @property
    def longest(self) -> int:
        """Return how many characters a page takes."""
        return LONGEST

    def of(self, rows: QuerySet, fields: Iterable[str]) -> QuerySet:
        """Return the rows that hold each word in one of the fields."""
        if self.error:
            return rows.none()
        return rows.filter(condition(self.words, (f"{field}__icontains" for field in fields))) if self.words else rows
