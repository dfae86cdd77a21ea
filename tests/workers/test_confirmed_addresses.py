"""What would call an address that does not count is refused before it starts, and says so if that comes later."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from apps.agents.models import Agent
from apps.agents.services.facts import record_facts
from apps.campaigns import errors, services
from apps.campaigns.models import Trial
from apps.core.messages import render
from apps.testbeds.models import Node, NodeAddress
from apps.testbeds.services import confirm_address
from tests.campaigns import factories as make
from tests.workers.test_prospects import warnings
from workers import carry_out

pytestmark = pytest.mark.django_db
CALLED = "198.51.100.7"
WHY = f"The address {CALLED} of pnu01 is not confirmed: a manager of the team confirms it on the node's page."


def enter(node: Node, address: str = CALLED) -> None:
    """Let an operator have entered an address."""
    NodeAddress.objects.filter(node=node).update(address=address, confirmed_at=None)


def refusal(cast: SimpleNamespace, pair: list[Node], **values: object) -> list[str]:
    with pytest.raises(errors.Refused) as refused:
        make.launched(cast, *pair, **values)
    return refused.value.message_dict["addresses"]


def test_a_campaign_that_would_call_it_is_not_launched(cast: SimpleNamespace, pair: list[Node]) -> None:
    enter(pair[1])
    assert warnings(cast, pair) == [WHY]
    assert refusal(cast, pair) == [WHY]
    assert not Trial.objects.exists()
    confirm_address(node=pair[1], address=CALLED, user=cast.alice, now=make.NOW)
    assert make.launched(cast, *pair).state == "running"


def test_a_later_date_is_refused_at_once(cast: SimpleNamespace, pair: list[Node]) -> None:
    enter(pair[1])
    draft = make.campaign(cast, start_at=make.NOW + timedelta(days=1))
    make.experiment(draft, *pair)
    with pytest.raises(errors.Refused):
        services.launch_campaign(campaign=draft, user=cast.alice, now=make.NOW)


def test_what_its_own_agent_reports_is_called(cast: SimpleNamespace, pair: list[Node]) -> None:
    enter(pair[1])
    facts = {"interfaces": [{"name": "eth0", "addresses": [f"{CALLED}/24"]}]}
    record_facts(agent_id=Agent.objects.get(node=pair[0]).pk, facts=facts, version="1")
    assert refusal(cast, pair) == [WHY]
    record_facts(agent_id=Agent.objects.get(node=pair[1]).pk, facts=facts, version="1")
    assert make.launched(cast, *pair).state == "running"


def test_an_address_that_no_command_names_keeps_nothing_back(cast: SimpleNamespace, pair: list[Node]) -> None:
    enter(pair[0])
    values = {"tool": "tracepath", "factors": [], "fixed": {}}
    assert make.launched(cast, *pair, **values).state == "running"
    assert refusal(cast, [pair[1], pair[0]], **values)


def test_a_trial_whose_address_counts_no_more_says_so(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    enter(pair[1])
    assert carry_out.schedule() == 0
    trial = Trial.objects.first()
    assert trial.reason["code"] == "address-unconfirmed"
    assert render(trial.reason["message"]) == WHY
