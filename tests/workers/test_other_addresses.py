"""A node whose address is changed while it is measured: what is measured then is flagged, and the log says so."""

from types import SimpleNamespace

from apps.bench.text import Message
from apps.campaigns.models import Campaign, Run
from apps.core import messages
from apps.results.models import Result
from apps.testbeds.models import Node
from apps.testbeds.services import Confirmation, update_item
from apps.testbeds.services.parts import Address
from tests.bench.tools import recordings
from tests.campaigns import factories as make
from tests.results.measuring import WINDOWS
from tests.workers import factories as agents
from workers import carry_out

FLAG = "address-changed"


def measure_next() -> Run:
    """Measure the trial that is under way, and return its run; the next has begun then, at the address it has now."""
    run = Run.objects.get(state__in=Run.OPEN_STATES)
    agents.listen(run)
    names = WINDOWS[run.trial.parameters["window"]]
    agents.measure(run, recordings.load("iperf3-tcp", names[run.trial.repetition % 2]))
    carry_out.advance(run.pk)
    return run


def move(node: Node, address: str) -> None:
    values = {"addresses": [Address(address)]}
    update_item(item=Node.objects.get(pk=node.pk), values=values, confirmation=Confirmation())


def flags() -> list[bool]:
    """Return of each result whether it has the flag, in their order."""
    results = Result.objects.order_by("run_id")
    return [FLAG in {flag["name"] for flag in result.flags} for result in results]


def log(campaign: Campaign) -> list[str]:
    events = campaign.events.order_by("pk")
    return [text for event in events if "flagged" in (text := messages.render(event.message))]


def test_trials_at_another_address_are_flagged_and_the_log_says_so_once(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    campaign = make.launched(cast, *pair, fixed={"duration": "4 s", "omit": "1 s"})
    carry_out.schedule()
    measure_next()
    # The second has begun already, at the address that it began with.
    move(pair[1], "10.9.9.9")
    assert [measure_next().trial.position for _number in range(3)]
    assert flags() == [False, False, True, True]
    [line] = log(campaign)
    assert pair[1].name in line and pair[0].name not in line
    [flag] = [item for item in Result.objects.order_by("-run_id")[0].flags if item["name"] == FLAG]
    assert (flag["severity"], flag["message"]["params"]) == ("warning", {"nodes": pair[1].name})


def test_an_address_that_measured_nothing_is_none_to_compare_with(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair, fixed={"duration": "4 s", "omit": "1 s"}, max_attempts=1)
    carry_out.schedule()
    run = Run.objects.get(state__in=Run.OPEN_STATES)
    move(pair[1], "10.9.9.9")
    make.services.fail_run(run=run, reason=Message("broken"), code="broken", retryable=False, now=make.NOW)
    carry_out.schedule()
    measure_next()
    assert flags() == [False] and log(campaign) == []
