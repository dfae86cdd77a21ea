"""What strangers must not read: every name in every form and language, on every public page and file."""

import json
import time
from itertools import product
from types import SimpleNamespace

import pytest
from django.test import Client
from django.utils import translation

from apps.agents.models import FactSnapshot
from apps.archive.landing.redaction import Hidden
from apps.archive.landing.redaction.known import known_of
from apps.campaigns.models import Campaign, Experiment, Tombstone
from apps.campaigns.runnable.shape import LONGEST_TEXT
from apps.testbeds.models import FileSystem, Node, Site, Switch
from tests import factories as people
from tests.archive.landing.answers import DRAWN, public_answers
from tests.archive.landing.writings import forms_of, plain
from tests.campaigns import factories as make
from tests.rotation import part_of

V = Campaign.Visibility

# Names as sites give them: with dashes, dots, blanks, figures, in Korean, in Japanese, within other words.
NODES = (
    "unpriv288",
    "dj-b",
    "login1.nurion",
    "대전01",
    "ノード7",
    "München",
    "gw",
    "kisti01.kisti.re.kr",
    "zorbclient",
)
SITES = ("대전 센터", "Daejeon West", "서울", "Müllheim", "KISTI-1", "Zürichberg Straße")
ADDRESSES = ("192.168.77.5", "10.0.0.254", "2001:db8:0:0::7", "fe80::1ff:fe23:4567:890a", "dj-b-ib0.cluster")
# By given and family name.
PEOPLE = (("지호", "김"), ("Jiho", "Kim"))
WRITTEN = (
    "지호 김", "김 지호", "김지호", "지호김", "김, 지호", "김,지호", "지호", "Jiho Kim", "Kim Jiho", "KimJiho",
    "Kim, Jiho", "Kim,Jiho", "KIM Jiho", "Jiho", "J. Kim", "jkim",
)  # fmt: skip
# Addresses of the inventory as figures with nothing between them.
FIGURES = (
    "c0a84d05", "0xc0a84d05", "054da8c0", "3232255237", "20010db8000000000000000000000007", "0cc47a010203",
    "0x0cc47a010203", "0cc4.7a01.0203", "ac1f0908", "0cc47a-010203",
    # As resolvers read them: one number, or several in octal, hexadecimal or decimal.
    "0xa0000fe", "030052046405", "0300.0250.0115.05", "0xc0.0xa8.0x4d.0x5", "192.168.19717", "192.11029765",
    "0xc0.0xa84d05",
)  # fmt: skip
# What is in no inventory, by what of it must not be read.
FOREIGN = {
    "172.16.5.9:22": "172.16.5.9", "[2001:db8:9::9]:5201": "2001:db8:9", "2001:db8:9:0:0:0:0:9/64": "2001:db8:9",
    "fe80::9%eth0": "fe80::9", "fe80::9%25eth0": "fe80::9", "::ffff:172.16.5.9": "172.16.5", "10.9.8.0/24": "10.9.8",
    "00:1b:21:aa:bb:cc": "1b:21", "00-1B-21-AA-BB-CC": "1B-21", "001b.21aa.bbcc": "21aa",
    "f452:1403:00f5:b0b0": "1403", "0xf452140300f5b0b0": "f452", "80:00:02:08:fe:80:00:00": "02:08",
    "gw.local": "gw.local", "storage.lan": "storage", "nas.example.org": "nas", "fs.lustre.hpc": "lustre",
    "someone@host7": "someone", "/home/someone/run": "someone", "~someone/run": "someone",
    "C:\\Users\\someone\\run": "someone", "xn--9d0bm53a.kr": "9d0bm",
    "eth10.96.1.11": "10.96.1", "x10.96.1.12": "10.96.1", "10。96。1。13": "1。13", "10·96·1·14": "1·14",
    "10.96.1.15.5201": "10.96.1", "10[.]96[.]1[.]16": "1[.]16", "x00:1b:21:aa:bb:cc": "1b:21",
    "0x2c90300001491": "2c903", "ip-10-96-1-17": "96-1-17", "ip_10_96_1_18": "96_1_18", "001b21-aabbcc": "1b21",
    "dtn01.cloud": "dtn01", "dtn01.tech": "dtn01", "gw9.institute": "gw9", "dtn.ai": "dtn", "dtn07。tech": "dtn07",
    "/u/someone/x": "someone", "/home2/someone/x": "someone", "/export/someone/": "someone",
    "/users/someone/x": "someone",
    "/export/home/someone": "someone", "\\/home\\/someone\\/x": "someone",
}  # fmt: skip
# A name within what people, programs and file systems write around it, in both languages.
CONTEXTS = (
    "{}", "From {} to there.", "({})", "“{}”", "{}:5201", "{}/64", "[{}]", "client={} server", "{}'s disk", "{},next",
    "{}에서 잰 값", "{}과 비교", "{}의 디스크", "노드{}부터", "서버는 {}입니다", "{}からの", "節点{}", "로그_{}_기록",
    "/scratch/{}/out", "results_{}_2026.csv", "{}.log", "log-{}.txt", "iperf3 -c {} -t 10", "--host={}", "ssh://{}:22",
    'say "\\n{}"', "a%20{}%2Fb", "https://x.y/?q={}", "|{}|", "*{}*", "<{}>",
)  # fmt: skip


