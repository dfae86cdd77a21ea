"""The sysctl lines."""

import subprocess

import pytest

from apps.bench.rules.base import NO_CHANGE, PathFacts
from apps.bench.rules.tcp import limits
from tests.bench.rules.cases import LINKS, Maker, evidence

# Linux 2.4's limits, which the authors of the KISTI-Pusan report found.
OLD = {
    "net.core.rmem_max": "131071",
    "net.core.wmem_max": "131071",
    "net.ipv4.tcp_rmem": "4096 87380 174760",
    "net.ipv4.tcp_wmem": "4096 16384 131072",
}
LARGE = {
    "net.core.rmem_max": "67108864",
    "net.core.wmem_max": "67108864",
    "net.ipv4.tcp_rmem": "4096 131072 67108864",
    "net.ipv4.tcp_wmem": "4096 16384 67108864",
}


@pytest.fixture
def make():
    return Maker()


def conclude(make, path=LINKS, **facts):
    tuned = make.tcp([980e6], window=1024 * 1024)
    return limits.conclude(evidence([make.ping(0.0048), tuned], path, **facts))


def test_the_limit_carries_twice_the_bdp_as_window(make):
    draft = conclude(make, client=OLD, server=OLD)
    # 2 BDP = 1,200,000 B; 70 % of the limit becomes window at MTU 9000.
    assert draft.low == 1_714_286
    assert draft.value == 27 * 65536 == 1_769_472
    assert "M = W / 0.7 = 1,714,286 B -> 1,769,472 B" in draft.formula
    assert draft.evidence == (1, 2)


def test_smaller_frames_leave_less_of_the_limit_as_window(make):
    draft = conclude(make, PathFacts(1_000_000_000, 0.0048, 1500))
    assert draft.low == pytest.approx(1_200_000 / 0.62, abs=1)


def test_the_lines_keep_the_present_least_and_default(make):
    draft = conclude(make, client=OLD, server=OLD)
    assert draft.change.splitlines() == [
        "# client + server",
        "cat > /etc/sysctl.d/90-fathom-tcp.conf <<'END'",
        "# Fathom tcp-sysctl: a window of 1,200,000 B, twice the BDP of the path",
        "net.core.rmem_max=1769472",
        "net.core.wmem_max=1769472",
        "net.ipv4.tcp_rmem=4096 87380 1769472",
        "net.ipv4.tcp_wmem=4096 16384 1769472",
        "END",
        "sysctl -p /etc/sysctl.d/90-fathom-tcp.conf",
    ]
    assert draft.undo.splitlines() == [
        "# client + server",
        "rm -f /etc/sysctl.d/90-fathom-tcp.conf",
        "sysctl -w 'net.core.rmem_max=131071'",
        "sysctl -w 'net.core.wmem_max=131071'",
        "sysctl -w 'net.ipv4.tcp_rmem=4096 87380 174760'",
        "sysctl -w 'net.ipv4.tcp_wmem=4096 16384 131072'",
    ]
    assert not any("reboot." in str(limit) for limit in draft.limits if "known" in str(limit))


def test_a_shell_installs_the_file_that_is_meant(make, tmp_path):
    lines = conclude(make, client=OLD, server=OLD).change.replace("/etc/sysctl.d", str(tmp_path))
    subprocess.run(["sh", "-c", lines.replace("sysctl -p", "true")], check=True)
    installed = (tmp_path / "90-fathom-tcp.conf").read_text().splitlines()
    assert installed[0].startswith("# Fathom")
    assert [line.partition("=")[::2] for line in installed[1:]] == [
        ("net.core.rmem_max", "1769472"),
        ("net.core.wmem_max", "1769472"),
        ("net.ipv4.tcp_rmem", "4096 87380 1769472"),
        ("net.ipv4.tcp_wmem", "4096 16384 1769472"),
    ]


def test_the_proof_sets_what_the_automatic_window_heeds_on_both_nodes(make):
    proof = conclude(make, client=OLD, server=OLD).proof
    assert dict(proof.now) == {
        "window": 0,
        "streams": 1,
        "setting.client.net.ipv4.tcp_rmem": "4096 87380 174760",
        "setting.client.net.ipv4.tcp_wmem": "4096 16384 131072",
        "setting.server.net.ipv4.tcp_rmem": "4096 87380 174760",
        "setting.server.net.ipv4.tcp_wmem": "4096 16384 131072",
    }
    assert proof.then["setting.server.net.ipv4.tcp_rmem"] == "4096 87380 1769472"
    assert proof.then.keys() == proof.now.keys()
    # Of limits that are not known nothing may be set: they may be larger.
    assert conclude(Maker()).proof is None


def test_every_triple_it_writes_is_least_default_most(make):
    for text in ("4096 131072 174760", "4096 9000000 9000000", "302400 4096 1048576", "1 2", "junk", ""):
        settings = limits.make_settings({"net.ipv4.tcp_rmem": text}, 1_769_472)
        minimum, default, maximum = map(int, settings.targets["net.ipv4.tcp_rmem"].split())
        assert minimum <= default <= maximum
        assert maximum >= 1_769_472


def test_larger_limits_of_a_node_stay(make):
    mixed = {**OLD, "net.ipv4.tcp_rmem": LARGE["net.ipv4.tcp_rmem"]}
    draft = conclude(make, client=mixed, server=OLD)
    assert "net.ipv4.tcp_rmem=4096 131072 67108864\n" in draft.change


