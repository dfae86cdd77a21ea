"""An archive that is not what it says is refused with the reason, and nothing of it is stored."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.archive.campaigns import form, records
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.writer import archive_of
from apps.archive.incoming.previews import preview_of
from apps.campaigns.models import Campaign, Experiment
from apps.core import messages
from apps.testbeds.models import Node, Site
from apps.tuning.models import Finding
from tests import rewriting
from tests.archive.exports.conftest import lines, repacked, unpacked

MANIFEST = {
    "format": form.FORMAT,
    "version": form.VERSION,
    "campaign": "7k3m-9qxt-2v4h",
    "name": "Sweep",
    "made_at": "2026-11-01T00:00:00+00:00",
    "counts": {"experiments": 0, "trials": 0, "results": 0, "findings": 0, "editions": 0},
}


def whole(**files: bytes) -> dict[str, bytes]:
    """Return the files of an archive of nothing, with others beside or instead."""
    made = {name: b"" if name.endswith(".jsonl") else b"{}" for name in form.NEEDED}
    made[form.MANIFEST] = json.dumps(MANIFEST).encode()
    made[form.CAMPAIGN] = b'{"campaign": {"name": "Sweep"}}'
    return made | files


def summed(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with their sums."""
    sums = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items() if name != form.SUMS]
    return {**files, form.SUMS: "".join(sums).encode()}


def refusal(data: bytes) -> ArchiveError:
    with pytest.raises(ArchiveError) as caught:
        Archive(io.BytesIO(data), "a.zip").verify()
    assert messages.render(caught.value.message)
    return caught.value


def test_a_whole_archive_is_read() -> None:
    archive = Archive(io.BytesIO(repacked(summed(whole()).items())), "a.zip")
    archive.verify()
    assert (archive.permanent_id, archive.name) == ("7k3m-9qxt-2v4h", "Sweep")


def test_name_and_counts_are_those_of_what_is_stored_whatever_the_manifest_says(
    cast: SimpleNamespace, finished: Campaign
) -> None:
    files = unpacked(b"".join(archive_of(finished, now=timezone.now())))
    counts = json.loads(files[form.MANIFEST])["counts"]
    manifest = json.loads(files[form.MANIFEST]) | {"name": "Harmless", "counts": dict.fromkeys(counts, 1)}
    files[form.MANIFEST] = json.dumps(manifest).encode()
    preview = preview_of(Archive(io.BytesIO(repacked(summed(files).items())), "a.zip"), cast.team)
    assert (preview["name"], preview["counts"]) == (finished.name, counts)
    assert counts["trials"] > 1


