"""What a report calls the nodes that measured, their programs, and a metric that is known over time only."""

import pytest

from apps.bench.tools import all_tools, label_of_metric
from apps.reports.campaign.hosts import MPI, _versions
from apps.testbeds.patterns import told_ends


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ({"mpirun": "mpirun (Open MPI) 4.1.4"}, "mpirun (Open MPI) 4.1.4"),
        ({"mpiexec.hydra": "Version:                                 4.0.2"}, "mpiexec.hydra 4.0.2"),
        ({"mpiexec": "version 3.1"}, "mpiexec 3.1"),
        ({"mpirun": "4.1.4"}, "mpirun 4.1.4"),
        ({"mpirun": ""}, ""),
    ],
)
def test_a_version_is_told_with_the_program_that_has_it(told, shown):
    facts = {"tools": {name: {"path": f"/usr/bin/{name}", "version": text} for name, text in told.items()}}
    assert _versions(facts, MPI) == shown


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: tool.slug)
def test_an_arrow_leads_only_where_data_goes(tool):
    roles = [role.name for role in tool.roles]
    ends = told_ends(roles, [f"n{place}" for place in range(len(roles))])
    assert ends.split(" (")[0].count("→") == min(len(roles), 2) - 1
    assert all(f"{role}: n{place}" in ends for place, role in enumerate(roles) if place > 1)


def test_what_was_sent_has_a_name_in_words():
    assert label_of_metric("sent_rate") == "Sent rate"
    assert label_of_metric("no_tool_has_this") == "no_tool_has_this"
