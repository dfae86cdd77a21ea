"""What an imported output does not tell is not known: on pages, over REST, in files, in rules and in archives."""

import datetime
import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.archive.imports import services
from apps.archive.imports.models import Import
from apps.archive.search import conditions, entries, state
from apps.archive.search import queries as search
from apps.bench.rules.told import UnknownParameter
from apps.bench.sweep import likeness
from apps.campaigns.models import Campaign, Run, Trial
from apps.results import queries
from apps.results import services as results
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox
from apps.tuning import evidence
from apps.tuning import services as tuning
from tests import rewriting
from tests.archive.exports import test_archives
from tests.archive.imports import sending
from tests.archive.imports.sending import recording

# As the program prints it, without its command.
TEXT = recording("fio/text_randrw.txt").partition(b"\n")[2].partition(b"[exit ")[0]
# What its first line says.
PRINTED = {"pattern": "randrw", "block_size": 4096, "engine": "psync", "depth": 1, "jobs": 1}
GOODPUT = {"as": "metric", "name": "goodput", "unit": "Mbit/s"}
STREAMS = {"as": "parameter", "name": "streams"}
REPEATED = b"streams,goodput\n1,100\n1,102\n2,190\n2,199\n4,380\n"


def told(trial: Trial) -> dict[str, Any]:
    return likeness.told_of(trial.parameters)


def of_text(cast: SimpleNamespace, ends: list[Node], **values: Any) -> Campaign:
    imported = sending.send(cast, {"a.txt": TEXT})
    sending.choose(imported, {"client": [ends[0].pk]}, **values)
    return sending.store(imported).campaign


def table(cast: SimpleNamespace, content: bytes, **columns: dict[str, str]) -> Import:
    imported = sending.send(cast, {"table.csv": content}, kind="table")
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=columns)
    return sending.advance(imported)


def stored(imported: Import, ends: list[Node], **values: Any) -> Campaign:
    sending.choose(imported, {"client": [ends[0].pk], "server": [ends[1].pk]}, **values)
    return sending.store(imported).campaign


def sizes(campaign: Campaign) -> list[int]:
    experiment = campaign.experiments.get()
    metric = queries.metrics_of(toolbox.get_tool(experiment.tool))[0]
    return sorted(len(group.figures) for group in queries.table_of(experiment, metric=metric).groups)


def test_only_what_was_told_is_stored(cast: SimpleNamespace, ends: list[Node]) -> None:
    trial = of_text(cast, ends).trials.get()
    assert told(trial) == PRINTED
    result = trial.results.get()
    assert result.requested.keys() <= PRINTED.keys()
    assert trial.experiment.fixed.keys() - {likeness.AS_IN} == PRINTED.keys()


def test_a_text_without_a_zone_is_of_the_senders(cast: SimpleNamespace, ends: list[Node]) -> None:
    cast.oscar.timezone = "Asia/Seoul"
    cast.oscar.save()
    at = of_text(cast, ends).trials.get().finished_at
    printed = next(line for line in TEXT.decode().splitlines() if "err=" in line).partition("pid=")[2]
    assert at.astimezone(datetime.timezone(datetime.timedelta(hours=9))).strftime("%H:%M:%S %Y") in printed


def test_what_is_answered_for_a_group_is_told(cast: SimpleNamespace, ends: list[Node]) -> None:
    trial = of_text(cast, ends, parameters={"direct": "no", "file_size": ""}).trials.get()
    assert told(trial) == PRINTED | {"direct": False}


def test_pages_rest_and_files_show_what_is_not_known(cast: SimpleNamespace, ends: list[Node], client: Client) -> None:
    campaign = of_text(cast, ends)
    trial = campaign.trials.get()
    client.force_login(cast.oscar)
    page = client.get(reverse("results:trial", args=[trial.pk])).content.decode()
    assert 'Direct I/O</dt><dd class="col-7">not known</dd>' in page
    parameters = client.get(f"/api/v1/trials/{trial.pk}/").json()["parameters"]
    assert parameters["direct"] is None and parameters["pattern"] == "randrw"
    assert parameters.keys() - {likeness.AS_IN} == {item.name for item in toolbox.get_tool("fio").parameters}
    rows = list(queries.rows_of(trial.experiment))
    assert {row["direct"] for row in rows} == {None} and {row["engine"] for row in rows} == {"psync"}


