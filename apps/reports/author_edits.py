"""What an author changes of a report, kept apart from what is built so that every rebuild keeps it.

Edits are {"title": text, "words": {paragraph or figure: text}, "dropped": [section, figure or table],
"order": [section], "remarks": {section: text}, "own": [{"key", "title", "text"}], "views": [id of a saved view]}; all
may be left out. Texts are plain; an empty line begins a paragraph.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.core.names import check_seen_in
from apps.reports.document import Block, Document, Figure, Paragraph, Section

Edits = Mapping[str, Any]

LONGEST_TEXT = 20_000
LONGEST_TITLE = 250
LONGEST_KEY = 120
# In all texts of a report together: each letter and each paragraph takes time and memory while a file is made of it.
LONGEST_ALL, MOST_PARAGRAPHS = 500_000, 5000
# Of one letter; no writing has more (Unicode's Stream-Safe Text Format), and setting them takes their number squared.
MOST_MARKS = 30
MOST_ENTRIES = 500
MOST_OWN = 50
MOST_VIEWS = 20
# The section of the saved views that an author adds.
VIEWS = "views"
_OWN = re.compile(r"own-[0-9]{1,4}")


def apply(document: Document, edits: Edits) -> Document:
    """Return the document with an author's edits; those of parts that are no longer built wait for their return."""
    words: dict[str, str] = edits.get("words", {})
    dropped = set(edits.get("dropped", ()))
    remarks: dict[str, str] = edits.get("remarks", {})
    sections = [
        _section(section, words, dropped, remarks) for section in document.sections if section.key not in dropped
    ]
    for own in edits.get("own", ()):
        if own["key"] not in dropped:
            section = Section(own["key"], own["title"], tuple(_typed(own["text"], own["key"])))
            # Before the appendix, which is always the last.
            place = len(sections) - (bool(sections) and sections[-1].key == "appendix")
            sections.insert(place, _section(section, {}, dropped, remarks))
    return replace(
        document,
        title=edits.get("title") or document.title,
        summary=tuple(_blocks(document.summary, words, dropped)),
        sections=tuple(_ordered(sections, edits.get("order", ()))),
    )


def _typed(text: str, key: str) -> list[Paragraph]:
    """Return what an author typed as paragraphs that say so."""
    return [replace(part, is_authors=True) for part in paragraphs(text, key)]


def paragraphs(text: str, key: str) -> list[Paragraph]:
    """Return a text as paragraphs, which empty lines part."""
    return [Paragraph((part,), key=key if not place else "") for place, part in enumerate(_parts(text))]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n")) if part.strip()]


def check(edits: object) -> dict[str, Any]:
    """Return edits if they are as they should be; ValidationError names each part that is not."""
    if not isinstance(edits, Mapping):
        raise ValidationError({"edits": [_("Give an object with names and values.")]})
    wrong: dict[str, list[str]] = {}
    unknown = sorted(map(str, edits.keys() - _CHECKS.keys()))
    if unknown:
        text = _("A report knows no edits “%(names)s”; it knows %(known)s.")
        wrong["edits"] = [text % {"names": ", ".join(unknown)[:200], "known": ", ".join(_CHECKS)}]
    for name, test in _CHECKS.items():
        if name in edits and not test(edits[name]):
            wrong[f"edits.{name}"] = [_FORMS[name]()]
    if wrong:
        raise ValidationError(wrong)
    _check_amount(edits)
    return {name: edits[name] for name in _CHECKS if edits.get(name)}


def _check_amount(edits: Edits) -> None:
    """Raise ValidationError for more than can be set of an author's texts together."""
    texts = [("title", edits.get("title", ""))]
    texts += [(name, text) for name in ("words", "remarks") for text in edits.get(name, {}).values()]
    texts += [("own", text) for item in edits.get("own", ()) for text in (item["title"], item["text"])]
    for name, title in [texts[0], *(("own", item["title"]) for item in edits.get("own", ()))]:
        check_seen_in(f"edits.{name}", title)
    for name, text in texts:
        if _has_heap(text):
            message = _("One letter has more than %(most)s accents: take them away.") % {"most": MOST_MARKS}
            raise ValidationError({f"edits.{name}": [message]})
    values = {"most": f"{LONGEST_ALL:,}", "paragraphs": f"{MOST_PARAGRAPHS:,}"}
    if sum(len(text) for _name, text in texts) > LONGEST_ALL or (
        sum(len(_parts(text)) for _name, text in texts) > MOST_PARAGRAPHS
    ):
        message = _("All your texts together have %(most)s characters and %(paragraphs)s paragraphs at most.")
        raise ValidationError({"edits": [message % values]})