def describe(cast: SimpleNamespace) -> None:
    """Give a team names that are hard to find."""
    make.nodes(cast.team, *NODES)
    for name in SITES:
        Site.objects.create(team=cast.team, name=name, place="대전광역시 유성구")
    Switch.objects.create(team=cast.team, name="sw-core", site=Site.objects.get(name="서울"))
    FileSystem.objects.create(team=cast.team, name="gpfs 홈", kind="gpfs", mount_path="/gpfs")
    node = Node.objects.get(name="dj-b")
    for place, address in enumerate(ADDRESSES):
        node.addresses.create(address=address, position=place + 5)
    interface = {"name": "eth0", "mac": "0c:c4:7a:01:02:03", "addresses": ["172.31.9.8/24"]}
    facts = {"hostname": "dj-b-mgmt.internal", "interfaces": [interface]}
    FactSnapshot.objects.create(node=node, digest="1", facts=facts)
    for account, (first, last) in zip((cast.alice, cast.bob), PEOPLE, strict=True):
        account.first_name, account.last_name = first, last
        account.save()


@pytest.fixture
def names(cast: SimpleNamespace) -> Hidden:
    """Return how strangers read the texts of that team."""
    make.nodes(cast.team, "kisti01", "pnu01")
    describe(cast)
    return Hidden(cast.team.pk)


@pytest.fixture
def secret(measured: Campaign, cast: SimpleNamespace) -> Campaign:
    """Return a measured campaign of that team, public without names."""
    describe(cast)
    measured.visibility, measured.licence = V.PUBLIC, "CC-BY-4.0"
    measured.save()
    return measured


# For a text of 100 kB, on a slow machine.
MOST_SECONDS = 6
SECRETS = (
    *NODES, "kisti01", "login1", *SITES, *ADDRESSES, "2001:db8::7", "192-168-77-5", "dj-b-ib0", "dj-b-mgmt",
    "sw-core", "gpfs 홈", "대전광역시 유성구", "oscar", *WRITTEN,
)  # fmt: skip


def test_a_name_is_hidden_in_every_form_and_context(names: Hidden) -> None:
    written = [(name, form) for name in SECRETS for form in dict.fromkeys(forms_of(name))]
    for (name, form), context in part_of(product(written, CONTEXTS)):
        text = context.format(form)
        shown = names.text(text)
        assert plain(form) not in plain(shown), text
        assert plain(name) not in plain(shown), text
        before, _, after = context.partition("{}")
        assert shown.startswith(before[:4]) and shown.endswith(after[-3:] if not after.startswith(":") else ""), shown


def test_what_looks_like_an_address_is_hidden_though_nobody_described_it(names: Hidden) -> None:
    contexts = (
        "{}", "at {} now", "{}에서", "노드{}로", "({})", "x={},", "{}.", "{};", "로그_{}", "\\n{}", "{}から",
    )  # fmt: skip
    shown = {(written, context): names.text(context.format(written)) for written in FOREIGN for context in contexts}
    assert not {place: text for place, text in shown.items() if FOREIGN[place[0]].lower() in text.lower()}


