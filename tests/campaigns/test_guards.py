"""What the owners of links allow is kept before anything starts."""

from types import SimpleNamespace

import pytest
from django.core.exceptions import ValidationError

from apps.bench import tools
from apps.campaigns import guards, services
from apps.campaigns.models import Experiment, Trial
from apps.testbeds.models import Link, Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, address, browser, experiment_body, form
from tests.campaigns.factories import NOW


def udp(*rates: str, **fixed: str) -> dict[str, object]:
    return {
        "tool": "iperf3-udp",
        "factors": [{"name": "rate", "expression": ", ".join(rates)}],
        "fixed": {"duration": "2 s", **fixed},
    }


def tcp(streams: str, **fixed: str) -> dict[str, object]:
    return {"factors": [{"name": "streams", "expression": streams}], "fixed": {"duration": "2 s", **fixed}}


def attempt(cast: SimpleNamespace, client: object, server: object, **values: object) -> Experiment:
    return make.experiment(make.campaign(cast), client, server, **values)


def refusal(cast: SimpleNamespace, client: object, server: object, **values: object) -> str:
    with pytest.raises(ValidationError) as refused:
        attempt(cast, client, server, **values)
    assert list(refused.value.message_dict) == [guards.FIELD]
    return " ".join(refused.value.message_dict[guards.FIELD])


def allow(**limits: object) -> None:
    Link.objects.update(**limits)


def test_udp_may_fill_a_link_but_not_more_unless_its_owner_says_so(cast: SimpleNamespace, pair: list[Node]) -> None:
    attempt(cast, *pair, **udp("100M", "1G"))
    text = refusal(cast, *pair, **udp("100M", "1.2G"))
    assert all(part in text for part in ("WAN", "1.2 Gbit/s", "1 Gbit/s", "offer less"))
    allow(udp_share_limit=1.5)
    attempt(cast, *pair, **udp("1.2G"))


def test_a_rate_set_by_the_owner_goes_before_the_share(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(udp_limit_bps=50_000_000)
    assert "50 Mbit/s" in refusal(cast, *pair, **udp("60M"))
    attempt(cast, *pair, **udp("50M"))


def test_a_link_that_allows_no_udp_allows_none(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(udp_share_limit=0)
    refusal(cast, *pair, **udp("1M"))


def test_nothing_is_known_of_a_link_without_a_capacity(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(capacity_bps=None)
    attempt(cast, *pair, **udp("10G"))
    allow(udp_limit_bps=10**9)
    refusal(cast, *pair, **udp("10G"))


def test_tcp_gives_way_and_so_has_no_limit_of_its_rate(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(udp_share_limit=0)
    attempt(cast, *pair, **tcp("1..8"))


def test_streams_are_limited(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(streams_limit=8)
    attempt(cast, *pair, **tcp("1..8"))
    text = refusal(cast, *pair, **tcp("1..9"))
    assert all(part in text for part in ("9 streams", "WAN", "allows 8", "use fewer"))


def test_streams_of_both_directions_count(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(streams_limit=8)
    assert "10 streams" in refusal(cast, *pair, **tcp("5", direction="both"))


def test_the_narrowest_of_the_links_on_the_way_counts(cast: SimpleNamespace) -> None:
    sites = make.wan(cast.team)
    Link.objects.filter(name="left0-lan").update(streams_limit=2)
    assert "left0-lan" in refusal(cast, sites.left[0], sites.right[0], **tcp("4"))


def test_clients_that_start_together_share_what_they_send(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = make.wan(cast.team, pairs=4)
    tool = tools.get("iperf3-tcp")
    client, server = tool.roles
    monkeypatch.setattr(type(tool), "roles", (type(client)("client", client.label, many=True), server))
    allow(streams_limit=2)
    Link.objects.filter(pk=sites.wan.pk).update(streams_limit=7)
    Link.objects.filter(name="right0-lan").update(streams_limit=8)
    attempt(cast, sites.left, sites.right[0], **tcp("7"))
    assert "KREONET" in refusal(cast, sites.left, sites.right[0], **tcp("8"))


def test_a_limit_lowered_after_the_draft_forbids_the_launch(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast)
    make.experiment(draft, *pair, name="flood", **udp("1G"))
    allow(udp_limit_bps=10**6)
    with pytest.raises(ValidationError) as refused:
        services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)
    assert list(refused.value.message_dict) == ["flood.limits"]
    assert not Trial.objects.exists()
    page = browser(cast.oscar).get(address("confirm_launch", draft.pk)).content.decode()
    assert "WAN" in page and "cannot be launched" in page


def test_form_preview_and_rest_show_the_limit(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(streams_limit=1)
    oscar, draft = browser(cast.oscar), make.campaign(cast)
    sent = form(pair, param_streams="4")
    for name in ("experiment_create", "experiment_preview"):
        assert "whose owner allows 1" in oscar.post(address(name, draft.pk), sent).content.decode()
    answer = Api(cast.oscar)("post", "/experiments/", experiment_body(draft.pk, pair, fixed={"streams": "4"}))
    assert answer.status_code == 400
    assert "limits" in answer.json()["fields"]
