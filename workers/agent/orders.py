"""What the server hands out, looked at before anything of it is used: each field of a job has its type and range."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Mapping
from typing import Any

# A poll brings no more (jobs); of more the next ones bring the rest.
MOST_JOBS = 1000
LONGEST_LIMIT_S = 100 * 86400.0
MOST_OUTPUT_BYTES = 2**31
MOST_WORDS, MOST_FILES, MOST_PAIRS = 10_000, 1000, 10_000
# Characters of a file, of a word (Linux takes none that is longer), of a pattern, and of a name or an address.
LONGEST_FILE, LONGEST_WORD, LONGEST_PATTERN, LONGEST_NAME = 2**24, 2**17, 1000, 255
LATEST_START = 5e9


def jobs_in(answer: Mapping[str, Any]) -> list[Any]:
    """Return the jobs of an answer, as they are; none if they are no list."""
    jobs = answer.get("jobs")
    return jobs[:MOST_JOBS] if isinstance(jobs, list) else []


def starts_in(answer: Mapping[str, Any]) -> list[float]:
    """Return the instants of server time (s since 1970) at which jobs of an answer are to start."""
    starts = (job["start_at"] for job in jobs_in(answer) if isinstance(job, dict) and "start_at" in job)
    return [start for start in starts if _is_instant(start)]


def ids_in(answer: Mapping[str, Any], name: str) -> list[str]:
    """Return the ids of the jobs that are to stop ("stop") or to be told again ("tell"); what is no text is none."""
    items = answer.get(name)
    return [item for item in items if isinstance(item, str)] if isinstance(items, list) else []


def id_of(job: Any) -> str:
    """Return a job's id in its one form, "" if it is no job or has none: there is nobody to say that of, either."""
    try:
        return str(uuid.UUID(job["id"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        return ""


def problem_of(job: Mapping[str, Any]) -> str:
    """Return what is wrong with a job's fields, in words for its report, "" if nothing is."""
    for name, (is_right, must) in _FORMS.items():
        if name in job and job[name] is None and name in _OPTIONAL:
            continue
        if (name in job or name not in _OPTIONAL) and not is_right(job.get(name)):
            return f"its “{name}” must be {must}"
    return ""


def _is_text(value: object, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest and "\0" not in value and _is_encodable(value)


def _is_name(value: object) -> bool:
    return _is_text(value, LONGEST_NAME)


def _is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _are_texts(value: object, longest: int, most: int = MOST_WORDS) -> bool:
    return isinstance(value, list) and len(value) <= most and all(_is_text(item, longest) for item in value)


def _is_command(value: object) -> bool:
    return _are_texts(value, LONGEST_WORD) and bool(value)


def _are_pairs(value: object, longest: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MOST_PAIRS
        and all(
            isinstance(pair, list) and len(pair) == 2 and _is_name(pair[0]) and _is_text(pair[1], longest)
            for pair in value
        )
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_limit(value: Any) -> bool:
    return _is_number(value) and 0 < value <= LONGEST_LIMIT_S


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_OUTPUT_BYTES


def _is_instant(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= LATEST_START


_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "argv": (_is_command, f"a list of one text or more, of at most {LONGEST_WORD} characters each"),
    "time_limit_s": (_is_limit, f"a number of seconds above 0, at most {LONGEST_LIMIT_S:.0f}"),
    "output_limit_bytes": (_is_size, f"a whole number of bytes, at most {MOST_OUTPUT_BYTES}"),
    "background": (_is_switch, "true or false"),
    "ready_pattern": (
        lambda value: _is_text(value, LONGEST_PATTERN),
        f"a text of at most {LONGEST_PATTERN} characters",
    ),
    "start_at": (_is_instant, "an instant (s since 1970)"),
    "files": (lambda value: _are_pairs(value, LONGEST_FILE), "a list of names with their texts"),
    "collect": (lambda value: _are_texts(value, LONGEST_NAME, MOST_FILES), "a list of names"),
    "environment": (lambda value: _are_pairs(value, LONGEST_WORD), "a list of names with their values"),
    "address": (_is_name, f"a text of at most {LONGEST_NAME} characters"),
    "inventory": (lambda value: _are_texts(value, LONGEST_NAME), "a list of addresses"),
    "team": (_is_name, f"a text of at most {LONGEST_NAME} characters"),
}
_OPTIONAL = frozenset(_FORMS) - {"argv", "time_limit_s", "output_limit_bytes"}
