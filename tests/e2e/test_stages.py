"""The RFC 6349 procedure with the real programs: each stage takes its values from those before it."""

import pytest

from tests.e2e.conftest import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]


def test_rfc_6349_goes_from_the_mtu_to_tcp_windows(stack: Stack) -> None:
    client, server = stack.nodes.values()
    body = {
        "name": "RFC 6349",
        "players": [{"role": "client", "node": client}, {"role": "server", "node": server}],
        "values": {"duration": "1 s", "capacity": "800 Mbit/s", "repetitions": "1"},
    }
    draft = stack.api.post("campaign-templates/rfc6349/draft/", body)
    stack.api.post(f"campaigns/{draft['id']}/launch/")
    ended = stack.wait_until(draft["id"], within_s=400)
    experiments = {item["name"]: item for item in stack.api.every(f"experiments/?campaign={draft['id']}")}
    refusals = {name: item["refusal"] for name, item in experiments.items() if item["refusal"]}
    assert ended["state"] == "finished"
    assert not refusals
    assert {item["state"] for item in experiments.values()} == {"started"}
    udp, tcp = experiments["Bottleneck forward"], experiments["TCP windows forward"]
    mtu = stack.api.get(f"experiments/{experiments['Path MTU']['id']}/results/")["groups"][0]["mean"]
    assert int(udp["resolved"]["length"]) == mtu - 48
    windows = [int(text) for text in tcp["resolved"]["window"].split(", ")]
    assert windows[-1] == pytest.approx(8 * windows[0], abs=8)
    trials = list(stack.api.every(f"trials/?experiment={tcp['id']}"))
    assert sorted(trial["parameters"]["window"] for trial in trials) == windows
