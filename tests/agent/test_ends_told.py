"""Whatever fails while a job is tidied up, its end is told: else its nodes were held until the agent ends."""

import errno
from types import SimpleNamespace
from typing import Any

import pytest

from workers.agent.jobs import Runner


def broken(*_words: Any) -> None:
    raise OSError(errno.EMFILE, "Too many open files")


@pytest.mark.parametrize("part", ["recording", "settings", "remove", "wait", "all"])
def test_an_end_is_told(part: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    ends: list[Any] = []

    def step(name: str) -> Any:
        return broken if part in (name, "all") else lambda *_words: None

    runner = object.__new__(Runner)
    runner.record = SimpleNamespace(job_id="7", job={"argv": ["fathom-settings"]})
    runner._sets, runner.stop_asked = True, SimpleNamespace(is_set=lambda: False)
    runner._recording = SimpleNamespace(drop=step("recording"))
    runner._restoration = SimpleNamespace(restore=step("settings"))
    runner._clearing = SimpleNamespace(remove=step("remove"), wait=step("wait"))
    runner._folder, runner._clock = SimpleNamespace(path="/x"), SimpleNamespace(as_json=dict)
    runner._spool = SimpleNamespace(set_outcome=lambda *_words: None, settle=lambda _record, **_doubts: None)
    runner._changed = ends.append
    monkeypatch.setattr(Runner, "_carry_out", lambda _self, _job: {"exit_code": 0})
    runner.run()
    assert ends == [runner.record]
    assert "not tidied up" in caplog.text
