"""Writes of campaigns, each one function; see the modules."""

from apps.campaigns.services.awaited_tools import note_awaited_tools
from apps.campaigns.services.campaigns import (
    clone_campaign,
    create_campaign,
    lock_campaign,
    require_writer,
    update_campaign,
)
from apps.campaigns.services.clock_steps import steps_during, tell_clock_step
from apps.campaigns.services.completion import (
    cancel_leftovers,
    finish_campaign,
    finish_campaigns,
    mark_analysed,
    resume_cancelling,
)
from apps.campaigns.services.compositions import Composition
from apps.campaigns.services.controls import (
    cancel_campaign,
    pause_campaign,
    rerun_failed,
    resume_campaign,
    withdraw_campaign,
)
from apps.campaigns.services.deletion import continue_deletions, delete_campaign, resume_deletions
from apps.campaigns.services.deletion import pieces as pieces_of_deletion
from apps.campaigns.services.events import write_event, write_fault
from apps.campaigns.services.experiments import (
    Player,
    check_experiment,
    create_experiment,
    delete_experiment,
    players_of,
    update_experiment,
)
from apps.campaigns.services.fences import settle_fence
from apps.campaigns.services.launches import correct_dates, launch_campaign, launch_due, start_expanded
from apps.campaigns.services.origins import visibility_from
from apps.campaigns.services.progress import begin_run, enter_stage, mark_all_stopping, mark_stopping
from apps.campaigns.services.recipes import create_from_recipe
from apps.campaigns.services.reruns import NodeStandIns, run_again
from apps.campaigns.services.runs import (
    cancel_run,
    fail_run,
    forget_claims,
    recover_run,
    release_run,
    succeed_run,
    take_runs,
)
from apps.campaigns.services.sharing import share_campaign
from apps.campaigns.services.stages import start_stage
from apps.campaigns.services.trials import expand_campaign

__all__ = [
    "Composition",
    "NodeStandIns",
    "Player",
    "begin_run",
    "cancel_campaign",
    "cancel_leftovers",
    "cancel_run",
    "check_experiment",
    "clone_campaign",
    "continue_deletions",
    "correct_dates",
    "create_campaign",
    "create_experiment",
    "create_from_recipe",
    "delete_campaign",
    "delete_experiment",
    "enter_stage",
    "expand_campaign",
    "fail_run",
    "finish_campaign",
    "finish_campaigns",
    "forget_claims",
    "launch_campaign",
    "launch_due",
    "lock_campaign",
    "mark_all_stopping",
    "mark_analysed",
    "mark_stopping",
    "note_awaited_tools",
    "pause_campaign",
    "pieces_of_deletion",
    "players_of",
    "recover_run",
    "release_run",
    "require_writer",
    "rerun_failed",
    "resume_campaign",
    "resume_cancelling",
    "resume_deletions",
    "run_again",
    "settle_fence",
    "share_campaign",
    "start_expanded",
    "start_stage",
    "steps_during",
    "succeed_run",
    "take_runs",
    "tell_clock_step",
    "update_campaign",
    "update_experiment",
    "visibility_from",
    "withdraw_campaign",
    "write_event",
    "write_fault",
]
