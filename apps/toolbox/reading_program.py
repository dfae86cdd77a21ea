"""A program that reads one output by a definition: `{"definition", "output", "argv", "parameters"}` as JSON, twice.

What it is sent comes on its standard input; it prints `{"reading": …}`, `{"failure": …}` or `{"late": true}`. It is a
program of its own because it computes with what anybody may have sent: its processor time and memory are bounded, and
it takes nothing of the web server with it. It knows neither settings nor database.
"""

import json
import resource
import sys
from typing import Any

from apps.bench import custom, strict_json
from apps.bench.toolkit import Output, ToolFailure
from apps.core import cpu_time

# What one output may take of a processor (s), beside the start of the program, and of memory (B).
LIMIT_S = 2.0
_MEMORY = 1 << 30


def main() -> None:
    """Read what is sent, and print what came of it."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    sys.stdout.write(strict_json.dumps(_answer(json.load(sys.stdin))))


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    definition = custom.read_definition(question["definition"])
    tool = custom.make_tool(definition, "tried")
    raw = question["output"].encode("utf-8", "replace")
    collected = {definition.result_file: raw} if definition.result_file else {}
    printed = Output(tool.roles[0].name, "measure", "–", tuple(question["argv"]), raw, b"", 0, collected=collected)
    try:
        with cpu_time.limited(LIMIT_S):
            return {"reading": tool.parse([printed], tool.clean(question["parameters"])).as_json()}
    except ToolFailure as failure:
        return {"failure": failure.as_json()}
    except (cpu_time.OutOfTimeError, MemoryError):
        return {"late": True}


if __name__ == "__main__":
    main()
