"""A sentence about a curve holds at each of its points: not at its ends alone, and not for want of other columns."""

import functools
import re

import pytest

from apps.bench import rules
from apps.bench.rules.base import DOUBT
from apps.bench.rules.runner import ask, drafts_of, failures_of
from apps.bench.units import format_quantity
from tests.bench.rules import sweeping
from tests.rotation import part_of

# One process asks once for all tests.
pytestmark = pytest.mark.xdist_group("whole-curves")

# What sentences say of the mean at each value, the higher the better; what a family says is added with its sweeps.
EQUAL, NOISE = 0.05, 0.02
MORE = 1 + EQUAL + NOISE


def is_level(means):
    return max(means.values()) <= (1 + 2 * EQUAL) * min(means.values())


def is_best_at(means, at):
    return means[at] >= max(means.values()) / MORE


def gains_nothing(means, _title):
    return max(means.values()) <= MORE * means[min(means)]


def grows_to(means, title):
    at = int(re.search(r"up to (\d+)", title)[1])
    return is_best_at(means, at) and means[at] > means[min(means)]


def peaks_at(means, title):
    at = int(re.search(r"with (?:as few as )?(\d+) processes", title)[1])
    return is_best_at(means, at) and means[max(means)] < means[at]


def rises(means, _title):
    values = list(means.values())
    return all(later >= earlier / MORE for place, earlier in enumerate(values) for later in values[place:])


def falls_beyond(means, title):
    knee = int(re.search(r"beyond (\d+)", title)[1])
    best = max(means.values())
    return means[knee] >= best / MORE and all(mean < best * 0.98 for value, mean in means.items() if value > knee)


def is_level_from(means, title):
    knee = int(re.search(r"From (\d+) pairs", title)[1])
    return is_level({value: mean for value, mean in means.items() if value >= knee})


def worse_at(means, title):
    worse, far = map(int, re.search(r": (\d+) are worse than (\d+)", title).groups())
    return means[worse] < means[far]


def is_line(means, title):
    figures = {value: 1 / mean for value, mean in means.items()} if "latency" in title else means
    near, far = min(figures), max(figures)
    step = (figures[far] - figures[near]) / (far - near)
    off = [abs(mean - figures[near] - step * (value - near)) for value, mean in figures.items()]
    return max(off) <= EQUAL * abs(figures[far] - figures[near]) + 4 * NOISE * max(figures.values())


def worsens(means, _title):
    values = list(means.values())
    return all(later <= earlier * MORE for place, earlier in enumerate(values) for later in values[place:])


def is_best(means, draft):
    """Return whether what a title names (a size, a number, a control) has the most, nearly."""
    return is_best_at(means, draft.value)


def grows(means, _draft):
    return rises(means, "") and means[max(means)] > means[min(means)]


def is_level_beyond(means, draft):
    return is_level({value: mean for value, mean in means.items() if value >= draft.value})


def peaks_and_falls(means, draft):
    return is_best_at(means, draft.value) and all(
        mean < means[draft.value] for at, mean in means.items() if at > draft.value
    )


def falls(means, draft):
    return worsens(means, "") and means[max(means)] < means[min(means)]


def more_at_the_end(means, _draft):
    return means[max(means)] > means[min(means)]


def gain_no_streams(means, _draft):
    return gains_nothing(means, "")


def gains_at(means, draft):
    at, least = draft.title.params["streams"], float(draft.title.params["percent"])
    return is_best_at(means, at) and means[at] >= (1 + 0.01 * least) * means[1] / (1 + NOISE)


def each_flow_alone(means, draft):
    """Return whether streams multiply up to the best: more have more, none over as many times the rate of one."""
    best = max(means, key=lambda count: means[count])
    grown = {count: mean for count, mean in means.items() if count <= best}
    return rises(grown, "") and all(mean <= 1.1 * MORE * count * draft.value for count, mean in means.items())


def without_window_is_best(means, _draft):
    return all(mean <= (1 + NOISE) * means[0] for window, mean in means.items() if window)


def is_level_from_window(means, draft):
    sizes = {window: mean for window, mean in means.items() if window}
    return is_level_beyond(sizes, draft) and all(
        mean < sizes[draft.value] for at, mean in sizes.items() if at < draft.value
    )


def falls_beyond_window(means, draft):
    return peaks_and_falls({window: mean for window, mean in means.items() if window}, draft)


def controls_are_best(means, draft):
    params = draft.title.params
    names = params["all"].split(", ") if "cannot be told apart" in str(draft.title) else [params["best"]]
    return all(is_best_at(means, "" if name == "default" else name) for name in names)


def larger_windows_gain(means, draft):
    return any(mean > means[0] for window, mean in means.items() if window) if 0 in means and len(means) > 1 else True


def of_title(check):
    return lambda means, draft: check(means, str(draft.title))


def holds_no_curve(_means, _draft):
    return True


