"""Asks every sentence's claim of the document's own tables again: which hold no more, and what would be right."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils import translation

from apps.reports.claims import counted, curves, grounded, loads, overall, several, titles, words
from apps.reports.claims.topics import Place, Unanswered, places_of
from apps.reports.document import (
    Block,
    Claim,
    Document,
    Figure,
    Items,
    Paragraph,
    Part,
    Section,
    Sentence,
    Table,
    TextLink,
    Value,
    walk,
)

# Every kind of sentence that a report may print.
RELATIONS = (*words.TEXTS, *counted.RELATIONS, *grounded.RELATIONS, *loads.RELATIONS, *titles.RELATIONS)


@dataclass(frozen=True)
class WrongSentence:
    """A sentence that its table does not bear out.

    `place` is the caption or heading where it stands, `table` the caption of what it speaks of ("" if that is not
    there), `right` what the table bears out instead, "" for nothing.
    """

    place: str
    sentence: str
    table: str
    right: str


def check(document: Document) -> list[WrongSentence]:
    """Return the sentences of a document that do not hold, in reading order, each once."""
    with translation.override(document.language):
        tables = tables_of(document)
        wrong = [
            _wrong(place, sentence, tables.get(sentence.claim.topic.table))
            for place, sentence in sentences_of(document)
            if not holds(sentence, tables)
        ]
        wrong += [
            WrongSentence(block.caption, block.sentence, "", _joined(block.says))
            for block in walk(document)
            if isinstance(block, Figure) and block.says and block.sentence != _joined(block.says)
        ]
    return list(dict.fromkeys(wrong))


def corrected(document: Document) -> Document:
    """Return the document with what its tables bear out in place of each sentence that they do not."""
    with translation.override(document.language):
        tables = tables_of(document)
        sections = tuple(_corrected_section(section, tables) for section in document.sections)
        return replace(document, sections=sections, summary=_corrected(document.summary, tables))


def sentences_of(document: Document) -> Iterator[tuple[str, Sentence]]:
    """Yield every sentence that the service wrote, with the caption or heading where it stands.

    So are titles of findings that claim something, in texts, in tables, and as headings.
    """
    yield from _of_blocks(document.title, document.summary)
    for section in document.sections:
        yield from _of_section(section)


def tables_of(document: Document) -> dict[str, Table]:
    """Return the tables by key, those behind figures, too."""
    tables: dict[str, Table] = {}
    for block in walk(document):
        table = block if isinstance(block, Table) else block.data if isinstance(block, Figure) else None
        if table:
            tables[table.key] = table
    return tables


def holds(sentence: Sentence, tables: Mapping[str, Table]) -> bool:
    """Return whether a sentence's words are those of its claim, and its table bears it out."""
    claim = sentence.claim
    try:
        if claim.relation in counted.RELATIONS:
            return counted.holds(sentence, tables.get(claim.topic.table))
        if claim.relation in grounded.RELATIONS:
            return grounded.holds(sentence, tables[claim.topic.table])
        if claim.relation in titles.RELATIONS:
            return titles.holds(sentence, tables[claim.topic.table])
        if claim.relation in loads.RELATIONS:
            return loads.holds(sentence, tables[claim.topic.table])
        return sentence.text == words.text_of(claim) and _is_true(claim, tables[claim.topic.table])
    except (KeyError, ValueError, Unanswered):
        return False


def _is_true(claim: Claim, table: Table) -> bool:
    if claim.relation == words.UNLIKE:
        return counted.differ(claim, table)
    if claim.relation in overall.RELATIONS:
        return overall.holds(claim, table)
    relations = several if claim.relation in several.RELATIONS else curves
    return relations.holds(claim, places_of(claim.topic, table))


def right_for(sentence: Sentence, table: Table | None) -> list[Sentence]:
    """Return what a table bears out where a sentence does not hold, in the present language."""
    if table is None:
        return []
    try:
        if sentence.claim.relation in counted.RELATIONS:
            return [counted.right(sentence, table)]
        if sentence.claim.relation in grounded.RELATIONS:
            return [grounded.right(sentence, table)]
        if sentence.claim.relation in titles.RELATIONS:
            return [titles.right(sentence, table)]
        if sentence.claim.relation in loads.RELATIONS:
            return loads.right(sentence, table)
        return [words.sentence(claim) for claim in _told_anew(sentence.claim, table)]
    except (ValueError, Unanswered):
        return []


