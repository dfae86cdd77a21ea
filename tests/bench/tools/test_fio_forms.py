"""fio's reports for people with other units, and of forms that are not known."""

import dataclasses

import pytest

from tests.bench.tools.test_fio import TOOL, fail, load, samples


def as_printed(old, new):
    output = load("seq_write_text.txt")
    assert old in output.stdout
    return dataclasses.replace(output, stdout=output.stdout.replace(old, new))


def test_sizes_in_powers_of_ten_are_read():
    # What fio 3.33 prints with kb_base=1000.
    output = as_printed(b"(256MiB/565msec)", b"(268MB/565msec)")
    figures = samples(TOOL.parse([output], TOOL.clean(TOOL.recover(output))))
    assert figures["write"] == pytest.approx(268e6 / 0.565)


def test_a_form_that_is_not_known_is_not_called_a_rate_of_zero():
    failure = fail(as_printed(b"(256MiB/565msec)", b"(256 mebibytes in 565 ms)"))
    assert failure.code == "unreadable"
    assert "unknown form" in str(failure.message)
    assert "rate of zero" not in str(failure.message)
