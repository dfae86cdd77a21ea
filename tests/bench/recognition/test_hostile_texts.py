"""Texts that nobody measured do not keep the search for a tool busy."""

from apps.bench import tools


def test_no_signature_looks_for_the_end_of_blank_lines_from_each_of_them() -> None:
    patterns = [
        pattern.pattern for tool in tools.all_tools() for pattern in (*tool.signatures, tool.opening) if pattern
    ]
    assert len(patterns) > 50
    # "^\s+" takes all blank lines that follow, once for each of them: a minute for a megabyte of newlines.
    assert not [pattern for pattern in patterns if r"^\s" in pattern]
