"""Raw outputs of tools become a campaign: recognised, shown first, and then all of it or nothing."""

from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from apps.agents.models import JobOutput
from apps.archive.imports import duplicates, services
from apps.archive.imports.models import Import
from apps.campaigns.errors import Refused, WrongState
from apps.campaigns.models import Campaign, Run, Trial
from apps.results import queries
from apps.results import services as results
from apps.results.models import Sample
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox
from apps.tuning import services as tuning
from tests import factories, rewriting
from tests.archive.imports import sending
from tests.archive.imports.sending import recording, zipped
from tests.campaigns import factories as make

SWEEP = {
    f"sweep/{name}.json": recording(f"iperf3-tcp/winsweep_pnu/{name}.json")
    for name in ("w64K_cubic_r1", "w64K_cubic_r2", "w1M_cubic_r0", "w1M_cubic_r2")
}
PING = {"rtt/ok.txt": recording("ping/ok.txt")}
BAD = {"notes.txt": b"remember the milk", "empty.txt": b"", "refused.txt": recording("iperf3-tcp/err_refused.txt")}


def roles(ends: list[Node]) -> dict[str, list[int]]:
    return {"client": [ends[0].pk], "server": [ends[1].pk]}


def refusals(imported: Import) -> dict[str, str]:
    return {
        item.file: item.refusal["msgid"] % item.refusal["params"]
        for item in imported.items.filter(refusal__isnull=False)
    }


@pytest.fixture
def ready(cast: SimpleNamespace, ends: list[Node]) -> Import:
    """Return an import of a zip with good and bad files, to be looked at."""
    return sending.send(cast, {"archive.zip": zipped(SWEEP | PING | BAD)})


def test_the_preview_shows_what_each_file_is_and_why_some_are_refused(ready: Import, ends: list[Node]) -> None:
    assert ready.state == "ready"
    assert [(group["tool"], group["folder"], group["count"]) for group in ready.groups] == [
        ("iperf3-tcp", "sweep", 4),
        ("ping", "rtt", 1),
    ]
    sweep = ready.groups[0]
    # What outputs tell is not asked for; who measured is known by the addresses.
    assert "window" in sweep["varies"] and "window" not in sweep["missing"]
    assert sweep["values"]["duration"] == 4.0
    assert sweep["suggested"] == roles(ends)
    assert set(refusals(ready)) == set(BAD)
    assert refusals(ready)["empty.txt"] == "The file is empty."
    assert not Campaign.objects.exists()


def test_all_that_is_good_becomes_a_campaign(ready: Import, ends: list[Node], folder: Path) -> None:
    sending.choose(ready, roles(ends), alike=True)
    done = sending.store(ready)
    campaign = done.campaign
    assert (done.state, campaign.origin, campaign.state) == ("done", "imported", "finished")
    assert campaign.trials.filter(state="succeeded").count() == 5
    sweep, rtt = campaign.experiments.all()
    assert [factor["name"] for factor in sweep.factors] == ["window"]
    assert (sweep.repetitions, sweep.fixed["duration"]) == (2, "4s")
    assert [(role.role, role.node_id) for role in sweep.roles.all()] == [
        ("client", ends[0].pk),
        ("server", ends[1].pk),
    ]
    table = queries.table_of(sweep, metric=queries.metrics_of(toolbox.get_tool("iperf3-tcp"))[0])
    assert [(group.x, len(group.figures)) for group in table.groups] == [(65536, 2), (1048576, 2)]
    assert 9.7e8 < table.groups[1].summary.mean < 1e9
    # Results are of when it was measured, which iperf3 tells.
    first = Trial.objects.get(experiment=sweep, position=0)
    assert first.finished_at == datetime(2026, 11, 21, 7, 19, 45, tzinfo=UTC).replace(
        minute=first.finished_at.minute, hour=first.finished_at.hour, second=first.finished_at.second
    )
    assert first.results.get().recorded_at == first.finished_at
    assert first.results.get().observed["imported"]["file"] == "sweep/w64K_cubic_r1.json"
    assert rtt.lanes.get().resources[0].startswith("link:")
    assert list((folder / "imports").iterdir()) == []


