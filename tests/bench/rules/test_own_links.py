"""One client is held against its own link before it is called poorly served; more clients bring links of theirs."""

import itertools
import math
import re

import pytest

from apps.bench import curve, network
from apps.bench.rules import layers, storage, workloads
from apps.bench.rules.base import Evidence, FileSystemFacts, LinkFacts, PathFacts
from tests.bench.rules.storing import GPFS, SERVERS, sweep

NICS, WANS, SHARES, COUNTS = (1e9, 1e10), (1e10, 4e10), (0.15, 0.35, 0.7, 0.88, 0.97), (4, 8)
WORLDS = list(itertools.product(NICS, WANS, SHARES, COUNTS))
# There the path itself is not full.
ROOMY = [(nic, wan, share, most) for nic, wan, share, most in WORLDS if most * share * nic <= 0.85 * wan]
LESS = re.compile(r"it takes (\d+) or more")


def carried(link: float) -> float:
    return link * network.tcp_efficiency(1500) / 8


def lines_of(nic: float, wan: float, share: float, most: int, *, linked: bool = True) -> list[str]:
    """Return what is said of clients that have a share of their own links each, over a path that all share."""
    names = tuple(f"c{number}" for number in range(1, most + 1))
    counts = [count for count in (1, 2, 4, 8) if count <= most]
    rates = {n: [n * share * carried(nic) / 1e6 * noise for noise in (0.997, 1, 1.003)] for n in counts}
    paths = {}
    for client, server in itertools.product(names, SERVERS):
        links = (
            LinkFacts(f"{client} - A", nic, 0, 1500),
            LinkFacts("A - B", wan, 0.001, 1500),
            LinkFacts(f"B - {server}", 4e10, 0, 1500),
        )
        paths[client, server] = PathFacts(min(nic, wan), 0.001, 1500, links, "A - B")
    evidence = sweep("clients", rates, clients=names, threads=1).evidence(GPFS, paths=paths if linked else {})
    drafts = [*storage.overview(evidence), *workloads.overview(evidence)]
    return [str(line) for draft in drafts for line in (draft.title, *draft.why)]


@pytest.mark.parametrize("linked", [True, False], ids=["linked", "unknown"])
@pytest.mark.parametrize(("nic", "wan", "share", "most"), ROOMY)
def test_a_client_is_poorly_served_only_below_half_of_its_own_link(nic, wan, share, most, linked):
    poor = [line for line in lines_of(nic, wan, share, most, linked=linked) if "poor" in line]
    assert bool(poor) is (linked and share < 0.5), poor


@pytest.mark.parametrize(("nic", "wan", "share", "most"), WORLDS)
def test_more_clients_fill_what_all_share_and_not_the_links_of_those_measured(nic, wan, share, most):
    numbers = [int(match[1]) for line in lines_of(nic, wan, share, most) if (match := LESS.search(line))]
    assert set(numbers) <= {math.ceil(carried(wan) / (share * carried(nic)))}


def test_without_a_link_in_common_nobody_knows_how_many_fill_it():
    """Of NFS from several servers each client may have one of its own."""
    facts = FileSystemFacts(GPFS.name, "nfs", None, SERVERS)
    names = tuple(f"c{number}" for number in range(1, 5))
    make = sweep("clients", {n: [20 * n] * 3 for n in (1, 2, 4)}, clients=names, threads=1)
    lines = [str(line) for draft in storage.overview(make.evidence(facts)) for line in draft.why]
    assert not any(LESS.search(line) for line in lines)


MODES = {"one": (20, 20.3, 19.8, 20.1, 19.9), "two": (20, 6, 20.2, 6.1, 19.8)}


def growing(kind: str, times: int = 1) -> Evidence:
    """Return one to four clients, each number five times; of two modes the lower is met at some of each."""
    names = tuple(f"c{number}" for number in range(1, 5))
    rates = {n: [share * n for share in MODES[kind] * times] for n in (1, 2, 3, 4)}
    return sweep("clients", rates, clients=names, threads=1).evidence(GPFS, clients=names)


@pytest.mark.parametrize("kind", MODES)
def test_of_two_modes_the_one_that_is_meant_is_named(kind):
    (draft,) = [item for item in workloads.overview(growing(kind)) if item.rule == "workload-nodes"]
    assert ("two modes" in str(draft.why[0]) and "lower one" in str(draft.why[0])) is (kind == "two")


@pytest.mark.parametrize("kind", MODES)
def test_modes_that_no_setting_has_figures_enough_to_show_are_told_of_all_together(kind):
    findings = [item for item in storage.overview(growing(kind)) if item.rule == "storage-modes"]
    assert [round(item.value) for item in findings] == ([30] if kind == "two" else [])
    assert not findings or "8 of 20" in str(findings[0].why[0])


def test_modes_of_one_setting_stand_in_the_finding_on_its_layer_alone():
    evidence = growing("two", times=2)
    assert not [item for item in storage.overview(evidence) if item.rule == "storage-modes"]
    assert any(verdict.high for verdict in layers.judge_all(evidence))


@pytest.mark.parametrize("kind", MODES)
def test_a_caption_tests_no_means_of_two_modes(kind):
    groups = [[share * n for share in MODES[kind]] for n in (1, 2, 3, 4)]
    proofs = [curve.read_curve((1, 2, 3, 4), groups).proof, curve.read_places(groups).proof]
    assert all((proof.test is curve.ProofTest.MODES) is (kind == "two") for proof in proofs)
    assert all(("two modes" in str(proof.message)) is (kind == "two") for proof in proofs)
