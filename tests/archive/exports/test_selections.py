"""Any selection leaves as tables with a description that holds."""

import csv
import hashlib
import io
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import psycopg
import pyarrow.parquet
import pytest
from django.db import transaction
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from apps.archive.exports import selection
from apps.archive.exports.package import package_of
from apps.archive.exports.selection import ExportSelection, read_selection
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.results.models import Sample
from apps.testbeds.models import Node
from tests import factories
from tests.archive.exports.conftest import lines, unpacked, whole
from tests.campaigns import factories as make
from tests.results.factories import measure


def get(client: Client, path: str, **query: Any) -> Any:
    return client.get(f"/exports/{path}", query)


def test_a_campaign_leaves_as_a_data_package_whose_description_holds(
    client: Client, cast: SimpleNamespace, finished: Campaign
) -> None:
    client.force_login(cast.bob)
    samples = Sample.objects.filter(trial__campaign=finished)
    for ending in ("csv", "jsonl", "parquet"):
        files = unpacked(whole(get(client, f"package.{ending}.zip", set=f"campaign:{finished.pk}")))
        description = json.loads(files["datapackage.json"])
        assert description["profile"] == "tabular-data-package"
        assert [item["name"] for item in description["resources"]] == [
            "campaigns",
            "experiments",
            "trials-iperf3-tcp",
        ]
        for resource in description["resources"]:
            content = files[resource["path"]]
            assert resource["bytes"] == len(content)
            assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
            rows = _rows(content, ending)
            fields = [field["name"] for field in resource["schema"]["fields"]]
            assert all(list(row) == fields for row in rows)
        fields = {field["name"]: field for field in description["resources"][2]["schema"]["fields"]}
        assert (fields["window"]["type"], fields["window"]["unit"]) == ("integer", "B")
        assert fields["goodput"]["unit"] == "bit/s"
        assert len(rows) == 4
        assert {row["campaign"] for row in rows} == {finished.permanent_id}
        goodput = sorted(float(row["goodput"]) for row in rows)
        assert goodput == sorted(samples.filter(metric="goodput").values_list("value", flat=True))
        assert {int(row["window"]) for row in rows} == {65536, 1048576}
        assert {row["nodes"] for row in rows} == {"kisti01 → pnu01"}


def _rows(content: bytes, ending: str) -> list[dict[str, Any]]:
    if ending == "csv":
        return list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    return lines(content) if ending == "jsonl" else pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()


def test_parts_of_campaigns_are_chosen_as_comparisons_choose_them(
    client: Client, cast: SimpleNamespace, finished: Campaign
) -> None:
    other = make.launched(cast, *make.nodes(cast.team, "a", "b", site="Seoul"), name="＝1+1", tool="ping",
                          fixed={"count": "5"}, factors=[])  # fmt: skip
    measure(other.trials.get(position=0), rtt_min=0.1)
    Trial.objects.filter(campaign=other).update(state="failed")
    client.force_login(cast.oscar)
    slow = f"campaign:{finished.pk};window=64KiB"
    table = whole(get(client, "tables/iperf3-tcp.jsonl", set=slow))
    assert [row["window"] for row in lines(table)] == [65536, 65536]
    node = finished.experiments.get().roles.get(role="client").node_id
    answer = client.get("/api/v1/exports/", {"set": [slow, f"node:{node}", "since:2100-01-01", "tool:ping"]})
    assert answer.json() == {
        "campaigns": [finished.permanent_id, other.permanent_id],
        "experiments": 2,
        "tools": [{"tool": "iperf3-tcp", "trials": 4}, {"tool": "ping", "trials": 2}],
    }
    rows = _rows(whole(get(client, "tables/ping.csv", set="tool:ping")), "csv")
    # Failed trials leave, too; a name that a spreadsheet would compute does not leave as it is.
    assert [(row["state"], row["rtt_min"], row["campaign_name"]) for row in rows] == [
        ("failed", "0.1", "'＝1+1"), ("failed", "", "'＝1+1")
    ]  # fmt: skip
    assert lines(whole(get(client, "tables/ping.jsonl", set="tool:ping")))[0]["campaign_name"] == "＝1+1"


def test_what_a_person_may_not_see_does_not_leave(client: Client, cast: SimpleNamespace, finished: Campaign) -> None:
    page = f"?set=campaign:{finished.pk}"
    assert client.get(f"/exports/{page}").status_code == 302
    assert client.get(f"/api/v1/exports/package/{page}").status_code == 401
    client.force_login(cast.charlie)
    assert client.get(f"/exports/package.csv.zip{page}").status_code == 422
    assert client.get(f"/exports/tables/iperf3-tcp.csv{page}").status_code == 422
    assert client.get(f"/api/v1/exports/{page}").json()["tools"] == []
    answer = client.get(f"/api/v1/exports/tables/iperf3-tcp/{page}", **factories.bearer(cast.charlie))
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["tool"])


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "set"), ("set=campaign:x", "set"), ("search=sort%3Dwild", "search"), ("set=campaign:1&as=xml", "as")],
)
def test_what_cannot_be_read_is_refused_by_name(
    client: Client, cast: SimpleNamespace, query: str, field: str
) -> None:
    client.force_login(cast.bob)
    answer = client.get(f"/api/v1/exports/package/?{query}")
    assert (answer.status_code, list(answer.json()["fields"])) == (400, [field])
    assert client.get("/exports/package.csv.zip").status_code == 422


