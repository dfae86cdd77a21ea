"""The job's own files that hold more than figures: lists of URLs, and what a GridFTP server opens to its callers."""

from pathlib import Path

import pytest

from apps.bench.tools import _btio, imb
from apps.bench.tools._storage.places import PREFIX
from tests.agent.test_policy import refusal_of

SERVE = "globus-gridftp-server -c {work}/conf"


def served(work: Path, text: str) -> str:
    """Return why a server with a configuration is refused."""
    return refusal_of(work, SERVE, files={"conf": text}, paths=[str(work / "scratch")])


def test_files_of_the_job_are_looked_at_too(tmp_path: Path) -> None:
    copy = "globus-url-copy -f {work}/pairs"
    assert refusal_of(tmp_path, copy, files={"pairs": "file:///dev/zero file://{work}/x\n"}) == ""
    refused = refusal_of(tmp_path, copy, files={"pairs": "file:///etc/%70asswd file://{work}/x\n"})
    assert refused == "option-not-allowed: globus-url-copy -f file:///etc/%70asswd"
    refused = refusal_of(tmp_path, copy, files={"pairs": "file:///etc/passwd file://{work}/x\n"})
    assert refused == "path-not-allowed: globus-url-copy /etc/passwd"


@pytest.mark.parametrize("rights", ["", "R", "W", "RW", "N"])
def test_a_server_opens_full_paths_of_the_job(tmp_path: Path, rights: str) -> None:
    entries = ",".join(f"{rights}{path}" for path in ("{work}/x", f"{tmp_path}/scratch/a-b_c", "/dev/zero"))
    begin = "allow_anonymous 1\nanonymous_user nobody\nallow_from 192.0.2.1,2001:db8::1\nipc_allow_from 192.0.2.1\n"
    assert served(tmp_path, f'{begin}restrict_paths "{entries}"\n') == ""
    assert served(tmp_path, f'restrict_paths "{rights}/etc"\n').startswith("path-not-allowed")


@pytest.mark.parametrize(
    "rights", ["r", "w", "rw", "rW", "n", "x", "RWr", " R", "R ", "-", "~", "~/", "R~", "@", "\\"]
)
def test_rights_in_any_other_form_are_no_part_of_a_path(tmp_path: Path, rights: str) -> None:
    paths = ("/", "/etc", "{work}/x", "scratch", "")
    for entry in (f"{begin}{rights}{path}" for path in paths for begin in ("", "R{work}/x,")):
        refused = served(tmp_path, f'restrict_paths "{entry}"\n')
        assert refused.startswith("option-not-allowed: globus-gridftp-server -c restrict_paths"), entry


@pytest.mark.parametrize(
    "path",
    ["", "R", "RW", "R*", "R{work}/*", "R{work}/../..", "R{work}/x,", ",R{work}/x", "R/dev/zero/../..", "R{work}-x/y",
     "R{work}/%2e%2e", "R{work}/x y", "R/dev/zero;/etc", "R{program:ping}", "R{work}"],
)  # fmt: skip
def test_a_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    assert served(tmp_path, f'restrict_paths "{path}"\n'), path


@pytest.mark.parametrize(
    "text",
    [
        "exec /bin/sh\n", "allow_anonymous 1\n", "", "\n", 'restrict_paths "R{work}/x"\nrestrict_paths "R{work}/y"\n',
        'restrict_paths "R{work}/x"\x0callow_anonymous 1\n', 'restrict_paths "R{work}/x"\r\n',
        'restrict_paths "R{work}/x"\n\nexec /bin/sh', "restrict_paths R{work}/x\n", 'RESTRICT_PATHS "R{work}/x"\n',
        'restrict_paths "R{work}/x" "R/"\n',
        'allow_from a.example\nrestrict_paths "R{work}/x"\n', 'allow_from 1.2.3.4 exec\nrestrict_paths "R{work}/x"\n',
    ],
)  # fmt: skip
def test_a_configuration_has_the_lines_of_the_product_and_one_limit(tmp_path: Path, text: str) -> None:
    assert served(tmp_path, text).startswith("option-not-allowed"), text


def test_only_what_jobs_made_is_removed(tmp_path: Path) -> None:
    work, scratch = tmp_path / "work", tmp_path / "scratch"
    for folder in (work, scratch):
        folder.mkdir()
    (work / "way-out").symlink_to(scratch)
    own = {"paths": [str(scratch)]}
    names = [f"{PREFIX}fio-0", *_btio.FILES.values(), _btio.INPUT, "btio.epio.out.007", imb.OUT]
    for path in ("{work}/data", *(f"{scratch}/deep/{name}" for name in names)):
        assert refusal_of(work, f"rm -rf -- {path}", **own) == "", path
    others = [
        f"{scratch}/{name}"
        for name in ("data", "", ".", "*", f"{PREFIX}x/data", f"{PREFIX}x/..", f"{PREFIX}x/", "IMB_outs")
    ]
    others += [
        str(scratch),
        "{work}/way-out/data",
        "{work}/../scratch/data",
        "{work}",
        "{work}/",
        "{work}/way-out",
        "/dev/null",
    ]
    for path in others:
        assert refusal_of(work, f"rm -rf -- {path}", **own).startswith("path-not-allowed"), path
        assert refusal_of(work, f"rm -rf -- {scratch}/{PREFIX}x {path}", **own).startswith("path-not-allowed"), path
    assert refusal_of(work, f"rm -rf -- {scratch}/data", options={"rm": ["*"]}, **own) == ""