# Of each family the words of titles, the factors over which they say something, and what they say of the means.
CLIENTS, RECORD = ("clients", "threads"), ("record_size",)
SAYINGS = {
    "mpi": {
        "gains nothing": ((), of_title(gains_nothing)),
        "gains from more processes in its I/O: up to": ((), of_title(grows_to)),
        "has its best I/O": ((), of_title(peaks_at)),
        "do not fill": ((), of_title(rises)),
        "lose to each other beyond": ((), of_title(falls_beyond)),
        "the same together": ((), lambda means, _draft: is_level(means)),
        "do not get more with more pairs": ((), lambda means, _draft: is_level(means)),
        "From ": ((), of_title(is_level_from)),
        "Each switch more": ((), of_title(lambda means, title: is_line(means, title) and worsens(means, title))),
        "Each step more": ((), of_title(lambda means, title: is_line(means, title) and worsens(means, title))),
        "More switches": ((), of_title(worsens)),
        "More steps": ((), of_title(worsens)),
        "explain": ((), of_title(worse_at)),
        "no effect": ((), lambda means, _draft: is_level(means)),
        "is the same for": ((), lambda means, _draft: is_level(means)),
    },
    "storage": {
        "Records of": (RECORD, is_best),
        "Of the two record sizes": (RECORD, is_best),
        "Larger records are faster": (RECORD, grows),
        "The record size has no effect": (RECORD, lambda means, _draft: is_level(means)),
        "gives the same with": (CLIENTS, lambda means, _draft: is_level(means)),
        "saturates at": (CLIENTS, lambda means, draft: is_level_beyond(means, draft) and is_best(means, draft)),
        "grows with the": (CLIENTS, grows),
        "falls as": (CLIENTS, falls),
        "is highest with": (CLIENTS, peaks_and_falls),
        "gives more with several": (CLIENTS, more_at_the_end),
        "depends on": ((), holds_no_curve),
    },
    "workloads": {"is fit for applications": (("clients",), grows)},
    "tcp": {
        # Why is undecided: it says nothing of the curve.
        "by a limit on it, or as its share beside others'": ((), lambda _means, _draft: True),
        " enough with": (("streams",), is_best),
        "Something limits each flow": (("streams",), each_flow_alone),
        "The rate stops growing": (("window",), is_level_from_window),
        "The rate is highest at a window": (("window",), falls_beyond_window),
        "Ask for no window": (("window",), without_window_is_best),
        "The TCP window is the limit": (("window",), larger_windows_gain),
        "Of the congestion controls tried": (("congestion",), controls_are_best),
        "depends on": ((), holds_no_curve),
        "the path holds": ((), holds_no_curve),
        "Larger limits than the kernels' own": ((), holds_no_curve),
    },
    "gridftp": {
        "gain nothing": (("streams",), gain_no_streams),
        "Use ": (("streams",), gains_at),
        "than one, of those tried": (("streams",), gains_at),
        "Start GridFTP with": ((), holds_no_curve),
        "GridFTP needs no option": ((), holds_no_curve),
        "Of the options of GridFTP": ((), holds_no_curve),
    },
    "path": {},
    "layers": {},
}
CASES = [
    pytest.param(family, sweep, id=f"{family}-{number}-{'-'.join(sweep.factors)}")
    for family in SAYINGS
    for number, sweep in enumerate(sweeping.SWEEPS[family])
]
FAMILIES = {family.__name__.rpartition(".")[2]: family for family in rules.families()}


def test_every_family_is_in_the_table():
    assert SAYINGS.keys() == sweeping.SWEEPS.keys()


@functools.cache
def said(family, sweep, seed):
    evidence = sweeping.evidence_of(sweep, seed)
    answers = ask((*getattr(FAMILIES[family], "ENDS", ()), *getattr(FAMILIES[family], "WHOLE", ())), evidence)
    assert failures_of(answers) == []
    return [draft for draft in drafts_of(answers) if draft.kind != DOUBT]


def curves_of(sweep, evidence, factors, draft):
    """Yield the curves that a finding is of: those of its trials alone, or of the settings that its title names."""
    for factor in [name for name in sweep.factors if not factors or name in factors]:
        for circumstances, cells, trials in sweeping.groups_of(sweep, evidence, factor):
            others = {name: circumstances[name] for name in sweep.factors if name != factor}
            # What is said of congestion controls without a condition holds in each.
            is_own = {*draft.evidence} <= trials or factor == "congestion" or is_named(others, str(draft.title))
            if len(cells) > 1 and is_own:
                yield cells
        if not factors:
            return


def is_named(settings, title):
    """Return whether a title names each of these settings, by their names or as what there is without any."""
    shown = {
        "record_size": lambda value: f"record_size = {format_quantity(value, 'B')}",
        "window": lambda value: f"window of {format_quantity(value, 'B')}" if value else "the automatic window",
    }
    return all(
        shown.get(name, lambda value, name=name: f"{name} = {value}")(value) in title
        for name, value in settings.items()
    )


@pytest.mark.parametrize(("family", "sweep"), CASES)
def test_what_is_said_of_a_curve_holds_at_each_of_its_points(family, sweep):
    is_cost = sweep.metric in ("io_time", "latency")
    # Of four seeds each makes other curves: some of each.
    for seed in part_of(range(60), parts=5):
        evidence = sweeping.evidence_of(sweep, seed)
        for draft in said(family, sweep, seed):
            title = str(draft.title)
            own = [saying for words, saying in SAYINGS[family].items() if words in title]
            # Every title is in the table: a new one says something of a curve, or is said to say nothing.
            assert own or family == "mpi", title
            for factors, check in own:
                for cells in curves_of(sweep, evidence, factors, draft):
                    means = {
                        value: sum(own) / len(own) for value, own in sorted(cells.items(), key=lambda item: item[0])
                    }
                    means = {value: 1 / mean for value, mean in means.items()} if is_cost else means
                    assert check(means, draft), f"seed {seed}: {title}: {means}"


# Seeds of sweeps of which something is said that is said of few: they come first, for each takes a third of a second.
RARE = (169,)


@pytest.mark.parametrize("family", SAYINGS)
def test_every_saying_of_the_table_is_said_of_some_sweep(family):
    """A check that nothing meets would hold whatever is said."""
    missing = set(SAYINGS[family])
    for seed in dict.fromkeys((*RARE, *range(200))):
        for sweep in sweeping.SWEEPS[family]:
            if not missing:
                return
            titles = [str(draft.title) for draft in said(family, sweep, seed)]
            missing -= {words for words in missing if any(words in title for title in titles)}
    assert not missing
