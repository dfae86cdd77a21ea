"""A title names of its lines what they change: no limit that stays, and no node that lacks nothing."""

import random
import re
from collections import Counter

import pytest

from apps.bench.rules import tcp
from apps.bench.rules.base import PathFacts
from apps.bench.units import format_quantity
from tests.bench.rules.cases import TCP, Maker, evidence

PATH = PathFacts(1_000_000_000, 0.0048, 1500)
LARGE = "4096 131072 268435456"
# What hosts are found with; None: nobody told it.
CHOICES = {
    "net.core.rmem_max": ("131071", "268435456", None),
    "net.core.wmem_max": ("131071", "268435456", None),
    "net.ipv4.tcp_rmem": ("4096 87380 174760", LARGE, LARGE, "302400 4096 268435456", None),
    "net.ipv4.tcp_wmem": ("4096 16384 131072", LARGE, LARGE, LARGE, None),
    "net.ipv4.tcp_moderate_rcvbuf": ("0", "1", "1"),
    "net.ipv4.tcp_window_scaling": ("0", "1", "1", "1"),
}
SEEDS = 80
SETTING = re.compile(r"(net[\w.]+)=([\d ]+) \(([a-z +]+)\)")
LINE = re.compile(r'^(?:.* echo ")?(net[\w.]+)=([^"\n]*)', re.MULTILINE)


def told(source):
    values = {name: source.choice(choices) for name, choices in CHOICES.items()}
    return {name: value for name, value in values.items() if value is not None}


def changes_of(draft, hosts):
    """Return what a finding's lines set otherwise than it is: {role: {name: value}}."""
    blocks = re.split(r"^# (client|server|client \+ server)$", draft.change, flags=re.MULTILINE)[1:]
    return {
        role: {name: value for name, value in LINE.findall(lines) if hosts[role].get(name) != value}
        for roles, lines in zip(blocks[::2], blocks[1::2], strict=True)
        for role in roles.split(" + ")
    }


def has_limit(changes, maximum):
    """Return whether one of the values is the limit that a title names."""
    numbers = (int(value.split()[-1]) for value in changes.values())
    return any(format_quantity(number, "B") == maximum for number in numbers)


def drafts_of(seed):
    """Return the findings that have lines for hosts that are drawn, and what the hosts told."""
    source, make = random.Random(seed), Maker()
    hosts = {"client": told(source), "server": told(source)}
    capped = {"goodput": 1.9e8, "window_granted": 262142.0, "window_observed": 120_000.0}
    points = [make.ping(0.0048), make.tcp([180e6, 181e6], observed=108_500, rtt=0.0048)]
    more_points = [*points, make.point(TCP, {"window": 2**20, "streams": 1}, capped)]
    drafts = [
        draft for measured in (points, more_points) for draft in tcp.findings(evidence(measured, PATH, **hosts))
    ]
    return [draft for draft in drafts if draft.change.startswith("# ")], hosts


@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_title_names_only_what_its_lines_change(seed):
    drafts, hosts = drafts_of(seed)
    for draft in drafts:
        title, params, changes = str(draft.title), draft.title.params, changes_of(draft, hosts)
        settings = SETTING.findall(title)
        for name, value, roles in settings:
            assert all(changes[role][name] == value for role in roles.split(" + ")), title
        for role in params["roles"].split(" + ") if "%(roles)s" in draft.title.msgid else ():
            assert changes.get(role), title
            assert "maximum" not in params or has_limit(changes[role], params["maximum"]), (title, changes)


def test_hosts_are_drawn_that_lack_limits_switches_or_both():
    titles = [str(draft.title) for seed in range(SEEDS) for draft in drafts_of(seed)[0] if draft.rule == "tcp-sysctl"]
    forms = Counter(("limits of" in title, bool(SETTING.search(title))) for title in titles)
    assert min(forms[form] for form in ((True, False), (False, True), (True, True))) >= 2, forms
