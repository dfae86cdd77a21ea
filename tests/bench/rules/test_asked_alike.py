"""What disks gave alone is a bound of what asked the same of them only: nobody is blamed by what asked otherwise."""

import pytest

from apps.bench import tools
from apps.bench.rules import layers, storage
from apps.bench.rules.base import DISK, FILE_SYSTEM, NETWORK, FileSystemFacts
from apps.bench.rules.layers import judge_all
from apps.bench.rules.layers.asked import NOT_ASKED
from apps.bench.rules.shapes.names import canonical
from tests.bench.rules.storing import CLIENTS, GIB, MB, Storing, wan

SERVER = "PGFS01"
XFS = FileSystemFacts("LOCAL", "xfs", None, (SERVER,))
NEAR = (0.99, 1.0, 1.01, 1.0)
# What changes what is asked of a disk, by tool; what of that bears on one way only.
ASKED = {
    "iozone": {"file_size", "record_size", "direct", "drop_cache", "sync"},
    "fio": {"pattern", "block_size", "file_size", "depth", "engine", "direct", "sync_every"},
    "ior": {
        *("api", "collective", "block_size", "transfer_size", "segments", "file_per_process", "fsync", "direct"),
    },
}
ONE_WAY = {"drop_cache": "read", "sync": "write", "sync_every": "write", "fsync": "write"}
TASKS = {"threads", "jobs", "ranks"}
SETTINGS = [
    pytest.param(tools.get(slug), item, metric, id=f"{slug}-{item.name}-{metric}")
    for slug in ASKED
    for item in tools.get(slug).parameters
    if not item.aside
    for metric in ("write", "read")
]


def other(parameter, metric):
    """Return another value of a parameter: of a pattern one at random."""
    if parameter.name == "pattern":
        return f"rand{metric}"
    if parameter.choices:
        return next(value for value, _label in parameter.choices if value != parameter.default)
    if parameter.kind == "boolean":
        return not parameter.default
    return "x" if parameter.kind == "text" else type(parameter.default)(16 * (parameter.default + 1))


def evidence_of(metric, own, alone, *, rate=10, disk=100, facts=None):
    """Return a file system (MB/s) over 1 Gbit/s and its disks, of (tool, parameters), and what else was measured."""
    make = Storing()
    for way in ("forward", "reverse"):
        make.tcp(CLIENTS[0], SERVER, [985 * part for part in NEAR], streams=4, direction=way)
        make.tcp(CLIENTS[0], SERVER, [985 * part for part in NEAR], streams=1, direction=way)
    for layer, name, node, value, (slug, parameters) in (
        (FILE_SYSTEM, "FS", CLIENTS[0], rate, own),
        *((DISK, "LOCAL", SERVER, value, item) for value, item in zip((disk, 9 * disk), alone, strict=False)),
    ):
        role = "node" if slug == "ior" else "client"
        shared = {"pattern": metric} if slug == "fio" else {"ranks": 1} if slug == "ior" else {}
        rates = {metric: [value * part * MB for part in NEAR]}
        make.point(layer, rates, tool=slug, file_system=name, roles={role: (node,)}, **shared | parameters)
    facts = facts or FileSystemFacts("FS", "nfs", None, (SERVER,))
    return make.evidence(facts, XFS, paths={(CLIENTS[0], SERVER): wan(CLIENTS[0], SERVER)})


def texts_of(evidence):
    drafts = [*layers.overview(evidence), *storage.overview(evidence)]
    return {draft.rule for draft in drafts}, str([draft.as_json() for draft in drafts])


@pytest.mark.parametrize(("tool", "parameter", "metric"), SETTINGS)
def test_a_setting_that_asks_otherwise_blames_nobody(tool, parameter, metric):
    is_asked = parameter.name in ASKED[tool.slug] and ONE_WAY.get(parameter.name, metric) == metric
    unlike, alike = (tool.slug, {parameter.name: other(parameter, metric)}), (tool.slug, {})
    for rate, layer in ((10, FILE_SYSTEM), (97, DISK), (115, FILE_SYSTEM)):
        own = evidence_of(metric, alike, [unlike], rate=rate)
        if is_asked or parameter.name in TASKS:
            assert judge_all(own)[0].layer in ("", *([NETWORK] if rate == 115 else []))
            rules = texts_of(own)[0]
            assert not rules & {"cache-effect", "storage-share-of-disk", "storage-gpfs-client"}
            # What is alike is taken whatever else there is.
            own = evidence_of(metric, alike, [alike, unlike], rate=rate)
        if rate < 115:
            assert judge_all(own)[0].layer == layer
            assert "in some runs" not in texts_of(own)[1]


