"""Whoever reads stored raw output takes no more memory than they show, however much it unpacks to."""

import functools
import io
import json
import lzma
import os
import re
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from apps.agents import bounds, compression, heads
from apps.agents.models import Job, JobFile, JobOutput
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.store.outputs import store_output
from apps.archive.campaigns.writer import archive_of
from apps.bench.toolkit import Plan, ToolFailure
from apps.campaigns.models import Campaign, Run
from apps.results import record_digests, services
from tests import rewriting
from tests.agents import factories as agents
from tests.archive.exports.conftest import lines, repacked, unpacked
from tests.archive.exports.test_hostile_archives import summed
from tests.archive.exports.test_hostile_archives import whole as parts_of_an_archive

MIB = 1024 * 1024
LONG = 64 * MIB
MOST_SHOWN = 40 * MIB
# What xz itself takes to pack with a dictionary of 8 MiB is some 94 MiB.
MOST_OF_XZ = 110 * MIB
# What is named after what of its kind is: the addresses under it are of that row.
_KIND = re.compile(r"(\w+)/(?:<int:pk>|<uuid:pk>|\(\?P<pk>[^)]*\))")


def routes(resolver: URLResolver | None = None, before: str = "") -> Iterator[str]:
    for item in (resolver or get_resolver()).url_patterns:
        route = before + str(item.pattern).replace("^", "").replace("$", "").replace(r"\Z", "").replace("\\", "")
        if isinstance(item, URLResolver) and not route.startswith("admin/"):
            yield from routes(item, route)
        elif isinstance(item, URLPattern):
            yield route


def peak_of(read: Callable[[], object]) -> int:
    """Return how much memory is taken at most while something is read (B)."""
    tracemalloc.start()
    try:
        before, _peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        read()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.fixture
def long(finished: Campaign) -> Job:
    """Return a job of a campaign that printed zeros, gave zeros back and was watched by zeros."""
    packed = zlib.compress(bytes(LONG))
    job = Job.objects.filter(run_ref__in=finished.trials.values("runs"), output__isnull=False).first()
    assert job is not None
    rewriting.update(
        JobOutput.objects.filter(job=job),
        stdout_z=packed, stderr_z=packed, telemetry_z=packed, stdout_bytes=LONG, stderr_bytes=LONG,
    )  # fmt: skip
    JobFile.objects.create(job=job, name="zeros", content_z=packed, size=LONG)
    return job


def addresses_of(job: Job, campaign: Campaign) -> Iterator[str]:
    """Yield the address of all that is of a row the job belongs to."""
    trial = campaign.trials.get(runs__pk=job.run_ref)
    rows = {
        "campaigns": campaign.pk, "trials": trial.pk, "experiments": trial.experiment_id, "runs": job.run_ref,
        "jobs": job.pk, "nodes": job.node_id,
    }  # fmt: skip
    for route in dict.fromkeys(routes()):
        named = _KIND.search(route)
        if named and named[1] in rows:
            path = route.replace(named[0], f"{named[1]}/{rows[named[1]]}")
            streams = ("stdout", "stderr") if "<stream>" in path else ("",)
            for stream in streams:
                whole = re.sub(r"\(\?P<stream>[^)]*\)|<str:stream>", stream, path)
                whole = re.sub(r"\(\?P<name>[^)]*\)|<str:name>", "zeros", whole)
                if not any(sign in whole for sign in "<("):
                    yield f"/{whole}"


def test_every_page_and_answer_takes_no_more_than_it_shows(
    client: Client, cast: SimpleNamespace, finished: Campaign, long: Job
) -> None:
    client.force_login(cast.oscar)
    sizes: dict[str, int] = {}
    peaks: dict[str, int] = {}

    def read(address: str) -> None:
        answer: Any = client.get(address)
        pieces = answer.streaming_content if answer.streaming else [answer.content]
        length = sum(map(len, pieces))
        if answer.status_code == 200:
            sizes[address] = length

    for address in addresses_of(long, finished):
        peaks[address] = peak_of(functools.partial(read, address))
    assert {address for address, peak in peaks.items() if peak > MOST_SHOWN} == set()
    assert len(sizes) > 25
    # Outputs and files are sent whole.
    assert sum(size == LONG for size in sizes.values()) >= 3, sizes


