"""Pages of reports: one press makes one, its author changes it in place, an edition is read by whoever may."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.contrib.messages import get_messages
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.campaigns.models import Campaign
from apps.comparison.models import SavedView
from apps.reports import services
from apps.reports.models import Edition, Report
from tests.campaigns.factories import share
from tests.comparison.comparisons import conftest as measured
from tests.factories import signed_in
from tests.reports import documents
from tests.tuning.breaking import ended


@pytest.fixture
def campaign(cast: SimpleNamespace) -> Campaign:
    """Return a campaign of 4 trials."""
    a, b = measured.make.nodes(cast.team, "kisti01", "pnu01")
    measured.make.link(a, b, "WAN")
    factors = [{"name": "window", "expression": "64KiB, 128KiB"}]
    return ended(measured.swept(cast, [a, b], "Windows", factors=factors, fixed={"streams": "1"}, repetitions=2))


@pytest.fixture
def report(cast: SimpleNamespace, campaign: Campaign) -> Report:
    """Return the English report of the campaign."""
    return services.begin_report(campaign=campaign, user=cast.oscar, language="en")


def text_of(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return answer.content.decode()


def test_one_press_on_the_campaigns_page_gives_the_report(cast: SimpleNamespace, campaign: Campaign) -> None:
    oscar = signed_in(cast.oscar)
    address = f"/reports/campaigns/{campaign.pk}/"
    assert f'action="{address}"' in text_of(oscar, campaign.get_absolute_url())
    assert f"/reports/?campaign={campaign.pk}" in text_of(signed_in(cast.bob), campaign.get_absolute_url())
    answer = oscar.post(address, follow=True)
    page = answer.content.decode()
    assert answer.redirect_chain[-1][0] == Report.objects.get().get_absolute_url()
    for words in ("What was measured on", "data-chart=", "Table 1", "Figure 1", "Freeze as an edition", "kisti01"):
        assert words in page
    assert oscar.post(address, {"language": "ko"}).status_code == 302
    assert oscar.post(address, {"language": "xx"}, follow=True).status_code == 200
    assert set(Report.objects.values_list("language", flat=True)) == {"en", "ko"}
    assert "Windows" in text_of(oscar, f"/reports/?campaign={campaign.pk}")
    assert "No reports yet" in text_of(oscar, "/reports/?campaign=999")


def test_strangers_see_nothing_and_viewers_change_nothing(
    cast: SimpleNamespace, campaign: Campaign, report: Report
) -> None:
    charlie, bob = signed_in(cast.charlie), signed_in(cast.bob)
    own = report.get_absolute_url()
    for address in (own, f"{own}scope/", f"{own}delete/"):
        assert Client().get(address).status_code == 302
        assert charlie.get(address).status_code == 404
    assert "Freeze as an edition" not in text_of(bob, f"{own}?edit=1")
    for name in ("words", "remark", "drop", "move", "own", "freeze", "delete", "scope"):
        assert charlie.post(f"{own}{name}/", {"key": "purpose", "title": "x"}).status_code == 404
        assert (
            bob.post(
                f"{own}{name}/", {"key": "purpose", "title": "x", "order": "purpose", "up": "purpose"}
            ).status_code
            == 403
        )
    assert charlie.post(f"/reports/campaigns/{campaign.pk}/").status_code == 404
    assert bob.post(f"/reports/campaigns/{campaign.pk}/").status_code == 403
    report.refresh_from_db()
    assert report.edits == {}


def test_an_author_changes_words_order_and_sections_in_place(cast: SimpleNamespace, report: Report) -> None:
    oscar, own = signed_in(cast.oscar), report.get_absolute_url()
    assert f'action="{own}words/"' in text_of(oscar, f"{own}?edit=1")
    oscar.post(f"{own}words/", {"key": "purpose", "text": "To <see>."})
    oscar.post(f"{own}remark/", {"key": "method", "text": "By night."})
    oscar.post(f"{own}drop/", {"key": "links"})
    oscar.post(f"{own}own/", {"title": "Thanks", "text": "To all."})
    oscar.post(f"{own}own/", {"key": "own-1", "title": "Many thanks", "text": "To all."})
    oscar.post(f"{own}own/", {"title": "Gone", "text": ""})
    oscar.post(f"{own}own/", {"key": "own-2", "remove": "yes"})
    oscar.post(f"{own}move/", {"order": ["purpose", "testbed"], "down": "purpose"})
    report.refresh_from_db()
    assert report.edits == {
        "words": {"purpose": "To <see>."},
        "remarks": {"method": "By night."},
        "dropped": ["links"],
        "own": [{"key": "own-1", "title": "Many thanks", "text": "To all."}],
        "order": ["testbed", "purpose"],
    }
    page = text_of(oscar, f"{own}?edit=1")
    assert "To &lt;see&gt;." in page
    assert page.index("By night.") < page.index("Many thanks</h2>")
    assert 'id="block-links"' not in page
    assert "Bring back" in page
    oscar.post(f"{own}words/", {"key": "purpose", "restore": "yes", "text": "x"})
    oscar.post(f"{own}drop/", {"key": "links", "back": "yes"})
    oscar.post(f"{own}remark/", {"key": "method", "text": " "})
    report.refresh_from_db()
    assert report.edits.keys() == {"own", "order"}


def test_what_cannot_be_changed_is_told_on_the_page(cast: SimpleNamespace, report: Report) -> None:
    oscar, own = signed_in(cast.oscar), report.get_absolute_url()
    for name, data, told in (
        ("words", {"key": "purpose", "text": "x" * 20_001}, "too long"),
        ("words", {"key": "", "text": "x"}, "keys of paragraphs"),
        ("own", {"title": " ", "text": "x"}, "needs a title"),
        ("own", {"key": "own-9", "title": "x"}, "no such section"),
        ("move", {"order": ["purpose"], "up": "nothing"}, "no such section"),
        ("freeze", {"note": "x" * 301}, "at most 300"),
    ):
        answer = oscar.post(f"{own}{name}/", data)
        assert answer.status_code == 302
        assert told in " ".join(map(str, get_messages(answer.wsgi_request)))
    report.refresh_from_db()
    assert report.edits == {}


def test_contents_are_a_baseline_further_campaigns_and_saved_views(
    cast: SimpleNamespace, campaign: Campaign, report: Report
) -> None:
    oscar, own = signed_in(cast.oscar), report.get_absolute_url()
    view = SavedView.objects.create(team=cast.team, name="All windows", query=f"set=campaign:{campaign.pk}")
    other = measured.make.launched(cast, *measured.make.nodes(cast.team, "a", "b"), name="Other")
    theirs = Campaign.objects.create(team=cast.other_team, name="Theirs", launched_at=measured.make.NOW)
    assert "All windows" in text_of(oscar, f"{own}scope/")
    data = {"title": "Ours", "baseline": other.pk, "also": [other.pk], "views": [view.pk]}
    assert oscar.post(f"{own}scope/", data).status_code == 302
    report.refresh_from_db()
    assert (report.baseline, report.selection) == (other, {"also": [other.permanent_id]})
    assert report.edits == {"title": "Ours", "views": [view.pk]}
    assert report.title == "Ours"
    page = text_of(oscar, own)
    assert "Further comparisons" in page
    assert "Compared with a baseline" in page
    assert oscar.post(f"{own}scope/", {**data, "baseline": theirs.pk}).status_code == 200
    report.refresh_from_db()
    assert report.baseline == other


def test_an_edition_is_frozen_shown_with_its_checksum_and_given_to_the_byte(
    cast: SimpleNamespace, campaign: Campaign, report: Report
) -> None:
    oscar, own = signed_in(cast.oscar), report.get_absolute_url()
    answer = oscar.post(f"{own}freeze/", {"note": "The first"}, follow=True)
    made = Edition.objects.get()
    page = answer.content.decode()
    for words in (made.permanent_id, made.checksum, "The first", "Trials of windows"):
        assert words in page
    assert oscar.get(f"{made.get_absolute_url()}document.json").content.decode() == made.canonical
    assert oscar.post(f"{own}delete/").status_code == 302
    assert Report.objects.exists()
    # A team that the campaign is shared with reads it, too.
    listed = f"/reports/?campaign={campaign.pk}"
    assert made.get_absolute_url() not in text_of(signed_in(cast.charlie), listed)
    share(campaign, cast.other_team)
    assert made.get_absolute_url() in text_of(signed_in(cast.charlie), listed)
    assert signed_in(cast.charlie).get(made.get_absolute_url()).status_code == 200
    # A stranger reads it once the campaign is public with its names.
    for client in (Client(), signed_in(cast.charlie)):
        Campaign.objects.update(visibility="team")
        assert client.get(made.get_absolute_url()).status_code == 404
        Campaign.objects.update(visibility="public", redacted=True)
        assert client.get(made.get_absolute_url()).status_code == 404
        Campaign.objects.update(visibility="public", redacted=False)
        assert client.get(made.get_absolute_url()).status_code == 200
        assert client.get(f"{made.get_absolute_url()}document.json").status_code == 200
    Campaign.objects.update(visibility="private", created_by=cast.oscar)
    assert signed_in(cast.bob).get(made.get_absolute_url()).status_code == 404
    assert signed_in(cast.bob).get(own).status_code == 404
    assert oscar.get("/reports/editions/%00/").status_code == 404


def test_a_report_never_frozen_is_deleted_once_that_is_confirmed(cast: SimpleNamespace, report: Report) -> None:
    oscar, own = signed_in(cast.oscar), report.get_absolute_url()
    assert "The campaign and its results stay." in text_of(oscar, f"{own}delete/")
    assert oscar.post(f"{own}delete/").status_code == 302
    assert not Report.objects.exists()


def test_references_lead_to_what_they_name_for_those_who_may_see_it(
    cast: SimpleNamespace, campaign: Campaign, report: Report
) -> None:
    trial = campaign.trials.get(position=3)
    address = f"/ref/trial:{campaign.permanent_id}/0/3"
    assert address in text_of(signed_in(cast.bob), services.freeze_report(
        report=report, user=cast.oscar, now=measured.make.NOW
    ).get_absolute_url())  # fmt: skip
    assert signed_in(cast.bob).get(address).url == f"/results/trials/{trial.pk}/"
    assert signed_in(cast.charlie).get(address).status_code == 404
    for wrong in ("nothing", "trial:x/1", "https://elsewhere.example/", "finding:%00/1"):
        assert signed_in(cast.bob).get(f"/ref/{wrong}").status_code == 404


def test_words_of_strangers_in_an_edition_are_harmless(cast: SimpleNamespace, report: Report) -> None:
    document = replace(documents.document(), rests_on=("campaign:x", "", "\n", "javascript:alert(1)"))
    edition = services.keep_edition(report=report, document=document, user=cast.oscar, now=measured.make.NOW)
    page = text_of(signed_in(cast.bob), edition.get_absolute_url())
    assert "Rates &lt;by&gt; client &amp; direction" in page
    assert "4 more rows are in the files only." in page
    assert 'href="javascript:' not in page
    # A drawing is a picture: whatever stands in it does not run.
    assert "<svg" not in page.partition('<article class="report"')[2].partition("</article>")[0]
    assert 'src="data:image/svg+xml;base64,' in page


def test_the_list_asks_the_database_as_often_for_many_as_for_one(cast: SimpleNamespace, report: Report) -> None:
    bob = signed_in(cast.bob)
    bob.get("/reports/")
    counts = []
    for _round in range(2):
        with CaptureQueriesContext(connection) as found:
            assert bob.get("/reports/").status_code == 200
        counts.append(len(found))
        for number in range(3):
            Report.objects.create(team=cast.team, language="en", title=f"Report {number}")
    assert counts[0] == counts[1] <= 12
