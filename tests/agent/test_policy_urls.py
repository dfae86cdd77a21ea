"""Whom a transfer calls: the policy reads in a URL, and in every form of a host, what the program reads there."""

import itertools
from pathlib import Path

import pytest

from tests.agent.test_policy import LOCAL, refusal_of
from tests.agent.test_policy_values import TABLE, called
from workers.agent.policy import Reach, network

NEAR = Reach(("127.0.0.1", "fd00::1", "dtn.example.org"))
# What may stand behind an allowed host, or before a forbidden one.
SIGNS = ["?", "#", "\\", "@", "?@", "#@", "\\@", ":x@", ":2811@", ";", "&", "%40", "%00", "%2f", "|", '"', "'", "<"]
SIGNS += [",", "!", "..", "[", "]", "{", "\x0b", "\xa0", "\t", "ｅ", "\x00"]
OTHER = "127.0.0.2"


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("scheme", ["ftp", "gsiftp"])
def test_no_sign_ends_a_host_for_one_reader_and_not_for_another(tmp_path: Path, scheme: str, sign: str) -> None:
    for text in (
        f"127.0.0.1{sign}{OTHER}:2811/x",
        f"{OTHER}{sign}127.0.0.1:2811/x",
        f"127.0.0.1:2811{sign}{OTHER}/x",
    ):
        url = f"{scheme}://{text}"
        assert refusal_of(tmp_path, f"globus-url-copy {url} file:///dev/null", NEAR), url
        # The same in a list, where blanks part words.
        for line in (f"{url} file:///dev/null\n", f"file:///dev/zero {url}\n", f"ftp://127.0.0.1/x {url}\n"):
            assert refusal_of(tmp_path, "globus-url-copy -f {work}/pairs", NEAR, files={"pairs": line}), line


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1:2811/x y", "ftp://127.0.0.1", "ftp:127.0.0.1/x", "ftp:///x", "FTP://127.0.0.1/x",
        "http://127.0.0.1/x", "sshftp://127.0.0.1/x", "ftp://127.0.0.1:/x", "ftp://127.0.0.1:281100/x",
        "ftp://127.0.0.1/%2e%2e/x", "file://127.0.0.1/dev/null", "file:/dev/null", "file:///dev/null?x",
        "file:///dev/%6eull", "x", "-x", "ftp://u:p@127.0.0.1/x", "ftp://0x7f000001/x", "ftp://2130706433/x",
        "ftp://127.1/x", "ftp://[::ffff:127.0.0.2]/x", "ftp://127.0.0.1:2811/x\n",
    ],
)  # fmt: skip
def test_what_is_no_url_in_the_one_form_is_refused(tmp_path: Path, url: str) -> None:
    line = f"file:///dev/zero {url}\n"
    assert refusal_of(tmp_path, "globus-url-copy -f {work}/pairs", NEAR, files={"pairs": line})


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1:2811/x", "gsiftp://[fd00::1]:2811/mnt/a+b/x.1", "ftp://dtn.example.org/x"]
)
def test_usual_urls_are_allowed(tmp_path: Path, url: str) -> None:
    assert refusal_of(tmp_path, f"globus-url-copy {url} file://{{work}}/x", NEAR) == ""
    files = {"pairs": f"{url} file://{{work}}/x\nfile:///dev/zero {url}\n"}
    assert refusal_of(tmp_path, "globus-url-copy -f {work}/pairs", NEAR, files=files) == ""


@pytest.mark.parametrize("program", network.TABLE)
def test_no_program_is_told_an_allowed_host_with_another_behind_it(tmp_path: Path, program: str) -> None:
    signs = [*filter(str.strip, SIGNS), "/", ":", "%"]
    for sign, (begin, address) in itertools.product(signs, called(program, TABLE[program])):
        for host in (f"127.0.0.1{sign}www.example.org", f"[127.0.0.1]{sign}www.example.org", f"127.0.0.1:80{sign}x"):
            line = " ".join([begin, *address[:-1], host])
            assert refusal_of(tmp_path, line, LOCAL), line


def test_the_variable_of_globus_holds_one_host(tmp_path: Path) -> None:
    for host in ("127.0.0.1?127.0.0.2", "127.0.0.1@127.0.0.2", "[127.0.0.1]x", "127.0.0.1,a,b"):
        assert refusal_of(tmp_path, "netserver -D -Z s", environment=[("GLOBUS_HOSTNAME", host)]), host
        assert refusal_of(tmp_path, f"globus-gridftp-server -r {host}"), host