def test_raw_outputs_are_kept_whole_and_read_again_alike(ready: Import, ends: list[Node]) -> None:
    sending.choose(ready, roles(ends))
    campaign = sending.store(ready).campaign
    run = Run.objects.get(trial__campaign=campaign, trial__experiment__tool="iperf3-tcp", trial__position=0)
    job = results.agents.jobs_of_run(run.pk).get()
    assert results.printed_by(job)["stdout"] == SWEEP["sweep/w64K_cubic_r1.json"]
    before = dict(run.result.samples.values_list("metric", "value"))
    rewriting.delete(run.result)
    again = results.record_run(run=run)
    assert dict(again.samples.values_list("metric", "value")) == before
    assert JobOutput.objects.count() == 5


def test_the_same_outputs_again_are_recognised(ready: Import, cast: SimpleNamespace, ends: list[Node]) -> None:
    sending.choose(ready, roles(ends))
    sending.store(ready)
    twice = SWEEP | {"copy.json": SWEEP["sweep/w64K_cubic_r1.json"], "new.txt": recording("ping/timestamp_D.txt")}
    again = sending.send(cast, twice)
    assert again.items.filter(is_duplicate=True).count() == 5
    assert again.items.filter(is_duplicate=True, trial__isnull=False).count() == 4
    assert [(group["tool"], group["count"]) for group in again.groups] == [("ping", 1)]
    # For a team-mate from whom it is kept it is not there, nor is its number.
    others = sending.send(sending.kept_private_from(cast.alice, cast), twice)
    assert sum(group["count"] for group in others.groups) == 5
    items = f"/api/v1/imports/{again.pk}/items/?show=duplicates"
    for person, told in ((cast.oscar, 4), (cast.alice, 0)):
        found = factories.signed_in(person).get(items).json()["results"]
        assert (len(found), sum(item["trial"] is not None for item in found)) == (5, told)
    # What was imported and then deleted is not there any more.
    rewriting.delete(Campaign.objects.get())
    assert sending.send(cast, SWEEP).groups[0]["count"] == 4


def test_what_an_agent_measured_here_is_no_news(cast: SimpleNamespace, measured: Campaign) -> None:
    run = Run.objects.filter(trial__campaign=measured).first()
    job = results.agents.jobs_of_run(run.pk).get(role="client")
    printed = results.printed_by(job)["stdout"]
    # Agents tell how much was printed; those of the tests do not.
    rewriting.update(JobOutput.objects.filter(job=job), stdout_bytes=len(printed))
    again = sending.send(cast, {"exported.json": printed})
    assert again.items.get().trial_id == run.trial_id and again.groups == []
    # Unless its maker keeps it to themselves.
    theirs = sending.send(sending.kept_private_from(cast.alice, cast), {"exported.json": printed})
    assert not theirs.items.get().is_duplicate


