"""Clients that did not end together: what they moved while all of them ran, against a simulation that knows it."""

import itertools
import random

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output
from apps.bench.tools._storage.window import Pass, window_of
from tests.bench.tools.test_iozone import check_of, flags, load

MB = 1e6
TOLERANCE = 0.03
SIZE = 2**30
REPORT = load("direct_I.txt").stdout.decode()


class Server:
    """A server that shares what it gives by the clients' weights; each moves the same amount twice, then ends.

    `ends` {client: when each of its passes ended (s)}, `moved(client, a, b)` the bytes from a to b, exactly.
    """

    def __init__(self, total, weights, amount, starts, passes=2):
        self.starts, self.steps, self.ends = starts, [], {place: [] for place in range(len(weights))}
        remainders = dict.fromkeys(self.ends, amount)
        to_do = dict.fromkeys(remainders, passes)
        now = min(starts)
        while remainders:
            active = [place for place in remainders if starts[place] <= now + 1e-9]
            whole = sum(weights[place] for place in active)
            rates = {place: total * weights[place] / whole for place in active}
            waits = [start - now for start in starts if start > now + 1e-9]
            step = min([remainders[place] / rate for place, rate in rates.items()] + waits)
            self.steps.append((now, now + step, rates))
            now += step
            for place, rate in rates.items():
                remainders[place] -= rate * step
                if remainders[place] <= 1:
                    self.ends[place].append(now)
                    to_do[place] -= 1
                    remainders[place] = amount
                    if not to_do[place]:
                        del remainders[place]

    def moved(self, place, first, last):
        """Return the bytes that a client moved between two times."""
        return sum(
            rates.get(place, 0.0) * max(0.0, min(end, last) - max(begin, first)) for begin, end, rates in self.steps
        )

    def common(self, which):
        """Return the rate (B/s) of all while all were in the same pass: 0 the first, 1 the second."""
        begins = [self.starts[place] if which == 0 else ends[0] for place, ends in self.ends.items()]
        first, last = max(begins), min(ends[which] for ends in self.ends.values())
        return sum(self.moved(place, first, last) for place in self.ends) / (last - first)

    def telemetry(self, place, counter, source, overhead=1.05):
        """Return what an agent would have seen of a client each second."""
        begun, ended = self.starts[place], self.ends[place][-1]
        looks = [-0.01, *itertools.takewhile(lambda at: at < ended - begun, itertools.count(source.uniform(0.5, 1)))]
        looks.append(ended - begun + 0.02)
        values = [overhead * self.moved(place, 0, begun + at) for at in looks]
        columns = {"nic": {}, "disks": {}, "own": {}}
        if counter == "nic":
            columns["nic"] = {"tx_bytes": values, "rx_bytes": [0.0] * len(looks)}
        elif counter == "disk":
            columns["disks"] = {"sda": {"written": values, "read": [0.0] * len(looks), "busy": [0] * len(looks)}}
        else:
            # A process that is gone cannot be looked at: the last figures stand.
            columns["own"] = {"written": [*values[:-1], values[-2]], "read": [0.0] * len(looks)}
        return {"v": 1, "times": looks, "ended": ended - begun, **columns}


def report_of(server, place, direct):
    """Return the report that IOzone would print of a client's two passes."""
    first, second = server.ends[place]
    rates = [SIZE / 1024 / (first - server.starts[place]), SIZE / 1024 / (second - first)]
    row = f"{SIZE // 1024:>16}{1024:>8}{round(rates[0]):>9}{round(rates[1]):>9}"
    text = REPORT if direct else REPORT.replace("\tO_DIRECT feature enabled\n", "")
    return "\n".join(row if line.startswith("           65536") else line for line in text.splitlines())


def outputs_of(server, counter, source, overhead=1.05):
    direct = counter == "own"
    names = [f"client{place}" for place in server.ends]
    for name in names:
        yield check_of(name)
    for place, name in enumerate(names):
        argv = ("iozone", *(["-I"] if direct else []))
        yield Output(
            "client", "write", name, argv, report_of(server, place, direct).encode(), b"", 0,
            started_at=server.starts[place], ended_at=server.ends[place][-1],
            telemetry=server.telemetry(place, counter, source, overhead) if counter else {},
        )  # fmt: skip


def parse(server, counter, overhead=1.05, seed=1):
    params = {"clients": len(server.ends), "file_size": SIZE, "record_size": 2**20, "read": False}
    params["direct"] = counter == "own"
    tool = tools.get("iozone")
    outputs = list(outputs_of(server, counter, random.Random(seed), overhead))
    return tool.parse(outputs, tool.clean(params))


def straggling(late, clients=2, passes=2):
    """Return a server of whose clients the last takes `late` times as long as the others with its first pass."""
    # With one pass only it has the server to itself once the others have ended.
    weight = 1 / late if passes > 1 else (clients - (clients - 1) * late) / late
    starts = [100.0 + 0.01 * place for place in range(clients)]
    server = Server(100 * MB, [1.0] * (clients - 1) + [weight], SIZE, starts, passes)
    times = [ends[0] - server.starts[place] for place, ends in server.ends.items()]
    assert times[-1] / times[0] == pytest.approx(late, rel=0.01)
    return server


