"""Growth with clients or tasks: many are advised only where what lies beneath leaves room for them."""

import dataclasses
import itertools

import pytest

from apps.bench.rules.base import DIAGNOSIS, LinkFacts, PathFacts
from tests.bench.rules.storing import CLIENTS, MB, NFS, RAID1, concluded, sweep, wan

PROPORTIONAL, BENT, STEEP = {1: 55, 2: 110}, {1: 90, 2: 112}, {1: 20, 2: 40}


def own_links(rate, wide=1e10):
    """Return paths over links of the clients' own (bit/s) to one that all share."""
    links = {client: LinkFacts(f"{client} - switch", rate) for client in CLIENTS}
    wide = LinkFacts("switch - PGFS01", wide)
    return {
        (client, "PGFS01"): PathFacts(rate, 0.0001, 9000, (link, wide), link.name) for client, link in links.items()
    }


SHARED = {(client, "PGFS01"): wan(client, "PGFS01") for client in CLIENTS}
DISKS = {"none": None, "as many": 2, "fewer": 1}


def grown(factor, rates, paths, disk, *, disk_rate=120.0, is_held=False):
    """Return the finding of storage-clients over a factor, with the disks alone measured by so many tasks or not."""
    fixed, clients = ({"threads": 1}, CLIENTS[:2]) if factor == "clients" else ({}, CLIENTS[:1])
    repeated = {count: [0.995 * rate, rate, 1.005 * rate] for count, rate in rates.items()}
    make = sweep(factor, repeated, file_system="NFS_PGFS01", clients=clients, **fixed)
    if is_held:
        make.points[-1] = dataclasses.replace(make.points[-1], warnings=frozenset({"processor-full"}))
    if disk:
        values = {"write": [disk_rate * MB * noise for noise in (0.995, 1, 1.005)]}
        place = {"file_system": "RAID1", "roles": {"client": ("PGFS01",)}}
        make.point("disk", values, threads=disk, record_size=262144, file_size=4 * 1024**3, **place)
    drafts = concluded(make.evidence(NFS, RAID1, paths=paths), "storage-clients")
    (draft,) = drafts.values()
    return draft


CASES = list(
    itertools.product(
        ("clients", "threads"), (PROPORTIONAL, BENT, STEEP), ("shared", "own", "unknown"), DISKS, (False, True)
    )
)


@pytest.mark.parametrize(("factor", "rates", "network", "disk", "is_held"), CASES)
def test_many_are_advised_only_where_all_that_is_known_leaves_room(factor, rates, network, disk, is_held):
    # A link of less than one client had would be a cache's word.
    own = (8e8 if rates is BENT else 5e8) if factor == "clients" else 1e9
    paths = {"shared": SHARED, "own": own_links(own), "unknown": {}}[network]
    draft = grown(factor, rates, paths, DISKS[disk], is_held=is_held)
    # One link of 1 Gbit/s, or two of half as much: the high rates fill them; more clients bring more of the latter.
    is_high = rates is not STEEP
    is_network_full = is_high and (network == "shared" or (network == "own" and factor == "threads"))
    is_disk_full = is_high and disk != "none"
    is_open = not is_network_full and not is_disk_full and rates is not BENT and not (is_held and factor == "threads")
    assert ("do I/O at once" in str(draft.title)) is is_open, (str(draft.title), list(map(str, draft.why)))
    assert draft.is_comparison is is_open
    assert draft.kind == DIAGNOSIS
    is_bounded = "more gain little" in str(draft.title) or "nodes gain little" in str(draft.title)
    if network != "own":
        # What more would gain is told only of a full network, or of disks that were measured with as many at once.
        assert is_bounded is (is_network_full or (is_disk_full and disk == "as many"))


def test_both_are_named_where_network_and_disks_are_full():
    draft = grown("clients", PROPORTIONAL, SHARED, 1)
    reasons = " ".join(map(str, draft.why))
    assert draft.kind == DIAGNOSIS
    assert "that the network carries: nearly all of it" in reasons
    assert "that the disks beneath it gave alone: nearly all of it" in reasons
    assert not draft.proposals