def test_no_more_is_looked_at_than_can_be_soon(
    cast: SimpleNamespace, measured: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent may tell any length of what it printed, and print as much as it likes."""
    run = Run.objects.filter(trial__campaign=measured).first()
    job = results.agents.jobs_of_run(run.pk).get(role="client")
    printed = results.printed_by(job)["stdout"]
    rewriting.update(JobOutput.objects.filter(job=job), stdout_bytes=len(printed))
    monkeypatch.setattr(duplicates, "MOST_UNPACKED", 100)
    assert not sending.send(cast, {"exported.json": printed}).items.get().is_duplicate


def test_an_import_says_what_is_missing_field_by_field(
    ready: Import, cast: SimpleNamespace, ends: list[Node]
) -> None:
    stranger = make.nodes(cast.other_team, "elsewhere")[0]
    with pytest.raises(Refused) as caught:
        services.complete_import(
            imported=ready,
            groups={
                ready.groups[0]["key"]: {
                    "roles": {"client": [stranger.pk], "server": [], "cook": []},
                    "parameters": {"streams": "many", "spoons": "3"},
                    "file_system": 7,
                },
                "nothing|": {},
            },
        )
    assert set(caught.value.error_dict) == {
        "groups.nothing|",
        "groups.0.roles.client",
        "groups.0.roles.server",
        "groups.0.roles.cook",
        "groups.0.parameters.streams",
        "groups.0.parameters.spoons",
        "groups.0.file_system",
    }
    with pytest.raises(Refused, match="two roles"):
        sending.choose(ready, {"client": [ends[0].pk], "server": [ends[0].pk]})
    with pytest.raises(WrongState):
        services.store_import(imported=ready)


def test_nodes_are_chosen_once_and_groups_left_out(ready: Import, ends: list[Node]) -> None:
    sweep, ping = (group["key"] for group in ready.groups)
    services.complete_import(imported=ready, groups={sweep: {"roles": roles(ends), "name": "Windows"}, ping: {}})
    assert ready.items.model.objects.count() and Import.objects.get().choices[ping]["roles"] == roles(ends)
    services.complete_import(imported=ready, groups={sweep: {"include": False}, ping: {"roles": roles(ends)}})
    campaign = sending.store(ready).campaign
    assert [experiment.tool for experiment in campaign.experiments.all()] == ["ping"]


def test_nothing_is_stored_if_one_output_cannot_be_read(
    ready: Import, ends: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    sending.choose(ready, roles(ends))
    item = ready.items.filter(tool="ping", refusal__isnull=True).get()
    # A parser that was changed since the preview no longer takes it.
    ready.items.filter(pk=item.pk).update(told={**item.told, "count": 10**9})
    again = sending.store(ready)
    assert (again.state, again.reason["params"]) == ("ready", {"count": 1})
    assert "refuses the parameters" in again.items.get(pk=item.pk).problem["msgid"]
    assert not Campaign.objects.exists() and not Sample.objects.exists()
    done = sending.store(again, leave_out=True)
    assert done.campaign.trials.count() == 4


def test_times_that_no_output_tells_are_those_given(cast: SimpleNamespace, ends: list[Node]) -> None:
    imported = sending.send(cast, PING, name="Old pings", measured_on=date(2009, 5, 1))
    groups = {group["key"]: {"roles": roles(ends)} for group in imported.groups}
    services.complete_import(imported=imported, groups=groups, measured_on=imported.measured_on)
    campaign = sending.store(imported).campaign
    assert campaign.name == "Old pings" and campaign.finished_at.date() == date(2009, 5, 1)


def test_a_limit_that_outputs_tell_is_no_limit_of_the_path(cast: SimpleNamespace, ends: list[Node]) -> None:
    """Each stream has the 200 Mbit/s that -b asked for; text tells of that, and of the time, as JSON does."""
    names = [f"text_limited_P{streams}_r{number}.txt" for streams in (1, 2, 4) for number in range(3)]
    outputs = {name: recording(f"iperf3-tcp/{name}").partition(b"\n")[2].partition(b"[exit ")[0] for name in names}
    imported = sending.send(cast, outputs)
    moments = {item.measured_at for item in imported.items.all()}
    assert all(moment is not None and (moment.year, moment.month) == (2026, 11) for moment in moments)
    nodes = {"client": [ends[0].pk], "server": [ends[1].pk]}
    sending.choose(imported, nodes, alike=True, parameters={"window": "0"})
    campaign = sending.store(imported).campaign
    assert sorted({trial.parameters["pace"] for trial in campaign.trials.all()}) == [200e6, 400e6, 800e6]
    tuning.refresh_findings(campaign=campaign)
    rules = {finding.rule for finding in campaign.findings.all()}
    assert not rules & {"tcp-per-flow-limit", "tcp-window", "tcp-sysctl"}, rules
