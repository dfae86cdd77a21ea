"""What jobs printed becomes a stored result, once, with every figure."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from apps.agents.models import Job
from apps.bench.toolkit import ToolFailure
from apps.campaigns.models import Campaign, Run
from apps.results import faults, services
from apps.results.models import Result, Sample, Series
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.workers import factories as agents
from workers import carry_out


def test_each_trial_has_one_result_with_its_samples_and_series(measured: Campaign) -> None:
    assert measured.state == Campaign.State.FINISHED
    assert Result.objects.count() == 4
    goodput = Sample.objects.filter(metric="goodput").order_by("value").values_list("value", flat=True)
    assert [round(value / 1e6) for value in goodput] == pytest.approx([140, 140, 990, 990], abs=3)
    result = Result.objects.first()
    assert result.tool_version.startswith("3.")
    assert result.requested["window"] in (65536, 1048576)
    assert Series.objects.filter(result=result, metric="sent_rate").exists()


def test_recording_again_returns_the_first_result(measured: Campaign) -> None:
    run = Run.objects.first()
    assert services.record_run(run=run) == run.result
    assert Result.objects.count() == 4


def test_the_raw_output_is_kept_byte_for_byte(measured: Campaign) -> None:
    job = Job.objects.filter(role="client").select_related("output").first()
    printed = services.printed_by(job)
    assert printed["stdout"].lstrip().startswith(b"{")
    assert len(printed["stdout"]) > 1000


def test_a_job_that_never_ended_has_printed_nothing(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    carry_out.schedule()
    assert services.printed_by(Job.objects.get()) == {"stdout": b"", "stderr": b""}


@pytest.mark.parametrize(
    "fault",
    [
        *("agent-lost", "agent-restarted", "outcome-gone", "stopped", "not-allowed", "not-found", "not-started"),
        *("option-not-allowed", "path-not-allowed", "destination-not-allowed", "server-clock-set", "server-unheard"),
    ],
)
def test_a_fault_becomes_a_reason_that_names_node_and_remedy(
    cast: SimpleNamespace, pair: list[Node], fault: str
) -> None:
    make.launched(cast, *pair)
    carry_out.schedule()
    job = Job.objects.get()
    job.fault, job.fault_detail = fault, "no such file"
    with pytest.raises(ToolFailure) as refused:
        faults.raise_for([job])
    assert refused.value.code == fault
    assert "pnu01" in str(refused.value.message)
    assert refused.value.remedy
    passing = ("agent-lost", "agent-restarted", "outcome-gone", "stopped", "server-clock-set", "server-unheard")
    assert refused.value.retryable == (fault in passing)


def test_an_unheard_of_fault_still_says_what_it_was(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    carry_out.schedule()
    job = Job.objects.get()
    job.fault = "on-fire"
    with pytest.raises(ToolFailure, match="on-fire"):
        faults.raise_for([job])


def test_the_skew_of_a_common_start_is_measured(measured: Campaign) -> None:
    one, two = Job.objects.all()[:2]
    assert services.start_skew_s([one]) is None
    for job, late in ((one, 0.002), (two, 0.005)):
        job.start_at = job.started_at - timedelta(seconds=late)
    two.start_at = one.start_at
    two.started_at = one.start_at + timedelta(seconds=0.005)
    assert services.start_skew_s([one, two]) == pytest.approx(0.005)
    one.started_at = None
    assert services.start_skew_s([one, two]) == pytest.approx(0.005)


def test_output_that_is_no_result_is_a_tool_failure(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    carry_out.schedule()
    run = Run.objects.get()
    agents.listen(run)
    agents.measure(run, agents.SILENT)
    with pytest.raises(ToolFailure):
        services.record_run(run=run)
    assert not Result.objects.exists()
