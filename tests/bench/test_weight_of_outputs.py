"""What programs print as JSON is weighed before it is read: a few bytes stand for a hundred of memory."""

import ast
import dataclasses
import pathlib
import tracemalloc
from collections.abc import Callable

import pytest

from apps import bench
from apps.bench import recognition, tools
from apps.bench.custom import paths
from apps.bench.outputs import documents, weights
from apps.bench.toolkit import Output, Tool, ToolFailure
from tests.bench.tools import recordings

MIB = 2**20
PIECES = {"lists": "[],", "objects": "{},", "digits": "1,", "pairs": '{"":0},', "words": '"",'}
BOMBS = {name: f'{{"a":[{piece * (MIB // len(piece))}0]}}'.encode() for name, piece in PIECES.items()}
EVENTS = b'{"event":"interval","data":{"":[0,0,0,0]}}\n' * (MIB // 42)
# The one reader of outputs, and who reads a quoted key of a rule.
READERS = {"outputs/documents.py", "custom/paths.py"}


def outputs_with(tool: Tool, raw: bytes) -> list[Output]:
    """Return what each role of a tool printed, by its own recordings' command if there are any."""
    names = [name for name in recordings.names(tool.slug) if not name.endswith((".md", ".py")) and "/" not in name]
    own = recordings.load(tool.slug, names[0]) if names else Output("", "measure", "north", (), b"", b"", 0)
    return [dataclasses.replace(own, role=role.name, stdout=raw, stderr=b"", exit_code=0) for role in tool.roles]


def code_of(read: Callable[[], object]) -> str:
    try:
        read()
    except ToolFailure as failure:
        assert not failure.retryable or failure.code != "too-many-values"
        return failure.code
    return ""


def reads_json(tool: Tool) -> bool:
    """Say whether a tool has JSON read that stands in what it prints."""
    starts: list[int] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(documents.PrintedJson, "read", lambda self, start=0: starts.append(start) or ({}, start + 1))
        for raw in (b'{"a": [0]}', b'{"event": "x", "data": 0}'):
            code_of(lambda raw=raw: tool.parse(outputs_with(tool, raw), tool.clean({})))
    return bool(starts)


JSON_TOOLS = [tool.slug for tool in tools.all_tools() if reads_json(tool)]


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a bomb of a megabyte be one: of 16, as it may come, each test takes seconds."""
    monkeypatch.setattr(documents, "MOST_VALUES", 100_000)


def test_json_of_programs_has_one_reader() -> None:
    folder = pathlib.Path(bench.__file__).parent
    readers = set()
    for path in folder.rglob("*.py"):
        names = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
        if any(ast.unparse(name) in ("json.load", "json.loads", "json.JSONDecoder") for name in names):
            readers.add(str(path.relative_to(folder)))
    assert readers == READERS
    assert {"iperf3-tcp", "iperf3-udp", "fio", "ior", "irtt", "mtr"} <= set(JSON_TOOLS)


@pytest.mark.parametrize("slug", JSON_TOOLS)
def test_every_tool_refuses_a_bomb_by_name(slug: str, little: None, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tools.get(slug)
    # Found too heavy without one value being made.
    monkeypatch.setattr(documents.PrintedJson, "_DECODER", None)
    assert code_of(lambda: tool.parse(outputs_with(tool, BOMBS["lists"]), tool.clean({}))) == "too-many-values"


def test_a_stream_of_events_is_weighed_as_a_whole(little: None) -> None:
    tool = tools.get("iperf3-tcp")
    assert code_of(lambda: tool.parse(outputs_with(tool, EVENTS), tool.clean({}))) == "too-many-values"


@pytest.mark.parametrize("slug", JSON_TOOLS)
def test_every_tool_refuses_what_is_too_much_beside_the_other_outputs(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tools.get(slug)
    monkeypatch.setattr(documents, "MOST_VALUES_OF_A_RUN", 1_000)
    with documents.weighed_together():
        documents.whole_of(f"[{'0,' * 900}0]")
        with pytest.raises(ToolFailure) as refused:
            tool.parse(outputs_with(tool, f'{{"a":[{"0," * 200}0]}}'.encode()), tool.clean({}))
    assert (refused.value.code, refused.value.message.params["most"]) == ("too-many-values", 1_000)
    assert "together" in str(refused.value.message)


def test_an_output_that_is_read_again_weighs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_VALUES_OF_A_RUN", 1_000)
    lines = '{"event": 1, "data": 0}\n' * 150
    with documents.weighed_together():
        for _time in range(3):
            documents.first_object(lines)
            assert len(list(documents.PrintedJson(lines).lines())) == 150
        # 750 of it, and no more than the rest beside it.
        documents.whole_of(f"[{'0,' * 240}0]")
        assert code_of(lambda: documents.whole_of(f"[{'0,' * 20}0]")) == "too-many-values"
        # What was refused is not held.
        documents.whole_of("[0,0,0]")
    documents.whole_of(f"[{'0,' * 2000}0]")


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_path_of_a_tool_of_ones_own_is_weighed(bomb: str, little: None) -> None:
    assert code_of(lambda: paths.read_document("log\n" + BOMBS[bomb].decode())) == "too-many-values"


def test_who_recognises_an_output_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_VALUES", 20)
    bomb = b'{"start": {}, "intervals": [' + b"{}," * 20 + b"0]}"
    (finding,) = recognition.read_file(b"$ iperf3 -c 10.0.0.1 -J\n" + bomb + b"\n[exit 0]\n")
    assert finding.failure is not None and finding.failure.code == "too-many-values"


def test_lines_of_a_log_with_a_bracket_are_no_bomb() -> None:
    words = "[cut off with 1 or 2 words in it, and more\n" * (8 * MIB // 43)
    assert paths.read_document(words) is None


def test_it_takes_no_more_memory_than_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = BOMBS["pairs"].decode()
    # To trace memory takes long.
    monkeypatch.setattr(documents, "MOST_VALUES", 20_000)
    tracemalloc.start()
    try:
        assert code_of(lambda: documents.first_object(text)) == "too-many-values"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # What other threads took meanwhile counts, too; once read it would be some thirty.
    assert peak < 8 * MIB


def test_a_stream_of_idle_streams_of_the_usual_limit_is_light_enough() -> None:
    stream = (
        '{"socket":5,"start":1.000126,"end":2.000123,"seconds":0.99999701976776123,"bytes":0,"bits_per_second":0,'
        '"packets":0,"omitted":false,"sender":true},'
    )
    report = '{"event":"interval","data":{"streams":[' + stream * (16 * MIB // len(stream)) + "0]}}"
    assert weights.weigh(report, documents.MOST_VALUES) > 2_000_000


def test_an_output_of_the_usual_limit_is_read() -> None:
    report = '{"intervals":[' + '{"start":0.000126,"end":1.000123,"bits_per_second":9.8e9},' * 275_000 + "0]}"
    assert 15 * MIB < len(report) < 16 * MIB
    assert len((documents.first_object(report) or {})["intervals"]) == 275_001
