"""What IOzone says when it cannot go on; its exit status tells little, and with several processes it never ends."""

import re

from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output, ToolFailure
from apps.bench.tools._storage import errors

_ERROR = re.compile(
    r"^(?:Error (?:writing|reading|in file).*|Can(?: not|'t|not) (?:open|fdopen|create).*"
    r"|Client # \d+ reporting an error.*|sh: \d+: .*not found"
    r"|(?:open|write|read|fsync|close|lseek|fwrite|fread|iozone): (?!interrupted|Performance).*|.*: No such file.*)$",
    re.M | re.A,
)
_OPTION = re.compile(r"^\S*iozone: (?:invalid|unrecognized) option -- '(.)'", re.M)


def explain(output: Output, text: str, *, direct: bool) -> ToolFailure | None:
    """Return the failure that a report tells of, or None if it tells of none."""
    if refused := _OPTION.search(text):
        return failure("unknown-option", output, option=f"-{refused[1]}")
    match = _ERROR.search(text)
    if not match:
        return None
    if match[0].startswith("Error in file"):
        return failure("damaged-data", output, said=match[0].strip()[:200])
    # With several processes the words of the C library are missing, and what follows is of files already removed.
    error_text = text if "No space left" in text or not match[0].startswith("Error writing") else ""
    return errors.explain(output, error_text, direct=direct) or failure(
        "write-stopped" if match[0].startswith("Error writing") else "no-result", output, said=match[0].strip()[:200]
    )