@pytest.mark.parametrize("packs", [zlib.compress, lambda data: lzma.compress(data, lzma.FORMAT_XZ)])
def test_a_page_loads_no_packed_output_but_its_head(
    client: Client, cast: SimpleNamespace, long: Job, finished: Campaign, packs: Callable[[bytes], bytes]
) -> None:
    head = b"It began. " + os.urandom(60_000).hex().encode()
    packed = packs(head + os.urandom(16 * MIB))
    rewriting.update(JobOutput.objects.filter(job=long), stdout_z=packed, stderr_z=packed, telemetry_z=b"")
    rewriting.update(JobFile.objects.filter(job=long), content_z=packed)
    client.force_login(cast.oscar)
    trial = finished.trials.get(runs__pk=long.run_ref)
    (shown,) = (job for job in heads.shown_jobs_of_run(long.run_ref, len(head)) if job.pk == long.pk)
    assert heads.printed_heads(shown, len(head)) == {"stdout": head, "stderr": head}
    peaks = {}
    for address in (f"/results/trials/{trial.pk}/", f"/api/v1/runs/{long.run_ref}/telemetry/"):
        answers: list[Any] = []
        # What a process loads for its first page stays.
        client.get(address)
        peaks[address] = peak_of(lambda: answers.append(client.get(address)))  # noqa: B023
        assert answers[0].status_code == 200
    assert {address for address, peak in peaks.items() if peak > 12 * MIB} == set(), peaks


def test_archives_digests_and_retention_take_them_in_parts(finished: Campaign, long: Job) -> None:
    packed = bytes(JobOutput.objects.get(job=long).stdout_z)
    assert peak_of(lambda: [None for _part in archive_of(finished, now=timezone.now())]) < MOST_SHOWN
    assert peak_of(lambda: record_digests.record_digests_of(finished)) < MOST_SHOWN
    assert peak_of(lambda: compression.pack(packed)) < MOST_OF_XZ


def test_an_archive_holds_the_outputs_of_few_jobs_at_once(finished: Campaign) -> None:
    """A reader may take it slowly, and several do."""
    outputs = JobOutput.objects.filter(job__run_ref__in=finished.trials.values("runs"))
    rewriting.update(outputs, stdout_z=zlib.compress(os.urandom(3 * MIB)), stdout_bytes=3 * MIB)
    assert outputs.count() > 6

    def read() -> None:
        assert sum(map(len, archive_of(finished, now=timezone.now()))) > 3 * MIB * outputs.count()

    assert peak_of(read) < 13 * MIB


