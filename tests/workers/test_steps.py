"""What a run needs next."""

import dataclasses

import pytest

from workers.steps import JobView, Step, next_step

SERVER = JobView(
    background=True,
    awaits_pattern=True,
    has_started=False,
    is_ready=False,
    has_ended=False,
    has_fault=False,
)
CLIENT = dataclasses.replace(SERVER, background=False, awaits_pattern=False)


def started(job: JobView) -> JobView:
    return dataclasses.replace(job, has_started=True)


def ready(job: JobView) -> JobView:
    return dataclasses.replace(job, has_started=True, is_ready=True)


def ended(job: JobView) -> JobView:
    return dataclasses.replace(job, has_started=True, has_ended=True)


def lost(job: JobView) -> JobView:
    return dataclasses.replace(job, has_ended=True, has_fault=True)


def step(
    *jobs: JobView, stage: int = 1, stopping: bool = False, cancelled: bool = False, cleans: bool = False
) -> Step:
    return next_step(stages=2, stage=stage, stopping=stopping, cancelled=cancelled, jobs=jobs, cleans=cleans)


@pytest.mark.parametrize("server", [SERVER, started(SERVER)])
def test_it_waits_until_the_server_says_that_it_listens(server: JobView) -> None:
    assert step(server, stage=0) is Step.WAIT


def test_it_goes_on_when_the_server_listens() -> None:
    assert step(ready(SERVER), stage=0) is Step.NEXT_STAGE


def test_a_background_job_without_a_pattern_need_only_have_started() -> None:
    silent = dataclasses.replace(SERVER, awaits_pattern=False)
    assert step(silent, stage=0) is Step.WAIT
    assert step(started(silent), stage=0) is Step.NEXT_STAGE


def test_it_goes_on_when_a_stage_of_foreground_jobs_has_ended() -> None:
    assert step(ended(CLIENT), stage=0) is Step.NEXT_STAGE


def test_it_goes_on_when_a_server_for_one_test_has_ended_before_the_last_stage_began() -> None:
    assert step(ended(ready(SERVER)), stage=0) is Step.NEXT_STAGE


def test_it_waits_for_every_client_of_a_stage() -> None:
    assert step(ready(SERVER), ended(CLIENT), started(CLIENT)) is Step.WAIT


def test_it_stops_the_server_when_the_clients_have_ended() -> None:
    assert step(ready(SERVER), ended(CLIENT)) is Step.STOP


def test_it_asks_to_stop_only_once() -> None:
    assert step(ready(SERVER), ended(CLIENT), stopping=True) is Step.WAIT


def test_it_closes_when_all_have_ended() -> None:
    assert step(ended(ready(SERVER)), ended(CLIENT)) is Step.CLOSE
    assert step(ended(ready(SERVER)), ended(CLIENT), stopping=True) is Step.CLOSE


def test_it_stops_the_rest_when_a_job_is_lost() -> None:
    assert step(ready(SERVER), lost(CLIENT)) is Step.STOP


def test_it_closes_when_the_only_job_is_lost_whatever_stages_remain() -> None:
    assert step(lost(SERVER), stage=0) is Step.CLOSE


def test_a_server_that_ends_before_it_listens_ends_the_run() -> None:
    assert step(ended(SERVER), stage=0) is Step.CLOSE
    assert step(ended(SERVER), ready(SERVER), stage=0) is Step.STOP


def test_a_failed_client_is_for_the_parser_to_judge() -> None:
    assert step(ended(CLIENT), ready(SERVER)) is Step.STOP


def test_a_cancelled_run_is_stopped_and_then_closed() -> None:
    assert step(ready(SERVER), started(CLIENT), cancelled=True) is Step.STOP
    assert step(ready(SERVER), started(CLIENT), cancelled=True, stopping=True) is Step.WAIT
    assert step(ended(SERVER), stage=0, cancelled=True, stopping=True) is Step.CLOSE


def test_a_run_without_jobs_goes_on_unless_it_is_in_its_last_stage() -> None:
    assert step(stage=0) is Step.NEXT_STAGE
    assert step(stage=1) is Step.CLOSE


def test_a_run_that_ends_early_is_cleaned_up_after_once_nothing_runs_any_more() -> None:
    assert step(ready(SERVER), lost(CLIENT), cleans=True) is Step.STOP
    assert step(ready(SERVER), lost(CLIENT), cleans=True, stopping=True) is Step.WAIT
    assert step(ended(ready(SERVER)), lost(CLIENT), cleans=True, stopping=True) is Step.CLEAN_UP
    assert step(ended(CLIENT), cleans=True, cancelled=True) is Step.CLEAN_UP
    assert step(lost(CLIENT), cleans=True) is Step.CLEAN_UP


def test_a_run_that_goes_on_comes_to_its_clean_up_by_itself() -> None:
    assert step(ended(CLIENT), stage=0, cleans=True) is Step.NEXT_STAGE
