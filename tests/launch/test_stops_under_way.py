"""Whatever a start or a demo waits for: Ctrl-C ends it within seconds."""

import ast
import signal
from pathlib import Path

import pytest

from launch.home import ROOT
from tests.launch.stack import Stack
from tests.launch.watching import wait_for

# A demo that has no emulated link, whoever runs it.
DEMO = """
import contextlib, sys
from launch import __main__
from launch.demo import ground
ground.standing_lab = lambda *_of_lab: contextlib.nullcontext((None, "none is wanted"))
sys.exit(__main__.main(sys.argv[1:]))
"""
# What a function that waits asks whether it is to go on; a client of the service does so with each request.
ASKED = {"is_over", "_is_over", "given_up", "_stopping", "api"}
ENDS_BY_ITSELF = {
    "claims._is_free": "after five seconds",
    "folder_lock.__call__": "it waits a fifth of a second",
    "orphans.end": "after the patience that it is given, seconds",
    "restore._require_nobody": "Ctrl-C interrupts it",
    "supervisor._stop_tier": "it is the stop itself",
}


def test_whoever_waits_asks_whether_the_service_is_to_stop() -> None:
    deaf = set()
    for path in (ROOT / "launch").rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            names |= {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
            if "sleep" in names and not names & ASKED:
                deaf.add(f"{path.stem}.{function.name}")
    assert deaf == {*ENDS_BY_ITSELF}


@pytest.mark.e2e
@pytest.mark.xdist_group("launch-service")
def test_ctrl_c_ends_a_demo_that_measures(tmp_path: Path) -> None:
    stack = Stack(tmp_path / "var", "demo", program=("-c", DEMO))
    try:
        assert wait_for(lambda: "watch it at" in stack.printed(), 240), stack.printed()
        stack.process.send_signal(signal.SIGINT)
        assert stack.process.wait(15) == 130, stack.printed()
        assert stack.printed().rstrip().endswith("stopped before it was done")
    finally:
        stack.process.kill()
