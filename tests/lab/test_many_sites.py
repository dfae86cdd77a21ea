"""Four sites and three lines of one file: paths lead over an exchange, and each line is its own."""

from collections.abc import Iterator

import pytest

from tests.lab.labs import QUIET, ROOT, LabAt

pytestmark = QUIET


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabAt]:
    lab = LabAt(tmp_path_factory.mktemp("many"))
    try:
        lab.up(ROOT / "lab" / "data-grid.yaml")
        yield lab
    finally:
        assert lab.run("down").returncode == 0
        assert lab.remains() == []


def test_a_path_leads_over_the_exchange_and_its_round_trips_add_up(lab: LabAt) -> None:
    hops = lab.on("knu-1", "tracepath", "-n", "10.96.13.11")
    assert "10.96.11.1 " in hops
    assert "10.96.254.2 " in hops
    assert "hops 4 back 4" in hops
    summary = lab.on("knu-1", "ping", "-c", "5", "-i", "0.2", "-q", "10.96.13.11").splitlines()[-1]
    assert float(summary.split("=")[1].split("/")[0]) == pytest.approx(135.5, rel=0.1)
