"""The raw archive read again: what changes is shown first, kept as a new edition, and the earlier one stays."""

import json
import zlib
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.agents.models import JobOutput
from apps.campaigns.models import Campaign, Run, Trial
from apps.results import validity
from apps.results.models import Result, Sample
from tests import factories as people
from tests import rewriting


def reread(*arguments: str) -> str:
    out = StringIO()
    call_command("reread", *arguments, stdout=out)
    return out.getvalue()


def as_an_older_parser_read_it(campaign: Campaign) -> Sample:
    """Let the first result be what a parser with a fault would have made of it; return the figure that is wrong."""
    result = Result.objects.filter(experiment__campaign=campaign).order_by("pk").first()
    assert result is not None
    sample = result.samples.get(metric="goodput")
    rewriting.update(Sample.objects.filter(pk=sample.pk), value=sample.value / 8)
    rewriting.update(Result.objects.filter(pk=result.pk), tool_version="0.9", flags=[])
    rewriting.delete(result.series.filter(stream=""))
    Campaign.objects.update(analysed_at=timezone.now())
    return sample


def everything() -> list[Any]:
    rows = [*Result.objects.order_by("pk").values(), *Sample.objects.order_by("result", "metric").values()]
    return [{name: value for name, value in row.items() if name != "id"} for row in rows]


def test_what_today_s_parser_reads_alike_does_not_change(measured: Campaign) -> None:
    before = everything()
    assert "read again: 4; without raw output: 0; changed: 0" in reread()
    reread("--apply", "--reason", "Nothing")
    assert everything() == before


def test_it_shows_what_changes_and_changes_nothing(measured: Campaign) -> None:
    as_an_older_parser_read_it(measured)
    before = everything()
    told = reread("--tool", "iperf3-tcp", "--campaign", measured.permanent_id)
    [line] = [line for line in told.splitlines() if line.startswith(measured.permanent_id)]
    assert "goodput" in line and "→" in line and "tool_version" in line
    assert "Nothing was changed" in told
    assert everything() == before


def test_it_keeps_a_new_edition_with_its_reason_and_the_earlier_one_whole(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    right = as_an_older_parser_read_it(measured)
    told = reread("--apply", "--reason", "A byte has eight bits")
    assert "changed: 1; kept: 1" in told
    result = Result.objects.get(pk=right.result_id)
    assert (result.edition, result.edition_reason) == (2, "A byte has eight bits")
    assert result.samples.get(metric="goodput").value == right.value
    [earlier] = result.earlier.all()
    kept = json.loads(zlib.decompress(earlier.reading_z))
    assert (earlier.edition, earlier.reason, kept["tool_version"], kept["flags"]) == (1, "", "0.9", [])
    assert {"metric": "goodput", "value": right.value / 8} in kept["samples"]
    measured.refresh_from_db()
    assert measured.analysed_at is None
    assert measured.events.first().message["params"] == {"count": 1, "reason": "A byte has eight bits"}
    assert "changed: 0" in reread()
    client.force_login(cast.bob)
    page = client.get(f"/results/trials/{result.trial_id}/").content.decode()
    assert "A byte has eight bits" in page
    shown = client.get(f"/api/v1/results/{result.pk}/", **people.bearer(cast.bob)).json()
    assert (shown["edition"], shown["edition_reason"]) == (2, "A byte has eight bits")


def test_what_a_person_marked_stays_marked(measured: Campaign, cast: SimpleNamespace) -> None:
    wrong = as_an_older_parser_read_it(measured)
    validity.mark_invalid(trial=wrong.trial, user=cast.oscar, reason="Loose", now=timezone.now())
    reread("--apply", "--reason", "Mended")
    names = [flag["name"] for flag in Result.objects.get(pk=wrong.result_id).flags]
    assert validity.MARK in names
    assert "changed: 0" in reread()


def test_a_run_that_could_not_be_read_then_succeeds_now(measured: Campaign) -> None:
    result = Result.objects.order_by("pk").first()
    values = {sample.metric: sample.value for sample in result.samples.all()}
    failure = {"code": "unreadable", "message": {"msgid": "x", "params": {}}, "remedy": None, "retryable": False}
    rewriting.update(Run.objects.filter(pk=result.run_id), state="failed", reason=failure)
    Trial.objects.filter(pk=result.trial_id).update(state="failed", reason=failure)
    rewriting.delete(result)
    assert "can be read now" in reread()
    assert Trial.objects.get(pk=result.trial_id).state == "failed"
    reread("--apply", "--reason", "The parser knows this version now")
    trial = Trial.objects.get(pk=result.trial_id)
    assert (trial.state, trial.reason, trial.runs.get().state) == ("succeeded", None, "succeeded")
    assert {sample.metric: sample.value for sample in trial.samples.all()} == values


def test_what_today_s_parser_refuses_is_left_out_but_kept(measured: Campaign) -> None:
    result = Result.objects.order_by("pk").first()
    outputs = JobOutput.objects.filter(job__run_ref=result.run_id)
    rewriting.update(outputs, stdout_z=zlib.compress(b"Segmentation fault"))
    assert "refused: " in reread()
    reread("--apply", "--reason", "It was never complete")
    again = Result.objects.get(pk=result.pk)
    assert [flag["severity"] for flag in again.flags if flag["name"] == "refused-when-read-again"] == ["invalid"]
    assert again.samples.count() == result.samples.count()
    assert "changed: 0" in reread()


def test_without_raw_output_nothing_is_said(measured: Campaign) -> None:
    rewriting.delete(JobOutput.objects.all())
    assert "read again: 0; without raw output: 4; changed: 0" in reread()


@pytest.mark.parametrize(
    "arguments",
    [("--apply",), ("--apply", "--reason", "x" * 501), ("--tool", "x"), ("--team", "x"), ("--campaign", "0")],
)
def test_it_refuses_what_there_is_not_and_changes_without_a_reason(db: None, arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        reread(*arguments)
