"""What is known of less is said with no more certainty: marking trials invalid makes no statement surer."""

import dataclasses
import itertools

import pytest

from apps.bench import rules
from apps.bench.rules.base import DISK, NETWORK
from tests.bench.rules.cases import Maker, evidence
from tests.bench.rules.storing import GPFS, MB, SAN, Storing, polarised
from tests.bench.rules.test_folding import RATES, slow_path
from tests.bench.rules.test_layers import lan

DISKS = {"write": 264 * MB, "read": 354 * MB}
STREAMS = {1: [160, 161], 2: [320, 321], 4: [640, 641], 8: [700, 701], 16: [701, 700]}
WORDS = {"network": "The network is", "disks": "The disks are", "file system": "GPFS"}
NEEDED = {"network": {NETWORK}, "disks": {DISK}, "file system": {NETWORK, DISK}}
CONDITIONS = "if what lies beneath", "is described to"


def of_one_rate(rate, *, is_in_turn):
    """Return a file system that gave so much (MB/s), with all that lies beneath measured alone and described."""
    make = Storing().io("GPFS_PDAISY", write=[rate * MB] * 3, read=[rate * 0.98 * MB, rate * MB, rate * MB])
    make.tcp("KGFS01", "PGFS01", [980, 981, 979], direction="forward", streams=5)
    make.tcp("KGFS01", "PGFS01", [970, 971, 969], direction="reverse", streams=5)
    make.disk("SAN", "PGFS01", **{name: [value] * 3 for name, value in DISKS.items()})
    for place, point in enumerate(make.points):
        when = {} if is_in_turn else {"at": 1.7e9 - 1000.0 * place, "experiment": place + 1}
        make.points[place] = dataclasses.replace(point, **when)
    return make.evidence(GPFS, SAN)


def described(measurements):
    """Return evidence in which somebody wrote what the disks of each file system give, too."""
    systems = {
        name: dataclasses.replace(facts, disk_rates=DISKS) if facts.kind != "ext" else facts
        for name, facts in measurements.file_systems.items()
    }
    return dataclasses.replace(measurements, file_systems=systems)


STORAGE = {
    "polarised": polarised,
    "polarised, no other": lambda: polarised(nfs=None, hexa=None),
    "LAN": lan,
    "LAN, full disks": lambda: lan(gpfs=430 * MB, ext3=450 * MB, tasks=4),
    **{
        f"{rate} MB/s, in turn: {turn}": lambda rate=rate, turn=turn: of_one_rate(rate, is_in_turn=turn)
        for rate in (13, 28, 60, 85, 100, 115, 118, 122)
        for turn in (False, True)
    },
}
PATHS = {
    "all": lambda make: slow_path(make),
    "windows": lambda make: evidence([make.ping(0.0048), *make.window_sweep(RATES)]),
    "streams": lambda make: evidence([make.ping(0.0048), *make.stream_sweep(STREAMS)]),
    "recorded": lambda make: evidence(
        [make.ping(0.004788), *make.recorded("winsweep_pnu"), *make.recorded("streamsweep_pnu")]
    ),
}


def said(ask, measurements):
    return {(draft.rule, draft.subject): draft for answer in ask(measurements) for draft in answer.drafts}


def with_less(measurements, most):
    """Yield the evidence without each of up to so many of its points together, as where those are marked invalid."""
    for count in range(1, most + 1):
        for gone in itertools.combinations(measurements.points, count):
            left = tuple(point for point in measurements.points if point not in gone)
            yield dataclasses.replace(measurements, points=left)


def surer(ask, measurements, most):
    """Return what is said alike of less evidence, and with more confidence."""
    before = said(ask, measurements)
    return [
        f"{key}: {before[key].confidence} became {draft.confidence}"
        for less in with_less(measurements, most)
        for key, draft in said(ask, less).items()
        if key in before and draft.kind == before[key].kind and draft.confidence > before[key].confidence
    ]


@pytest.mark.parametrize("name", PATHS)
def test_no_rule_of_a_path_is_surer_of_less(name):
    assert surer(rules.ask_ends, PATHS[name](Maker()), 1) == []


@pytest.mark.parametrize("name", STORAGE)
def test_no_rule_of_files_is_surer_of_less(name):
    assert surer(rules.ask_whole, described(STORAGE[name]()), 3) == []


@pytest.mark.parametrize("name", STORAGE)
def test_a_layer_is_blamed_without_a_condition_only_where_those_beneath_were_measured(name):
    whole = described(STORAGE[name]())
    for measurements in (whole, *with_less(whole, 3)):
        for draft in said(rules.ask_whole, measurements).values():
            if draft.rule != "limiting-layer" or any(words in str(draft.title) for words in CONDITIONS):
                continue
            resting = {
                point.layer
                for point in measurements.points
                if any({*draft.evidence} & {*trials} for trials in point.metrics.values())
            }
            blamed = next(word for word in ("network", "disks", "file system") if WORDS[word] in str(draft.title))
            assert resting >= NEEDED[blamed], str(draft.title)
