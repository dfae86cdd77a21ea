"""No figure of a finding is without its unit: every rule names that of what there is, was tried and is predicted."""

import ast
from pathlib import Path

import pytest

from apps.bench import rules
from apps.bench.rules.base import FindingDraft
from apps.bench.text import Message
from tests.bench.rules.storing import polarised, the

FIGURES = {"present", "tried", "predicted", "predicted_interval"}
FILES = sorted(Path(rules.__file__).parent.rglob("*.py"))


def drafts_in(file):
    """Return {line: names of the fields} of each finding that a file makes."""
    calls = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return {
        call.lineno: {item.arg for item in call.keywords}
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "FindingDraft"
    }


def test_each_rule_that_gives_a_figure_names_its_unit():
    lacking = [
        f"{file.name}:{line}"
        for file in FILES
        for line, names in drafts_in(file).items()
        if names & FIGURES and "predicted_unit" not in names
    ]
    assert not lacking
    assert sum(bool(names & FIGURES) for file in FILES for names in drafts_in(file).values()) > 30


@pytest.mark.parametrize("name", ["present", "tried", "predicted"])
def test_a_figure_without_its_unit_is_refused(name):
    words = Message("x")
    with pytest.raises(ValueError, match="unit"):
        FindingDraft(
            rule="r", version=1, title=words, why=(), formula="", evidence=(1,), confidence=0.5,
            applies_when=words, **{name: 13e6},
        )  # fmt: skip


def test_what_a_client_of_gpfs_has_at_present_is_bytes():
    draft = the(polarised(), "storage-gpfs-client")
    assert (draft.present, draft.predicted_unit) == (13e6, "B/s")
