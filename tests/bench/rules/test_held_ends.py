"""What an end held (a processor, a sender, pauses) is no evidence of what lies behind it, in any rule."""

import dataclasses
import statistics

import pytest

from apps.bench.rules import gridftp, layers, pace, path, shapes, storage, tcp
from apps.bench.rules.base import FileSystemFacts, LinkFacts, PathFacts
from apps.bench.rules.shapes.curves import curves
from apps.bench.rules.shapes.forms import trend_of
from apps.bench.rules.tcp import window
from tests.bench.rules.cases import Maker, evidence, tools
from tests.bench.rules.storing import CLIENTS, MB, Storing, sweep
from tests.bench.rules.test_gridftp import transfers
from tests.bench.rules.test_like_with_like import SERVERS, star

ONE = FileSystemFacts("SCRATCH", "nfs", None, SERVERS[:1])
LOCAL = FileSystemFacts("LOCAL", "xfs", None, SERVERS[:1])
FLAG = "processor-full"


def with_busy_end(measurements, is_affected, name=FLAG):
    """Return evidence in which a judge saw an end at its limit in all trials of some points."""
    points = tuple(
        dataclasses.replace(
            point,
            warnings=frozenset({name}),
            flagged={name: frozenset(trial for values in point.metrics.values() for trial in values)},
        )
        if is_affected(point)
        else point
        for point in measurements.points
    )
    return dataclasses.replace(measurements, points=points)


def is_tcp(point):
    return "goodput" in point.metrics


def is_disk(point):
    return point.file_system == "LOCAL"


def is_files(point):
    return point.file_system == "SCRATCH"


def evidence_of(rate, *, tcp, disk=None, paths=None):
    make = Storing().io("SCRATCH", write=[rate, rate * 1.002, rate * 0.998], clients=CLIENTS[:1])
    for mbit, streams in tcp:
        make.tcp(CLIENTS[0], SERVERS[0], [mbit, mbit * 1.001, mbit * 0.999], streams=streams)
    if disk:
        make.disk("LOCAL", SERVERS[0], write=[disk, disk * 1.001, disk * 0.999])
    return make.evidence(ONE, LOCAL, paths=paths or {})


def limits(measurements):
    return [table.layer for table in layers.table(measurements)]


def test_streams_that_a_processor_held_are_no_ceiling_of_the_network():
    measurements = evidence_of(31 * MB, tcp=[(258, 1), (260, 4)])
    assert limits(measurements) == ["network"]
    assert limits(with_busy_end(measurements, is_tcp)) == [""]


def test_disks_that_a_processor_held_may_give_more():
    measurements = evidence_of(118 * MB, tcp=[(9000, 1), (9001, 4)], disk=120 * MB)
    assert limits(measurements) == ["disk"]
    assert limits(with_busy_end(measurements, is_disk)) == [""]


def test_a_rate_that_a_processor_held_does_not_blame_the_file_system():
    measurements = evidence_of(30 * MB, tcp=[(9000, 1), (9001, 4)], disk=800 * MB)
    assert limits(measurements) == ["file-system"]
    flagged = with_busy_end(measurements, is_files)
    assert limits(flagged) == [""]
    (table,) = layers.table(flagged)
    assert "an end was at its limit" in str(table.verdict)


@pytest.mark.parametrize(
    ("rates", "shape"),
    [
        ({1: [100] * 3, 2: [200] * 3, 4: [201] * 3, 8: [199] * 3}, shapes.SATURATES),
        ({1: [200] * 3, 2: [201] * 3, 4: [199] * 3}, shapes.FLAT),
        ({1: [100, 101, 99], 2: [93, 94, 92], 4: [88, 89, 87]}, shapes.FALLS),
        ({1: [100] * 3, 2: [200] * 3, 4: [400] * 3}, shapes.RISES),
    ],
)
def test_a_plateau_that_an_end_held_is_not_the_file_systems(rates, shape):
    measurements = sweep("clients", rates).evidence(ONE)
    (curve,) = curves(measurements, factor="clients")
    assert trend_of(curve).shape == shape
    max_clients = max(rates)
    flagged = with_busy_end(measurements, lambda point: point.parameters.get("clients") == max_clients)
    (curve,) = curves(flagged, factor="clients")
    assert (trend_of(curve) is not None) == (shape == shapes.RISES)
    drafts = [draft.rule for draft in storage.overview(flagged)]
    assert ("storage-clients" in drafts) == (shape == shapes.RISES)


