"""IOzone's options, however they are joined."""

import pytest

from apps.bench.tools._iozone.command import UnknownOption, apart


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("iozone -a -O -s 4m", "iozone -a -O -s 4m"),
        ("iozone -aOs4m", "iozone -a -O -s 4m"),
        ("iozone -RNa -n 512k", "iozone -R -N -a -n 512k"),
        ("iozone -a+n -Rb x.xls", "iozone -a -+n -R -b x.xls"),
        ("iozone -t 2 -F one two -eI", "iozone -t 2 -F one -e -I two"),
        ("", ""),
    ],
)
def test_each_option_stands_by_itself(line, options):
    assert apart(line.split()) == options.split()


@pytest.mark.parametrize("line", ["iozone --fast", "iozone -a -?", "iozone -s"])
def test_what_is_no_command_of_iozone_is_refused(line):
    with pytest.raises(UnknownOption):
        apart(line.split())
