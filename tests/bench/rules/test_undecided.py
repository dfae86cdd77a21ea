"""What limits a file system where it is not decided: told among the findings as beside the layers' tables."""

import pytest

from apps.bench import rules
from apps.bench.rules import layers, runner
from apps.bench.rules.base import DOUBT
from apps.bench.rules.layers.gaps import gaps
from apps.bench.rules.layers.verdicts import judge_all
from tests.bench.rules.storing import CLIENTS, GPFS, MB, NFS, RAID1, Storing, polarised


@pytest.mark.parametrize(
    "turned",
    [
        {},
        {"network": None},
        {"disk": None},
        {"network": (105, 105)},
        {"disk": 14 * MB},
        {"nfs": 13 * MB, "hexa": None},
    ],
    ids=str,
)
def test_every_verdict_is_told_whether_a_layer_is_named_or_not(turned):
    """What a page says beside a table stands among the findings, too, with way, records and clients."""
    evidence = polarised(**turned)
    drafts = layers.overview(evidence)
    assert runner.conclude_all(rules.of_whole(), evidence)
    for table in layers.table(evidence):
        titles = [draft for draft in drafts if str(draft.title) == str(table.verdict)]
        if table.layer:
            assert [draft.rule for draft in titles] == ["limiting-layer"]
        elif str(table.verdict).startswith("Not decided"):
            assert [(draft.rule, draft.kind) for draft in titles] == [("undecided-layer", DOUBT)]
            assert titles[0].missing == table.missing and titles[0].proposals == table.proposals
            assert f"({table.metric}, record_size = " in str(titles[0].title)
            assert "clients = " in str(titles[0].title)
        else:
            assert "a cache was measured" in str(table.verdict)


def test_where_nothing_is_known_of_what_lies_beneath_nobody_asked_which_layer_limits():
    make = Storing().io("GPFS_PDAISY", write=[13 * MB, 13.1 * MB, 13.2 * MB])
    assert layers.overview(make.evidence(GPFS, paths={})) == []
    assert [draft.rule for draft in layers.overview(make.evidence(GPFS))] == ["undecided-layer"]


@pytest.mark.parametrize("clients", [1, 2])
@pytest.mark.parametrize("share", [0.6, 0.72, 0.8, 0.84, 0.95])
def test_what_was_measured_alone_is_not_asked_for_again(share, clients):
    make = Storing()
    make.io("NFS_PGFS01", clients=CLIENTS[:clients], write=[share * 30 * MB] * 3)
    make.tcp("KGFS01", "PGFS01", [980, 980, 980], direction="forward", streams=5)
    make.disk("RAID1", "PGFS01", write=[30 * MB] * 3)
    (verdict,) = judge_all(make.evidence(NFS, RAID1, clients=CLIENTS))
    assert verdict.network and not verdict.network.is_stated and verdict.disk and not verdict.disk.is_stated
    steps = gaps(make.evidence(NFS, RAID1, clients=CLIENTS), verdict)
    of_disks = [(str(message), proposal) for message, proposal in steps if "disks" in str(message)]
    assert not [message for message, _proposal in steps if "The network alone" in str(message)]
    if "disk" not in verdict.lacks:
        assert of_disks == []
    elif clients == 1:
        ((text, proposal),) = of_disks
        assert text.startswith(f"How busy the disks are meanwhile, on the servers (PGFS01): at {100 * share:.0f} %")
        assert proposal is None
    else:
        ((text, proposal),) = of_disks
        assert text == "The disks alone with as many tasks at once (2), on the servers (PGFS01)."
        assert (proposal.file_system, proposal.fixed["threads"], proposal.roles) == (
            "RAID1",
            2,
            {"client": ("PGFS01",)},
        )


@pytest.mark.parametrize("share", [0.6, 0.72, 0.8, 0.88, 0.95])
def test_a_network_that_was_seen_full_is_not_asked_for_again(share):
    make = Storing()
    make.io("GPFS_PDAISY", clients=CLIENTS[:1], write=[share * 120 * MB] * 3)
    make.tcp("KGFS01", "PGFS01", [988, 988, 988], direction="forward", streams=5)
    (verdict,) = judge_all(make.evidence(GPFS, clients=CLIENTS))
    lines = [str(message) for message, _proposal in gaps(make.evidence(GPFS, clients=CLIENTS), verdict)]
    assert not verdict.network.is_stated and not verdict.network.is_floor
    assert not [line for line in lines if line.startswith("The network alone")]
    assert any(line.startswith("How full the links are") for line in lines) == ("network" in verdict.lacks)
