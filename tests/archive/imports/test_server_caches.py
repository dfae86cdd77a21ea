"""What clients read just after they wrote it may have come from the memory of the file system's servers."""

from types import SimpleNamespace

import pytest

from apps.agents import services as agents
from apps.campaigns.models import Run
from apps.results import services as results
from apps.results.models import Result
from apps.testbeds.models import Node
from tests.agents import factories as agent_factories
from tests.archive.imports import sending
from tests.archive.imports.sending import recording
from tests.testbeds import factories as inventory

FILES = {"direct.txt": recording("iozone/direct_I.txt")}
FLAG = "cached-by-server"


def flags_after_import(cast: SimpleNamespace, client: Node, file_system: int | None) -> dict[str, list[str]]:
    imported = sending.send(cast, FILES)
    done = sending.store(sending.choose(imported, {"client": [client.pk]}, file_system=file_system))
    (result,) = Result.objects.filter(trial__campaign=done.campaign)
    return {flag["name"]: flag.get("metrics", []) for flag in result.flags}


def has_memory(node: Node, size: int) -> None:
    agent, _token = agent_factories.agent(node)
    agents.record_facts(agent_id=agent.pk, facts={"memory": {"ram_bytes": size}}, version="1")


@pytest.mark.parametrize(("size", "doubted"), [(2**36, True), (2**16, False)])
def test_the_servers_memory_is_what_decides(
    cast: SimpleNamespace, ends: list[Node], size: int, *, doubted: bool
) -> None:
    client, server = ends
    clients, servers = inventory.cluster(cast.team, "", client), inventory.cluster(cast.team, "", server)
    nfs = inventory.file_system(cast.team, "nfs", clients, server_cluster=servers)
    has_memory(server, size)
    found = flags_after_import(cast, client, nfs.pk)
    assert (FLAG in found) == doubted
    # Read anew, as what a run of ours printed is, it is the same.
    reading, _skew = results.read_run(Run.objects.get())
    again = {flag.name: list(flag.metrics) for flag in reading.flags}
    assert again.get(FLAG) == found.get(FLAG)
    if doubted:
        assert "read" in found[FLAG]
        assert "write" not in found[FLAG]


@pytest.mark.parametrize("served", [False, True], ids=["nobody", "itself"])
def test_a_disk_of_the_clients_own_has_no_server_to_doubt(
    cast: SimpleNamespace, ends: list[Node], *, served: bool
) -> None:
    client = ends[0]
    own = inventory.cluster(cast.team, "", client)
    has_memory(client, 2**36)
    disk = inventory.file_system(cast.team, "raid", own, server_cluster=own if served else None)
    assert FLAG not in flags_after_import(cast, client, disk.pk)


def test_servers_of_which_nothing_is_known_are_not_spoken_of(cast: SimpleNamespace, ends: list[Node]) -> None:
    client, server = ends
    clients, servers = inventory.cluster(cast.team, "", client), inventory.cluster(cast.team, "", server)
    nfs = inventory.file_system(cast.team, "nfs", clients, server_cluster=servers)
    assert FLAG not in flags_after_import(cast, client, nfs.pk)
