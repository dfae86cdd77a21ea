"""fio pads figures of few digits with blanks in its report for people."""

import pytest

from apps.bench import recognition
from tests.bench.tools import recordings


@pytest.mark.parametrize("blanks", ["", " ", "   "])
def test_figures_of_few_digits_stand_behind_blanks(blanks):
    text = (recordings.DATA / "fio" / "text_randrw.txt").read_text()
    padded = text.replace("min=24, max=5102, avg=61.86,", f"min={blanks}24, max={blanks}5102, avg={blanks}61.86,")
    (finding,) = recognition.read_file(padded.encode())
    figures = {sample.metric: sample.value for sample in finding.reading.samples}
    assert figures["write_latency"] == pytest.approx(61.86e-6)
    assert figures["write_latency_max"] == pytest.approx(5102e-6)