def _has_heap(text: str) -> bool:
    """Return whether more than MOST_MARKS marks stand on one letter."""
    run = 0
    for letter in text:
        run = run + 1 if letter > "\u02ff" and unicodedata.category(letter)[0] == "M" else 0
        if run > MOST_MARKS:
            return True
    return False


def _section(section: Section, words: Mapping[str, str], dropped: set[str], remarks: Mapping[str, str]) -> Section:
    blocks = list(_blocks(section.blocks, words, dropped))
    if section.key in remarks:
        remark_parts = _typed(remarks[section.key], f"remark-{section.key}")
        blocks += [replace(part, style="remark") for part in remark_parts]
    return replace(
        section,
        blocks=tuple(blocks),
        sections=tuple(
            _section(part, words, dropped, remarks) for part in section.sections if part.key not in dropped
        ),
    )


def _blocks(blocks: Iterable[Block], words: Mapping[str, str], dropped: set[str]) -> Iterable[Block]:
    for block in blocks:
        key = getattr(block, "key", "")
        if key and key in dropped:
            continue
        if isinstance(block, Paragraph) and key in words:
            yield from (replace(part, style=block.style) for part in _typed(words[key], key))
        elif isinstance(block, Figure) and key in words:
            yield replace(block, sentence=words[key], says=(), is_authors=True)
        else:
            yield block


def _ordered(sections: list[Section], order: Iterable[str]) -> list[Section]:
    """Return the sections in an author's order; those that the order does not know stay behind their neighbours."""
    places_by_key = {key: place for place, key in enumerate(order)}
    places: list[tuple[int, int]] = []
    last = -1
    for number, section in enumerate(sections):
        last = places_by_key.get(section.key, last)
        places.append((last, number))
    return [section for _place, section in sorted(zip(places, sections, strict=True), key=lambda pair: pair[0])]


def _is_text(value: object, longest: int = LONGEST_TEXT) -> bool:
    return isinstance(value, str) and len(value) <= longest and "\0" not in value


def _is_key(value: object) -> bool:
    return _is_text(value, LONGEST_KEY) and bool(value)


def _are_texts(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and len(value) <= MOST_ENTRIES
        and all(_is_key(key) and _is_text(text) and str(text).strip() for key, text in value.items())
    )


def _are_keys(value: object) -> bool:
    return isinstance(value, list) and len(value) <= MOST_ENTRIES and all(map(_is_key, value))


def _are_own(value: object) -> bool:
    if not isinstance(value, list) or len(value) > MOST_OWN:
        return False
    fine = all(
        isinstance(item, Mapping)
        and item.keys() == {"key", "title", "text"}
        and _is_key(item["key"])
        and bool(_OWN.fullmatch(item["key"]))
        and _is_text(item["title"], LONGEST_TITLE)
        and bool(item["title"].strip())
        and _is_text(item["text"])
        for item in value
    )
    return fine and len({item["key"] for item in value}) == len(value)


def _are_views(value: object) -> bool:
    return isinstance(value, list) and len(value) <= MOST_VIEWS and all(map(_is_id, value))


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63


_CHECKS = {
    "title": lambda value: _is_text(value, LONGEST_TITLE),
    "words": _are_texts,
    "dropped": _are_keys,
    "order": _are_keys,
    "remarks": _are_texts,
    "own": _are_own,
    "views": _are_views,
}
_FORMS = {
    "title": lambda: _("Give a text of 250 characters at most."),
    "words": lambda: _("Give an object of texts by the keys of paragraphs; leave out what stays as it is."),
    "dropped": lambda: _("Give a list of the keys of sections, figures and tables."),
    "order": lambda: _("Give a list of the keys of sections."),
    "remarks": lambda: _("Give an object of texts by the keys of sections."),
    "own": lambda: _('Give a list of {"key": "own-1", "title", "text"}, each with a key of its own.'),
    "views": lambda: _("Give a list of the ids of saved views, 20 at most."),
}
