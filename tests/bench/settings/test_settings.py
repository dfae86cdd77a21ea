"""Kernel settings as factors: which keys and values make sense, the stage that sets them, and what came of it."""

import json
from typing import Any

import pytest

from apps.bench import judges, settings, tools
from apps.bench.toolkit import AROUND, Command, Output, Plan, Reading, SampleValue, Stage
from workers.agent.settings import bounds, kernel

TOOL = tools.get("iperf3-tcp")
APPLIED = b'applied {"mtu": {"earlier": "1500", "applied": "9000"}}\n'


@pytest.mark.parametrize("setting", settings.CATALOGUE, ids=lambda setting: setting.key)
def test_every_setting_has_a_key_an_agent_takes_and_an_example_that_is_right(setting: settings.Setting) -> None:
    assert settings.check_key(setting.key) is None
    assert kernel.is_known(setting.key)
    if setting.example:
        assert settings.check_value(setting.key, setting.example) is None
        assert kernel.is_value(setting.example)


@pytest.mark.parametrize("setting", settings.CATALOGUE, ids=lambda setting: setting.key)
def test_an_agent_takes_and_refuses_what_the_catalogue_does_whoever_asks(setting: settings.Setting) -> None:
    edges = [edge + step for edge in (0, setting.least, setting.most, 2**31 - 1) for step in (-1, 0, 1)]
    numbers = [*map(str, edges), "1000", "1279", "65537", "-32", "32", "9" * 13, "0x10", "1.5", "+1", "-"]
    triples = ["1 2 3", "3 2 1", "1 3 2", "1 2", "1 2 3 4", "-1 2 3", f"1 2 {2**31}", "1 x 3"]
    words = [
        "cubic",
        "Cubic",
        "x-y_z",
        "../x",
        "a" * 33,
        "cubic reno",
        "netem loss 100%",
        "htb",
        "fq",
        "noqueue",
        "fq;x",
    ]
    for value in (setting.example, "", *numbers, *triples, *words):
        does = kernel.is_value(value) and bounds.allow(setting.key, value)
        assert does == (settings.check_value(setting.key, value) is None), value


def test_keys_of_the_kernel_that_nobody_listed_are_taken_too() -> None:
    assert settings.check_key("net.ipv4.tcp_reordering") is None
    assert settings.check_value("net.ipv4.tcp_reordering", "5") is None


@pytest.mark.parametrize("key", ["", "kernel.hostname", "net", "mtu2", "net/ipv4/x", "net.ipv4.../x", "net.core.X"])
def test_other_keys_are_refused_by_name(key: str) -> None:
    refusal = settings.check_key(key)
    assert refusal is not None
    assert "net.ipv4.tcp_rmem" in str(refusal)
    assert not kernel.is_known(key)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mtu", "1000"),
        ("mtu", "70000"),
        ("mtu", "large"),
        ("mtu", "1500 9000"),
        ("qdisc", "htb"),
        ("qdisc", "fq; reboot"),
        ("net.ipv4.tcp_rmem", "302400"),
        ("net.ipv4.tcp_rmem", "302400 262144 1048576"),
        ("net.ipv4.tcp_sack", "2"),
        ("net.ipv4.tcp_congestion_control", "cubic reno"),
        ("net.ipv4.tcp_congestion_control", "../x"),
        ("net.core.rmem_max", "-1"),
        ("vm.dirty_ratio", "101"),
        ("net.ipv4.tcp_unheard_of", "$(x)"),
        ("mtu", ""),
        ("mtu", "x" * 300),
    ],
)
def test_values_that_make_no_sense_are_refused_by_the_name_of_the_key(key: str, value: str) -> None:
    refusal = settings.check_value(key, value)
    assert refusal is not None
    assert key in str(refusal)


def test_blanks_between_words_do_not_matter() -> None:
    assert settings.check_value("net.ipv4.tcp_rmem", " 4096\t131072   8388608 ") is None
    assert settings.normalise(" 4096\t131072   8388608 ") == "4096 131072 8388608"


def test_the_stage_goes_before_all_others_and_asks_each_node_for_its_own() -> None:
    plan = Plan(())
    asked = {"client": [{"mtu": "9000"}, {}], "server": [{"net.ipv4.tcp_rmem": "4096  131072 8388608"}]}
    (stage,) = settings.wrap(plan, asked).stages
    assert stage.name == settings.STAGE
    assert stage.name.startswith(AROUND)
    assert [(command.role, command.node_index) for command in stage.commands] == [("client", 0), ("server", 0)]
    for command in stage.commands:
        assert command.argv == ("fathom-settings", "settings.json")
        assert command.background
        assert not command.measures
    ((name, text),) = stage.commands[1].files
    assert (name, json.loads(text)) == ("settings.json", {"settings": {"net.ipv4.tcp_rmem": "4096 131072 8388608"}})
    assert Plan.from_json(settings.wrap(plan, asked).as_json()) == settings.wrap(plan, asked)
    assert settings.wrap(plan, {"client": [{}]}) == plan