def test_nodes_whose_limits_are_large_enough_need_no_change(make):
    draft = conclude(make, client=LARGE, server=LARGE)
    assert "allow a window of" in str(draft.title)
    assert "already" in str(draft.title)
    assert (draft.change, draft.undo, draft.proof) == ("", "", None)
    assert draft.kind == NO_CHANGE


def test_nodes_that_differ_get_lines_of_their_own(make):
    draft = conclude(make, client=OLD, server={**LARGE, "net.core.rmem_max": "131071"})
    assert "already" not in str(draft.title)
    client, server = draft.change.removeprefix("# client\n").split("# server\n")
    assert "tcp_rmem=4096 87380 1769472" in client
    assert "tcp_rmem=4096 131072 67108864" in server


def test_an_invalid_triple_is_named_and_mended(make):
    # The listing of the report itself: the least is more than the default.
    wrong = {**OLD, "net.ipv4.tcp_rmem": "302400 262144 1048576"}
    draft = conclude(make, client=wrong, server=OLD)
    assert "net.ipv4.tcp_rmem=4096 131072 1769472\n" in draft.change
    assert any("302400 262144 1048576" in str(line) and "corrects" in str(line) for line in draft.why)


def test_unknown_nodes_are_asked_before_a_limit_is_raised(make):
    draft = conclude(make)
    file = "/etc/sysctl.d/90-fathom-tcp.conf"
    assert 'set -- $(sysctl -n net.ipv4.tcp_rmem); [ "$3" -ge 1769472 ] || ' in draft.change
    assert f'echo "net.ipv4.tcp_rmem=$1 $2 1769472" >> {file}\n' in draft.change
    assert "\nnet." not in draft.change
    assert draft.undo.splitlines() == [
        "# client + server",
        f"rm -f {file}",
        "sysctl -p /etc/sysctl.d/90-fathom-tcp.before && rm /etc/sysctl.d/90-fathom-tcp.before",
    ]
    assert any("client + server" in str(limit) and "lower none" in str(limit) for limit in draft.limits)
    assert any("is not known" in str(line) for line in draft.why)


@pytest.mark.parametrize(
    "text", ["4096 1 2'; reboot #", "$(reboot)", "1" * 50, None, 7, "4096 -1 3", "４０９６ ５ ６"]
)
def test_facts_that_are_no_numbers_never_reach_the_lines(make, text):
    odd = {**OLD, "net.ipv4.tcp_rmem": text, "net.core.rmem_max": text}
    draft = conclude(make, client=odd, server=odd)
    for line in (draft.change + draft.undo).splitlines():
        assert "reboot" not in line
        assert str(text) not in line or text == 7
    assert 'echo "net.ipv4.tcp_rmem=$1 $2 1769472"' in draft.change


def test_switches_that_are_off_are_turned_on(make):
    off = {**LARGE, "net.ipv4.tcp_window_scaling": "0", "net.ipv4.tcp_moderate_rcvbuf": "1"}
    draft = conclude(make, client=off, server=LARGE)
    assert "already" not in str(draft.title)
    assert "net.ipv4.tcp_window_scaling=1\n" in draft.change
    assert "sysctl -w 'net.ipv4.tcp_window_scaling=0'" in draft.undo
    assert "moderate" not in draft.change


def test_a_path_beyond_the_largest_window_stays_within_the_kernels_integers(make):
    points = [make.ping(10.0), make.tcp([380e9], rtt=10.0)]
    draft = limits.conclude(evidence(points, PathFacts(400_000_000_000, 10.0, 9000)))
    assert draft.value <= 2**31 - 1
    assert "W = 2 · BDP = 1,073,741,824 B" in draft.formula


def test_a_gain_is_told_against_the_present_rate(make):
    draft = limits.conclude(evidence([make.ping(0.0048), make.tcp([166e6])], LINKS, client=OLD, server=OLD))
    assert any(
        "now reaches 166.0 Mbit/s; the links as described leave 990.0 Mbit/s" in str(line) for line in draft.why
    )
    assert draft.alternatives


def test_there_are_no_lines_without_a_path(make):
    assert limits.conclude(evidence([make.ping(0.0048)], PathFacts())) is None
    assert limits.conclude(evidence([make.ping(0.0048), make.tcp([1.2e9])])) is None


def test_a_path_that_the_automatic_window_fills_needs_no_larger_limits(make):
    draft = limits.conclude(evidence([make.ping(0.0048), make.tcp([980e6])], LINKS, client=OLD, server=OLD))
    assert (draft.kind, draft.change, draft.undo, draft.proof) == (NO_CHANGE, "", "", None)
    assert "The path is filled already." in map(str, draft.against)


def test_where_loss_limits_larger_limits_gain_nothing(make):
    points = [make.ping(0.0048), make.read("loss1e-3_cubic_sack1.json")]
    draft = limits.conclude(evidence(points, PathFacts(1_000_000_000, 0.0048, 1500), client=OLD, server=OLD))
    assert (draft.kind, draft.change) == (NO_CHANGE, "")
    assert draft.predicted == draft.present
    assert "Loss limits the rate now" in str(draft.against[0])
