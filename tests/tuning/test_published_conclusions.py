"""The rules reach what the authors of each published case conclude, for its reason, and only on its evidence.

Each case is imported as it is, then once for each way in which its evidence is taken away or contradicted: one file
holds one such change of every case, so that few imports show all of them.
"""

import copy
import re
from collections.abc import Callable

import pytest
from django.db import transaction

from apps.results.models import Result
from apps.tuning import services
from tests import factories, rewriting, sayings
from tests.tuning import published
from tests.tuning.expected import EXPECTED, Json

# One process asks once for all of them.
pytestmark = pytest.mark.xdist_group("published-conclusions")


def changed(name: str, change: Json | Callable[[Json], object]) -> Json:
    """Return a case with its evidence taken away or contradicted."""
    if not callable(change):
        return published.case(name, **change)
    made = copy.deepcopy(published.CASES[name])
    change(made)
    return made


_known: dict[int, list[Json]] = {}


@pytest.fixture
def concluded(db: None) -> Callable[[int], list[Json]]:
    """Return what the rules say: of the file as it is (-1), or with the n-th change of each case that has one.

    They are asked once in a process, and what they stored is not kept.
    """

    def ask(number: int) -> list[Json]:
        if number not in _known:
            cases = [
                changed(name, list(expected.broken.values())[number]) if number >= 0 else published.CASES[name]
                for name, expected in EXPECTED.items()
                if number < len(expected.broken)
            ]
            with transaction.atomic():
                _known[number] = published.concluded(factories.team(), *cases)
                transaction.set_rollback(True)
        return _known[number]

    return ask


def test_every_case_has_its_expectation() -> None:
    assert list(EXPECTED) == list(published.CASES)
    assert all(expected.broken for expected in EXPECTED.values())


@pytest.mark.parametrize("name", EXPECTED)
def test_the_authors_conclusion_is_reached(name: str, concluded: Callable[[int], list[Json]]) -> None:
    own = [finding for finding in concluded(-1) if finding["case"] == name]
    for claim in EXPECTED[name].claims:
        made = [finding for finding in own if claim.is_made(finding)]
        assert made, (
            claim,
            [(finding["rule"], finding["kind"], finding["title"], finding["value"]) for finding in own],
        )
        for finding in made:
            assert finding["evidence"]
            assert 0.4 <= finding["confidence"] <= 0.95
            assert finding["applies_when"]


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if expected.alternatives])
def test_the_other_explanations_stand_beside_it_in_order(name: str, concluded: Callable[[int], list[Json]]) -> None:
    expected = EXPECTED[name]
    made = next(item for item in concluded(-1) if item["case"] == name and expected.claims[0].is_made(item))
    titles = [alternative["title"] for alternative in made["alternatives"]]
    places = [
        next((place for place, title in enumerate(titles) if re.search(wanted, title)), None)
        for wanted in expected.alternatives
    ]
    assert None not in places, titles
    assert places == sorted(places), titles
    # Each says which experiment would decide.
    assert all(alternative["test"] for alternative in made["alternatives"])


@pytest.mark.parametrize(
    ("name", "number"),
    [(name, number) for name, expected in EXPECTED.items() for number in range(len(expected.broken))],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_it_is_not_reached_without_its_evidence_or_against_it(
    name: str, number: int, concluded: Callable[[int], list[Json]]
) -> None:
    expected = EXPECTED[name]
    label = list(expected.broken)[number]
    own = [finding for finding in concluded(number) if finding["case"] == name]
    for place in expected.only.get(label, range(len(expected.claims))):
        made = [(item["title"], item["why"]) for item in own if expected.claims[place].is_made(item)]
        assert not made, label


# What a judge saw in all runs of a case, and the claims that this takes the ground from.
FLAGGED = {
    "window-limited": ("processor-full", (0,)),
    "pdaisy-server-polarised": ("processor-full", (0,)),
    "knu-caltech-udp": ("receive-buffer-full", (0,)),
}


@pytest.mark.parametrize("name", FLAGGED)
def test_it_is_not_reached_by_figures_that_an_end_held(db: None, name: str) -> None:
    flag, claims = FLAGGED[name]
    with transaction.atomic():
        done = published.load(factories.team(), published.case(name))
        told = {"name": flag, "severity": "warning", "message": {"msgid": "x", "params": {}}, "metrics": []}
        rewriting.update(Result.objects, flags=[told])
        for campaign in done.created:
            services.refresh_findings(campaign=campaign)
        found = published.findings()
        transaction.set_rollback(True)
    for place in claims:
        assert not [item["title"] for item in found if EXPECTED[name].claims[place].is_made(item)]
    # It stands beside the figures that it is of.
    assert any(flag in item.get("flags", ()) for record in found for item in record["evidence"]) or not found


def test_nothing_measured_here_is_doubted_because_a_figure_is_only_about_so_much(
    concluded: Callable[[int], list[Json]],
) -> None:
    # That a layer is not decided is no doubt in a figure.
    found = [item for item in concluded(-1) if item["kind"] == "doubt" and item["rule"] != "undecided-layer"]
    doubts = {(item["case"], item["rule"]) for item in found}
    # The report itself prints NFS writing faster than the disk behind it.
    assert doubts == {("pdaisy-server-polarised", "cache-effect")}


def test_no_sentence_about_a_published_case_has_an_empty_place(concluded: Callable[[int], list[Json]]) -> None:
    read = 0
    for number in range(-1, max(len(expected.broken) for expected in EXPECTED.values())):
        for finding in concluded(number):
            texts = [finding["title"], *finding["why"], *finding["against"], *finding["limits"], *finding["missing"]]
            texts += [text for other in finding["alternatives"] for text in (other["title"], other["test"])]
            read += len(texts)
            assert not [fault for text in texts for fault in sayings.faults_of_text(text)], finding["rule"]
    assert read > 100