@pytest.mark.parametrize(("tool", "parameter", "metric"), SETTINGS)
def test_what_is_proposed_asks_the_same(tool, parameter, metric):
    if parameter.name not in ASKED[tool.slug] or tool.slug == "ior" or parameter.name in ("pattern", "file_size"):
        return
    unlike = tool.slug, {parameter.name: other(parameter, metric), "file_size": GIB}
    own = tool.slug, {"file_size": GIB}
    for mine, theirs in ((own, unlike), (unlike, own)):
        if ONE_WAY.get(parameter.name, metric) != metric:
            continue
        (table,) = layers.table(evidence_of(metric, mine, [theirs]))
        (proposal,) = [item for item in table.proposals if item.file_system == "LOCAL"]
        assert any("measured as this was" in str(line) for line in table.missing)
        assert "were measured alone, but not as it was" in str(table.verdict)
        then = evidence_of(metric, mine, [(proposal.tool, proposal.fixed)])
        assert judge_all(then)[0].layer == FILE_SYSTEM


def test_every_setting_of_a_tool_is_told_apart():
    for slug, asked in ASKED.items():
        rest = {item.name for item in tools.get(slug).parameters if not item.aside} - asked
        assert {canonical(slug, name) for name in rest} <= NOT_ASKED
        assert not (asked - {"pattern"}) & NOT_ASKED


@pytest.mark.parametrize(
    ("own", "alone", "is_alike"),
    [
        (("fio", {}), ("iozone", {"direct": True}), True),
        (("fio", {}), ("iozone", {}), False),
        (("fio", {"sync_every": 1}), ("iozone", {"direct": True, "sync": True}), True),
        (("fio", {"depth": 16}), ("iozone", {"direct": True}), False),
        (("ior", {"transfer_size": 65536, "block_size": GIB}), ("iozone", {"record_size": 65536}), True),
        (("ior", {"block_size": GIB // 8, "segments": 8}), ("iozone", {}), True),
        (("iozone", {"file_size": 3 * GIB}), ("iozone", {"file_size": 4 * GIB}), True),
    ],
)
def test_tools_ask_the_same_in_their_own_words(own, alone, is_alike):
    assert judge_all(evidence_of("write", own, [alone]))[0].layer == (FILE_SYSTEM if is_alike else "")


@pytest.mark.parametrize(("parameters", "is_large"), [({}, True), ({"record_size": 65536}, True),
                         ({"sync": True}, False), ({"record_size": 65536, "direct": True}, False)])  # fmt: skip
def test_what_disks_are_described_by_is_of_large_records(parameters, is_large):
    facts = FileSystemFacts("FS", "nfs", None, (SERVER,), disk_rates={"write": 100 * MB})
    evidence = evidence_of("write", ("iozone", parameters), [], facts=facts)
    assert judge_all(evidence)[0].layer == (FILE_SYSTEM if is_large else "")


def test_what_other_file_systems_gave_when_asked_otherwise_is_not_set_beside():
    """Nor does another one with large records show that the path carries more."""
    base = evidence_of("write", ("iozone", {"record_size": 4096}), [("iozone", {"record_size": 4096})])
    for size, count in ((4096, 1), (2**20, 0)):
        make = Storing()
        make.points = [*base.points]
        roles = {"client": CLIENTS[:1]}
        make.point(FILE_SYSTEM, {"write": [50 * MB] * 3}, file_system="NEXT", roles=roles, record_size=size)
        systems = [*base.file_systems.values(), FileSystemFacts("NEXT", "nfs", None, (SERVER,))]
        verdicts = judge_all(make.evidence(*systems, paths=base.paths))
        assert [len(verdict.others) for verdict in verdicts if verdict.question.facts.name == "FS"] == [count]


def of_a_cache(rates):
    """Return reads (MB/s) by clients over 1 Gbit/s, of disks of 22 MB/s."""
    make = Storing().tcp(CLIENTS[0], SERVER, [940, 985, 985], streams=4, direction="reverse")
    make.points[0].metrics["goodput"].update(dict.fromkeys(make.points[0].metrics["goodput"], 985e6))
    make.tcp(CLIENTS[0], SERVER, [985, 985.1, 984.9], streams=1, direction="reverse")
    for count, rate in rates.items():
        values = {"read": [rate * part * MB for part in NEAR]}
        make.point(FILE_SYSTEM, values, file_system="FS", roles={"client": CLIENTS}, clients=count)
    make.point(DISK, {"read": [22 * part * MB for part in NEAR]}, file_system="LOCAL", roles={"client": (SERVER,)})
    paths = {(client, SERVER): wan(client, SERVER) for client in CLIENTS}
    return make.evidence(FileSystemFacts("FS", "nfs", None, (SERVER,)), XFS, paths=paths)


def test_a_network_that_a_cache_fills_is_no_word_against_faster_disks():
    """What more clients read, no more than the disks give, is asked instead; else the title says what it may be."""
    evidence = of_a_cache({1: 90, 2: 115, 3: 21, 4: 20})
    (verdict,) = judge_all(evidence)
    assert (verdict.layer, len(verdict.level.clients)) == ("", 3)
    assert "Faster disks" not in texts_of(evidence)[1]
    evidence = of_a_cache({1: 20, 2: 115, 3: 116, 4: 115})
    (draft,) = [item for item in layers.overview(evidence) if item.rule == "limiting-layer"]
    assert "perhaps of what a cache gave" in str(draft.title)
    assert draft.confidence <= 0.5
    assert "Faster disks" not in texts_of(evidence)[1]
