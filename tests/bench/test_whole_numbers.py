"""No way of giving a tool's parameter keeps a whole number that no column holds, whichever tool and form."""

import pytest

from apps.bench import tools, units
from apps.bench.outputs import reconstruction
from apps.bench.toolkit import Tool

NUMBERS = ("size", "rate", "byte-rate", "integer", "float", "duration")
BEYOND = [units.LARGEST_WHOLE + 1, -units.LARGEST_WHOLE - 2, 10**29, 10**400, 10**5000]


@pytest.mark.parametrize("tool", tools.all_tools(), ids=lambda tool: tool.slug)
def test_a_whole_number_beyond_a_column_is_refused(tool: Tool) -> None:
    for parameter in tool.parameters:
        if parameter.kind not in NUMBERS:
            continue
        for value in BEYOND:
            with pytest.raises(units.UnitError):
                parameter.clean(value)
            assert parameter.name not in reconstruction.keep_valid(tool, {parameter.name: value})
        # A point is no way around.
        rounded = reconstruction.keep_valid(tool, {parameter.name: 1e29}).get(parameter.name)
        assert rounded is None or parameter.kind in ("float", "duration")