@pytest.mark.parametrize("counter", ["nic", "disk", "own"])
@pytest.mark.parametrize("late", [1.1, 1.2, 1.3, 1.4, 1.5])
def test_the_rate_is_that_of_the_time_in_which_all_ran(late, counter):
    server = straggling(late)
    for seed in range(5):
        reading = parse(server, counter, overhead=1.0 if counter == "own" else 1.05, seed=seed)
        assert reading.value("write") == pytest.approx(server.common(0), rel=TOLERANCE)
        assert reading.value("rewrite") == pytest.approx(server.common(1), rel=TOLERANCE)
    by_flag = flags(reading)
    assert "low-overlap" not in by_flag
    assert by_flag["common-window"].severity == "info"
    assert set(by_flag["common-window"].metrics) == {"write", "rewrite"}
    # The clients' own figures are those of the same time, and add up.
    own = [client["write"] for client in reading.observed["clients"]]
    assert sum(own) == pytest.approx(reading.value("write"))
    window = min(ends[0] for ends in server.ends.values()) - max(server.starts)
    assert reading.observed["measured_s"]["write"] == pytest.approx(window, rel=0.02)
    assert reading.observed["together_s"] <= 1.02 * window


def test_the_sum_of_what_each_had_for_itself_would_be_wrong():
    server = straggling(1.4, passes=1)
    alone = sum(SIZE / (ends[0] - server.starts[place]) for place, ends in server.ends.items())
    assert alone > (1 + TOLERANCE) * server.common(0)


@pytest.mark.parametrize("clients", [3, 4])
def test_many_clients_and_one_that_is_late(clients):
    server = straggling(1.1, clients)
    assert parse(server, "nic").value("write") == pytest.approx(server.common(0), rel=TOLERANCE)


@pytest.mark.parametrize(("counter", "overhead"), [("", 1.0), ("disk", 2.0), ("nic", 0.5), ("nic", 1.4)])
def test_without_a_counter_of_these_bytes_nothing_is_said(counter, overhead):
    """A disk that others use, too, or an interface that the data do not take, tells nothing of a client."""
    reading = parse(straggling(1.3), counter, overhead=overhead)
    by_flag = flags(reading)
    assert by_flag["low-overlap"].severity == "invalid"
    assert "common-window" not in by_flag


def test_what_went_into_the_page_cache_is_not_taken_for_moved():
    server = straggling(1.3)
    params = tools.get("iozone").clean({"clients": 2, "file_size": SIZE, "record_size": 2**20, "read": False})
    outputs = outputs_of(server, "own", random.Random(1), 1.0)
    buffered = [
        output
        if output.stage == "check"
        else Output(
            **{**vars(output), "stdout": output.stdout.replace(b"\tO_DIRECT feature enabled\n", b""), "argv": ()}
        )
        for output in outputs
    ]
    assert "low-overlap" in flags(tools.get("iozone").parse(buffered, params))


def test_clients_that_end_together_add_up_as_before():
    server = Server(100 * MB, [1.0, 1.0], SIZE, [100.0, 100.01])
    reading = parse(server, "nic")
    assert reading.value("write") == pytest.approx(100 * MB, rel=0.01)
    assert {"common-window", "low-overlap"}.isdisjoint(flags(reading))


@pytest.mark.parametrize(
    "passes",
    [
        # One whose course is not known, two that never ran at one time, and one that was hardly looked at.
        [Pass(0, 10, 100, ((0, 0), (10, 100))), None],
        [Pass(0, 10, 100, tuple((at, 10.0 * at) for at in range(11))), Pass(11, 20, 100, ((11, 0), (20, 100)))],
        [Pass(0, 10, 100, ((0, 0), (5, 50), (10, 100)))] * 2,
        [Pass(0, 10, 100, tuple((at, 0.0) for at in range(11)))] * 2,
    ],
)
def test_what_nobody_saw_has_no_window(passes):
    assert window_of(passes) is None


def fio_outputs(server, source):
    document = (
        '{{"fio version": "fio-3.33", "global options": {{"size": "{size}"}}, "jobs": [{{"error": 0,'
        ' "write": {{"io_bytes": {size}, "bw_bytes": {rate}, "iops": {iops}, "runtime": {ms}, "total_ios": {ios}}},'
        ' "read": {{"io_bytes": 0, "bw_bytes": 0, "iops": 0, "runtime": 0, "total_ios": 0}}}}]}}'
    )
    for place in server.ends:
        begun, (ended,) = server.starts[place], server.ends[place]
        marks = [0.5 * number for number in range(1, int((ended - begun) / 0.5) + 1)]
        lines = "".join(
            f"{round(1000 * mark)}, {round(server.moved(place, begun + mark - 0.5, begun + mark) / 512)}, 1, 0, 0\n"
            for mark in marks
        )
        rate = SIZE / (ended - begun)
        text = document.format(
            size=SIZE, rate=round(rate), iops=rate / 2**20, ms=round(1000 * (ended - begun)), ios=SIZE // 2**20
        )
        name = f"client{place}"
        yield check_of(name)
        yield Output(
            "client", "measure", name, ("fio",), text.encode(), b"", 0,
            started_at=begun, ended_at=ended + source.uniform(0, 0.1), collected={"fio_bw.1.log": lines.encode()},
        )  # fmt: skip


@pytest.mark.parametrize("late", [1.1, 1.3, 1.5])
def test_the_logs_of_fio_tell_the_same(late):
    server = straggling(late, passes=1)
    tool = tools.get("fio")
    params = tool.clean({"clients": 2, "pattern": "write", "file_size": SIZE, "duration": 0})
    reading = tool.parse(list(fio_outputs(server, random.Random(1))), params)
    for metric in ("write", "rate"):
        assert reading.value(metric) == pytest.approx(server.common(0), rel=TOLERANCE)
    assert reading.value("write_iops") == pytest.approx(server.common(0) / 2**20, rel=TOLERANCE)
    assert "low-overlap" not in flags(reading)
