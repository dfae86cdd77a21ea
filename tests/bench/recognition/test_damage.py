"""Whatever happens to a file, recognition gives findings, and nothing is ever raised."""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.bench import recognition
from apps.bench.toolkit import Reading, ToolFailure
from tests.bench.recognition.test_recordings import OUTPUTS
from tests.bench.tools.test_damage import damages, strings_of

# Sweeps are many files of one form: one of them is enough.
FILES = [path for path in OUTPUTS if "sweep" not in str(path)]
WORDS = st.sampled_from([b"$ ", b"[exit 0]\n", b"--- stderr:\n", b"{", b"PING ", b"\x00", b"\xff", b"1e999", b"\n"])


def survives(raw):
    for finding in recognition.read_file(raw):
        outcomes = [finding.reading, finding.data, finding.failure]
        assert sum(outcome is not None for outcome in outcomes) == 1
        json.dumps(finding.parameters, allow_nan=False)
        if isinstance(finding.failure, ToolFailure):
            assert str(finding.failure.message).isprintable()
        if isinstance(finding.reading, Reading):
            plain = finding.reading.as_json()
            json.dumps(plain, allow_nan=False)
            assert all(text.isprintable() for text in strings_of(plain))
            assert {sample.metric for sample in finding.reading.samples} <= {
                metric.name for metric in finding.tool.metrics
            }
        if finding.data is not None:
            json.dumps(finding.data, allow_nan=False)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_damaged_files_give_findings(data):
    raw = data.draw(st.sampled_from(FILES)).read_bytes()[:60_000]
    survives(data.draw(damages(raw)))


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_interleaved_files_give_findings(data):
    first, second = (data.draw(st.sampled_from(FILES)).read_bytes()[:20_000].splitlines(True) for _ in range(2))
    mixed = []
    while first or second:
        source = first if first and (not second or data.draw(st.booleans())) else second
        taken = data.draw(st.integers(1, 30))
        mixed += source[:taken]
        del source[:taken]
    survives(b"".join(mixed))


@settings(max_examples=100, deadline=None)
@given(raw=st.lists(st.binary(max_size=20) | WORDS, max_size=20).map(b"".join))
@example(b"$ '\n")
@example(b" $ x")
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
def test_noise_gives_findings(raw):
    survives(raw)
