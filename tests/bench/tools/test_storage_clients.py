"""Several clients of one file system: their sum, their fairness, and the doubts about them."""

import pytest

from apps.bench.toolkit import NodeRef, Output
from apps.bench.tools._storage import clients
from apps.bench.tools._storage.clients import ClientRates

NODES = {"client": [NodeRef(name, "192.0.2.1") for name in ("one", "two", "three")]}


def share(node, start=0.0, end=10.0, **rates):
    return ClientRates(Output("client", "write", node, (), b"", b"", 0, started_at=start, ended_at=end), rates)


@pytest.mark.parametrize(("count", "names"), [(0, ["one", "two", "three"]), (1, ["one"]), (2, ["one", "two"])])
def test_the_first_so_many_nodes_measure(count, names):
    assert [node.name for node in clients.chosen({"clients": count}, NODES)] == names


@pytest.mark.parametrize(("count", "refused"), [(0, False), (3, False), (4, True)])
def test_more_clients_than_nodes_are_refused(count, refused):
    assert bool(clients.check_cast({"clients": count}, {"client": 3})) == refused


def test_rates_add_up_where_every_client_has_them():
    stages = [[share("one", write=2.0, rewrite=1.0), share("two", write=3.0)], [share("one", read=5.0)]]
    assert clients.total(stages) == {"write": 5.0, "read": 5.0}


def test_each_clients_rates_are_kept_under_its_name():
    stages = [[share("one", write=2.0), share("two", write=3.0)], [share("one", read=5.0), share("two", read=6.0)]]
    assert clients.observed_of(stages)["clients"] == [
        {"node": "one", "write": 2.0, "read": 5.0},
        {"node": "two", "write": 3.0, "read": 6.0},
    ]


def test_the_stage_that_is_worst_in_it_tells_the_overlap():
    good = [share("one"), share("two")]
    bad = [share("one"), share("two", start=1.0, end=9.0)]
    observed = clients.observed_of([good, bad])
    assert observed["overlap"] == pytest.approx(0.8)
    assert observed["start_skew"] == 1.0
    assert observed["together_s"] == 8.0
    assert [flag.name for flag in clients.flags_of([good, bad], {"clients": 0})] == ["low-overlap", "late-start"]


def test_clients_that_were_apart_in_one_stage_spoil_its_figures_only():
    written = [share("one", end=12.0, write=2.0, rewrite=1.0), share("two", write=2.0, rewrite=3.0)]
    readings = [share("one", read=5.0), share("two", read=5.0)]
    (flag,) = clients.flags_of([written, readings], {"clients": 2})
    assert (flag.name, flag.severity, flag.metrics) == ("low-overlap", "invalid", ("fairness", "rewrite", "write"))
    # All that there is, derived figures too.
    (flag,) = clients.flags_of([written], {"clients": 2})
    assert flag.metrics == ()


def test_one_client_has_no_overlap():
    assert "overlap" not in clients.observed_of([[share("one")]])
    assert clients.flags_of([[share("one")]], {"clients": 1}) == ()


def test_a_client_that_is_missing_makes_it_invalid():
    (flag,) = clients.flags_of([[share("one"), share("two")], [share("one")]], {"clients": 2})
    assert (flag.name, flag.severity) == ("fewer-clients", "invalid")


@pytest.mark.parametrize(
    ("rates", "index"), [([1.0, 1.0], 1.0), ([1.0, 0.0], 0.5), ([3.0], None), ([], None), ([0.0, 0.0], None)]
)
def test_fairness_is_jains_index(rates, index):
    assert clients.fairness(rates) == index
