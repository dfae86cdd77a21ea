"""``manage.py findings`` lists what the rules conclude, with what that rests on."""

import io
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from tests.tuning import published


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("findings", *arguments, stdout=out)
    return out.getvalue()


def test_findings_are_listed_with_kind_evidence_and_confidence(cast: SimpleNamespace) -> None:
    window, nfs = (published.CASES[name] for name in ("window-limited", "lan-client-saturation"))
    done = published.load(cast.team, window, nfs)
    found = published.findings("--campaign", str(done.created[0].pk))
    assert {record["case"] for record in found} == {"window-limited"}
    for record in found:
        assert record["kind"] in ("recommendation", "diagnosis", "no-change", "doubt")
        assert 0 < record["confidence"] <= 1
        assert all(isinstance(text, str) for text in (record["title"], *record["why"]))
    figure = next(
        item for record in found for item in record["evidence"] if item.get("parameters", {}).get("window") == 0
    )
    assert figure["samples"] == {"goodput": 160.74e6}
    assert figure["tool"] == "iperf2"
    by_name = published.findings("--campaign", "lan-client-saturation", "--team", "grid")
    assert {item["trend"]["knee"] for record in by_name for item in record["evidence"]} == {2.0, 3.0}
    assert published.findings("--team", "strangers") == []
    assert "window-limited\ttcp-bdp\trecommendation" in run()


def test_findings_of_nothing_that_exists_are_refused(cast: SimpleNamespace) -> None:
    with pytest.raises(CommandError, match="no campaign"):
        run("--campaign", "none")
    with pytest.raises(CommandError, match="no team"):
        run("--team", "none")
