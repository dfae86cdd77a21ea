"""What an author changes of a report lies over what is built: every rebuild keeps it."""

from types import SimpleNamespace

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404
from django.utils import timezone

from apps.campaigns.models import Campaign
from apps.comparison.models import SavedView
from apps.reports import author_edits, drafts, services
from apps.reports.document import Document, Figure, Paragraph, walk
from apps.reports.models import Report
from tests import rewriting
from tests.comparison.comparisons import conftest as measured
from tests.reports import documents
from tests.tuning.breaking import ended

EDITS = {
    "title": "Ours",
    "words": {"purpose": "First.\n\nSecond.", "gone": "waits"},
    "dropped": ["windows"],
    "order": ["own-1", "experiments", "purpose"],
    "remarks": {"experiment-1": "Mind the date."},
    "own": [{"key": "own-1", "title": "Thanks", "text": "To all <b>of</b> you."}],
}


def texts_of(document: Document) -> list[str]:
    return [str(part) for block in walk(document) if isinstance(block, Paragraph) for part in block.parts]


def test_edits_replace_words_and_order_and_drop_add_and_remark() -> None:
    document = author_edits.apply(documents.document(), author_edits.check(EDITS))
    assert document.title == "Ours"
    assert [section.key for section in document.sections] == ["own-1", "experiments", "purpose"]
    texts = texts_of(document)
    assert {"First.", "Second.", "Mind the date.", "To all <b>of</b> you."} <= set(texts)
    assert "Why & what." not in texts
    assert not [block for block in walk(document) if isinstance(block, Figure)]
    figure = next(
        block
        for block in walk(author_edits.apply(documents.document(), {"words": {"windows": "Look."}}))
        if isinstance(block, Figure)
    )
    assert figure.sentence == "Look."
    styles = {str(block.parts[0]): block.style for block in walk(document) if isinstance(block, Paragraph)}
    assert styles["Mind the date."] == "remark"
    assert author_edits.apply(documents.document(), {}) == documents.document()


def test_a_section_that_an_order_does_not_know_stays_behind_its_neighbour() -> None:
    order = ["experiments"]
    keys = [section.key for section in author_edits.apply(documents.document(), {"order": order}).sections]
    assert keys == ["purpose", "experiments"]
    keys = [
        section.key
        for section in author_edits.apply(documents.document(), {"order": ["experiments", "purpose"]}).sections
    ]
    assert keys == ["experiments", "purpose"]


MANY = "x\n\n" * 6000
HEAP = "a" + "\u0301" * (author_edits.MOST_MARKS + 1)
LONG = "x" * author_edits.LONGEST_TEXT


@pytest.mark.parametrize("text", [MANY, LONG])
def test_an_author_s_texts_are_bounded_together_wherever_they_stand(text: str) -> None:
    texts = {f"p{number}": text for number in range(26)}
    own = [{"key": f"own-{number}", "title": "t", "text": text} for number in range(26)]
    half = len(own) // 2
    for edits in (
        {"words": texts},
        {"remarks": texts},
        {"own": own},
        {"words": dict(list(texts.items())[:half]), "own": own[:half]},
    ):
        with pytest.raises(ValidationError, match=r"500,000 characters and 5,000 paragraphs"):
            author_edits.check(edits)
    author_edits.check({"own": [item | {"text": item["text"][:2000]} for item in own[:2]]})


@pytest.mark.parametrize("name", ["title", "words", "remarks", "own"])
def test_a_heap_of_accents_is_refused_and_writing_is_not(name: str) -> None:
    for text, is_fine in ((HEAP, False), (HEAP[:-1], True), ("नमस्ते ṩ̣̇ ภาษาไทย 한글", True)):
        values = {
            "title": text,
            "words": {"p": text},
            "remarks": {"p": text},
            "own": [{"key": "own-1", "title": text, "text": "x"}, {"key": "own-2", "title": "t", "text": text}],
        }
        if is_fine:
            author_edits.check({name: values[name]})
            continue
        with pytest.raises(ValidationError) as refusal:
            author_edits.check({name: values[name]})
        assert list(refusal.value.message_dict) == [f"edits.{name}"]


