"""A level begins between two numbers measured: what names the upper one says that it is the latest."""

import itertools
import random

import pytest

from apps.bench.rules import mpi, storage, workloads
from tests.bench.rules.storing import GPFS, sweep
from tests.bench.rules.test_mpi import pairs
from tests.reports import mutations

COUNTS = [(1, 2, 3, 4, 5, 6), (1, 2, 4, 8, 16), (1, 3, 9, 10, 11), (2, 4, 8, 9)]
CLIENTS = tuple(f"c{number}" for number in range(1, 17))


def rates_of(counts, bend):
    return {count: [min(count, bend) * 20 * part for part in (0.995, 1, 1.005)] for count in counts}


def drafts_of(counts, bend):
    rates = rates_of(counts, bend)
    for factor, nodes, fixed in (("clients", CLIENTS, {"threads": 1}), ("threads", CLIENTS[:1], {})):
        evidence = sweep(factor, rates, file_system="fs", clients=nodes, **fixed).evidence(GPFS, paths={})
        yield from (*storage.overview(evidence), *workloads.overview(evidence))
    yield from mpi.overview(pairs({count: values[1] for count, values in rates.items()}))


@pytest.mark.parametrize(("counts", "bend"), [*itertools.product(COUNTS, (2, 4, 6, 8))])
def test_a_number_from_which_on_there_is_no_more_is_the_latest(counts, bend):
    for draft in drafts_of(counts, bend):
        title = str(draft.title)
        if "saturates at" not in title and not title.startswith("From "):
            continue
        knee = float(draft.title.params.get("count") or draft.title.params["knee"])
        below = max((count for count in counts if count < knee), default=knee)
        limits = [str(limit) for limit in draft.limits if "at the latest" in str(limit)]
        assert bool(limits) == (knee - below > 1), title
        assert all(f"between {below:g} and {knee:g} " in text for text in limits)


def test_some_of_these_level_off():
    titles = [str(draft.title) for counts in COUNTS for draft in drafts_of(counts, 4)]
    assert any("saturates at" in title for title in titles)
    assert any(title.startswith("From ") for title in titles)


def test_a_sentence_of_a_report_names_the_latest():
    sentences = [sentence for seed in range(20) for sentence in mutations.of_plateau(random.Random(seed))[1]]
    levels = [sentence.text for sentence in sentences if sentence.claim.relation == "levels-off"]
    assert levels
    assert all("at the latest" in text for text in levels)
