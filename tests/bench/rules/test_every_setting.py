"""What holds for one setting is said of that one: of clients that are alike, of records, of numbers of tasks."""

import itertools

import pytest

from apps.bench.rules.base import DIAGNOSIS, RECOMMENDATION, FileSystemFacts, LinkFacts, PathFacts
from tests.bench.rules.storing import MB, Storing, concluded, the
from tests.rotation import part_of

KIB = 1024
SIZES = (64 * KIB, 1024 * KIB, 4096 * KIB)
FS = FileSystemFacts("FS", "nfs", None, ("server",))
SCATTER = (0.99, 1.0, 1.01, 1.0)


def star(own_bps, *, shared_bps=1e10, is_known=True):
    """Return the paths of two clients, each with a link of its own to a switch, to one server."""
    return {
        (client, "server"): PathFacts(
            min(own_bps, shared_bps), 0.0002, 1500,
            (LinkFacts(f"{client} - switch", own_bps, 0.0001, 1500), LinkFacts("server", shared_bps, 0.0001, 1500)),
        )
        for client in ("c0", "d0")
        if is_known
    }  # fmt: skip


def clients(rates, *, own_bps=1e10, is_known=True):
    """Return evidence of {record size: MB/s of c0, of d0}."""
    make = Storing()
    for size, pair in rates.items():
        for client, rate in zip(("c0", "d0"), pair, strict=True):
            values = {"write": [rate * part * MB for part in SCATTER]}
            make.point("file-system", values, file_system="FS", roles={"client": (client,)}, record_size=size)
    return make.evidence(FS, paths=star(own_bps, is_known=is_known))


def words_of(draft):
    return " ".join(str(line) for line in (draft.title, *draft.why, *draft.against, *draft.missing))


def test_clients_that_are_held_by_links_of_their_own_share_no_limit():
    draft = the(clients({SIZES[0]: (112, 112)}, own_bps=1e9), "storage-clients-alike")
    assert draft.kind == DIAGNOSIS
    assert "links of their own" in str(draft.title)
    assert "what they share" not in words_of(draft)


def test_clients_that_differ_in_one_setting_are_not_alike():
    draft = the(clients({SIZES[0]: (50, 50), SIZES[1]: (100, 300), SIZES[2]: (110, 500)}), "storage-clients-alike")
    assert "does not matter" not in str(draft.title)
    assert "what they share" not in words_of(draft)
    assert "record_size = 1 MiB: write 99.99 MB/s / 300.0 MB/s" in words_of(draft)


@pytest.mark.parametrize(
    ("ratios", "is_known", "own_bps"),
    part_of(
        itertools.product(itertools.product((1.0, 1.05, 1.5), repeat=3), (True, False), (1e9, 2e9, 1e10)), parts=5
    ),
)
def test_alike_is_said_only_where_it_holds_everywhere_and_their_own_links_have_room(ratios, is_known, own_bps):
    rates = {size: (100, 100 * ratio) for size, ratio in zip(SIZES, ratios, strict=True)}
    drafts = [*concluded(clients(rates, own_bps=own_bps, is_known=is_known), "storage-clients-alike").values()]
    is_room = is_known and 0.7 * own_bps > 100 * 8 * 1.1 * MB
    for draft in drafts:
        assert ("does not matter" in str(draft.title)) == (max(ratios) < 1.1 and is_room)
        assert ("what they share" in words_of(draft)) == (max(ratios) < 1.1 and is_room)
        assert max(ratios) < 1.1 or "They differ" in words_of(draft)


def ior(rates, *, metric="write"):
    """Return evidence of IOR on Lustre: {ranks: {transfer size: MB/s}}."""
    make = Storing()
    for ranks, by_size in rates.items():
        for size, rate in by_size.items():
            values = {metric: [rate * part * MB for part in SCATTER]}
            make.point(
                "file-system", values, tool="ior", file_system="FS", roles={"node": ("n0", "n1")}, ranks=ranks,
                transfer_size=size, api="POSIX",
            )  # fmt: skip
    return make.evidence(FileSystemFacts("FS", "lustre", None, ("server",)), paths={})


def by_size(*rates):
    return dict(zip(SIZES, rates, strict=True))


def test_records_that_pay_with_few_ranks_only_are_told_with_both():
    evidence = ior({4: by_size(100, 400, 800), 16: by_size(300, 350, 300)})
    draft = the(evidence, "storage-record-size")
    assert "depends on ranks" in str(draft.title)
    assert (draft.kind, draft.change, draft.predicted) == (DIAGNOSIS, "", None)
    assert "With ranks = 4: 64 KiB: 99.99 MB/s" in words_of(draft)
    assert "With ranks = 16: 64 KiB: 300.0 MB/s, 1 MiB: 350.0 MB/s" in words_of(draft)
    tasks = concluded(evidence, "storage-clients")["FS write tasks"]
    assert "depends on record_size" in str(tasks.title)
    assert "With record_size = 64 KiB: 4: 99.99 MB/s, 16: 300.0 MB/s" in words_of(tasks)


def test_ranks_stand_in_the_title():
    draft = the(ior({4: by_size(100, 400, 800)}), "storage-record-size")
    assert "(write, ranks = 4)" in str(draft.title)


CURVES = [(100, 400, 800), (100, 105, 98), (800, 400, 100), (300, 350, 300), (100, 800, 810)]


@pytest.mark.parametrize("metric", ["write", "read"])
@pytest.mark.parametrize("few", CURVES)
@pytest.mark.parametrize("many", CURVES)
def test_no_setting_is_advised_that_another_curve_refutes(few, many, metric):
    rates = {4: by_size(*few), 16: by_size(*many)}
    for draft in concluded(ior(rates, metric=metric), "storage-record-size").values():
        assert "ranks = 16" in words_of(draft)
        assert "ranks = 4" in words_of(draft)
        if not draft.change:
            continue
        for curve in rates.values():
            assert curve[int(draft.value)] >= 0.9 * max(curve.values()), draft
    for draft in concluded(ior(rates, metric=metric), "storage-clients").values():
        directions = {few[n] < 0.9 * many[n] for n in range(3)} if draft.kind == RECOMMENDATION else {True}
        assert len(directions) == 1
        if "each other's way" in str(draft.title):
            assert all(many[n] < 1.05 * few[n] for n in range(3)), str(draft.title)
