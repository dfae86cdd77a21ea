"""The trials of a campaign as a table of figures."""

import re
from types import SimpleNamespace

import pytest
from django.test import Client
from django.utils import timezone

from apps.campaigns.models import Campaign, Experiment
from apps.results import validity
from apps.results.models import Result, Sample
from tests import rewriting


def page(client: Client, campaign: Campaign, **query: object) -> str:
    answer = client.get(f"/results/campaigns/{campaign.pk}/trials/", query)
    assert answer.status_code == 200
    return answer.content.decode()


def trials_on(text: str) -> list[int]:
    body = text[text.index("<tbody>") : text.index("</tbody>")]
    return [int(pk) for pk in re.findall(r'<th scope="row"><a href="/results/trials/(\d+)/">', body)]


@pytest.fixture
def oscar(client: Client, cast: SimpleNamespace) -> Client:
    client.force_login(cast.oscar)
    return client


@pytest.mark.parametrize("sort", ["goodput", "-goodput"])
def test_trials_are_sorted_by_a_figure(oscar: Client, measured: Campaign, sort: str) -> None:
    samples = Sample.objects.filter(trial__campaign=measured, metric="goodput").order_by("value")
    by_value = [sample.trial_id for sample in samples]
    assert len(set(samples.values_list("value", flat=True))) == len(by_value)
    text = page(oscar, measured, sort=sort)
    assert trials_on(text) == (by_value if sort == "goodput" else by_value[::-1])
    assert f'aria-sort="{"ascending" if sort == "goodput" else "descending"}"' in text


@pytest.mark.parametrize("sort", ["window", "trial", "repetition", "state", "finished", "nothing-like-it", "-"])
def test_any_order_shows_all_trials(oscar: Client, measured: Campaign, sort: str) -> None:
    trials = set(measured.trials.values_list("pk", flat=True))
    assert set(trials_on(page(oscar, measured, sort=sort))) == trials
    assert set(trials_on(page(oscar, measured, sort=f"-{sort}"))) == trials


def test_columns_are_those_that_are_chosen(oscar: Client, measured: Campaign) -> None:
    usual, chosen = page(oscar, measured), page(oscar, measured, column=["retransmits", "nothing-like-it"])
    assert "sort=goodput" in usual
    assert "sort=window" in usual
    assert "sort=retransmits" in chosen
    assert "sort=goodput" not in chosen
    assert "sort=window" not in chosen


def test_a_figure_that_does_not_count_is_struck_out_and_in_no_range(
    oscar: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    highest = Sample.objects.filter(trial__campaign=measured, metric="goodput").latest("value")
    assert "<s>" not in page(oscar, measured)
    before = page(oscar, measured)
    validity.mark_invalid(trial=highest.trial, user=cast.oscar, reason="A cable.", now=timezone.now())
    after = page(oscar, measured)
    assert "<s>" in after
    foot = [text[text.index("<tfoot>") :] for text in (before, after)]
    assert f"(n = {measured.trials.count()})" in foot[0]
    assert f"(n = {measured.trials.count() - 1})" in foot[1]


def test_without_an_experiment_each_trial_has_its_main_figure(oscar: Client, measured: Campaign) -> None:
    Experiment.objects.create(campaign=measured, name="Another", tool=measured.experiments.get().tool)
    text = page(oscar, measured)
    assert "Main figure" in text
    assert len(trials_on(text)) == measured.trials.count()
    assert "Goodput" in text[text.index("<tbody>") :]


def test_it_takes_a_fixed_number_of_queries(oscar: Client, measured: Campaign, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(22):
        page(oscar, measured, sort="-goodput")


def test_others_see_none_of_it(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.charlie)
    assert client.get(f"/results/campaigns/{measured.pk}/trials/").status_code == 404


def test_flagged_trials_are_found(oscar: Client, measured: Campaign) -> None:
    flag = {"name": "processor-full", "severity": "warning", "message": {"msgid": "Full.", "params": {}}}
    verified = {**flag, "name": "verified", "severity": "info"}
    first, second, *_others = Result.objects.filter(trial__campaign=measured).order_by("trial")
    rewriting.update(Result.objects.all(), flags=[])
    rewriting.update(Result.objects.filter(pk=first.pk), flags=[verified, flag])
    rewriting.update(Result.objects.filter(pk=second.pk), flags=[verified])
    assert trials_on(page(oscar, measured, flagged="1")) == [first.trial_id]
    assert len(trials_on(page(oscar, measured, flagged="2"))) == measured.trials.count()
