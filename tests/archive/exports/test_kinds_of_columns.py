"""Every value that an archive may bring for a parameter fits the column of its kind in all formats."""

import io
from types import SimpleNamespace
from typing import Any

import pyarrow
import pytest
from django.test import Client
from pyarrow import csv

from apps.archive.exports.columns import MOST_SETTINGS, _of_parameter, columns_of
from apps.bench import strict_json, units
from apps.bench.toolkit import Parameter
from apps.campaigns.models import Campaign, Experiment
from tests.archive.exports.conftest import unpacked, whole

TYPES = {
    "integer": pyarrow.int64(),
    "number": pyarrow.float64(),
    "boolean": pyarrow.bool_(),
    "string": pyarrow.string(),
}
ODD = [0, 1, -1, 1.0, 1.5, 1e30, -1e300, 5e-324, 2**63 - 1, 2**63, -(2**63), 10**30, 10**400, True, False]
ODD += [float("inf"), float("nan"), "1", "x", "", [1], {"a": 1}]


def fits(value: Any, kind: str) -> bool:
    """Say whether Arrow reads the text of a value, as the database gives it, in the column of a kind."""
    column = _of_parameter(Parameter("odd", kind, "Odd"), set())
    text = value if isinstance(value, str) else strict_json.dumps(value)
    options = csv.ConvertOptions(column_types={"odd": TYPES[column.type]})
    try:
        csv.read_csv(io.BytesIO(f"odd\n{text}\n".encode()), convert_options=options)
    except pyarrow.ArrowInvalid:
        return False
    return True


@pytest.mark.parametrize("kind", units.KINDS)
def test_what_is_of_a_kind_fits_its_column(kind: str) -> None:
    parameter = Parameter("odd", kind, "Odd")
    values = [value for value in ODD if parameter.holds(value)]
    assert values
    assert [value for value in values if not fits(value, kind)] == []


@pytest.mark.parametrize("kind", sorted({*units.KINDS} - {"text", "choice"}))
def test_what_is_typed_is_of_its_kind(kind: str) -> None:
    parameter = Parameter("odd", kind, "Odd")
    assert parameter.holds(parameter.clean("yes" if kind == "boolean" else "1"))
    assert not any(map(parameter.holds, ["1", "x", "", [1], {"a": 1}, float("inf"), float("nan")]))


@pytest.mark.parametrize("kind", ["size", "rate", "byte-rate", "integer"])
@pytest.mark.parametrize("value", [1.5, 1.0, 1e30, 2**63, 10**400, True])
def test_a_part_of_a_whole_is_of_no_whole_kind(kind: str, value: Any) -> None:
    assert not Parameter("odd", kind, "Odd").holds(value)


@pytest.mark.django_db
@pytest.mark.parametrize(("names", "length"), [(1700, 5), (140, 100)])
def test_no_settings_of_one_campaign_stop_the_tables_of_others(
    client: Client, cast: SimpleNamespace, finished: Campaign, names: int, length: int
) -> None:
    """PostgreSQL gives 1,664 columns, and Linux takes words of 128 KiB in a command."""
    own = finished.experiments.get(tool="iperf3-tcp")
    odd = {f"setting.client.{'é' * length}{number}": "1" for number in range(names)}
    shared = {f"setting.client.net.own{number}": "1" for number in range(3)}
    fixed = own.fixed | shared
    columns, _metrics = columns_of("iperf3-tcp", [Experiment(fixed=fixed), Experiment(fixed=fixed | odd)])
    settings = {column.name for column in columns if column.name.startswith("setting.")}
    assert len(settings) == min(names + 3, MOST_SETTINGS)
    assert shared.keys() <= settings
    Experiment.objects.filter(pk=own.pk).update(fixed=fixed | odd)
    client.force_login(cast.bob)
    for ending in ("csv", "parquet"):
        answer = client.get(f"/exports/package.{ending}.zip", {"set": f"campaign:{finished.pk}"})
        assert "trials-iperf3-tcp" in str(unpacked(whole(answer)).keys())
