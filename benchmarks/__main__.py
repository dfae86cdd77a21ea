"""Print one line a figure (JSON=file writes the same as JSON): python -m benchmarks [GROUP ...], all unless named.

`python -m benchmarks truth` judges what Fathom says of simulated worlds instead (docs/truth.md).
"""

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import answers, connections, documents, export_rates, figures, gap, grid, lab_rate, stack, throughput
from benchmarks.figures import Figure, Skipped
from benchmarks.truth import command as truth
from launch import home
from launch.demo import agents, campaign, ground, rest
from launch.embedded import EmbeddedError
from launch.process import ProcessError

GROUPS = ("gap", "connections", "crowd", "expansion", "compare", "reports", "lab", "archive", "exports", "grid")
# What can go wrong for a reason that a reader can understand: told in words, without a traceback.
EXPECTED = (
    home.HomeError, EmbeddedError, ProcessError, agents.AgentError, campaign.DemoError, rest.RestError,
    stack.BenchmarkError,
)  # fmt: skip
RATE = "rate of iperf3 over the emulated link, through Fathom"


def main(groups: Sequence[str]) -> int:
    """Measure the groups, all by default; 0 if every one could be measured or is skipped for a reason."""
    unknown = set(groups) - set(GROUPS)
    if unknown:
        print(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}.", file=sys.stderr)
        return 2
    lines: list[Figure | Skipped] = []
    try:
        for figure in measure(groups or GROUPS):
            lines.append(figure)
            print(figures.line_of(figure), flush=True)
    except EXPECTED as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    finally:
        if os.environ.get("JSON"):
            text = json.dumps(figures.as_json(lines), indent=2)
            Path(os.environ["JSON"]).write_text(text + "\n", encoding="utf-8")
    return 0


def measure(groups: Sequence[str]) -> Iterator[Figure | Skipped]:
    """Yield the figures of the groups, each service of them on a temporary folder."""
    if set(groups) != {"grid"}:
        yield from _of_one_service(groups)
    if "grid" in groups:
        yield from grid.measure()


def _of_one_service(groups: Sequence[str]) -> Iterator[Figure | Skipped]:
    with contextlib.ExitStack() as ends:
        state = home.Home(Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="fathom-lab-"))))
        up, refusal = ends.enter_context(ground.standing_lab(home.ROOT, state)) if "lab" in groups else (None, "")
        lab = ground.of_lab(up) if up else None
        with stack.started([lab.server_host] if lab else []) as running:
            if lab:
                # It takes the lab down when the service stops.
                running.running.supervisor.add(ground.lab_process(home.ROOT, state))
            if "gap" in groups or "expansion" in groups:
                local = running.start_agents(ground.loopback())
            if "gap" in groups:
                yield from gap.measure(running, local)
            if lab:
                yield from lab_rate.measure(running, lab, running.start_agents(lab))
            elif "lab" in groups:
                yield Skipped(RATE, refusal)
            if "connections" in groups:
                yield from connections.measure(running)
            if "expansion" in groups:
                yield from throughput.measure_expansion(running)
            if "compare" in groups:
                yield from throughput.measure_comparison(running)
            if "reports" in groups:
                yield from documents.measure(running)
            if "crowd" in groups:
                yield from throughput.measure(running)
            # Last, for they fill the database, the one as much as the other needs.
            if "archive" in groups:
                yield from answers.measure(running)
            if "exports" in groups:
                yield from export_rates.measure(running)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        words = sys.argv[1:]
        sys.exit(truth.main(words[1:]) if words[:1] == ["truth"] else main(words))
    sys.exit(130)
