"""Read {"chart", "ending"} from the standard input and write the figure to the standard output."""

import json
import sys

from apps.results.figures.program import boxes, cells, lines, look, parallel

DRAW = {"line": lines.draw, "heat": cells.draw, "box": boxes.draw, "parallel": parallel.draw}


def main() -> None:
    """Draw one figure."""
    request = json.load(sys.stdin.buffer)
    chart = request["chart"]
    figure = look.figure_for(chart)
    DRAW[chart.get("kind", "line")](figure, chart)
    figure.savefig(
        sys.stdout.buffer,
        format=request["ending"],
        dpi=look.DPI,
        # The same data gives the same file.
        metadata={"Date": None} if request["ending"] == "svg" else {"Software": None},
    )


main()