def _told_anew(claim: Claim, table: Table) -> list[Claim]:
    says, topic = claim.says, claim.topic
    if claim.relation in overall.RELATIONS:
        return [
            claims for claims in overall.tell(topic, table) if (claims.relation == words.RATIOS) == _is_ratios(claim)
        ]
    places: Sequence[Place] = places_of(topic, table)
    if claim.relation in (words.BEST, words.TOP) and isinstance(says.get("by"), int):
        return several.best(topic, places, int(str(says["by"])), str(says.get("title", "")))
    if claim.relation in (words.NEAREST, words.BEST_PAIR):
        column = int(str(says.get("column", 0)))
        return several.pairs(topic, places, column, several.shares_of(places, column) if column else {})
    if claim.relation in several.RELATIONS and isinstance(says.get("drawn"), int | float):
        return several.share(topic, places, float(str(says["drawn"])))
    return curves.tell(topic, places) if claim.relation in curves.RELATIONS else []


def _is_ratios(claim: Claim) -> bool:
    return claim.relation == words.RATIOS


def _wrong(place: str, sentence: Sentence, table: Table | None) -> WrongSentence:
    return WrongSentence(place, sentence.text, table.caption if table else "", _joined(right_for(sentence, table)))


def _joined(sentences: Sequence[Sentence]) -> str:
    return " ".join(sentence.text for sentence in sentences)


def _of_section(section: Section) -> Iterator[tuple[str, Sentence]]:
    if section.claim:
        yield section.title, Sentence(section.title, section.claim)
    yield from _of_blocks(section.title, section.blocks)
    for part in section.sections:
        yield from _of_section(part)


def _of_blocks(title: str, blocks: Sequence[Block]) -> Iterator[tuple[str, Sentence]]:
    for block in blocks:
        if isinstance(block, Figure):
            yield from ((block.caption, sentence) for sentence in block.says)
        if isinstance(block, Table):
            yield from ((block.caption, sentence) for row in block.rows for sentence in _claimed(row))
        for parts in _texts_of(block):
            yield from ((title, sentence) for sentence in _claimed(parts))


def _claimed(parts: Iterable[Part | Value]) -> Iterator[Sentence]:
    for part in parts:
        if isinstance(part, Sentence):
            yield part
        elif isinstance(part, TextLink) and part.claim:
            yield Sentence(part.text, part.claim)


def _texts_of(block: Block) -> Sequence[Sequence[Part]]:
    if isinstance(block, Paragraph):
        return [block.parts]
    return block.items if isinstance(block, Items) else []


def _corrected_section(section: Section, tables: Mapping[str, Table]) -> Section:
    parts = tuple(_corrected_section(part, tables) for part in section.sections)
    title = _corrected_link(TextLink(section.title, "", section.claim), tables)
    blocks = _corrected(section.blocks, tables)
    return replace(section, title=title.text, claim=title.claim, blocks=blocks, sections=parts)


def _corrected_link(link: TextLink, tables: Mapping[str, Table]) -> TextLink:
    """Return a title with the figures of its row; one for which there is none stays as it is, and is refused."""
    if link.claim is None:
        return link
    mended = next(iter(_mended(Sentence(link.text, link.claim), tables)), None)
    return replace(link, text=mended.text, claim=mended.claim) if mended else link


def _corrected(blocks: Sequence[Block], tables: Mapping[str, Table]) -> tuple[Block, ...]:
    return tuple(_corrected_block(block, tables) for block in blocks)


def _corrected_block(block: Block, tables: Mapping[str, Table]) -> Block:
    if isinstance(block, Figure) and block.says:
        sentences = tuple(mended for sentence in block.says for mended in _mended(sentence, tables))
        return replace(block, says=sentences, sentence=_joined(sentences))
    if isinstance(block, Paragraph):
        return replace(block, parts=_corrected_parts(block.parts, tables))
    if isinstance(block, Items):
        return replace(block, items=tuple(_corrected_parts(parts, tables) for parts in block.items))
    if isinstance(block, Table) and any(
        isinstance(cell, TextLink) and cell.claim for row in block.rows for cell in row
    ):
        rows = [
            [_corrected_link(cell, tables) if isinstance(cell, TextLink) else cell for cell in row]
            for row in block.rows
        ]
        return replace(block, rows=rows)
    return block


def _corrected_parts(parts: Sequence[Part], tables: Mapping[str, Table]) -> tuple[Part, ...]:
    parts_corrected: list[Part] = []
    for part in parts:
        if isinstance(part, Sentence):
            parts_corrected += _mended(part, tables)
        else:
            parts_corrected.append(_corrected_link(part, tables) if isinstance(part, TextLink) else part)
    return tuple(parts_corrected)


def _mended(sentence: Sentence, tables: Mapping[str, Table]) -> list[Sentence]:
    return [sentence] if holds(sentence, tables) else right_for(sentence, tables.get(sentence.claim.topic.table))
