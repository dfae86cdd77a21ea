"""What is written as YAML reads back to the same, whatever signs a text has."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.core import documents, yaml_writer
from apps.testbeds.inventory import fields, writer

LIMITS = documents.DocumentLimits(most_bytes=1_000_000, deepest=12)
# What YAML has a meaning for, and every way to end a line; the loader refuses what YAML does not allow at all.
PARTS = (
    *(
        "a",
        "  ",
        "\n",
        "\n\n",
        "\t",
        "\r",
        "\r\n",
        "\x85",
        "\u2028",
        "\u2029",
        "\ufeff",
        "\u00a0",
        "\u200b",
        "\u00e9",
    ),
    *(": ", " #", "- ", "'", '"', "\\", "|", ">", "%", "!", "&", "*", "{", "}", "[", "]", ",", "?", "@", "`", "~"),
    *(
        "null",
        "0x1",
        "1e3",
        "1_0",
        "yes",
        "...",
        "---",
        "<<",
        "=",
        "2026-01-01",
        "word " * 30,
        "x" * 130,
        "\U0001f600",
    ),
)
TEXTS = st.lists(st.sampled_from(PARTS), max_size=6).map("".join)


def _shapes(text: str) -> dict[str, Any]:
    """Return a document that has a text wherever one may stand."""
    return {"plain": text, "list": [text, [text]], "entries": [{"name": text, "more": {"inner": text}}]}


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(TEXTS)
@example("dtn\x85a")
@example("dtn\u2028a")
@example("dtn\u2029a")
def test_every_text_reads_back_as_it_was(text: str) -> None:
    document = _shapes(text)
    assert documents.read_yaml(yaml_writer.write_yaml(document), LIMITS) == document
    short = {"list": fields.Inline([text]), "entry": fields.InlineEntry({"name": text})}
    written = yaml_writer.write_yaml(short, dumper=writer._Dumper)
    assert documents.read_yaml(written, LIMITS) == {"list": [text], "entry": {"name": text}}


@pytest.mark.parametrize("value", [1, -3, 0, 2.5, 1e300, -0.0, True, False, None, [], {}, ["1", 1, "true", True, ""]])
def test_every_value_reads_back_as_it_was(value: Any) -> None:
    read = documents.read_yaml(yaml_writer.write_yaml({"value": value}), LIMITS)["value"]
    assert (read, type(read)) == (value, type(value))
