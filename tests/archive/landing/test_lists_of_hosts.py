"""Numbered hosts are hidden in lists, and names where a line ends within them."""

import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from apps.archive.landing.redaction import Hidden
from tests.campaigns import factories as make

pytestmark = pytest.mark.django_db

# Lists of hosts, and names broken at a line's end or escaped as programs that set type need it.
LISTS = (
    "{stem}[288-290]", "{stem}[001-004]", "{stem}{{1,2}}", "{stem}{{1..4}}", "{stem}[1]", "{stem}[1-2, 7,9-12]",
    "{upper}[3-4]", "rack[1-2]-unpriv-[01-02]", "{stem}[1-2].kisti.re.kr", "-w {stem}[1-2],other",
)  # fmt: skip


@pytest.mark.parametrize("written", LISTS)
def test_lists_of_hosts_are_hidden(cast: SimpleNamespace, written: str) -> None:
    make.nodes(cast.team, "unpriv288", "rack1-unpriv-2", "zqcn-3")
    hidden = Hidden(cast.team.pk)
    for stem in ("unpriv", "rack1-unpriv-", "zqcn-", "zqcn"):
        text = written.format(stem=stem, upper=stem.upper())
        page = hidden.text(f"jobs on {text} went")
        assert not any(name in page.lower() for name in ("unpriv", "zq", "rack")), page
        assert page.startswith("jobs on ")
        assert page.endswith(" went")


# What stands for any of a host's figures.
SIGNS = (
    "[1-3]", "[1,3]", "[1]", "[!1]", "{1,2}", "{1..3}", "{01..10..2}", "?", "*", "[0-1][0-9]", "[0-1]?", "?[0-9]",
    "??", "(1|2)", "[1|2]", "%d", "%02d", "$i", "${i}", "$(seq 1 3)", r"\d", r"\d+", r"\d\d", r"\d{2}", "[[:digit:]]",
    "[[:digit:]]+", "N", "NN", "XX", "xx", "nn",
)  # fmt: skip


def in_lists(name: str) -> Iterator[str]:
    """Yield a name with each sign in the place of some figures of one of its numbers, and of each of its numbers."""
    for number in re.finditer(r"\d+", name):
        for start in range(number.start(), number.end()):
            for end in range(start + 1, number.end() + 1):
                yield from (f"{name[:start]}{sign}{name[end:]}" for sign in SIGNS)
    yield from (sign.join(re.split(r"\d+", name)) for sign in SIGNS)


@pytest.mark.parametrize("name", ["zqhost01", "zqhost-288", "zq1-host-02", "zqhost07.zq.re.kr", "zqhost01-ib"])
def test_each_cut_of_a_number_before_a_list_is_hidden(cast: SimpleNamespace, name: str) -> None:
    make.nodes(cast.team, name)
    hidden = Hidden(cast.team.pk)
    for written in in_lists(name):
        # A mark of question after a word is mostly one.
        if not re.search(r"[a-z-]\?(?!\[|\?|\d)", written):
            page = hidden.text(f"jobs on {written} went")
            assert re.fullmatch(r"jobs on [a-z]+[?*]{0,2} went", page), (written, page)


@pytest.mark.parametrize(
    "written", ["zqhost①", "zqhost➀", "zqhost❶", "zqhost⓵", "zqhost⑴", "zqhost⒈", "zqhost➓", "zqhost⑽"]
)
def test_figures_in_frames_are_figures(cast: SimpleNamespace, written: str) -> None:
    make.nodes(cast.team, "zqhost1", "zqhost10")
    assert Hidden(cast.team.pk).text(f"jobs on {written} went") in ("jobs on node 1 went", "jobs on node 2 went")


@pytest.mark.parametrize(
    "written", ["{zqhost,other}01", "{other,zqhost}0[1-2]", "[zqhost|other]01", "(other|zqhost)1"]
)
def test_names_before_one_figure_are_hidden(cast: SimpleNamespace, written: str) -> None:
    make.nodes(cast.team, "zqhost01")
    assert "zq" not in Hidden(cast.team.pk).text(f"jobs on {written} went")


def test_a_sentence_about_one_host_keeps_its_number_and_its_marks(cast: SimpleNamespace) -> None:
    make.nodes(cast.team, "zqhost01", "zqhost02", "probe1")
    text = "Is zqhost02 slower than zqhost01? *zqhost02* and **zqhost01** are; which probe? 2 * 3 [4] **probe** 5*6"
    page = Hidden(cast.team.pk).text(text)
    assert page == ("Is node 2 slower than node 1? *node 2* and **node 1** are; which probe? 2 * 3 [4] **probe** 5*6")


@pytest.mark.parametrize(
    "written",
    ["zephyr-\nnode-1", "zephyrno-\n  de-1", "zephyrnode-\r\n1", "zephyrnode\\-1", "zephyrnode\\_1", "zephyr\\_node"],
)
def test_a_name_broken_at_the_end_of_a_line_is_hidden(cast: SimpleNamespace, written: str) -> None:
    make.nodes(cast.team, "zephyrnode-1", "zephyr-node")
    name = Hidden(cast.team.pk).text(f"on {written} went")
    assert "zephyr" not in name
    assert name.startswith("on ")
    assert name.endswith(" went")
