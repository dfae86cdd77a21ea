"""Documents made by hand, with every kind of block."""

from apps.reports.document import (
    Column,
    Document,
    Drawing,
    Figure,
    Items,
    Listing,
    Paragraph,
    Section,
    Table,
    TextLink,
)

TABLE = Table(
    key="rates",
    caption="Rates <by> client & direction",
    columns=(Column("Client"), Column("Sent", "Mbit/s", "number"), Column("At", kind="time")),
    rows=(
        ("KGFS", 980.0, "2026-11-21T10:00:00+00:00"),
        (TextLink("KIGFS", "trial:7k3m-9qxt-2v4h/0/1"), 986.5, None),
        ("=1+1", None, "2026-11-21T11:00:00+00:00"),
    ),
    note="Five flows each.",
    total=7,
)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" width="9" height="9"></svg>'
CHART: dict[str, object] = {
    "kind": "line",
    "metric": {"name": "goodput", "label": "Goodput", "unit": "bit/s", "log": False},
    "x": {"name": "window", "label": "Window", "unit": "B", "numeric": True, "log": True},
    "series": [
        {
            "label": "부산대",
            "points": [
                {"x": 65536, "y": 140e6, "low": 139e6, "high": 141.5e6, "n": 3},
                {"x": 1048576, "y": 989.8e6, "low": None, "high": None, "n": 3},
            ],
        }
    ],
    "lines": [{"axis": "y", "value": 990e6, "label": "Ceiling"}],
}


def document(language: str = "en") -> Document:
    """Return a document with every kind of block."""
    return Document(
        kind="campaign",
        title="Windows between KISTI and 부산대",
        subtitle="Campaign report",
        language=language,
        meta=(("Team", "grid"), ("Permanent id", "7k3m-9qxt-2v4h")),
        rests_on=("campaign:7k3m-9qxt-2v4h",),
        summary=(Paragraph(("In short: ", TextLink("the campaign", "campaign:7k3m-9qxt-2v4h"), ".")),),
        sections=(
            Section(
                "purpose",
                "Purpose",
                blocks=(
                    Paragraph(("Why & what.",), key="purpose"),
                    Paragraph(("Mind this.",), style="warning"),
                    Items((("first",), ("second ", TextLink("page", "https://example.org/"))), ordered=True),
                ),
            ),
            Section(
                "experiments",
                "Results",
                sections=(
                    Section(
                        "experiment-1",
                        "Window sweep",
                        blocks=(
                            Figure("windows", "Goodput by window", CHART, "It grows with the window.", TABLE),
                            TABLE,
                            Drawing("topology", "Topology", SVG, "Two sites"),
                            Listing("net.core.rmem_max = 1048576\n", "To be installed", "90-fathom.conf"),
                        ),
                    ),
                ),
            ),
        ),
    )