def test_a_single_disturbed_trial_is_left_out_of_a_curve():
    maker = sweep("clients", {1: [100, 101, 60], 2: [200, 201, 199], 4: [201, 199, 200], 8: [200, 201, 199]})
    points = []
    for point in maker.evidence(ONE).points:
        slow = frozenset(trial for trial, value in point.metrics["write"].items() if value < 70 * MB)
        points.append(dataclasses.replace(point, warnings=frozenset({FLAG} if slow else ()), flagged={FLAG: slow}))
    (curve,) = curves(dataclasses.replace(maker.evidence(ONE), points=tuple(points)), factor="clients")
    assert curve.means[1] == pytest.approx(statistics.harmonic_mean([100 * MB, 101 * MB]))
    assert not curve.held_values


def test_connections_are_not_advised_by_streams_that_a_processor_held():
    paths = star(CLIENTS[:1], SERVERS[:1], port=1e10)
    measurements = evidence_of(30 * MB, tcp=[(240, 1), (900, 4)], paths=paths)
    assert "storage-connections" in {draft.rule for draft in storage.overview(measurements)}
    alone = with_busy_end(measurements, lambda point: is_tcp(point) and point.parameters["streams"] == 1)
    assert "storage-connections" not in {draft.rule for draft in storage.overview(alone)}


def test_transfers_that_a_processor_held_do_not_show_a_path_that_is_full():
    make = Maker()
    points = transfers(make, {(1, 256): [40, 41, 40], (1, 1024): [80, 81, 82], (4, 1024): [81, 80, 82]})
    (draft,) = [item for item in gridftp.findings(evidence(points)) if item.rule == "gridftp-parallel"]
    assert "gain nothing" in str(draft.title)
    flagged = with_busy_end(evidence(points), lambda point: point.parameters["streams"] == 4)
    assert "gridftp-parallel" not in {item.rule for item in gridftp.findings(flagged)}


def test_dispersion_of_a_busy_end_is_left_out_and_said_to_be():
    make = Maker()
    links = PathFacts(1e9, 0.0048, 1500, (LinkFacts("wan", 1e9),), "wan")
    sure = make.point(tools.get("pathload"), {}, {"available_bandwidth": 950e6})
    probe = make.point(tools.get("pathrate"), {}, {"capacity_low": 395e6, "capacity_high": 420e6, "capacity": 400e6})
    loads = [make.udp(940e6, 0.0, rate=940_000_000), make.udp(940e6, 0.1, rate=1_044_000_000)]
    loads.append(make.udp(941e6, 0.3, rate=1_344_000_000))
    measurements = evidence([make.ping(0.0048), sure, probe, *loads], links)
    flagged = with_busy_end(measurements, lambda point: point.tool == "pathrate")
    drafts = {draft.rule: draft for draft in path.findings(flagged)}
    assert drafts["path-capacity"].high > 900e6
    assert any("one of its ends was at its limit" in str(line) for line in drafts["path-capacity"].against)


def window_limited(make, rates, observed, **kernel):
    """Return an automatic window's runs whose kernel waited for the receiver's window."""
    point = make.tcp(rates, observed=observed, rtt=0.005)
    sockets = {"receiver_window_limited": 0.9, "send_buffer_limited": 0.0, **kernel}
    point = dataclasses.replace(point, observed={"tcp": sockets})
    return evidence([make.ping(0.005), point, make.tcp([935e6, 936e6], streams=8, observed=10**9, rtt=0.005)])


def test_no_window_is_told_of_a_run_that_an_end_held_or_that_its_own_window_contradicts():
    def says(item):
        return [draft.subject for draft in tcp.findings(item) if draft.rule == "tcp-limit"]

    # 82 kB in each RTT of 5 ms are 131 Mbit/s.
    assert says(window_limited(Maker(), [131e6], 81_900)) == ["window"]
    # One run of half that was held up by something: the kernel's word does not say how large the window is.
    assert says(window_limited(Maker(), [65e6], 81_900)) == []
    assert says(window_limited(Maker(), [65e6, 131e6, 130e6], 81_900)) == ["window"]
    slow = with_busy_end(
        window_limited(Maker(), [65e6, 66e6], 81_900), lambda point: point.parameters.get("streams") == 1
    )
    assert says(slow) == []


def test_a_sweep_whose_step_lies_below_a_smaller_setting_tells_no_level():
    make = Maker()
    rates = {32: [22], 64: [29], 128: [30], 256: [29.5], 512: [29.7], 1024: [29.3]}
    assert window.conclude(evidence(make.window_sweep(rates))) is not None
    assert window.conclude(evidence(Maker().window_sweep({**rates, 64: [14.8]}))) is None


@pytest.mark.parametrize(
    ("held_trials", "free_trials"), [({1}, {2, 3}), ({1, 2, 3}, {1, 2, 3}), ({2}, {1, 2, 3}), (set(), {1, 2, 3})]
)
def test_disturbed_figures_are_left_out_only_where_free_ones_are_better(held_trials, free_trials):
    assert pace.free_of({1: 50.0, 2: 100.0, 3: 101.0}, held_trials).keys() == free_trials
