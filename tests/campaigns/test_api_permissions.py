"""Who may see and do what over REST."""

from types import SimpleNamespace

import pytest

from apps.campaigns.models import Campaign, Experiment, Run, Trial
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, experiment_body
from tests.campaigns.factories import take


@pytest.fixture
def oscar(cast: SimpleNamespace) -> Api:
    """Return the operator's client."""
    return Api(cast.oscar)


READS = [
    "/campaigns/",
    "/campaigns/{campaign}/",
    "/campaigns/{campaign}/preview/",
    "/campaigns/{campaign}/events/",
    "/experiments/",
    "/experiments/{experiment}/",
    "/experiments/{experiment}/preview/",
    "/trials/",
    "/trials/{trial}/",
    "/runs/",
    "/runs/{run}/",
    "/tools/",
    "/tools/ping/",
]
WRITES = [
    ("patch", "/campaigns/{campaign}/"),
    ("delete", "/campaigns/{campaign}/"),
    ("post", "/campaigns/{campaign}/launch/"),
    ("post", "/campaigns/{campaign}/pause/"),
    ("post", "/campaigns/{campaign}/resume/"),
    ("post", "/campaigns/{campaign}/withdraw/"),
    ("post", "/campaigns/{campaign}/cancel/"),
    ("post", "/campaigns/{campaign}/clone/"),
    ("post", "/campaigns/{campaign}/rerun-failed/"),
    ("patch", "/experiments/{experiment}/"),
    ("delete", "/experiments/{experiment}/"),
]


@pytest.fixture
def ids(cast: SimpleNamespace, pair: list[Node]) -> dict[str, int]:
    """Return the ids of one of each."""
    campaign = make.launched(cast, *pair)
    (run,) = take()
    return {
        "campaign": campaign.pk,
        "experiment": campaign.experiments.get().pk,
        "trial": run.trial_id,
        "run": run.pk,
    }


def test_members_read_and_strangers_find_nothing(cast: SimpleNamespace, ids: dict[str, int]) -> None:
    nobody, bob, oscar, charlie = Api(None), Api(cast.bob), Api(cast.oscar, scope="read"), Api(cast.charlie)
    for path in READS:
        address = path.format(**ids)
        statuses = [person("get", address).status_code for person in (nobody, bob, oscar)]
        assert statuses == [401, 200, 200], address
        answer = charlie("get", address)
        if "{" in path:
            assert answer.status_code == 404, address
        elif not path.startswith("/tools"):
            assert answer.json()["count"] == 0, address


def test_only_operators_write(cast: SimpleNamespace, ids: dict[str, int]) -> None:
    people = [Api(None), Api(cast.bob), Api(cast.charlie), Api(cast.oscar, scope="read")]
    for method, path in WRITES:
        address = path.format(**ids)
        statuses = [person(method, address).status_code for person in people]
        assert statuses == [401, 403, 404, 403], (method, address)
    assert Campaign.objects.get().state == "running"
    assert Trial.objects.count() == 4
    assert Run.objects.count() == 1


def test_nobody_writes_into_another_team(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast)
    for person, status in ((None, 401), (cast.bob, 403), (cast.charlie, 400)):
        for path in ("/experiments/", "/experiments/preview/"):
            assert Api(person)("post", path, experiment_body(draft.pk, pair)).status_code == status
    theirs = make.nodes(cast.other_team, "secret")[0]
    body = experiment_body(draft.pk, [pair[0], theirs])
    assert "roles.1.node" in Api(cast.oscar)("post", "/experiments/", body).json()["fields"]
    assert Api(cast.bob)("post", "/campaigns/", {"name": "x"}).status_code == 403
    answer = Api(cast.charlie)("post", "/campaigns/", {"name": "x", "team": cast.team.slug})
    assert answer.status_code == 400
    assert not Experiment.objects.exists()


def test_an_experiment_stays_in_its_campaign(oscar: Api, pair: list[Node], cast: SimpleNamespace) -> None:
    experiment = make.experiment(make.campaign(cast, name="first"), *pair)
    other = make.campaign(cast, name="second")
    assert oscar("patch", f"/experiments/{experiment.pk}/", {"campaign": other.pk}).status_code == 400
    experiment.refresh_from_db()
    assert experiment.campaign.name == "first"
