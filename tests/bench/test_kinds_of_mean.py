"""Which mean is right follows from the work, not from the unit: the same trials have one whole work over one time."""

import pytest

from apps.bench import statistics, tools
from apps.bench.statistics import Mean
from apps.bench.toolkit import harmonic_metrics
from apps.bench.toolkit.means import EQUAL_WORK

RATES = [
    pytest.param(tool, metric, id=f"{tool.slug} {metric.name}")
    for tool in tools.all_tools()
    for metric in tool.metrics
    if metric.unit.endswith("/s")
]


@pytest.mark.parametrize(("tool", "metric"), RATES)
def test_every_rate_of_a_fixed_amount_of_work_is_averaged_by_its_time(tool, metric):
    assert (metric.name in harmonic_metrics(tool, [{}])) == (tool.group in EQUAL_WORK)
    assert metric.name not in harmonic_metrics(tool, [{"duration": 10}])


def test_files_bytes_and_operations_of_the_same_trials_agree():
    mdtest, fio = tools.get("mdtest"), tools.get("fio")
    assert "file_create" in harmonic_metrics(mdtest, [{"items": 1000}])
    assert {"write", "write_iops"} <= harmonic_metrics(fio, [{"block_size": 1024**2}])
    # 4,000 files in 7 s.
    assert statistics.mean_of([250.0, 1000.0, 1000.0, 1000.0], Mean.HARMONIC) == pytest.approx(4000 / 7)
    operations = [25.0, 100.0, 100.0, 100.0]
    by_bytes = statistics.mean_of([1024**2 * rate for rate in operations], Mean.HARMONIC)
    assert by_bytes / 1024**2 == pytest.approx(statistics.mean_of(operations, Mean.HARMONIC))
