"""Of I/O over processes the peak is told, wherever in the sweep it lies."""

import pytest

from apps.bench.rules import mpi
from tests.bench.rules.storing import Storing


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ({1: 60, 4: 100, 16: 301, 64: 200}, "has its best I/O with 16 processes, ×5.02 of 1; 64 have ×0.66"),
        ({1: 100, 4: 100, 16: 100, 64: 40}, "has its best I/O with as few as"),
        ({1: 100, 4: 101, 16: 99, 64: 100}, "gains nothing from more processes"),
        ({1: 100, 4: 200, 16: 300, 64: 301}, "up to 16 of them"),
    ],
)
def test_a_peak_between_the_fewest_and_the_most_processes_is_told(rates, told):
    make = Storing()
    for ranks, rate in rates.items():
        values = [rate * 1e6 * factor for factor in (0.999, 1, 1.001)]
        make.mpi("btio", {"io_rate": values}, problem="B", ranks=ranks, file_system="gpfs")
    [title] = [str(draft.title) for draft in mpi.overview(make.evidence()) if draft.rule == "mpi-ranks"]
    assert told in title
