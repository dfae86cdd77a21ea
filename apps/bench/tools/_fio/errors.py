"""What fio says when it cannot go on; a job's error in its report is an errno."""

import re

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output, ToolFailure
from apps.bench.tools._storage import errors

_REASONS = {
    1: "permission",
    2: "no-directory",
    5: "input-output-error",
    13: "permission",
    22: "no-direct-io",
    28: "no-space",
    30: "read-only",
    84: "damaged-data",
    95: "no-direct-io",
    116: "input-output-error",
    122: "no-space",
}
_VERIFY = re.compile(r"^.*verify failed at.*|^.*verify: bad .*$", re.M)
_FILE = re.compile(r" on file (\S+): ")
_ERROR = re.compile(
    r"^fio: (?!terminating|multiple writers)(?P<said>.*(?:error=|: ).*|engine .* not loadable)$", re.M
)
_ENGINE = re.compile(r"^fio: engine (\S+) not loadable", re.M)


def of_job(output: Output, code: int, text: str, *, direct: bool) -> ToolFailure:
    """Return the failure that the errno of a job tells of, in the words beside it."""
    match = _ERROR.search(text)
    words = match["said"].strip()[:200] if match else f"errno {code}"
    reason = _REASONS.get(code, "no-result")
    if reason == "damaged-data" and (damage := _VERIFY.search(text)):
        words = damage[0].strip()[:200]
    if reason == "no-direct-io" and not direct:
        reason = "bad-parameter"
    path = _FILE.search(text)
    return failure(reason, output, said=words, path=path[1] if path else words)


def explain(output: Output, text: str, *, direct: bool) -> ToolFailure:
    """Return why there is no report at all."""
    engine = _ENGINE.search(text)
    if engine:
        return failure("bad-parameter", output, said=engine[0].removeprefix("fio: "))
    return (
        texts.bad_option(output, text) or errors.explain(output, text, direct=direct) or texts.no_result(output, text)
    )
