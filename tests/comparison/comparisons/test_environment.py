"""What differs between sets: parameters, kernel, settings, interfaces, mounts, versions and routes, as recorded."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.agents.models import FactSnapshot
from apps.bench import tools
from apps.campaigns.models import Campaign, Trial
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import Comparison, compare
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.state import read_text
from apps.results.models import Result
from apps.testbeds.models import FileSystem, Node
from tests import rewriting

EARLIER = timezone.now() - timedelta(days=30)


def facts_of(node: Node, **changes: Any) -> dict[str, Any]:
    address = node.addresses.get().address
    return {
        "kernel": {"release": "6.1.0"},
        "os": {"name": "Debian 12"},
        "cpu": {"model": "Xeon", "threads": 16},
        "memory": {"ram_bytes": 32 * 2**30},
        "interfaces": [
            {"name": "lo", "mtu": 65536, "addresses": ["127.0.0.1/8"]},
            {"name": "eth0", "mtu": 9000, "driver": "ixgbe", "speed_bps": 10**10, "addresses": [f"{address}/24"]},
            {"name": "eth1", "mtu": 1500, "addresses": ["192.0.2.1/24"]},
        ],
        "sysctls": {"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.core.rmem_max": "212992"},
        "congestion_controls": {"current": "cubic"},
        "mounts": [{"target": "/gpfs", "type": "gpfs", "source": "gpfs0", "options": "rw,relatime"}],
        **changes,
    }


def snapshot(node: Node, at: datetime, **changes: Any) -> None:
    made = FactSnapshot.objects.create(node=node, digest=str(at), facts=facts_of(node, **changes))
    FactSnapshot.objects.filter(pk=made.pk).update(created_at=at)


def compared(cast: SimpleNamespace, *campaigns: Campaign) -> Comparison:
    state, _errors = read_text("&".join(f"set=campaign:{campaign.pk}" for campaign in campaigns))
    return compare(gather(choose(state, cast.bob)))


def differences(cast: SimpleNamespace, *campaigns: Campaign) -> dict[str, list[list[str]]]:
    comparison = compared(cast, *campaigns)
    return {item.name: [sorted(found) for found in item.values] for item in comparison.deviations}


@pytest.fixture
def apart(before: Campaign, after: Campaign) -> tuple[Campaign, Campaign]:
    """Return both campaigns, the first measured twenty days ago."""
    Trial.objects.filter(campaign=before).update(finished_at=EARLIER + timedelta(days=10))
    return before, after


def test_what_stayed_the_same_is_not_listed(cast: SimpleNamespace, pair: list[Node], apart) -> None:
    for node in pair:
        snapshot(node, EARLIER)
    assert differences(cast, *apart) == {}
    environments = compared(cast, *apart).gathering.environments
    assert {"parameters", "kernel", "kernel settings", "interfaces"} <= set(environments.recorded)
    assert not set(environments.recorded) & set(environments.unrecorded)


def test_a_kernel_a_setting_and_an_mtu_that_changed_in_between_are_listed_by_role(
    cast: SimpleNamespace, pair: list[Node], apart
) -> None:
    client, server = pair
    for node in pair:
        snapshot(node, EARLIER)
    changed = facts_of(server)["interfaces"]
    changed[1]["mtu"] = 1500
    snapshot(client, EARLIER + timedelta(days=20), kernel={"release": "6.8.0"})
    snapshot(server, EARLIER + timedelta(days=20), interfaces=changed, sysctls={"net.core.rmem_max": "4194304"})
    deviations = differences(cast, *apart)
    assert deviations["Kernel (Client)"] == [["6.1.0"], ["6.8.0"]]
    assert deviations["MTU (Server)"] == [["9000 B"], ["1500 B"]]
    assert deviations["net.core.rmem_max (Server)"] == [["212992"], ["4194304"]]
    assert "Kernel (Server)" not in deviations
    # What the second set does not tell is listed as not known.
    assert deviations["net.ipv4.tcp_rmem (Server)"] == [["4096 131072 6291456"], []]


def test_what_changed_while_a_set_was_measured_has_both_values(
    cast: SimpleNamespace, pair: list[Node], apart
) -> None:
    before, _after = apart
    client = pair[0]
    snapshot(client, EARLIER)
    before.trials.filter(repetition=1).update(finished_at=EARLIER + timedelta(days=1))
    snapshot(client, EARLIER + timedelta(days=5), congestion_controls={"current": "bbr"})
    assert differences(cast, *apart)["Congestion control (Client)"] == [["bbr", "cubic"], ["bbr"]]
    remarks = [str(remark.message) for remark in compared(cast, *apart).remarks]
    assert any("While Before was measured this changed on its nodes: Congestion control" in text for text in remarks)
    assert not any("can be put down to it" in text for text in remarks)


def test_what_a_node_was_only_between_two_figures_is_not_listed(
    cast: SimpleNamespace, pair: list[Node], apart, django_assert_max_num_queries: Any
) -> None:
    before, _after = apart
    client = pair[0]
    snapshot(client, EARLIER)
    before.trials.filter(repetition=1).update(finished_at=EARLIER + timedelta(days=1))
    snapshot(client, EARLIER + timedelta(days=2), congestion_controls={"current": "bbr"})
    snapshot(client, EARLIER + timedelta(days=3))
    with django_assert_max_num_queries(25):
        assert differences(cast, *apart) == {}


def test_the_interface_is_that_of_the_data_plane(cast: SimpleNamespace, pair: list[Node], apart) -> None:
    client = pair[0]
    snapshot(client, EARLIER)
    changed = facts_of(client)["interfaces"]
    changed[2]["mtu"] = 576
    snapshot(client, EARLIER + timedelta(days=20), interfaces=changed)
    assert differences(cast, *apart) == {}


def test_mount_options_of_the_file_system_are_listed(cast: SimpleNamespace, pair: list[Node], apart) -> None:
    system = FileSystem.objects.create(team=cast.team, name="GPFS", kind="gpfs", mount_path="/gpfs")
    for campaign in apart:
        campaign.experiments.update(file_system=system)
    snapshot(pair[0], EARLIER)
    mount = {"target": "/gpfs", "type": "gpfs", "source": "gpfs0", "options": "rw,noatime"}
    other = {"target": "/home", "type": "nfs", "source": "x", "options": "ro"}
    snapshot(pair[0], EARLIER + timedelta(days=20), mounts=[mount, other])
    assert differences(cast, *apart) == {"Options (Client)": [["rw,relatime"], ["rw,noatime"]]}


def test_versions_grants_and_routes_of_results_are_listed(cast: SimpleNamespace, apart) -> None:
    before, after = apart
    for campaign, version, granted, hop in (
        (before, "3.12", "cubic", "10.0.0.1"),
        (after, "3.17", "bbr", "10.0.0.2"),
    ):
        rewriting.update(
            Result.objects.filter(experiment__campaign=campaign),
            tool_version=version,
            granted={"congestion_control": granted, "window": 1},
            observed={"route": [[hop]]},
        )
    deviations = differences(cast, *apart)
    assert deviations[f"Version of {tools.get('iperf3-tcp').name}"] == [["3.12"], ["3.17"]]
    assert deviations["Granted: congestion_control"] == [["cubic"], ["bbr"]]
    assert deviations["Route"] == [["10.0.0.1"], ["10.0.0.2"]]


def test_published_figures_beside_measured_ones_are_told(cast: SimpleNamespace, apart) -> None:
    Campaign.objects.filter(pk=apart[0].pk).update(origin="published")
    assert differences(cast, *apart)["Origin"] == [["published figures"], ["measured here"]]


def test_facts_that_are_no_facts_break_nothing(cast: SimpleNamespace, pair: list[Node], apart) -> None:
    FactSnapshot.objects.create(node=pair[0], digest="x", facts={"interfaces": [{}], "kernel": None, "mounts": None})
    assert differences(cast, *apart) == {}