def test_reports_say_what_is_not_known(cast: SimpleNamespace, ends: list[Node]) -> None:
    from apps.reports.campaign import method

    experiment = of_text(cast, ends).experiments.get()
    text = method._fixed_text(experiment, toolbox.get_tool("fio"))
    assert "Engine: psync" in text and "not known: " in text
    assert {"Direct I/O", "File size", "Duration"} <= {*text.partition("not known: ")[2].split(", ")}


def test_unknown_settings_are_no_repetitions(cast: SimpleNamespace, ends: list[Node]) -> None:
    campaign = stored(table(cast, REPEATED, streams=STREAMS, goodput=GOODPUT), ends)
    assert sizes(campaign) == [1, 1, 1, 1, 1]
    assert len({trial.point for trial in campaign.trials.all()}) == 5


def test_who_imports_may_say_that_they_were_alike(cast: SimpleNamespace, ends: list[Node]) -> None:
    campaign = stored(table(cast, REPEATED, streams=STREAMS, goodput=GOODPUT), ends, alike=True)
    assert sizes(campaign) == [1, 2, 2]


def test_a_column_of_repetitions_says_so_too(cast: SimpleNamespace, ends: list[Node]) -> None:
    content = b"streams,goodput,run\n1,100,1\n1,102,2\n2,190,1\n2,199,2\n"
    campaign = stored(
        table(cast, content, streams=STREAMS, goodput=GOODPUT, run={"as": "repetition", "name": ""}), ends
    )
    assert sizes(campaign) == [2, 2]


VERBOSE = recording("iperf3-tcp/text_verbose_fK.txt").partition(b"\n")[2].partition(b"[exit ")[0]


@pytest.mark.parametrize("alike", [True, False])
def test_ports_make_no_other_settings(
    cast: SimpleNamespace, ends: list[Node], client: Client, *, alike: bool
) -> None:
    """What was asked for stays at each result; that some settings are not known is shown by no name of ours."""
    outputs = {f"{port}.txt": VERBOSE.replace(b"1, port 5399", b"1, port %d" % port) for port in (5401, 5402, 5403)}
    imported = sending.send(cast, outputs)
    assert "port" in imported.groups[0]["varies"]
    sending.choose(imported, {"client": [ends[0].pk], "server": [ends[1].pk]}, alike=alike)
    campaign = sending.store(imported).campaign
    assert sizes(campaign) == ([3] if alike else [1, 1, 1])
    assert len({json.dumps(told(trial)) for trial in campaign.trials.all()}) == 1
    requested = {trial.runs.get().result.requested["port"] for trial in campaign.trials.all()}
    assert len(requested) == 3
    client.force_login(cast.oscar)
    pages = [("campaigns:campaign_detail", campaign.pk), ("results:trial_list", campaign.pk)]
    pages += [("results:experiment", campaign.experiments.get().pk), ("results:trial", campaign.trials.all()[0].pk)]
    for name, pk in pages:
        page = client.get(reverse(name, args=[pk])).content.decode()
        assert "unknown_as_in" not in re.sub(r"<[^>]*>", "", page), name


def test_outputs_whose_told_settings_differ_are_two_points(cast: SimpleNamespace, ends: list[Node]) -> None:
    other = TEXT.replace(b"ioengine=psync", b"ioengine=sync")
    imported = sending.send(cast, {"a.txt": TEXT, "b.txt": other})
    sending.choose(imported, {"client": [ends[0].pk]}, alike=True)
    campaign = sending.store(imported).campaign
    assert sizes(campaign) == [1, 1]


def test_where_all_is_known_nothing_is_to_be_said(cast: SimpleNamespace, ends: list[Node]) -> None:
    answers = {
        item.name: item.default for item in toolbox.get_tool("iperf3-tcp").parameters if item.name != "streams"
    }
    campaign = stored(table(cast, REPEATED, streams=STREAMS, goodput=GOODPUT), ends, parameters=answers)
    assert sizes(campaign) == [1, 2, 2]
    assert not any(likeness.AS_IN in trial.parameters for trial in campaign.trials.all())


