"""What the words of the C library mean in the output of a program that reads and writes files."""

import re

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output, ToolFailure

# (words, reason); the line around them is quoted.
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reason)
    for pattern, reason in (
        (r"no space left on device|disk quota exceeded|NFS3ERR_(NOSPC|DQUOT)", "no-space"),
        (r"read-only file system|NFS3ERR_ROFS", "read-only"),
        (r"structure needs cleaning|input/output error|stale file handle|NFS3ERR_(IO|STALE)", "input-output-error"),
        (r"transport endpoint is not connected|remote i/o error|host is down", "input-output-error"),
        (r"no such file or directory|not a directory|NFS3ERR_NOENT", "no-directory"),
    )
)
_NO_DIRECT = re.compile(r"^.*(?:invalid argument|operation not supported).*$", re.IGNORECASE | re.MULTILINE)
_PATH = re.compile(r"(?<![\w.])/[^\s\"',:;]+")


def explain(output: Output, text: str, *, direct: bool = False) -> ToolFailure | None:
    """Return the failure that words of the C library in `text` tell of, if any."""
    for pattern, reason in _WORDS:
        if match := pattern.search(text):
            line = _line(text, match.start())
            if reason != "no-directory":
                return failure(reason, output, said=line)
            path = _PATH.search(line) or _PATH.search(_line_before(text, match.start()))
            return failure(reason, output, path=path[0]) if path else failure("no-result", output, said=line)
    if direct and (match := _NO_DIRECT.search(text)):
        return failure("no-direct-io", output, said=match[0].strip()[:200])
    return texts.system_error(output, text, "")


def _line(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start : end if end >= 0 else None].strip()[:200]


def _line_before(text: str, position: int) -> str:
    end = text.rfind("\n", 0, position)
    return _line(text, max(end - 1, 0)) if end > 0 else ""
