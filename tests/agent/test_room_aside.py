"""What a server refuses takes no more room on a node than it may: the oldest goes, and it is told."""

import os
from pathlib import Path

import pytest

from apps.agents import troubles
from tests.agent.test_spool import JOB, Picky, send
from workers.agent import aside, spool


def refuse(records: spool.Spool, number: int, size: int, **facts: float) -> None:
    """Have a server refuse the result of a job."""
    record = records.accept({**JOB, "id": f"{number:036}"})
    records.note(record, ended_at=5.0, fault_detail="x" * size, **facts)
    send(records, record, Picky(100))
    assert not list(records)


def numbers_in(folder: Path) -> list[int]:
    return sorted(int(path.stem) for path in folder.glob("*.jsonl"))


@pytest.mark.parametrize(("most", "most_bytes"), [(3, 10**9), (1000, 4000)])
def test_of_what_is_refused_the_latest_stay(
    most: int, most_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "MOST_BYTES", most_bytes)
    monkeypatch.setattr(spool, "MOST_REFUSED", most)
    records = spool.Spool(tmp_path / "spool")
    for number in range(3):
        refuse(records, number, 1000, started_at=4.0)
    assert (numbers_in(tmp_path / "refused"), records.refused.trouble()) == ([0, 1, 2], None)
    for number in range(3, 6):
        refuse(records, number, 1000, started_at=4.0)
    assert numbers_in(tmp_path / "refused") == [3, 4, 5]
    code, detail = records.refused.trouble() or ("", "")
    assert detail.startswith("3 of the oldest records in ")
    assert not troubles.Trouble(code, detail).stops_measuring
    assert code in troubles._KNOWN
    refuse(records, 6, 9000, started_at=4.0)
    assert numbers_in(tmp_path / "refused")[-1] == 6


def test_what_an_earlier_agent_left_has_the_same_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "MOST_BYTES", 2500)
    (tmp_path / "cut").mkdir()
    (tmp_path / "refused").mkdir()
    for name in ("cut", "refused"):
        for number in range(5):
            path = tmp_path / name / f"{number:036}.jsonl"
            path.write_bytes(b"x" * 1000)
            os.utime(path, (number, number))
    spool.Spool.open(tmp_path / "spool")
    assert numbers_in(tmp_path / "refused") == numbers_in(tmp_path / "cut") == [3, 4]


def test_of_a_job_that_never_began_nothing_is_kept(tmp_path: Path) -> None:
    records = spool.Spool(tmp_path / "spool")
    refuse(records, 1, 1000)
    assert not (tmp_path / "refused").exists()
    assert not list((tmp_path / "spool").iterdir())