@pytest.mark.parametrize(
    ("edits", "field"),
    [
        ([], "edits"),
        ({"colour": "red"}, "edits"),
        ({"title": 5}, "edits.title"),
        ({"words": {"purpose": "x" * 20_001}}, "edits.words"),
        ({"words": {"": "x"}}, "edits.words"),
        ({"words": {"purpose": "\0"}}, "edits.words"),
        ({"dropped": "purpose"}, "edits.dropped"),
        ({"order": [1]}, "edits.order"),
        ({"remarks": ["x"]}, "edits.remarks"),
        ({"own": [{"key": "purpose", "title": "T", "text": ""}]}, "edits.own"),
        ({"own": [{"key": "own-1", "title": "T", "text": ""}] * 2}, "edits.own"),
        ({"own": [5]}, "edits.own"),
        ({"views": [0]}, "edits.views"),
        ({"views": [True]}, "edits.views"),
    ],
)
def test_edits_that_are_none_are_refused_by_their_names(edits: object, field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        author_edits.check(edits)
    assert list(caught.value.message_dict) == [field]


@pytest.fixture
def after(cast: SimpleNamespace) -> Campaign:
    """Return a campaign of 32 trials."""
    a, b = measured.make.nodes(cast.team, "kisti01", "pnu01")
    measured.make.link(a, b, "WAN")
    return ended(measured.swept(cast, [a, b], "After"))


@pytest.fixture
def report(cast: SimpleNamespace, after: Campaign) -> Report:
    """Return the English report of the campaign."""
    return services.begin_report(campaign=after, user=cast.oscar, language="en")


def test_a_rebuild_keeps_the_edits_and_an_edition_keeps_what_was(
    cast: SimpleNamespace, after: Campaign, report: Report
) -> None:
    assert services.begin_report(campaign=after, user=cast.alice, language="en") == report
    services.edit_report(report=report, user=cast.oscar, edits={"words": {"purpose": "To see."}})
    report.refresh_from_db()
    first = services.freeze_report(report=report, user=cast.oscar, now=timezone.now(), note=" The first ")
    assert first.note == "The first"
    rewriting.update(after.trials.get(position=5).results.get().samples.filter(metric="goodput"), value=1e6)
    second = services.freeze_report(report=report, user=cast.oscar, now=timezone.now())
    assert (first.number, second.number) == (1, 2)
    assert first.checksum != second.checksum
    assert "To see." in texts_of(first.document)
    assert "To see." in texts_of(second.document)
    assert first.rests_on[:2] == [f"campaign:{after.permanent_id}", f"experiment:{after.permanent_id}/0"]
    with pytest.raises(ValidationError):
        services.delete_report(report=report, user=cast.oscar)


def test_saved_views_stand_before_the_conclusion_and_one_that_is_gone_is_left_out(
    cast: SimpleNamespace, after: Campaign, report: Report
) -> None:
    view = SavedView.objects.create(team=cast.team, name="By window", query=f"set=campaign:{after.pk}&by=streams")
    broken = SavedView.objects.create(team=cast.team, name="Broken", query="set=nonsense")
    report.edits = {"views": [view.pk, broken.pk, 999_999]}
    document = drafts.build(report, cast.oscar)
    keys = [section.key for section in document.sections]
    assert keys.index("views") == keys.index("conclusion") - 1
    section = document.sections[keys.index("views")]
    assert [part.title for part in section.sections] == ["By window", "Broken"]
    assert isinstance(section.sections[0].blocks[0], Figure)
    assert isinstance(section.sections[1].blocks[0], Paragraph)


def test_further_campaigns_and_the_baseline_are_those_that_the_author_sees(
    cast: SimpleNamespace, after: Campaign, report: Report
) -> None:
    private = Campaign.objects.create(team=cast.other_team, name="Theirs", created_by=cast.charlie)
    for choice in ({"baseline": private, "also": []}, {"baseline": None, "also": [private]}):
        with pytest.raises(ValidationError):
            services.set_scope(report=report, user=cast.oscar, **choice)
    more = Campaign.objects.create(team=cast.team, name="More", goal="To know.", created_by=cast.oscar)
    services.set_scope(report=report, user=cast.oscar, baseline=more, also=[more, after])
    assert report.selection == {"also": [more.permanent_id]}
    document = drafts.build(report, cast.bob, trials=False)
    assert ": To know." in texts_of(document)
    assert [section.key for section in document.sections][-1] == "conclusion"
    Campaign.objects.filter(pk=more.pk).update(visibility="private", created_by=cast.alice)
    assert ": To know." not in texts_of(drafts.build(report, cast.bob))


def test_only_operators_of_the_team_change_a_report(cast: SimpleNamespace, after: Campaign, report: Report) -> None:
    for user, error in ((cast.bob, PermissionDenied), (cast.charlie, Http404)):
        with pytest.raises(error):
            services.begin_report(campaign=after, user=user, language="ko")
        with pytest.raises(error):
            services.edit_report(report=report, user=user, edits={})
        with pytest.raises(error):
            services.freeze_report(report=report, user=user, now=timezone.now())
        with pytest.raises(error):
            services.delete_report(report=report, user=user)
    services.delete_report(report=report, user=cast.oscar)
    assert not Report.objects.exists()


def test_a_report_of_a_campaign_that_is_gone_keeps_its_editions(
    cast: SimpleNamespace, after: Campaign, report: Report
) -> None:
    kept = services.freeze_report(report=report, user=cast.oscar, now=timezone.now())
    rewriting.delete(after)
    report.refresh_from_db()
    assert report.campaign is None
    with pytest.raises(ValidationError):
        drafts.build(report, cast.oscar)
    assert report.editions.get().checksum == kept.checksum
