"""What the docs say of the code is so: every path that they name is there, and words are those of the pages."""

import re
from pathlib import Path

import pytest

from tests.test_architecture import ORDER
from tests.turns import files_that_deal_out

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted(path for path in (*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"))
_PATH = re.compile(
    r"(?<![\w./{-])((?:apps|workers|tests|launch|lab|benchmarks|static|templates|locale|docs)/[\w./-]*\w)"
)
_WAY = re.compile(r"^ {4}.*?((?:apps|workers|static)/[\w/]+\.py)\s+(\w+)?[:.,]?", re.MULTILINE)
_TERM = re.compile(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)
# What an example makes, and what is there only once it was set up.
MADE = (
    "tests/data/NAME",
    "apps/bench/tools/NAME",
    "apps/bench/rules/FAMILY",
    "templates/ROOM",
    "apps/reports/files/NAME",
)


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_path_that_the_docs_name_is_there(path: Path) -> None:
    named = set(_PATH.findall(path.read_text()))
    assert not {name for name in named if not name.startswith(MADE) and not (ROOT / name).exists()}


def test_the_docs_have_the_rooms_in_the_order_that_the_test_holds() -> None:
    order = " → ".join(" | ".join(room.removeprefix("apps.") for room in rooms) for rooms in ORDER)
    for name in ("README.md", "docs/architecture.md"):
        assert order in (ROOT / name).read_text(), name


def test_each_step_of_a_walk_is_a_function_of_its_file() -> None:
    steps = _WAY.findall((ROOT / "docs/architecture.md").read_text())
    assert len(steps) >= 15
    named = [(file, name) for file, name in steps if name and "_" in name]
    assert len(named) >= 8
    assert not [(file, name) for file, name in named if f"def {name}(" not in (ROOT / file).read_text()]


def test_the_glossary_has_the_words_of_the_pages() -> None:
    terms = [
        pair for pair in _TERM.findall((ROOT / "docs/glossary.md").read_text()) if pair[0] not in ("word", "---")
    ]
    assert len(terms) > 50
    korean = (ROOT / "locale/ko/LC_MESSAGES/django.po").read_text()
    assert not [(word, text) for word, text in terms if text != "–" and text not in korean]
    code = "".join(
        path.read_text().lower() for path in (ROOT / "apps").rglob("*.py") if "migrations" not in path.parts
    )
    assert not [word for word, _text in terms if word.lower() not in code]


def test_each_place_that_deals_out_turns_is_described() -> None:
    places = files_that_deal_out()
    assert len(places) >= 10
    text = (ROOT / "docs/running.md").read_text(encoding="utf-8")
    assert {place for place in places if f"| `{place}` |" not in text} == set()
