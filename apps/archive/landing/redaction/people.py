"""The ways in which a person's name is written: in both orders, with and without a blank and a comma, in parts."""

import itertools
import re
from collections.abc import Iterator

from apps.archive.landing.redaction.spelling import fold

_GAPS = re.compile(r"[\s_.·-]+")
_LATIN = re.compile(r"[a-z]")
# A part of a name that stands alone: shorter ones stand in every word.
_SHORTEST = 2
_SHORTEST_LATIN = 4
# Whole names of which the syllables may stand apart.
_HANGUL = re.compile("[가-힣]{3,4}")
# Names that are words of any report as well: they are hidden beside the other part of the name only.
_WORDS_TEXT = (
    "will mark grace hope faith rose april june august dean chase grant frank bill jack summer dawn drew wade "
    "cliff reed hunter mason carter miles page rich sage young long king north west east wood woods stone brown "
    "green white black gray grey lake field fields banks bush ford hill hall park parks price case cross best "
    "good hand head 지원 수정 유지 시도 연결 정보 주소 하나 보라 가을 이름 우리 다른 "
    " 소리 한도 현재 지수 시기 도구 수치 자원 조사 동작 주기 "
    "이상 이하 이내 이전 이후 정도 정상 최대 최소 최근 최종 전체 고정 안정 조건 장치 구성 변수 변경 "
    "전송 제한 조정 차이 표준 유형"
)
_WORDS = frozenset(_WORDS_TEXT.split())


def written(given: str, family: str) -> Iterator[str]:
    """Yield the ways in which a name of a given and a family name is written; nothing if it has neither."""
    givens, families = _parts(given), _parts(family)
    for first in givens:
        for last in families:
            yield from _together(first, last)
    for part in (*givens, *families):
        if is_telling_alone(part):
            yield part


def spaced(given: str, family: str) -> Iterator[str]:
    """Yield a Korean name with blanks between its syllables, where that leaves no word of every day."""
    syllables = {f"{last}{first}" for first in _parts(given) or ("",) for last in _parts(family) or ("",)}
    syllables |= {f"{first}{last}" for first in _parts(given) for last in _parts(family)}
    for name in sorted(filter(_HANGUL.fullmatch, syllables)):
        for gaps in itertools.product(("", " "), repeat=len(name) - 1):
            written_apart = "".join(map("".join, zip(name, (*gaps, ""), strict=True)))
            if any(gaps) and _WORDS.isdisjoint(written_apart.split()):
                yield written_apart


def is_telling_alone(part: str) -> bool:
    """Say whether one part of a name is hidden wherever it stands."""
    shortest = _SHORTEST_LATIN if _LATIN.search(part) else _SHORTEST
    return len(part) >= shortest and part not in _WORDS


def _together(first: str, last: str) -> Iterator[str]:
    for before, after in ((first, last), (last, first)):
        for between in (" ", "", ", ", ","):
            yield f"{before}{between}{after}"
    if _LATIN.match(first):
        yield from (f"{first[0]} {last}", f"{last} {first[0]}", f"{first[0]}{last}", f"{last}, {first[0]}")


def _parts(name: str) -> tuple[str, ...]:
    """Return a given or a family name, folded, and without what stands between its syllables."""
    folded = fold(name.strip()).text
    if not folded:
        return ()
    return tuple(dict.fromkeys((folded, _GAPS.sub("", folded), _GAPS.sub(" ", folded))))