def test_a_known_address_is_hidden_as_figures(names: Hidden) -> None:
    for written, context in product(FIGURES, ("{}", "at {} now", "{}에서", "id={},", "{}.", "로그_{}")):
        for form in (written, written.upper()):
            assert written not in names.text(context.format(form)).lower(), (written, context)
    assert names.text("c0a84d0 1c0a84d05 c0a84d052") == "c0a84d0 1c0a84d05 c0a84d052"


def test_long_texts_take_no_longer_a_sign(names: Hidden) -> None:
    parts = (
        "a.", "a-", "1.", "a:", "0:", "::", "@a", "\\u", "%E", "&#", "/u/", "김 ", "kim ", "a", "1",
        " 부산에서 잰 값 ", "Aa1", "=C3", "+A", "\\303", "Ã¼", "\x1b[", "\\e]", "\u200b", "&uuml", "[dot]", "1,",
        " . 1", "unpriv288", "unpriv288A", "Unpriv", "e\u0301", "ᄃ", "\\N{A", "%25", "zοrb",
    )  # fmt: skip
    names.text("x")
    for part in part_of(parts):
        took = []
        for length in (1 << 14, 1 << 16):
            begun = time.process_time()
            names.text(part * (length // len(part)))
            took.append(time.process_time() - begun)
        # Four times as long: sixteen times as much work if it grew with the square.
        assert took[1] < 9 * took[0] + 0.1, part
    begun = time.process_time()
    names.text("iperf3 -c 10.96.1.11 을 kisti01에서 %EB%B6%80 dtn01.tech /home/jane/x " * 1_500)
    assert time.process_time() - begun < MOST_SECONDS


PLAIN = (
    "at 10:15, 10:15:30 and 2026-11-23", "v1.2.3 and 3.16", "1.5 Gbit/s over 64 KiB, 8 streams", "300.1.1.1",
    "unpriv2880 asw-core sw-corer gwen", "gws, fromGw, gw2gw", "std::vector and a::", "5 μs, 1. 2. 3. 4. 5",
    "results.tar.gz, plot.py, run.v2.json", "1,8,4,2 and (1,2,4,8,16,32)", "It took 1.5. 2.3 was better.",
    "BBR는 CUBIC보다 20 % 빠르다.", "e.g. TCP, i.e. one stream", "--size=4k --bs=1M /scratch/out.dat",
    "50 % of 3 %", "부산에서 재다", "a%20b", "1:2:3", "12:34", "@80 %",
    "v1.2.3.4 of it", "1·2·4·8 streams", "main.cc, lib.so and x.service", "np.mean, net.core", "0xdeadbeef",
    "10.254 and 10.0.254 s, 192.11029766, 0xa00", "0192.168.77.6 of 012.5",
    "3.5.x and 2.gbit", "이 값은 지하", "https:\\/\\/ and \\user", "AT&T; &c.",
)  # fmt: skip


def test_what_is_no_name_stays(names: Hidden) -> None:
    assert [names.text(text) for text in PLAIN] == [*PLAIN]


def test_stand_ins_say_which_and_particles_stay(names: Hidden) -> None:
    assert names.text("kisti01에서 pnu01로, PNU01.kisti.re.kr:22") == "node 1에서 node 2로, node 2:22"
    number = names.text("dj-b")
    assert names.text("ssh 192.168.77.5:22") == f"ssh address of {number}:22"
    assert names.text("[2001:DB8::7]:5201에") == f"[address of {number}]:5201에"
    assert names.text("dj-b.other.ac.kr") == number


def test_what_is_no_list_of_hosts_stays(names: Hidden) -> None:
    for text in ("values[0]", "a[1-2]", "sizes {1,2,4} MiB", "stage-\nout", "IPv[4-6]"):
        assert names.text(text) == text


def test_names_are_made_ready_once_for_all_readers_until_one_changes(cast: SimpleNamespace) -> None:
    node = make.nodes(cast.team, "wombat01")[0]
    assert known_of(cast.team.pk, ()) is known_of(cast.team.pk, ())
    assert Hidden(cast.team.pk).text("wombat01 and wombat02") == "node 1 and wombat02"
    Node.objects.filter(pk=node.pk).update(name="wombat02")
    assert Hidden(cast.team.pk).text("wombat02") == "node 1"
    with translation.override("ko"):
        assert Hidden(cast.team.pk).text("wombat02") == "노드 1"


def test_a_name_of_one_sign_hides_no_figure(cast: SimpleNamespace) -> None:
    make.nodes(cast.team, "4", "b")
    names = Hidden(cast.team.pk)
    assert names.text("4 streams, b = 4") == "4 streams, b = 4"
    assert (names.name("4"), names.name("b")) == ("node 1", "node 2")


def everything(secrets: tuple[str, ...]) -> str:
    """Return each secret in some contexts, and all contexts, within the length of a goal."""
    some = (context.format(name) for place, name in enumerate(secrets) for context in CONTEXTS[place % 4 :: 4])
    return " · ".join([*FOREIGN, *some])


@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_public_page_or_file_holds_a_name(
    client: Client, secret: Campaign, cast: SimpleNamespace, language: str
) -> None:
    text = everything(SECRETS)
    Campaign.objects.update(name=text[:200].rpartition(" ")[0], goal=text)
    Experiment.objects.update(name=text[-180:].partition(" ")[2])
    Experiment.objects.filter(campaign=secret).update(exclusions=["dj-b > 1"])
    assert len(text) <= LONGEST_TEXT
    client.cookies.load({"django_language": language})
    read_by_nobody = public_answers(client, secret)
    client.force_login(cast.charlie)
    read_by_strangers = public_answers(client, secret)
    client.force_login(cast.bob)
    at = f"/c/{secret.permanent_id}/"
    previews = {
        address: DRAWN.sub("", client.get(f"{address}?as=stranger").getvalue().decode())
        for address in (at, f"{at}recipe.yaml", f"{at}experiments/0/samples.csv")
    }
    previews["rest"] = client.get(f"/api/v1/permanent-ids/{secret.permanent_id}/?as=stranger").content.decode()
    hidden = [plain(name) for name in SECRETS if name not in ("oscar", "gw", "서울")]
    hidden += [plain(part) for part in FOREIGN.values() if part not in ("nas", "storage")]
    for answers in (read_by_nobody, read_by_strangers, previews):
        for address, answer in answers.items():
            # The author stays, who is cited; pages of their own link to the standards of addresses.
            assert not [name for name in hidden if name in plain(answer)], address
    assert "CC-BY-4.0" in read_by_nobody[at]


def test_a_tombstone_tells_no_names_either(client: Client, secret: Campaign, cast: SimpleNamespace) -> None:
    Tombstone.objects.create(
        team=cast.team, permanent_id="aaaa-bbbb-cccc", visibility=V.PUBLIC, redacted=True, deleted_by_name="oscar",
        name="unpriv288에서", reason="gw.local, oscar", trials=1, campaign_created_at=secret.created_at,
        deleted_at=secret.created_at,
    )  # fmt: skip
    for address in ("/c/aaaa-bbbb-cccc/", "/api/v1/permanent-ids/aaaa-bbbb-cccc/"):
        answer = client.get(address)
        assert answer.status_code == 410
        for name in ("unpriv288", "gw.local", "oscar"):
            assert name not in answer.content.decode()


def test_its_team_reads_the_page_as_strangers_will_before_it_is_shared(
    client: Client, secret: Campaign, cast: SimpleNamespace
) -> None:
    Campaign.objects.update(visibility=V.TEAM)
    at = f"/c/{secret.permanent_id}/?as=stranger"
    assert client.get(at).status_code == 302
    client.force_login(cast.charlie)
    assert client.get(at).status_code == 404
    client.force_login(cast.oscar)
    assert at in client.get(f"/campaigns/{secret.pk}/sharing/").content.decode()
    html = client.get(at).content.decode()
    assert "This is what strangers read" in html
    assert "kisti01" not in html and "node 1" in html
    assert f"/c/{secret.permanent_id}/recipe.yaml?as=stranger" in html
    rest = f"/api/v1/permanent-ids/{secret.permanent_id}/?as=stranger"
    told = client.get(rest, **people.bearer(cast.bob)).json()
    assert told["redacted"] is True
    assert "kisti01" not in json.dumps(told)
    Campaign.objects.update(redacted=False)
    assert "hiding them is not chosen" in client.get(at).content.decode()