def test_the_page_says_what_is_selected_in_few_queries(
    client: Client, cast: SimpleNamespace, finished: Campaign, django_assert_max_num_queries: Any
) -> None:
    client.force_login(cast.bob)
    assert "Nothing is selected" in client.get("/exports/").content.decode()
    Experiment.objects.bulk_create(
        Experiment(campaign=finished, name=str(place), position=place, tool="ping") for place in range(1, 30)
    )
    with django_assert_max_num_queries(12):
        text = client.get(f"/exports/?set=campaign:{finished.pk}").content.decode()
    assert "4 trials of 1 campaign are selected." in text
    assert f"/exports/package.parquet.zip?set=campaign%3A{finished.pk}" in text


def test_sets_that_name_experiments_again_and_again_are_refused(
    client: Client, cast: SimpleNamespace, finished: Campaign, monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: Any,
) -> None:  # fmt: skip
    client.force_login(cast.bob)
    Experiment.objects.bulk_create(
        Experiment(campaign=finished, name=str(place), position=place, tool="ping") for place in range(1, 30)
    )
    sets = [f"since:2026-01-0{day}" for day in range(1, 4)]
    # Those of which the same is asked are counted together.
    with django_assert_max_num_queries(20):
        assert client.get("/api/v1/exports/", {"set": sets}).status_code == 200
    monkeypatch.setattr(selection, "MOST_NAMED", 89)
    answer = client.get("/api/v1/exports/", {"set": sets})
    assert (answer.status_code, "name fewer sets" in str(answer.json()["fields"]["set"])) == (400, True)


NARROWED = ("", ";since:2000-01-01;window=64KiB", ";until:2000-01-01")


def test_what_has_no_trials_yet_keeps_nobody_from_what_has(
    client: Client, cast: SimpleNamespace, pair: list[Node], finished: Campaign
) -> None:
    """A draft, an experiment that was never expanded, and a campaign that was cancelled play on the same nodes."""
    draft = make.campaign(cast, name="Draft")
    for tool in ("iperf3-tcp", "ping"):
        make.experiment(
            draft, *pair, tool=tool, name=tool, **({} if tool == "iperf3-tcp" else {"fixed": {}, "factors": []})
        )
    empty = Experiment.objects.create(campaign=finished, name="Empty", position=7, tool="iperf3-tcp")
    empty.roles.create(role="client", node=pair[0])
    make.services.cancel_campaign(
        campaign=make.launched(cast, *pair, name="Cancelled"), user=cast.alice, now=timezone.now()
    )
    client.force_login(cast.bob)
    node = pair[0]
    wheres = [
        f"node:{node.pk}",
        f"site:{node.testbed.site_id}",
        f"campaign:{draft.pk}",
        f"campaign:{finished.pk}",
        "tool:ping",
    ]
    wheres.append(f"campaign:{finished.pk};node:{node.pk}")
    for text in [where + more for where in wheres for more in NARROWED]:
        held = client.get("/api/v1/exports/", {"set": text}).json()["tools"]
        if held:
            files = unpacked(whole(get(client, "package.jsonl.zip", set=text)))
            tables = {name: len(lines(content)) for name, content in files.items() if name.startswith("trials-")}
            assert tables == {f"trials-{item['tool']}.jsonl": item["trials"] for item in held}, text
        for item in held:
            assert len(lines(whole(get(client, f"tables/{item['tool']}.jsonl", set=text)))) == item["trials"], text
    assert client.get("/api/v1/exports/", {"set": wheres[0]}).json()["tools"] == [{"tool": "iperf3-tcp", "trials": 4}]


def test_no_package_is_begun_before_its_first_rows_are_there(finished: Campaign) -> None:
    selection = read_selection(QueryDict(f"set=campaign:{finished.pk}"), finished.created_by)
    broken = replace(selection.tools["iperf3-tcp"][0], condition=Q(pk__in=RawSQL("SELECT 1 / 0", ())))
    for ending in ("csv", "jsonl"):
        pieces = package_of(ExportSelection("", {"iperf3-tcp": [broken]}), ending, now=timezone.now(), address="")
        with pytest.raises(psycopg.errors.DivisionByZero), transaction.atomic():
            next(pieces)
