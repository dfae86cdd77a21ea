"""What is read from outputs of which a part is missing: no figure that is not there, and no other attempt."""

import dataclasses
from collections.abc import Iterator

import pytest

from apps.bench import custom, cut, judges, tools
from apps.bench.toolkit import Output, Reading, Tool, ToolFailure
from tests.bench.custom import definitions
from tests.bench.tools import recordings
from tests.rotation import part_of
from workers.agent import excerpts

# What is left of an output (share), once in its head and tail, once in its head alone as after the output limit.
SHARES = (0.9, 0.7, 0.5, 0.3, 0.15)


def shorter(output: Output) -> Iterator[Output]:
    for share in SHARES:
        limit = int(len(output.stdout) * share)
        if limit >= len(output.stdout):
            continue
        for text in (excerpts.ends_of(output.stdout, limit), output.stdout[:limit]):
            yield dataclasses.replace(output, stdout=text, is_cut=True)


def whole(tool: Tool, output: Output) -> tuple[Reading, dict] | None:
    try:
        params = tool.clean(tool.recover(output))
        return tool.parse([output], params), params
    except (ToolFailure, ValueError):
        return None


@pytest.mark.parametrize("slug", [tool.slug for tool in tools.all_tools()])
def test_no_tool_says_a_figure_that_is_not_there(slug: str) -> None:
    tool = tools.get(slug)
    outputs = [recordings.load(slug, name) for name in recordings.names(slug)]
    # The others are recordings of failures.
    readable = [(output, *found) for output in outputs if (found := whole(tool, output)) is not None]
    assert readable
    for output, reading, params in readable:
        figures = {sample.metric: sample.value for sample in reading.samples}
        # An odd number of parts: some of both forms in each run.
        for less in part_of(shorter(output), parts=5):
            try:
                of_less = cut.parse(tool, [less], params)
            except ToolFailure as failure:
                assert not failure.retryable, (failure, less.stdout[:500])
                continue
            of_these = {sample.metric: sample.value for sample in of_less.samples}
            assert of_these.items() <= figures.items(), less.stdout[:500]
            assert not of_less.series
            assert "output-cut" in {flag.name for flag in of_less.flags}


def lines(count: int) -> bytes:
    return b"start: 7 MB/s\n" + b"".join(b"rate: %d MB/s\n" % n for n in range(count)) + b"end: 9 MB/s\n"


def site(**rule: str) -> Tool:
    metric = {"name": "rate", "unit": "MB/s", "where": r"rate: (\d+)", **rule}
    return custom.make_tool(custom.read_definition(definitions.minimal(metrics=[metric])), "site.v1")


def read(tool: Tool, text: bytes, **fields: object) -> Reading:
    output = Output("node", "measure", "north", ("site",), text, b"", 0, is_cut=True)
    return cut.parse(tool, [dataclasses.replace(output, **fields)], tool.clean({}))


@pytest.mark.parametrize(
    ("take", "where", "figure"),
    [("last", r"end: (\d+)", 9e6), ("last", r"rate: (\d+)", 999e6), ("first", r"start: (\d+)", 7e6)],
)
def test_a_teams_own_tool_gives_what_stands_in_head_or_tail(take: str, where: str, figure: float) -> None:
    # The first and the last line of each part need not be whole.
    text = b"begin\n" + lines(1000) + b"bye\n"
    reading = read(site(take=take, where=where), excerpts.ends_of(text, 400))
    assert reading.value("rate") == figure
    assert [flag.name for flag in reading.flags] == ["output-cut"]


@pytest.mark.parametrize("take", ["mean", "sum", "minimum", "maximum"])
def test_it_gives_nothing_that_would_count_all_lines(take: str) -> None:
    with pytest.raises(ToolFailure) as failure:
        read(site(take=take), excerpts.ends_of(lines(1000), 400))
    assert (failure.value.code, failure.value.retryable) == ("output-cut", False)


def test_the_last_of_what_has_only_a_head_is_not_its_last() -> None:
    with pytest.raises(ToolFailure) as failure:
        read(site(take="last"), lines(1000)[:400])
    assert failure.value.code == "output-cut"


def test_a_figure_that_is_missing_is_not_measured_again() -> None:
    with pytest.raises(ToolFailure) as failure:
        read(site(where=r"nothing: (\d+)"), lines(10))
    assert (failure.value.code, failure.value.retryable) == ("output-cut", False)


def test_what_failed_for_a_reason_that_it_tells_says_that_reason() -> None:
    with pytest.raises(ToolFailure) as failure:
        read(site(), lines(10), timed_out=True)
    assert failure.value.code == "timed-out"


def test_the_output_of_another_that_counts_for_nothing_takes_nothing_away() -> None:
    tool = tools.get("ping")
    client = recordings.load("ping", next(name for name in recordings.names("ping") if whole_of("ping", name)))
    reading, params = whole(tool, client) or pytest.fail("no reading")
    log = Output("server", "serve", "south", ("log",), b"x\n" * 9, b"", 0, is_cut=True)
    assert cut.parse(tool, [log, client], params) == reading
    assert judges.read_run([log, client], params, tool).samples == reading.samples


def whole_of(slug: str, name: str) -> bool:
    return whole(tools.get(slug), recordings.load(slug, name)) is not None