def test_no_rule_can_read_what_is_not_known(cast: SimpleNamespace, ends: list[Node]) -> None:
    campaign = stored(table(cast, REPEATED, streams=STREAMS, goodput=GOODPUT), ends, alike=True)
    (figures,) = evidence.by_ends(campaign).values()
    assert [point.parameters["streams"] for point in figures.points] == [1, 2, 4]
    for point in figures.points:
        with pytest.raises(UnknownParameter, match="window"):
            point.parameters.get("window", 0)
        with pytest.raises(UnknownParameter, match="direction"):
            "direction" in point.parameters  # noqa: B015


def test_read_again_what_is_not_known_stays_so(cast: SimpleNamespace, ends: list[Node]) -> None:
    trial = of_text(cast, ends).trials.get()
    run = Run.objects.get(trial=trial)
    before = run.result.requested
    rewriting.delete(run.result)
    again = results.record_run(run=run)
    assert again.requested == before and "direct" not in again.requested
    assert told(Trial.objects.get(pk=trial.pk)) == PRINTED


def test_a_copy_to_be_measured_here_has_no_such_mark(cast: SimpleNamespace, ends: list[Node]) -> None:
    from apps.campaigns.services import copies

    campaign = stored(table(cast, REPEATED, streams=STREAMS, goodput=GOODPUT), ends)
    copied = copies.copy_campaign(campaign=campaign, name="Again", created_by=cast.oscar).experiments.get()
    assert [factor["name"] for factor in copied.factors] == ["streams"]
    assert likeness.AS_IN not in copied.fixed and copied.zips == []


def test_archives_keep_it(cast: SimpleNamespace, ends: list[Node]) -> None:
    campaign = stored(table(cast, REPEATED, streams=STREAMS, goodput=GOODPUT), ends)
    before = [trial.parameters for trial in campaign.trials.order_by("position")]
    data = test_archives.packed(campaign)
    rewriting.delete(campaign)
    again = test_archives.came_in(data, cast.team, cast.oscar)
    assert [trial.parameters for trial in again.trials.order_by("position")] == before
    assert again.origin == Campaign.Origin.IMPORTED and sizes(again) == [1, 1, 1, 1, 1]


def test_what_looks_for_a_default_does_not_find_what_is_not_known(cast: SimpleNamespace, ends: list[Node]) -> None:
    campaign = of_text(cast, ends)
    entries.index_due(now=timezone.now())

    def found(text: str) -> bool:
        asked, wrong = state.read_text(f"param={text}", conditions.known_to(cast.oscar))
        return not wrong and search.experiments_found(asked, cast.oscar).filter(campaign=campaign).exists()

    assert found("engine:psync") and not found("direct:yes") and not found("direct:no")


SWEPT = (
    "streams,goodput\n" + "".join(f"{n},{100 * n + d}\n" for n in (1, 2, 4, 8) for d in (0, 1)) + "16,930\n16,931\n"
)
USUAL = {
    "window": "0",
    "direction": "forward",
    "congestion": "",
    "mss": "0",
    "pace": "0",
    "omit": "0",
    "duration": "10",
}


def test_advice_rests_on_what_was_told(cast: SimpleNamespace, ends: list[Node]) -> None:
    def rules_of(**values: Any) -> set[str]:
        campaign = stored(table(cast, SWEPT.encode(), streams=STREAMS, goodput=GOODPUT), ends, **values)
        tuning.refresh_findings(campaign=campaign)
        found = {finding.rule: str(finding.details) + str(finding.title) for finding in campaign.findings.all()}
        rewriting.delete(campaign)
        for text in found.values():
            assert bool(values.get("parameters")) or "automatic window" not in text
        return set(found)

    known = rules_of(parameters=USUAL)
    of_windows = {"tcp-best-setting", "tcp-per-flow-limit"}
    assert of_windows <= known
    # Nobody told the window: nothing is advised as if it had been the kernel's own.
    assert rules_of(alike=True) <= known - of_windows