def test_links_of_the_clients_own_are_no_limit_of_more_clients():
    draft = grown("clients", PROPORTIONAL, own_links(5e8), None)
    assert "more clients have links of their own" in " ".join(map(str, draft.why))


def test_a_shared_link_that_the_clients_own_links_just_fill_is_full():
    # As the links of four clients of 10 Gbit/s fill one of 40 Gbit/s.
    draft = grown("clients", PROPORTIONAL, own_links(5e8, wide=1e9), None)
    assert "more gain little" in str(draft.title)
    assert not draft.proposals


@pytest.mark.parametrize(("rate", "is_open"), [(5e8, False), (1e9, True)])
def test_nothing_is_advised_that_full_links_leave_no_room_for_where_nobody_knows_of_others(rate, is_open):
    """Of links that no two clients share nobody can tell whether further clients have such links, too."""
    paths = {
        (client, "PGFS01"): PathFacts(rate, 0.0001, 9000, (LinkFacts(f"{client} - PGFS01", rate),), "own")
        for client in CLIENTS
    }
    draft = grown("clients", PROPORTIONAL, paths, None)
    assert ("do I/O at once" in str(draft.title)) is is_open
    assert any("nearly all that the network carries" in str(line) for line in draft.limits) is not is_open


@pytest.mark.parametrize(("rate", "is_full"), [(1e9, True), (1e10, False)])
def test_more_tasks_share_the_links_of_the_same_nodes(rate, is_full):
    """Whatever further nodes would bring: where one link is full more tasks on its node gain little."""
    link = LinkFacts("own", rate)
    paths = {(CLIENTS[0], "PGFS01"): PathFacts(rate, 0.0001, 9000, (link,), "own")}
    draft = grown("threads", PROPORTIONAL, paths, None)
    assert ("nodes gain little" in str(draft.title)) is is_full
    assert ("do I/O at once" in str(draft.title)) is not is_full


@pytest.mark.parametrize("k", [0.01, 0.05, 0.2, 0.6, 1.3, 2.0, 5.0])
@pytest.mark.parametrize("s", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("factor", ["clients", "threads"])
def test_no_maximum_is_told_below_one_client(factor, s, k):
    law = {
        n: [60 * n / (1 + s * (n - 1) + k * n * (n - 1)) * share for share in (0.999, 1, 1.001)] for n in (1, 2, 3, 4)
    }
    messages = [
        str(line)
        for draft in concluded(sweep(factor, law, file_system=NFS.name).evidence(NFS), "storage-clients").values()
        for line in draft.why
        if "Scalability Law" in str(line)
    ]
    peak = ((1 - s) / k) ** 0.5
    for line in messages:
        assert ("not enough to tell" in line) if peak < 0.95 else ("the maximum is at" in line), line
    assert messages or peak > 1 or not s


ALIKE, SWINGING, SELDOM = (13, 13.1, 12.9, 13.2), (13, 40, 13.1, 41), (13, 13.1, 13.2, 13, 41, 12.9)


@pytest.mark.parametrize("factor", ["clients", "threads"])
@pytest.mark.parametrize("metric", ["write", "read"])
@pytest.mark.parametrize("first", [ALIKE, SWINGING, SELDOM, tuple(reversed(SWINGING))])
@pytest.mark.parametrize("times", [1.0, 2.0, 5.0])
def test_growth_is_told_as_sure_as_it_is_where_runs_of_one_fall_into_two_modes(factor, metric, first, times):
    rates = {1: [*first], 2: [1.5 * rate for rate in first], 8: [25 * times * share for share in (0.99, 1, 1.01)]}
    drafts = concluded(sweep(factor, rates, metric=metric, file_system=NFS.name).evidence(NFS), "storage-clients")
    if times == 1:
        assert first == ALIKE or not drafts
        return
    if first == ALIKE:
        assert drafts
    elif min(rates[8]) > max(first):
        (draft,) = drafts.values()
        words = " ".join(map(str, draft.why))
        assert (draft.kind, draft.confidence) == (DIAGNOSIS, 0.5) and "gives more with several" in str(draft.title)
        assert (
            f"each with 1 {max(first):.2f} MB/s or less" in words and f"×{min(rates[8]) / max(first):.2f} to" in words
        )