def test_a_run_is_read_up_to_what_a_run_may_take(long: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.objects.get(pk=long.run_ref)
    plan = Plan.from_json(run.plan)
    monkeypatch.setattr(services, "MOST_BYTES_OF_A_RUN", 8 * MIB)

    def read() -> None:
        with pytest.raises(ToolFailure) as caught:
            services._outputs_of(services.jobs_of(run), plan, ())
        assert caught.value.code == "too-much-output"

    assert peak_of(read) < MOST_SHOWN


@pytest.mark.parametrize("tight", [False, True], ids=["zlib", "xz"])
@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 1_000_003])
def test_parts_are_the_whole(size: int, *, tight: bool) -> None:
    text = (b"of a kind " + bytes(500)) * (size // 510 + 1)
    text = text[:size]
    packed = zlib.compress(text)
    packed = compression.pack(packed) if tight else packed
    assert b"".join(compression.unpack_in_parts(packed)) == text
    assert b"".join(compression.unpack_in_parts(packed, 1000)) == text
    assert compression.unpack(packed, size) == text
    assert compression.head(packed, 100) == text[:100]
    if size:
        with pytest.raises(compression.TooLongError):
            compression.unpack(packed, size - 1)


def opened(files: dict[str, bytes]) -> Archive:
    return Archive(io.BytesIO(repacked(summed(parts_of_an_archive() | files).items())), "a.zip")


PRINTED = {"stdout_bytes": 1, "stderr_bytes": 1, "truncated": False, "cut_on_way": False}
GIVEN = {"name": "a", "size": 1, "truncated": False, "cut_on_way": False}


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ({"output": PRINTED | {"stdout": "raw/long"}}, "stdout"),
        ({"output": PRINTED | {"stderr": "raw/long"}}, "stderr"),
        ({"output": PRINTED | {"telemetry": "raw/watched"}}, "telemetry"),
        ({"collected": [GIVEN | {"path": "raw/long"}]}, "a"),
        ({"collected": [GIVEN | {"path": "raw/half"}, GIVEN | {"name": "b", "path": "raw/more"}]}, "b"),
        ({"collected": [GIVEN | {"name": f"f{number}"} for number in range(bounds.MOST_FILES + 1)]}, "collected"),
        ({"output": PRINTED | {"stdout": "raw/half", "stderr": "raw/half"}}, "stderr"),
    ],
)
def test_an_archive_brings_no_more_of_a_job_than_its_agent_could_send(
    cast: SimpleNamespace, data: dict[str, Any], where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MOST_TELEMETRY_BYTES", 500)
    archive = opened({
        "raw/long": bytes(1001), "raw/watched": bytes(501), "raw/half": bytes(600), "raw/more": bytes(600),
    })  # fmt: skip
    job = agents.job(agents.node(cast.team), output_limit_bytes=1000)
    with pytest.raises(ArchiveError) as caught:
        store_output(archive, job, {"collected": [], **data}, f"trials.jsonl, 1, {job.pk}", is_imported=False)
    place = caught.value.message.params["place"]
    assert str(place) == f"trials.jsonl, 1, {job.pk}, {where}"
    assert "export the campaign again" in str(caught.value.message.params["problem"])


@pytest.mark.parametrize("is_shared", [False, True], ids=["too long", "named by all"])
def test_of_an_archive_with_too_much_nothing_is_stored(
    cast: SimpleNamespace, finished: Campaign, *, is_shared: bool
) -> None:
    files = unpacked(b"".join(archive_of(finished, now=timezone.now())))
    rewriting.delete(finished)
    trials = lines(files["trials.jsonl"])
    jobs = [job for trial in trials for run in trial["runs"] for job in run["jobs"] if job["output"]]
    blamed = jobs[1] if is_shared else jobs[0]
    if is_shared:
        for job in jobs:
            job["output"]["stdout"] = jobs[0]["output"]["stdout"] or jobs[0]["output"]["stderr"]
    else:
        blamed["output_limit_bytes"] = len(files[blamed["output"]["stdout"]]) - 1
    files["trials.jsonl"] = b"".join(json.dumps(trial).encode() + b"\n" for trial in trials)
    archive = Archive(io.BytesIO(repacked(summed(files).items())), "a.zip")
    archive.verify()
    with pytest.raises(ArchiveError) as caught:
        store(archive=archive, team=cast.other_team, user=cast.charlie, choices=Choices(), now=timezone.now())
    assert blamed["id"] in str(caught.value.message.params["place"])
    assert not Campaign.objects.exists()


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_what_was_stored_before_there_was_a_limit_comes_back_up_to_it(
    cast: SimpleNamespace, finished: Campaign, long: Job, over: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MOST_TELEMETRY_BYTES", 500)
    text, watched = os.urandom(1000 + over), b'"' + b"a" * (498 + over) + b'"'
    printed, told = zlib.compress(text), zlib.compress(watched)
    rewriting.update(Job.objects.filter(pk=long.pk), output_limit_bytes=1000)
    rewriting.update(JobOutput.objects.filter(job=long), stdout_z=printed, stderr_z=printed, telemetry_z=told)
    rewriting.delete(JobFile.objects.filter(job=long))
    for name, part in (("a", text[:600]), ("b", text[600:]), ("c", text[:over] if over > 0 else b"")):
        JobFile.objects.create(job=long, name=name, content_z=zlib.compress(part), size=len(part))
    archive = Archive(io.BytesIO(b"".join(archive_of(finished, now=timezone.now()))), "a.zip")
    rewriting.delete(finished)
    archive.verify()
    store(archive=archive, team=cast.other_team, user=cast.charlie, choices=Choices(), now=timezone.now())
    kept = JobOutput.objects.filter(job__run_ref__in=Run.objects.values("pk"))
    (output,) = (row for row in kept if compression.unpack(row.stdout_z) == text[:1000])
    assert compression.unpack(output.stderr_z) == text[:1000]
    assert output.truncated is (over > 0)
    assert compression.unpack(output.telemetry_z or zlib.compress(b"")) == (b"" if over > 0 else watched)
    files = {file.name: (compression.unpack(file.content_z), file.truncated) for file in output.job.collected.all()}
    rest = text[600:1000]
    assert files == {"a": (text[:600], False), "b": (rest, over > 0), "c": (b"", over > 0)}
