"""What a person sees and may of a campaign is asked once its row is held: who held it before may have changed that.

Two transactions in order: one holds the campaign and takes it from the other's sight, the other has found it before
and waits for the row.
"""

import ast
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

import apps
from apps.accounts import services as accounts
from apps.accounts.models import Role, User
from apps.campaigns import queries, services
from apps.campaigns.models import Campaign
from apps.campaigns.services import notes
from apps.results import validity
from apps.tuning.analysis import services as analysis
from tests import competing, factories
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW
from tests.test_architecture import SOURCES, tree_of

ROOT = Path(apps.__path__[0])
Act = Callable[[Campaign, User], object]


def of_its_note(service: Callable[..., object], **values: Any) -> Act:
    return lambda campaign, user: service(note=campaign.notes.get(), user=user, **values)


def of_its_experiment(service: Callable[..., object], **values: Any) -> Act:
    return lambda campaign, user: service(experiment=campaign.experiments.get(), user=user, **values)


def another(campaign: Campaign, user: User) -> object:
    # One that could be saved: what never could is refused before anything is held.
    roles = [services.Player(part.role, part.node) for part in campaign.experiments.get().roles.all()]
    return services.create_experiment(campaign=campaign, user=user, roles=roles, name="x", tool="iperf3-tcp")


def plain(service: Callable[..., object], **values: Any) -> Act:
    return lambda campaign, user: service(campaign=campaign, user=user, **values)


# Each service that takes a person and holds a campaign.
ACTS: dict[str, Act] = {
    "add_note": plain(notes.add_note, text="x"),
    "cancel_campaign": plain(services.cancel_campaign, now=NOW),
    "change_note": of_its_note(notes.change_note, text="x"),
    "create_experiment": another,
    "delete_campaign": plain(services.delete_campaign, now=NOW),
    "delete_experiment": of_its_experiment(services.delete_experiment),
    "delete_note": of_its_note(notes.delete_note),
    "launch_campaign": plain(services.launch_campaign, now=NOW),
    "pause_campaign": plain(services.pause_campaign),
    "rerun_failed": plain(services.rerun_failed),
    "resume_campaign": plain(services.resume_campaign, now=NOW),
    "retry_analysis": plain(analysis.retry_analysis),
    "set_tags": plain(notes.set_tags, tags=["x"]),
    "share_campaign": plain(services.share_campaign, visibility="public", redacted=False),
    "update_campaign": plain(services.update_campaign, now=NOW, name="x"),
    "update_experiment": of_its_experiment(services.update_experiment, name="x"),
    "withdraw_campaign": plain(services.withdraw_campaign),
}


def functions() -> Iterator[tuple[Path, ast.FunctionDef]]:
    for path in SOURCES:
        for node in tree_of(path).body if path.is_relative_to(ROOT) else ():
            if isinstance(node, ast.FunctionDef):
                yield path, node


@functools.cache
def called_in(function: ast.FunctionDef) -> set[str]:
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return {call.id if isinstance(call, ast.Name) else getattr(call, "attr", "") for call in calls}


def those_that_hold_a_campaign() -> set[str]:
    """Return the public functions that call `lock_campaign`, themselves or by a helper of their module."""
    holding = {(path, "lock_campaign") for path, _node in functions()}
    for _depth in range(3):
        holding |= {
            (path, node.name)
            for path, node in functions()
            if any((path, name) in holding for name in called_in(node))
        }
    return {name for _path, name in holding if not name.startswith("_")} - {"lock_campaign"}


# Where each source has been read once already.
@pytest.mark.xdist_group("architecture")
def test_each_service_that_holds_a_campaign_is_tried_here() -> None:
    assert those_that_hold_a_campaign() == set(ACTS)


@pytest.mark.xdist_group("architecture")
def test_no_service_that_takes_a_person_holds_a_campaign_otherwise() -> None:
    otherwise = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path, node in functions()
        if "user" in {argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]}
        and node.name != "lock_campaign"
        and "Campaign.objects.select_for_update" in ast.unparse(node)
    ]
    assert not otherwise


@pytest.fixture
def cast(transactional_db: None) -> SimpleNamespace:
    """Return the named cast and Olga, another operator, in a database that other connections see."""
    return factories.cast_with_olga()


@pytest.fixture
def campaign(cast: SimpleNamespace) -> Campaign:
    """Return a draft of Oscar's with an experiment and a note of Olga's."""
    draft = make.campaign(cast)
    make.experiment(draft, *make.joined(cast.team))
    notes.add_note(campaign=draft, user=cast.olga, text="hers")
    return draft


def hidden(cast: SimpleNamespace, campaign: Campaign) -> None:
    services.share_campaign(campaign=campaign, user=cast.oscar, visibility="private")


def removed(cast: SimpleNamespace, campaign: Campaign) -> None:
    services.lock_campaign(campaign, cast.alice)
    accounts.remove_member(membership=cast.own, user=cast.alice)


def demoted(cast: SimpleNamespace, campaign: Campaign) -> None:
    services.lock_campaign(campaign, cast.alice)
    accounts.change_role(membership=cast.own, user=cast.alice, role=Role.VIEWER)


def answer_after(first: Callable[[], None], campaign: Campaign, act: Act, user: User) -> object:
    """Return what an act gives that found the campaign before `first` was committed, and waits for its row."""

    def find() -> Callable[[], object]:
        row = queries.campaigns_for(user).get(pk=campaign.pk)
        return lambda: act(row, user)

    return competing.after(first, find)


@pytest.mark.parametrize("name", ACTS)
def test_who_does_not_see_it_any_more_once_it_is_held_is_told_that_there_is_none(
    name: str, cast: SimpleNamespace, campaign: Campaign
) -> None:
    given = answer_after(lambda: hidden(cast, campaign), campaign, ACTS[name], cast.olga)
    assert isinstance(given, Http404), given
    kept = Campaign.objects.get()
    assert (kept.visibility, kept.state, kept.name) == ("private", "draft", campaign.name)


@pytest.mark.parametrize(("loses", "refusal"), [(removed, Http404), (demoted, PermissionDenied)])
def test_who_may_not_any_more_once_it_is_held_is_refused(
    loses: Callable[..., None], refusal: type[Exception], cast: SimpleNamespace, campaign: Campaign
) -> None:
    given = answer_after(lambda: loses(cast, campaign), campaign, ACTS["share_campaign"], cast.olga)
    assert isinstance(given, refusal), given
    assert Campaign.objects.get().visibility == "team"


def test_a_trial_is_not_marked_by_whom_its_campaign_is_hidden_from_since(
    cast: SimpleNamespace, campaign: Campaign
) -> None:
    services.launch_campaign(campaign=campaign, user=cast.oscar, now=NOW)
    trial = queries.trials_for(cast.olga)[0]
    hidden(cast, campaign)
    with pytest.raises(Http404):
        validity.unmark_invalid(trial=trial, user=cast.olga)
