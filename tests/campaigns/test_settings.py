"""Kernel settings as factors: swept like parameters, and only where the node's owner allows them."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from apps.campaigns import services
from apps.campaigns.models import Experiment, Trial
from apps.testbeds import services as inventory
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, address, browser, experiment_body, form

KEY = "net.ipv4.tcp_congestion_control"
NAME = f"setting.client.{KEY}"


def allow(cast: SimpleNamespace, node: Node, pattern: str = KEY, *values: str) -> Any:
    return inventory.grant_setting(node=node, user=cast.alice, pattern=pattern, values=values)


def swept(cast: SimpleNamespace, pair: list[Node], expression: str = "cubic, bbr", **values: Any) -> Experiment:
    factors = [{"name": NAME, "expression": expression}]
    return make.experiment(make.campaign(cast), *pair, **{"factors": factors, **values})


def refused(cast: SimpleNamespace, pair: list[Node], **values: Any) -> dict[str, list[str]]:
    with pytest.raises(ValidationError) as error:
        swept(cast, pair, **values)
    return error.value.message_dict


def test_a_setting_that_nobody_allowed_is_refused(cast: SimpleNamespace, pair: list[Node]) -> None:
    wrong = refused(cast, pair)
    assert list(wrong) == [f"factors.{NAME}"]
    assert "not allowed to set net.ipv4.tcp_congestion_control to “cubic” on kisti01" in wrong[f"factors.{NAME}"][0]
    assert "ask a manager" in wrong[f"factors.{NAME}"][0]


def test_each_value_must_be_allowed_on_each_node(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(cast, pair[0], KEY, "cubic")
    assert "“bbr”" in refused(cast, pair)[f"factors.{NAME}"][0]
    swept(cast, pair, "cubic")
    allow(cast, pair[1])
    other = make.nodes(cast.team, "kisti02")[0]
    with pytest.raises(ValidationError, match="kisti02"):
        make.experiment(
            make.campaign(cast), [pair[0], other], pair[1], factors=[], fixed={NAME: "cubic", "duration": "2 s"}
        )


def test_it_is_swept_like_a_parameter(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(cast, pair[0])
    experiment = swept(cast, pair, fixed={"duration": "2 s", f"setting.client.{KEY.replace('control', 'x')}": ""})
    campaign = experiment.campaign
    services.launch_campaign(campaign=campaign, user=cast.oscar, now=make.NOW)
    assert set(Trial.objects.values_list(f"parameters__{NAME}", flat=True)) <= {"cubic", "bbr", None}
    assert {trial.parameters[NAME] for trial in Trial.objects.all()} == {"cubic", "bbr"}
    assert {trial.parameters["duration"] for trial in Trial.objects.all()} == {2.0}


@pytest.mark.parametrize(
    ("key", "value"),
    [("kernel.core_pattern", "|x"), ("net.core.rmem_max", "plenty"), ("net.ipv4.tcp_rmem", "1 2"), ("mtu", "12")],
)
def test_a_value_that_no_kernel_takes_is_refused_even_if_it_is_allowed(
    cast: SimpleNamespace, pair: list[Node], key: str, value: str
) -> None:
    allow(cast, pair[0], key)
    name = f"setting.client.{key}"
    assert key in refused(cast, pair, factors=[], fixed={name: value})[f"fixed.{name}"][0]


def test_a_role_that_the_tool_has_not_is_named(cast: SimpleNamespace, pair: list[Node]) -> None:
    wrong = refused(cast, pair, factors=[], fixed={"setting.router.net.core.rmem_max": "1"})
    assert "no role" in wrong["fixed.setting.router.net.core.rmem_max"][0]
    assert "no role" in refused(cast, pair, factors=[], fixed={"setting.client": "1"})["fixed.setting.client"][0]


def test_a_grant_withdrawn_after_the_draft_forbids_the_launch(cast: SimpleNamespace, pair: list[Node]) -> None:
    grant = allow(cast, pair[0])
    campaign = swept(cast, pair).campaign
    inventory.revoke_grant(grant=grant, user=cast.alice, now=timezone.now())
    with pytest.raises(ValidationError, match="not allowed"):
        services.launch_campaign(campaign=campaign, user=cast.oscar, now=make.NOW)
    assert not Trial.objects.exists()


def test_it_is_written_by_line_in_the_browser(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(cast, pair[0])
    allow(cast, pair[1], "net.ipv4.tcp_rmem")
    oscar, draft = browser(cast.oscar), make.campaign(cast)
    lines = f"client {KEY} = cubic, bbr\nserver net.ipv4.tcp_rmem = 4096 131072 6291456"
    answer = oscar.post(address("experiment_create", draft.pk), form(pair, settings=lines))
    assert answer.status_code == 302, answer.content.decode()
    experiment = Experiment.objects.get()
    assert {"name": NAME, "expression": "cubic, bbr"} in experiment.factors
    assert experiment.fixed["setting.server.net.ipv4.tcp_rmem"] == "4096 131072 6291456"
    page = oscar.get(address("experiment_update", experiment.pk)).content.decode()
    assert f"client {KEY} = cubic, bbr" in page


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("client", "write a role"),
        (f"client {KEY} =", "write a role"),
        (f"{KEY} = bbr", "write a role"),
        (f"client {KEY} = bbr\nclient {KEY} = cubic", "twice"),
        (f"client {KEY} = bbr", "not allowed"),
    ],
)
def test_what_is_wrong_stands_at_the_field(cast: SimpleNamespace, pair: list[Node], lines: str, words: str) -> None:
    draft = make.campaign(cast)
    answer = browser(cast.oscar).post(address("experiment_create", draft.pk), form(pair, settings=lines))
    assert answer.status_code == 422
    assert words in " ".join(answer.context["form"].errors["settings"])


def test_it_is_given_over_rest(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft, api = make.campaign(cast), Api(cast.oscar)
    body = experiment_body(draft.pk, pair, fixed={NAME: "bbr"})
    assert f"fixed.{NAME}" in api("post", "/experiments/", body).json()["fields"]
    allow(cast, pair[0])
    assert api("post", "/experiments/", body).status_code == 201
