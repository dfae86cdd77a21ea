"""A program's version has its words one space apart, at the door where agents tell it and of what is stored."""

import pytest

from apps.agents import facts
from apps.agents.endpoint import protocol
from apps.agents.queries import changes_between

SPACED = "mpirun (Open MPI)   4.1.4\t(a)  \u00a0 b"
PLAIN = "mpirun (Open MPI) 4.1.4 (a) b"


def told(version: object) -> dict[str, object]:
    return {"tools": {"mpirun": {"path": "/usr/bin/mpirun", "version": version}}}


def test_a_run_of_spaces_is_one_at_the_door_where_agents_tell() -> None:
    found, _version = protocol.facts_of({"facts": told(SPACED), "version": "1"})
    assert found == told(PLAIN)


def test_what_was_stored_before_is_read_alike_and_no_change() -> None:
    assert facts.sound(told(SPACED)) == told(PLAIN)
    assert changes_between(told(SPACED), told(PLAIN)) == []
    # What an archive brings stays as its sums have it: it is only read otherwise.
    assert facts.checked_facts(told(SPACED)) == told(SPACED)


@pytest.mark.parametrize("odd", [None, 7, ["x"]])
def test_what_is_no_version_is_left_as_it_is(odd: object) -> None:
    assert facts.with_plain_versions(told(odd)) == told(odd)
    assert facts.with_plain_versions({"tools": odd}) == {"tools": odd}


def test_lines_stay_apart() -> None:
    assert facts.plain_version("one  a\n\ttwo") == "one a\ntwo"
