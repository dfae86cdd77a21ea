"""What tc is told where the kernel has netem; where it has not, the words are looked at and the refusal."""

from pathlib import Path

from lab import netem
from lab.spec import read_lab
from lab.state import Place
from tests.lab.labs import KISTI_PUSAN, REAL, SMALL, LabAt


def test_a_line_is_a_delay_a_rate_and_a_queue() -> None:
    words = netem.words_for(read_lab(KISTI_PUSAN).links[0])
    # Half the RTT, Ethernet's 38 bytes less the 14 that tc counts itself, and 4 MB and 0.3 MB on the way in packets.
    assert words == ["netem", "delay", "2400us", "rate", "1000000000bit", "24", "limit", "598"]


def test_random_loss_is_told_in_percent(tmp_path: Path) -> None:
    file = tmp_path / "lab.yaml"
    file.write_text(SMALL.replace("queue: 100 kB", "loss: 0.00011"))
    assert netem.words_for(read_lab(file).links[0])[-5:-2] == ["loss", "random", "0.011%"]


class TestReal:
    pytestmark = REAL

    def test_it_is_used_where_the_kernel_has_it_and_refused_where_not(self, tmp_path: Path) -> None:
        file = tmp_path / "small.yaml"
        file.write_text(SMALL)
        lab = LabAt(tmp_path / "state")
        has_it = netem.is_there(Place(lab.folder))
        try:
            done = lab.run("up", file, "--emulator", "netem")
            if has_it:
                assert lab.line["pid"] is None
                assert lab.pinged("one", "10.96.2.11")
            else:
                assert done.returncode == 1
                assert "This kernel has no netem" in done.stderr
        finally:
            lab.run("down")
        assert lab.remains() == []

    def test_the_probe_leaves_nothing(self, tmp_path: Path) -> None:
        lab = LabAt(tmp_path / "state")
        assert netem.is_there(Place(lab.folder)) in (True, False)
        assert lab.remains() == []
