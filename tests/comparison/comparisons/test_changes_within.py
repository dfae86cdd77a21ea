"""What changed while a set was measured: told with its values even of a set that stands alone."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from django.test import Client

from apps.bench import tools
from apps.campaigns.models import Campaign, Trial
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import compare
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.state import read_text
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.comparison.comparisons.conftest import address
from tests.comparison.comparisons.test_environment import EARLIER, compared, facts_of, snapshot
from tests.results import factories as results

VERSION = f"Version of {tools.get('iperf3-tcp').name}"


def measured(cast: SimpleNamespace, pair: list[Node], name: str, first: str, later: str) -> Campaign:
    """Return a campaign whose first repetitions were measured nine days before the later ones, by two versions."""
    campaign = make.launched(
        cast, *pair, name=name, repetitions=4, factors=[{"name": "window", "expression": "64KiB, 128KiB"}]
    )
    for trial in campaign.trials.select_related("experiment"):
        is_first = trial.repetition == 1
        results.measure(trial, version=first if is_first else later, goodput=1e8 + trial.pk)
        at = EARLIER + timedelta(days=1 if is_first else 10)
        Trial.objects.filter(pk=trial.pk).update(state="succeeded", finished_at=at)
    return campaign


def test_what_changed_within_a_set_alone_is_told_with_its_values(
    client: Client, cast: SimpleNamespace, pair: list[Node], django_assert_max_num_queries: Any
) -> None:
    campaign = measured(cast, pair, "Alone", "3.12", "3.17")
    here, there = pair
    for node in pair:
        snapshot(node, EARLIER)
    settings = {**facts_of(here)["sysctls"], "net.core.rmem_max": "4194304"}
    snapshot(here, EARLIER + timedelta(days=5), kernel={"release": "6.8.0"}, sysctls=settings)
    # What a node was between two figures only does not count.
    snapshot(there, EARLIER + timedelta(days=2), kernel={"release": "5.10.0"})
    snapshot(there, EARLIER + timedelta(days=3))
    with django_assert_max_num_queries(22):
        comparison = compared(cast, campaign)
    assert {(item.topic, item.name): [sorted(found) for found in item.values] for item in comparison.deviations} == {
        ("Machine", "Kernel (Client)"): [["6.1.0", "6.8.0"]],
        ("Kernel settings", "net.core.rmem_max (Client)"): [["212992", "4194304"]],
        ("Tool", VERSION): [["3.12", "3.17"]],
    }
    cautions = [str(remark.message) for remark in comparison.remarks if remark.level.value == "caution"]
    names = f"Kernel (Client), {VERSION}, net.core.rmem_max (Client)"
    assert [text.partition(". ")[0] for text in cautions] == [
        f"While Alone was measured this changed on its nodes: {names}"
    ]
    client.force_login(cast.bob)
    page = client.get(address(campaign)).content.decode()
    assert "What changed while it was measured" in page
    assert "6.8.0" in page.split("difference-table")[1]


def test_of_a_set_in_whose_time_nothing_changed_nothing_is_told(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    campaign = measured(cast, pair, "Quiet", "3.17", "3.17")
    for node in pair:
        snapshot(node, EARLIER)
    comparison = compared(cast, campaign)
    assert comparison.deviations == ()
    assert not any("While Quiet" in str(remark.message) for remark in comparison.remarks)
    client.force_login(cast.bob)
    assert "What changed while it was measured" not in client.get(address(campaign)).content.decode()


def test_a_version_that_changed_within_one_of_two_sets_is_no_cause(cast: SimpleNamespace, pair: list[Node]) -> None:
    comparison = compared(
        cast, measured(cast, pair, "Before", "3.12", "3.17"), measured(cast, pair, "After", "3.17", "3.17")
    )
    remarks = [str(remark.message) for remark in comparison.remarks]
    assert [item.name for item in comparison.deviations] == [VERSION]
    assert any(f"While Before was measured this changed on its nodes: {VERSION}" in text for text in remarks)
    assert not any("can be put down to it" in text for text in remarks)


def test_other_nodes_with_another_version_are_no_change(cast: SimpleNamespace, pair: list[Node]) -> None:
    measured(cast, pair, "There", "3.12", "3.12")
    measured(cast, pair[::-1], "Back", "3.17", "3.17")
    state, _errors = read_text(f"set=tool:iperf3-tcp;node:{pair[0].pk}")
    comparison = compare(gather(choose(state, cast.bob)))
    assert len(comparison.gathering.choice.experiments) == 2
    assert comparison.deviations == ()