def test_what_is_set_is_held_as_long_as_the_plan_may_take_and_no_longer() -> None:
    def limit_of(*limits: float) -> float:
        commands = [Command(role="client", node_index=0, argv=("x",), time_limit_s=limit) for limit in limits]
        plan = Plan(tuple(Stage(f"stage{number}", (command,)) for number, command in enumerate(commands)))
        return settings.wrap(plan, {"client": [{"mtu": "9000"}]}).stages[0].commands[0].time_limit_s

    assert 40.0 < limit_of(10.0, 30.0) < 3600.0
    assert limit_of(100_000.0) > 100_000.0


def holder(stdout: bytes = APPLIED + b"restored\n", stderr: bytes = b"", **more: Any) -> Output:
    values = {"exit_code": 0, "started_at": 0.0, "ended_at": 20.0, **more}
    return Output("client", settings.STAGE, "kisti01", (settings.PROGRAM, "settings.json"), stdout, stderr, **values)


def judged(*outputs: Output) -> Reading:
    measured = Output("client", "measure", "kisti01", ("iperf3",), b"", b"", 0, started_at=1.0, ended_at=19.0)
    reading = Reading(samples=(SampleValue("goodput", 1.0),), observed={"mss": 1448})
    return settings.judge(reading, [measured, *outputs], {}, TOOL)


def test_what_was_set_stands_in_the_result() -> None:
    reading = judged(holder())
    assert reading.observed["settings"] == {"kisti01": {"mtu": {"earlier": "1500", "applied": "9000"}}}
    assert reading.observed["mss"] == 1448
    assert reading.flags == ()
    assert settings.judge in judges.JUDGES
    assert judged() == Reading(samples=(SampleValue("goodput", 1.0),), observed={"mss": 1448})


@pytest.mark.parametrize("lost", [{"signal": 9, "exit_code": None}, {"exit_code": 1}, {"ended_at": 10.0}])
def test_what_was_measured_after_a_setting_was_lost_is_invalid(lost: dict[str, Any]) -> None:
    (flag,) = judged(holder(**lost)).flags
    assert (flag.name, flag.severity) == ("setting-lost", "invalid")
    assert "kisti01" in str(flag.message)


def test_what_somebody_else_set_meanwhile_makes_what_was_measured_invalid() -> None:
    (flag,) = judged(holder(APPLIED + b'changed {"mtu": "4000"}\nrestored\n')).flags
    assert (flag.name, flag.severity) == ("setting-lost", "invalid")
    assert "mtu" in str(flag.message) and "4000" in str(flag.message)
    for words in (b"changed [1]", b"changed {", b'changed {"mtu": 1}'):
        assert judged(holder(APPLIED + words + b"\nrestored\n")).flags == ()


def test_what_is_not_as_it_was_afterwards_is_said_and_invalidates_nothing() -> None:
    words = b"fathom-settings: what was set is put back, but the kernel dropped 2001:db8::1/64 dev data\n"
    (flag,) = judged(holder(APPLIED, words, exit_code=1)).flags
    assert (flag.name, flag.severity) == ("settings-remain", "warning")
    assert "kisti01" in str(flag.message) and "2001:db8::1/64" in str(flag.message)
    early = judged(holder(APPLIED, words, exit_code=1, ended_at=10.0)).flags
    assert [flag.name for flag in early] == ["setting-lost", "settings-remain"]
    # Whoever held them was killed: then the agent says it in its place.
    killed = judged(holder(APPLIED, words, exit_code=None, signal=9)).flags
    assert [flag.name for flag in killed] == ["setting-lost", "settings-remain"]


def test_a_node_that_could_not_set_says_why() -> None:
    words = b"fathom-settings: net.core.rmem_max: Permission denied\n"
    failure = settings.refusal_of(holder(b"", words, exit_code=1))
    assert failure is not None
    assert failure.code == "setting-refused"
    assert "net.core.rmem_max: Permission denied" in str(failure.message)
    assert not failure.retryable
    assert settings.refusal_of(holder()) is None
    assert settings.refusal_of(holder(b"", b"", signal=15)) is None
    other = Output("client", "measure", "kisti01", ("iperf3",), b"", b"error\n", 1)
    assert settings.refusal_of(other) is None


@pytest.mark.parametrize(
    "words",
    [b"applied", b"applied {", b"applied []", b'applied {"mtu": 3}', b"applied " + b"[" * 10**5, b"\xff\0", b""],
)
def test_no_damage_makes_it_raise(words: bytes) -> None:
    assert judged(holder(words)).observed["settings"] == {"kisti01": {}}
    assert settings.refusal_of(holder(words, b"\xff\0 x")) is not None
