"""What a client of GPFS must be allowed: sized by what network and disks give, and silent where it surely is."""

import dataclasses

import pytest

from apps.bench.rules.base import MODE
from tests.bench.rules.storing import CLIENTS, GPFS, MB, SAN, Storing, concluded, polarised, the

RULE = "storage-gpfs-client"


def with_options(**options):
    measurements = polarised()
    facts = dataclasses.replace(measurements.file_systems["GPFS_PDAISY"], options=options)
    return dataclasses.replace(measurements, file_systems={**measurements.file_systems, "GPFS_PDAISY": facts})


def test_what_is_set_is_unknown_then_the_least_is_told_with_little_confidence():
    draft = the(polarised(), RULE)
    # 122.5 MB/s of the network alone, less than the disks' 264 MB/s.
    assert "at least maxMBpS 245, pagepool 1 MiB" in str(draft.title)
    # A line that sets what nobody knows could lower it.
    assert (draft.change, draft.undo) == ("", "")
    # 122.5 MB/s x 4.8 ms are 588,000 B: three blocks of 256 KiB, and the one that is written.
    assert "= 1,048,576 B" in draft.formula
    assert draft.confidence_label == "low"
    assert "mmlsconfig" in str(draft.missing[0])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_it_gives_is_told_with_the_clients_that_had_it(count):
    make = Storing().io("GPFS_PDAISY", clients=CLIENTS[:count], write=[20 * MB] * 2)
    make.io("GPFS_PDAISY", clients=CLIENTS, write=[60 * MB] * 2, statistic=MODE)
    make.tcp("KGFS01", "PGFS01", [980, 981], direction="forward", streams=5)
    make.disk("SAN", "PGFS01", write=[264 * MB, 265 * MB])
    draft = the(make.evidence(GPFS, SAN), RULE)
    assert f"in all with {draft.why[0].params['count']} of them" in str(draft.why[0])
    own = [point for point in make.points if {*draft.evidence} & {*point.metrics.get("write", ())}]
    assert {len(point.roles["client"]) for point in own} == {draft.why[0].params["count"]}


def test_a_limit_below_twice_the_rate_is_raised_and_put_back():
    draft = the(with_options(maxMBpS=150, pagepool=64 * 1024**2), RULE)
    assert draft.change == "mmchconfig maxMBpS=245"
    assert draft.undo == "mmchconfig maxMBpS=150"
    assert draft.confidence_label == "medium"
    assert draft.missing == ()


def test_only_what_is_known_is_set_and_the_rest_is_asked_for():
    draft = the(with_options(maxMBpS=150), RULE)
    assert (draft.change, draft.undo) == ("mmchconfig maxMBpS=245", "mmchconfig maxMBpS=150")
    assert "mmlsconfig" in str(draft.missing[0])


def test_it_is_silent_where_enough_is_allowed_or_another_layer_is_the_limit():
    assert concluded(with_options(maxMBpS=2048, pagepool=1024**3), RULE) == {}
    full = Storing().io("GPFS_PDAISY", write=118 * MB).tcp("KGFS01", "PGFS01", 980, direction="forward", streams=5)
    full.disk("SAN", "PGFS01", write=264 * MB)
    assert concluded(full.evidence(GPFS, SAN), RULE) == {}
    alone = Storing().io("GPFS_PDAISY", write=13 * MB)
    assert concluded(alone.evidence(GPFS, paths={}), RULE) == {}
