"""Definitions and recordings of two programs that every machine has: openssl speed and dd."""

import pathlib

import yaml

from apps.bench import custom, recognition

DATA = pathlib.Path(__file__).parents[2] / "data" / "custom"


def data(name):
    """Return the definition of an exported file."""
    whole = yaml.safe_load((DATA / f"{name}.yaml").read_text())
    return {key: value for key, value in whole.items() if key not in ("fathom-tool", "slug")}


def tool(name, **changes):
    return custom.make_tool(custom.read_definition({**data(name), **changes}), f"{name}.v1")


def output(name):
    (found,) = recognition.split_file((DATA / name).read_bytes())
    return found


def minimal(**changes):
    """Return the least that a definition needs, with changes."""
    metric = {"name": "rate", "unit": "MB/s", "where": r"rate: (\d+)"}
    return {"name": "Site", "program": "site", "metrics": [metric], **changes}
