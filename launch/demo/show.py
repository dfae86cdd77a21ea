"""What the demo prints: a progress bar, the tables of results, the recommendation."""

import shutil
import sys
from typing import Any, TextIO

from apps.bench import units
from launch.demo import sample

Json = dict[str, Any]
_BAR = 30
_OTHERS = {"failed": "failed", "not_measured": "not measured"}


class Progress:
    """A line that is redrawn in place on a terminal, and printed at each tenth elsewhere."""

    def __init__(self, out: TextIO = sys.stdout) -> None:
        self.out = out
        self._shown = -1

    def show(self, progress: Json, doing: str) -> None:
        """Show how far a campaign is."""
        total = max(1, progress["total"])
        done = progress["measured"]
        filled = _BAR * done // total
        others = [f", {progress[key]} {words}" for key, words in _OTHERS.items() if progress[key]]
        line = f"[{'#' * filled}{'.' * (_BAR - filled)}] {done}/{total} trials measured{''.join(others)}  {doing}"
        if self.out.isatty():
            width = shutil.get_terminal_size().columns - 1
            self.out.write("\r" + line[:width].ljust(width))
        elif 10 * done // total != self._shown:
            self._shown = 10 * done // total
            self.out.write(line + "\n")
        self.out.flush()

    def end(self) -> None:
        """Go on to the next line."""
        if self.out.isatty():
            self.out.write("\n")


def table(experiment: Json, results: Json) -> str:
    """Return an experiment's results as a text table."""
    unit = results["unit"]
    kind = {"window": "B"}.get(results["x"], "")

    def shown(value: float | None) -> str:
        return "–" if value is None else units.format_quantity(value, unit)

    lines = [f"{experiment['name']} ({results['metric']})"]
    lines.append(f"  {results['x']:>14}  {'mean':>14}  {'95 % interval':>31}  {'n':>3}")
    for group in results["groups"]:
        x = units.format_quantity(group["x"], kind) if isinstance(group["x"], int | float) else str(group["x"])
        if results["x"] == "window" and group["x"] == sample.AUTOMATIC:
            x = "autotuned"
        interval = f"{shown(group['ci_low'])} – {shown(group['ci_high'])}" if group["ci_low"] is not None else "–"
        lines.append(f"  {x:>14}  {shown(group['mean']):>14}  {interval:>31}  {group['n']:>3}")
    return "\n".join(lines)


def finding(document: Json) -> str:
    """Return a finding with its reasons and the lines to paste."""
    lines = [f"* {document['title']} (confidence {100 * document['confidence']:.0f} %{_flagged(document)})"]
    lines += [f"    {_text(why)}" for why in document["details"]["why"]]
    if document["change"]:
        lines += ["    To change:", *(f"      {line}" for line in document["change"].splitlines())]
    count = len(document["trials"])
    lines.append(f"    Rests on {count} trial{'s' if count != 1 else ''}.")
    return "\n".join(lines)


def _flagged(document: Json) -> str:
    """Return how many of the trials that a finding rests on are flagged, and with what; "" without any."""
    if not document["flagged"]:
        return ""
    names = ", ".join(f"{name} × {number}" for name, number in document["flags"].items())
    return f"; {document['flagged']} of {len(document['trials'])} trials flagged: {names}"


def _text(message: Json) -> str:
    return message["msgid"] % message["params"] if message["params"] else message["msgid"]
