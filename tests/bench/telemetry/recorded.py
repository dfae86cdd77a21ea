"""Recorded telemetry: listings of ss(8) on the emulated 1 Gbit/s, 4.8 ms link, and what agents sent of real jobs."""

import json
from pathlib import Path
from typing import Any

from apps.bench.telemetry import Telemetry, read

FOLDER = Path(__file__).parents[2] / "data" / "telemetry"


def listing(name: str) -> str:
    """Return what `ss -tmin` printed one second into a test."""
    return (FOLDER / f"ss_tmi_{name}.txt").read_text()


def raw(name: str) -> dict[str, Any]:
    """Return what an agent sent of a job, as it was sent."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def telemetry(name: str) -> Telemetry:
    """Return what an agent sent of a job."""
    found = read(raw(name))
    assert found is not None
    return found
