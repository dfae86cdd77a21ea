"""Pages and downloads of results: what they show, and to whom."""

import csv
import io
import json
from types import SimpleNamespace

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from apps.agents.models import JobOutput
from apps.campaigns.models import Campaign, Run, Trial
from apps.results import downloads, views
from tests import rewriting


def addresses(campaign: Campaign) -> list[str]:
    experiment, trial = campaign.experiments.get(), campaign.trials.first()
    pages = [reverse(f"results:{name}", args=[experiment.pk]) for name in ("experiment", "experiment_panel")]
    pages += [reverse(f"results:{name}", args=[experiment.pk]) for name in ("experiment_data", "csv", "json")]
    return [
        *pages,
        reverse("results:trial", args=[trial.pk]),
        reverse("results:run_series", args=[trial.runs.get().pk]),
    ]


def test_a_stranger_is_sent_to_sign_in(client: Client, measured: Campaign) -> None:
    for address in addresses(measured):
        assert client.get(address).status_code == 302, address


def test_another_team_finds_nothing(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.charlie)
    for address in addresses(measured):
        assert client.get(address).status_code == 404, address


def test_a_viewer_sees_everything(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    for address in addresses(measured):
        assert client.get(address).status_code == 200, address


def test_the_trial_page_shows_command_output_and_figures(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    trial = measured.trials.first()
    page = client.get(reverse("results:trial", args=[trial.pk])).content.decode()
    assert "iperf3 -c" in page
    assert "sum_received" in page
    assert "Mbit/s" in page
    assert "kisti01 → pnu01" in page


def test_a_trial_without_a_run_is_not_measured_yet(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    trial = measured.trials.first()
    rewriting.delete(Run.objects.filter(trial=trial))
    assert "Not measured yet." in client.get(reverse("results:trial", args=[trial.pk])).content.decode()


def test_a_failed_trial_shows_reason_and_remedy(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    trial = measured.trials.first()
    reason = {
        "code": "refused",
        "message": {"msgid": "It was refused.", "params": {}},
        "remedy": {"msgid": "Ask.", "params": {}},
    }
    Trial.objects.filter(pk=trial.pk).update(state="failed", reason=reason)
    page = client.get(reverse("results:trial", args=[trial.pk])).content.decode()
    assert "It was refused." in page
    assert "Ask." in page


def test_a_trial_says_what_of_its_output_was_cut_and_where(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    trial = measured.trials.first()
    address = reverse("results:trial", args=[trial.pk])
    outputs = JobOutput.objects.filter(job__run_ref__in=trial.runs.values("pk"))
    limit, way = "Cut off at the output limit: only the head", "Cut on the way: only the head and the tail"
    page = client.get(address).content.decode()
    assert (limit in page, way in page) == (False, False)
    rewriting.update(outputs, truncated=True)
    page = client.get(address).content.decode()
    assert (limit in page, way in page) == (True, False)
    rewriting.update(outputs, cut_on_way=True)
    page = client.get(address).content.decode()
    assert (limit in page, way in page) == (False, True)


def test_long_output_is_cut_on_the_page(
    client: Client, measured: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.results.attempts.SHOWN_CHARACTERS", 100)
    client.force_login(cast.bob)
    page = client.get(reverse("results:trial", args=[measured.trials.first().pk])).content.decode()
    assert "download the whole" in page


def test_the_csv_has_a_line_a_sample_in_base_units(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    answer = client.get(reverse("results:csv", args=[measured.experiments.get().pk]))
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    goodput = [row for row in rows if row["metric"] == "goodput"]
    assert len(goodput) == 4
    assert {row["window"] for row in goodput} == {"65536", "1048576"}
    assert {row["unit"] for row in goodput} == {"bit/s"}
    assert ".csv" in answer["Content-Disposition"]


def test_the_json_has_the_same_samples(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    answer = client.get(reverse("results:json", args=[measured.experiments.get().pk]))
    rows = json.loads(b"".join(answer.streaming_content))
    assert len([row for row in rows if row["metric"] == "goodput"]) == 4


def test_an_experiment_without_samples_downloads_as_nothing(measured: Campaign) -> None:
    experiment = measured.experiments.get()
    rewriting.delete(experiment.results.all())
    request = RequestFactory().get("/")
    assert json.loads(b"".join(downloads.json_of(request, experiment).streaming_content)) == []
    assert b"".join(downloads.csv_of(request, experiment).streaming_content) == b""


def test_a_trials_page_costs_a_bounded_number_of_queries(
    client: Client, measured: Campaign, cast: SimpleNamespace, django_assert_max_num_queries
) -> None:
    client.force_login(cast.bob)
    with django_assert_max_num_queries(20):
        client.get(reverse("results:trial", args=[measured.trials.first().pk]))


def test_points_that_are_less_certain_than_wanted_are_marked(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    experiment = measured.experiments.get()
    address = reverse("results:experiment", args=[experiment.pk])
    assert "wanted" not in client.get(address).content.decode()
    measured.experiments.update(precision=0.001)
    page = client.get(address).content.decode()
    assert "wanted 0.1 %" in page
    # Only the primary metric decides on repetitions.
    assert "wanted 0.1 %" not in client.get(address, {"metric": "retransmits"}).content.decode()


def test_a_long_table_comes_in_pages_and_a_part_leads_to_all_of_it(
    client: Client, measured: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "LINES_PER_PAGE", 1)
    client.force_login(cast.bob)
    whole, panel = (addresses(measured)[place] for place in (0, 1))
    first = client.get(whole).content.decode()
    assert "1–1 of 2" in first
    assert '<th scope="row" class="fw-normal">64 KiB</th>' in first
    assert '<th scope="row" class="fw-normal">1 MiB</th>' not in first
    assert '<th scope="row" class="fw-normal">1 MiB</th>' in client.get(whole, {"page": 2}).content.decode()
    part = client.get(panel).content.decode()
    assert f'{whole}?metric=goodput&amp;x=window">All 2 points</a>' in part
    assert "1–1 of 2" not in part
