"""Whether a report may be frozen: not with a sentence that its own tables do not bear out."""

from collections.abc import Sequence

from apps.bench.text import Message, _
from apps.core.errors import ConflictError
from apps.reports.claims import checks
from apps.reports.claims.checks import WrongSentence
from apps.reports.document import Document


class SentencesRefusedError(ConflictError):
    """Sentences of a report that do not agree with its tables; `sentences` are they, with what would be right."""

    def __init__(self, wrong: Sequence[WrongSentence]) -> None:
        """Name the first sentence, its table, and the right one; say how many more there are."""
        first = wrong[0]
        text = _(
            "No edition can be frozen: “%(sentence)s” (%(place)s) does not agree with the table “%(table)s”. It bears"
            " out: “%(right)s” In all %(count)s such sentences."
        )
        words = {"place": first.place, "sentence": first.sentence, "table": first.table or "–"}
        super().__init__(Message(text, {**words, "right": first.right or "–", "count": len(wrong)}))
        self.sentences = tuple(wrong)


def require_true(document: Document) -> Document:
    """Return a document whose sentences all agree with its tables; SentencesRefusedError names those that do not."""
    if wrong := checks.check(document):
        raise SentencesRefusedError(wrong)
    return document


def corrected(document: Document) -> Document:
    """Return a document with what its tables bear out in place of each sentence that they do not."""
    return require_true(checks.corrected(document))
