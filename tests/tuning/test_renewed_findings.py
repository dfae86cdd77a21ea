"""No outdated finding is shown as current: other rules, or other evidence of the same path, have it drawn anew."""

import dataclasses
import itertools
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.bench import rules
from apps.bench.rules import folding, runner
from apps.campaigns.models import Campaign
from apps.core import messages, queue
from apps.tuning.analysis import queries
from apps.tuning.models import Analysis, Finding
from tests import rewriting
from tests.tuning.breaking import ended
from tests.tuning.test_one_capacity import FLAG, dispersed, fast
from tests.tuning.test_one_capacity import path as path
from workers import analysis, timetable

ALL_RULES = (*rules.registered(), *folding.OF_OTHERS)


@pytest.fixture(autouse=True)
def asked_anew() -> None:
    queries.asked_with.cache_clear()
    yield
    queries.asked_with.cache_clear()


def analyse(campaign: Campaign) -> bool:
    return analysis.analyse_campaign(campaign_id=campaign.pk, now=timezone.now())


def standing(campaign: Campaign) -> queries.Standing:
    return queries.standing_of(Campaign.objects.get(pk=campaign.pk))


def raise_version(patch: pytest.MonkeyPatch, name: str) -> int:
    """Give a rule the next version, as its findings tell it, too; return that."""
    version = next(rule.version for rule in ALL_RULES if rule.name == name) + 1

    def raised(rule: runner.Rule) -> runner.Rule:
        def conclude(*evidence: object) -> runner.Conclusion:
            said = rule.conclude(*evidence)
            drafts = [said] if isinstance(said, rules.base.FindingDraft) else list(said or ())
            return [dataclasses.replace(draft, version=version) for draft in drafts]

        return dataclasses.replace(rule, version=version, conclude=conclude) if rule.name == name else rule

    for which in ("of_ends", "of_whole"):
        changed = tuple(map(raised, getattr(rules, which)()))
        patch.setattr(rules, which, lambda changed=changed: changed)
    patch.setattr(folding, "OF_OTHERS", tuple(map(raised, folding.OF_OTHERS)))
    queries.asked_with.cache_clear()
    return version


def asked_for(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the campaigns that the timetable asks to have analysed."""
    asked: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(queue, "remind", lambda _task, pk: asked.append(pk))
        timetable.ask_for_analyses(now=timezone.now())
        assert not asked
        timetable.renew_findings(now=timezone.now())
    return asked


def test_whichever_rule_gets_another_version_its_findings_are_renewed(
    swept: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = ended(swept, analysed=False)
    assert analyse(campaign)
    assert standing(campaign).is_done
    for rule in ALL_RULES:
        with monkeypatch.context() as patch:
            version = raise_version(patch, rule.name)
            now = standing(campaign)
            assert (now.state, now.is_outdated, now.is_done) == ("pending", True, False), rule.name
            assert "the rules changed" in messages.render(now.lines[0])
            assert asked_for(patch) == [campaign.pk], rule.name
            findings = Finding.objects.filter(campaign=campaign, rule=rule.name)
            if findings.exists() and rule not in folding.OF_OTHERS:
                assert analyse(campaign)
                assert set(findings.values_list("rule_version", flat=True)) == {version}
                assert standing(campaign).is_done
                assert not asked_for(patch)
        queries.asked_with.cache_clear()
        assert standing(campaign).is_done or analyse(campaign)


def test_a_few_campaigns_are_renewed_at_once_the_latest_first(
    path: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    campaigns = [
        Campaign.objects.create(
            team=path.team, name=f"c{place}", state="finished", launched_at=now, finished_at=now, analysed_at=now
        )
        for place in range(5)
    ]
    Analysis.objects.bulk_create(Analysis(campaign=item, began_at=now, ended_at=now) for item in campaigns)
    monkeypatch.setattr(timetable, "RENEWED_AT_ONCE", 2)
    assert asked_for(monkeypatch) == [campaigns[4].pk, campaigns[3].pk]
    for item in campaigns:
        assert analyse(item)
    assert asked_for(monkeypatch) == []


def test_no_team_waits_for_all_campaigns_of_another(
    path: SimpleNamespace, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    hours = itertools.count()

    def ended_of(team: object) -> Campaign:
        at = now - timezone.timedelta(hours=100 - next(hours))
        return Campaign.objects.create(
            team=team, name="c", state="finished", launched_at=at, finished_at=at, analysed_at=at
        )

    (theirs,) = [ended_of(cast.other_team)]
    many = [ended_of(path.team) for _number in range(5)]
    Analysis.objects.bulk_create(Analysis(campaign=item, began_at=now, ended_at=now) for item in [theirs, *many])
    monkeypatch.setattr(timetable, "RENEWED_AT_ONCE", 3)
    assert asked_for(monkeypatch) == [many[4].pk, theirs.pk, many[3].pk]


def test_a_renewal_that_a_worker_left_is_taken_up_again(
    path: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (campaign,) = _launched(dispersed(path))
    assert analyse(campaign)
    Analysis.objects.update(ended_at=None, began_at=timezone.now() - analysis.analyses.LIMIT)
    assert standing(campaign).is_outdated
    assert asked_for(monkeypatch) == [campaign.pk]
    assert analyse(campaign)
    assert standing(campaign).is_done


def _launched(*campaigns: Campaign) -> list[Campaign]:
    """Return campaigns as such that ended, one after the other."""
    now = timezone.now()
    for item, second in zip(campaigns, itertools.count()):
        Campaign.objects.filter(pk=item.pk).update(
            launched_at=now, finished_at=now + timezone.timedelta(seconds=second)
        )
    return list(campaigns)


@pytest.mark.parametrize("visibility", ["team", "private"])
def test_what_another_campaign_shows_of_a_path_renews_the_findings_on_it(
    path: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, visibility: str
) -> None:
    (own,) = _launched(dispersed(path))
    Campaign.objects.filter(pk=own.pk).update(visibility=visibility)
    assert analyse(own)
    before = own.findings.get(rule="path-capacity").details
    (other,) = _launched(fast(path))
    assert analyse(other)
    assert standing(own).is_outdated
    # The one that shows it is current, and what it shows is no news of its own.
    assert standing(other).is_done
    assert asked_for(monkeypatch) == [own.pk]
    assert analyse(own)
    assert own.findings.get(rule="path-capacity").details != before
    assert standing(own).is_done and standing(other).is_done
    # Less than that is known already tells nobody anything.
    (third,) = _launched(fast(path))
    rewriting.update(third.experiments.get().samples.filter(metric="goodput"), value=1e8)
    assert analyse(third)
    assert standing(own).is_done and standing(other).is_done


def test_what_a_campaign_shows_no_more_renews_the_findings_on_it(path: SimpleNamespace) -> None:
    own, other = _launched(dispersed(path), fast(path))
    assert analyse(other) and analyse(own)
    assert own.findings.get(rule="path-capacity").details["low"] == pytest.approx(600e6)
    rewriting.update(other.experiments.get().results.all(), flags=[FLAG])
    Campaign.objects.filter(pk=other.pk).update(analysed_at=None)
    assert analyse(other)
    assert standing(own).is_outdated
    assert analyse(own)
    assert own.findings.get(rule="path-capacity").details["low"] == pytest.approx(450e6)
