"""Numbered hosts are hidden in lists, and names where a line ends within them."""

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
        shown = hidden.text(f"jobs on {text} went")
        assert not any(name in shown.lower() for name in ("unpriv", "zq", "rack")), shown
        assert shown.startswith("jobs on ")
        assert shown.endswith(" went")


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