def test_what_would_harm_is_not_unpacked() -> None:
    assert refusal(repacked([*summed(whole()).items(), ("raw/zeros", bytes(64 * 1024 * 1024))])).code == "bomb"
    for path in ("../../etc/passwd", "/etc/passwd", "raw\\..\\..\\x"):
        assert refusal(repacked([*summed(whole()).items(), (path, b"x")])).code == "unsafe"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in summed(whole()).items():
            archive.writestr(name, content)
        link = zipfile.ZipInfo("raw/link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert refusal(out.getvalue()).code == "unsafe"


def test_what_is_damaged_foreign_or_newer_is_refused() -> None:
    good = repacked(summed(whole()).items())
    assert refusal(b"PK\x03\x04 no zip").code == "damaged"
    assert refusal(good[: len(good) // 2]).code == "damaged"
    assert refusal(repacked([("a.txt", b"x")])).code == "foreign"
    foreign = {form.MANIFEST: b'{"format": "other"}'}
    assert refusal(repacked(whole(**foreign).items())).code == "foreign"
    for manifest, code in (
        ({**MANIFEST, "version": form.VERSION + 1}, "newer"),
        ({**MANIFEST, "version": "1"}, "wrong"),
        ({**MANIFEST, "campaign": "../x"}, "wrong"),
        ({**MANIFEST, "counts": {}}, "wrong"),
        ([], "wrong"),
    ):
        assert refusal(repacked(summed(whole(**{form.MANIFEST: json.dumps(manifest).encode()})).items())).code == code
    for text in (b"{", b'{"a": NaN}', b"[" * 100_000, b"\xff"):
        assert refusal(repacked(summed(whole(**{form.MANIFEST: text})).items())).code == "wrong"


def test_what_differs_from_its_sums_is_refused() -> None:
    files = summed(whole())
    changed = {**files, form.TOOLS: b"[]"}
    assert refusal(repacked(changed.items())).code == "sums"
    assert refusal(repacked([*files.items(), ("raw/added", b"x")])).code == "sums"
    gone = {name: data for name, data in files.items() if name != form.EVENTS}
    assert refusal(repacked(gone.items())).code == "incomplete"
    assert refusal(repacked({**files, form.SUMS: b"no sums"}.items())).code == "wrong"


@pytest.mark.parametrize(
    "data",
    [
        "a\0b",
        {"a": ["\ud800"]},
        {"msgid": "%(x)999999999s", "params": {"x": 1}},
        {"msgid": "%s", "params": {"x": 1}},
        {"msgid": "%(x)s", "params": {"y": 1}},
        {"msgid": 5, "params": {}},
    ],
)
def test_texts_that_could_not_be_stored_or_shown_are_refused(data: Any) -> None:
    with pytest.raises(ArchiveError):
        records.check(data, "x")


def test_messages_as_the_service_writes_them_are_taken() -> None:
    inner = {"msgid": "100 %", "params": {}}
    records.check({"msgid": "%(a)s is 5 %% of %(b)s", "params": {"a": 1, "b": inner}}, "x")


def _line(name: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, bytes]], None]:
    """Return what changes the first line of a file."""

    def apply(files: dict[str, bytes]) -> None:
        found = lines(files[name])
        change(found[0])
        files[name] = b"".join(json.dumps(item).encode() + b"\n" for item in found)

    return apply


def _json(name: str, change: Callable[[Any], Any]) -> Callable[[dict[str, bytes]], None]:
    def apply(files: dict[str, bytes]) -> None:
        found = json.loads(files[name])
        change(found)
        files[name] = json.dumps(found).encode()

    return apply


def _collected(name: str) -> Callable[[dict[str, Any]], Any]:
    """Return what adds a file to the first job of a line."""
    file = {"name": name, "size": 0, "truncated": False, "cut_on_way": False}
    return lambda data: data["runs"][0]["jobs"][0].update(collected=[file])


# What would be carried on with, would break a page, or points nowhere.
CHANGES = (
    _json(form.CAMPAIGN, lambda data: data["campaign"].update(state="running")),
    _json(form.CAMPAIGN, lambda data: data["campaign"].update(permanent_id="0000-0000-0000")),
    _json(form.CAMPAIGN, lambda data: data["campaign"].update(name="x" * 201)),
    _json(form.CAMPAIGN, lambda data: data["campaign"].pop("goal")),
    _json(form.CAMPAIGN, lambda data: data["campaign"].update(finished_at="yesterday")),
    _json(form.CAMPAIGN, lambda data: data.update(people=[5])),
    _json(form.INVENTORY, lambda data: data.update(nodes=[])),
    _json(form.INVENTORY, lambda data: data["nodes"][0].update(name="a, b")),
    _json(form.TOOLS, lambda data: data.append({"slug": "x", "number": 1, "note": "", "definition": {}})),
    _line(form.EXPERIMENTS, lambda data: data.update(tool="no-such-tool")),
    _line(form.EXPERIMENTS, lambda data: data.update(factors=[5])),
    _line(form.EXPERIMENTS, lambda data: data.update(after=3)),
    _line(form.EXPERIMENTS, lambda data: data["lanes"][0].update(resources=[["planet", "Mars"]])),
    _line(form.TRIALS, lambda data: data.update(state="pending")),
    _line(form.TRIALS, lambda data: data.update(lane=7)),
    _line(form.TRIALS, lambda data: data.update(position=True)),
    _line(form.TRIALS, lambda data: data["runs"][0].update(state="running")),
    _line(form.TRIALS, lambda data: data["runs"][0].update(plan={"stages": [{}]})),
    _line(form.TRIALS, lambda data: data["runs"][0]["jobs"][0].update(state="queued")),
    _line(form.TRIALS, lambda data: data["runs"][0]["jobs"][0].update(stage=9)),
    _line(form.TRIALS, lambda data: data["runs"][0]["jobs"][0]["output"].update(stdout="fathom.json")),
    _line(form.TRIALS, lambda data: data["runs"][0]["jobs"][0].update(id="x")),
    _line(form.RESULTS, lambda data: data.update(trial=[0, 99])),
    _line(form.RESULTS, lambda data: data.update(samples=[["goodput", "fast"]])),
    _line(form.RESULTS, lambda data: data.update(samples=[["goodput", 1], ["goodput", 2]])),
    _line(form.RESULTS, lambda data: data.update(samples=[["nosuch", 1.0]])),
    *(
        _line(form.TRIALS, _collected(name))
        for name in ("a b", "../../x", "..", "", "a/b", "ü", 'a"b', "a\r\nX: 1", "a\n")
    ),
    _line(form.RESULTS, lambda data: data.update(flags=[{"name": "=cmd()", "severity": "info"}])),
    _line(form.SERIES, lambda data: data.update(times=[])),
    _line(form.EVENTS, lambda data: data.update(message={"msgid": "%(a)9999999s", "params": {"a": ""}})),
    _line(form.FINDINGS, lambda data: data.update(details={})),
    _line(form.FINDINGS, lambda data: data.update(ends=[["client", "nobody"]])),
)


def test_what_contradicts_itself_leaves_nothing_behind(finished: Campaign, cast: SimpleNamespace) -> None:
    data = unpacked(b"".join(archive_of(finished, now=timezone.now())))
    rewriting.delete(finished)
    before = Node.objects.count(), Site.objects.count()
    for number, change in enumerate(CHANGES):
        files = dict(data)
        change(files)
        archive = Archive(io.BytesIO(repacked(summed(files).items())), "a.zip")
        archive.verify()
        with pytest.raises(ArchiveError) as caught:
            store(archive=archive, team=cast.other_team, user=cast.charlie, choices=Choices(), now=timezone.now())
            pytest.fail(f"change {number} came in")
        assert messages.render(caught.value.message), number
        assert (Campaign.objects.count(), Experiment.objects.count(), Finding.objects.count()) == (0, 0, 0), number
        assert (Node.objects.count(), Site.objects.count()) == before, number
