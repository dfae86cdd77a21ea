"""The published figures, imported whole or changed, and what the rules then say of a case."""

import copy
import io
import json
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.utils import timezone

from apps.accounts.models import Team
from apps.tuning import published

FOLDER = Path(__file__).parents[1] / "data" / "published"
TEXT = (FOLDER / "published.json").read_text(encoding="utf-8")
FACTS = (FOLDER / "seed_facts.json").read_text(encoding="utf-8")
DOCUMENT = json.loads(TEXT)
CASES = {case["id"]: case for case in DOCUMENT["cases"]}

Json = dict[str, Any]


def document(*cases: Json, **sections: Any) -> Json:
    """Return the file with these cases only; `sections` replace others of it."""
    return {**DOCUMENT, "cases": list(cases), **sections}


def case(name: str, /, **given: Any) -> Json:
    """Return a case with members of `given` replaced; those that are None are left out."""
    changed = copy.deepcopy(CASES[name])
    changed["given"] = {key: value for key, value in {**changed["given"], **given}.items() if value is not None}
    return changed


def load(team: Team, *cases: Json, **options: Any) -> published.Imported:
    """Import cases (the whole file unless given) into a team."""
    text = json.dumps(document(*cases)) if cases else TEXT
    return published.import_published(team=team, text=text, now=timezone.now(), **options)


def findings(*arguments: str) -> list[Json]:
    """Return what ``manage.py findings --json`` prints."""
    out = io.StringIO()
    call_command("findings", "--json", *arguments, stdout=out)
    found: list[Json] = json.loads(out.getvalue())
    return found


def concluded(team: Team, *cases: Json) -> list[Json]:
    """Return what the rules say of cases alone."""
    load(team, *cases)
    return findings()
