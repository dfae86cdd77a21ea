"""What lies beneath a file system: the network to its servers and their disks, each alone."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from apps.bench import network
from apps.bench.rules.base import NETWORK, Evidence, PathFacts
from apps.bench.rules.layers.alone import ALONE, Alone, client_rates, joins, passed_between
from apps.bench.rules.layers.days import UNKNOWN, When, all_of, when_of
from apps.bench.rules.layers.flows import ends_of, streams_of
from apps.bench.rules.layers.links import LEAST_MTU, USUAL_MTU, shared_rate, stated_rate
from apps.bench.rules.layers.questions import Level, Question, path_of
from apps.bench.rules.layers.swings import Swing
from apps.bench.rules.tcp.path import read_capacity
from apps.bench.rules.tcp.round_trip import read_rtt
from apps.bench.statistics.bounds import Within

# A rate beyond what TCP had over as many flows by more than this is not held by that.
MOST_OF_OWN = 1.05


@dataclass(frozen=True)
class Beneath(Within):
    """What a layer gives alone (B/s), with the number of values and the 95 % interval.

    `is_stated` if it is of the inventory, not measured; `is_floor` if it may give more, because it was not measured
    with as many at once (`is_part`: on a part of the servers), or was not shown to be full. `lower_bound` (B/s) is
    what it surely gives, `tasks` how many at a time it was measured with, None where that says nothing of more.
    `alone` is what one client (of `clients` of them, one at a time) had (B/s); where `value` is that of `times`
    clients, nobody measured it, and `links` is what their links are described to carry (B/s). Of a network `flows`
    says that it is over as many connections as the file system opens, where `more_flows` carry `wide` (B/s), and
    `is_other_way` that TCP was measured against the way that the data go, which says nothing of this one. `when` says
    when it was measured; of what is only described nobody knows it. `swing` are the two levels that the figures show,
    of which the mean is neither (of a network those of one client), and `earlier` (B/s) is what it gave before the
    file system was measured, where it was measured right after that again and had another rate. `unlike` (name,
    value) is what the file system asked and this layer was not asked: it is no bound then.
    """

    layer: str
    subject: str
    value: float
    tool: str = ""
    n: int = 0
    trials: tuple[int, ...] = ()
    interval: tuple[float, float] | None = None
    is_stated: bool = False
    is_floor: bool = False
    lower_bound: float = 0.0
    tasks: int | None = None
    is_part: bool = False
    alone: float = 0.0
    clients: int = 0
    times: int = 1
    links: float = 0.0
    flows: int = 0
    more_flows: int = 0
    wide: float = 0.0
    is_other_way: bool = False
    when: When = UNKNOWN
    swing: Swing | None = None
    earlier: float = 0.0
    unlike: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        """Take for sure what is not told apart."""
        super().__post_init__()
        if not self.lower_bound:
            object.__setattr__(self, "lower_bound", self.value)

    @property
    def sure(self) -> float:
        """Return what it surely gives (B/s) whichever of its levels it has."""
        return self.lower_bound * (self.swing.fall if self.swing else 1.0)

    @property
    def least(self) -> float:
        """Return its rate (B/s) at its lower level; as described where that is all that is known."""
        return self.value * (self.swing.fall if self.swing and not self.is_stated else 1.0)

    @property
    def most(self) -> float:
        """Return its rate (B/s) at its upper level; as described where that is all that is known."""
        return self.value * (self.swing.rise if self.swing and not self.is_stated else 1.0)


class Network:
    """The network between the clients of a question and the servers, the way that the data go; read once."""

    def __init__(self, evidence: Evidence, question: Question) -> None:
        self._evidence, self._question = evidence, question
        self._alone, self._is_other_way = client_rates(evidence, question)
        self._layers: dict[tuple[str, ...], Beneath | None] = {}

    def beneath(self, clients: tuple[str, ...], rate: float = 0.0) -> Beneath | None:
        """Return what it carries between so many clients and the servers.

        Of one client whose `rate` (B/s) is no more than TCP had over as many connections, it is what these carry.
        """
        carried = self.carried(clients)
        over_own = self._over_own_flows(clients, rate)
        if over_own is None:
            return self._of_own_flows(clients, carried)
        return replace(over_own, swing=_widest(entry.own for entry in self._entries(clients) if entry.own))

    def _entries(self, clients: tuple[str, ...]) -> list[Alone]:
        """Return what each of these clients had, of all that were measured where none of these was."""
        return [self._alone[client] for client in clients if client in self._alone] or [*self._alone.values()]

    def carried(self, clients: tuple[str, ...]) -> Beneath | None:
        """Return what it carries between so many clients and the servers, over however many connections."""
        if clients not in self._layers:
            carried = self._read(clients)
            swing = _widest(entry.level for entry in self._entries(clients))
            self._layers[clients] = replace(carried, swing=swing) if carried and swing else carried
        return self._layers[clients]

    def _of_own_flows(self, clients: tuple[str, ...], carried: Beneath | None) -> Beneath | None:
        """Return what a network carries; what it surely does over no more connections than the file system opens."""
        if carried is None or not self._alone:
            return carried
        entries = self._alone.values()
        usual = sum(entry.sure for entry in entries) / len(entries)
        sure = sum(self._alone[client].sure if client in self._alone else usual for client in clients or [""])
        return replace(carried, lower_bound=min(carried.lower_bound, sure)) if sure < carried.lower_bound else carried

    def _over_flows_of_all(self, clients: tuple[str, ...], rate: float) -> Beneath | None:
        """Return what the connections of several clients carry together; None unless each had them measured.

        Where all share a link, it must have room for more: else that is what holds them.
        """
        entries = [self._alone[client] for client in clients if client in self._alone]
        own = [entry.own for entry in entries if entry.own is not None]
        carried, value = self._layers[clients], sum(level.value for level in own)
        is_known = bool(carried and len(own) == len(clients))
        if not carried or not is_known or value >= ALONE * carried.lower_bound or rate > MOST_OF_OWN * value:
            return None
        trials = {trial for level in (*own, *(entry.level for entry in entries)) for trial in level.trials}
        return Beneath(
            NETWORK, ends_of(own[0]), value, own[0].point.tool, min(level.n for level in own), tuple(sorted(trials)),
            alone=max(level.value for level in own), clients=len(clients), flows=sum(map(streams_of, own)),
            more_flows=sum(streams_of(entry.level) for entry in entries), wide=carried.lower_bound,
            when=when_of(level.point for level in (*own, *(entry.level for entry in entries))),
        )  # fmt: skip

    def _over_own_flows(self, clients: tuple[str, ...], rate: float) -> Beneath | None:
        """Return what as many connections as the file system opens carry, where more of them carry more."""
        if len(clients) > 1 and rate:
            return self._over_flows_of_all(clients, rate)
        entries = self._entries(clients)
        if len(clients) > 1 or len(entries) != 1 or not rate:
            return None
        best, own = entries[0].level, entries[0].own
        if own is None or own.value >= ALONE * best.value or rate > MOST_OF_OWN * own.value:
            return None
        return Beneath(
            NETWORK, ends_of(own), own.value, own.point.tool, own.n,
            tuple(sorted({*own.trials, *best.trials})), own.interval, alone=own.value, clients=1,
            flows=streams_of(own), more_flows=streams_of(best), wide=best.value,
            when=when_of((own.point, best.point)),
        )  # fmt: skip

    def _read(self, clients: tuple[str, ...]) -> Beneath | None:
        """Return what was measured where that is shown to be all, else what the links are said to carry.

        One connection that moves less than the links carry is held by its window, or by an end: it is no ceiling.
        """
        question, alone = self._question, self._alone
        together = stated_rate(self._evidence, clients or sorted(question.clients), question.facts)
        if not alone:
            if not together:
                return None
            other = self._is_other_way
            return Beneath(NETWORK, question.bottleneck, together, is_stated=True, is_other_way=other)
        best = max(alone.values(), key=lambda entry: entry.level.value)
        count, usual = max(len(clients), 1), sum(entry.level.value for entry in alone.values()) / len(alone)
        apiece = sum(alone[client].level.value if client in alone else usual for client in clients or [""])
        if len(best.level.clients) >= count:
            # All of them measured it at once.
            apiece = best.level.value
        trials = tuple(sorted({trial for entry in alone.values() for trial in entry.level.trials}))
        is_all = self._is_all(best, together, count)
        when = all_of(entry.when for entry in alone.values())
        if together and not is_all:
            lower_bound = self._surely(best, min(together, apiece), clients)
            return Beneath(
                NETWORK, question.bottleneck, together, trials=trials, is_stated=True, lower_bound=lower_bound,
                alone=best.level.value, when=when,
            )  # fmt: skip
        value = max(min(apiece, together), best.level.value) if together else best.level.value
        times = 1
        if best.level.value >= ALONE * value:
            # One filled what all of them share: that is measured.
            value = best.level.value
        else:
            times = count
        return Beneath(
            NETWORK,
            ends_of(best.level),
            value,
            best.level.point.tool,
            best.level.n,
            trials,
            best.level.interval if times == 1 else None,
            is_floor=not is_all,
            lower_bound=self._surely(best, value, clients),
            alone=best.level.value,
            clients=max(sum(client in alone for client in clients), 1),
            times=times,
            links=together or 0.0,
            when=when,
        )

    def _surely(self, best: Alone, value: float, clients: tuple[str, ...]) -> float:
        """Return what it surely carries (B/s) for several clients of which each was measured by itself, if at all.

        No more than one had, unless what they share on their way is described: a server may have one card for all.
        """
        shared = shared_rate(self._evidence, clients, self._question.facts) if len(clients) > 1 else None
        return max(min(value, shared or 0.0), min(value, best.level.value))

    def _is_all(self, best: Alone, together: float | None, count: int) -> bool:
        """Return whether no more than the best measured goes through where it was measured, nor to other servers."""
        if not best.is_full:
            return False
        if together is None or best.pair is None or best.total is None:
            return count == 1 and len(self._question.facts.servers) <= 1
        # Where one server's own link is what is full, the others add theirs.
        return best.total <= best.pair / ALONE


def _widest(levels: Iterable[Level]) -> Swing | None:
    """Return the two levels that lie farthest apart, None where each is one."""
    swings = [level.swing for level in levels if level.swing]
    return min(swings, key=lambda swing: swing.fall, default=None)


def rtt_of(evidence: Evidence, question: Question) -> float | None:
    """Return the RTT (s) between clients and servers, of the sources and in the order of all rules of the path."""
    own = tuple(point for point in evidence.points if joins(point, question))
    links = path_of(evidence, question.clients, question.facts.servers)
    rtt = read_rtt(Evidence(own, links or PathFacts()))
    return rtt.value if rtt else None


def one_path_bps(evidence: Evidence, question: Question, carried: Beneath, clients: int) -> float:
    """Return what one client's path holds (bit/s at the line), as the rules of the path say it; else its share.

    Where nothing tells of the path alone, it is what the links carry, or a part of what all clients had.
    """
    path = path_of(evidence, question.clients, question.facts.servers)
    own = tuple(point for point in evidence.points if joins(point, question))
    passed = passed_between(evidence, question, sorted(question.clients), question.facts.servers)
    capacity = read_capacity(Evidence(own, path or PathFacts(), elsewhere=passed))
    if capacity and not capacity.is_lower_bound:
        return capacity.value
    if carried.is_stated and path and path.capacity_bps:
        return path.capacity_bps
    mtu = (path.mtu if path else None) or USUAL_MTU
    return 8 * (carried.wide or carried.value) / max(clients, 1) / network.tcp_efficiency(max(mtu, LEAST_MTU))
