"""What agents told of how nodes are set stands in no record of a finding that readers of other teams get."""

from collections import defaultdict

import pytest

from apps.bench import rules
from apps.bench.rules import folding, of_nodes
from tests.bench.rules import fact_worlds

SPEAKERS = {rule.name for rule in (*rules.registered(), *folding.OF_OTHERS)}
# {value: the rules by whose findings others may tell that it is another one}. Of a switch titles say on which node it
# is to be set, and what is concluded goes by it; how many requests are to be allowed goes by how large each is.
FOR_ALL: dict[str, set[str]] = {
    "net.ipv4.tcp_moderate_rcvbuf": {"tcp-autotuning", "tcp-bdp", "tcp-sysctl"},
    "net.ipv4.tcp_window_scaling": {"tcp-bdp", "tcp-sysctl"},
    "net.ipv4.ip_no_pmtu_disc": {"tcp-path-mtu"},
    "rpc_size": {"storage-lustre-requests"},
}


def records_of(evidence, is_of_ends):
    """Return the records of all findings by rule and subject, and those of folded ones by these of all they hold."""
    answers = (rules.ask_ends if is_of_ends else rules.ask_whole)(evidence)
    assert not [answer.failure for answer in answers if answer.failure]
    drafts = [draft for answer in answers for draft in answer.drafts]
    folded = folding.fold_ends(drafts, evidence) if is_of_ends else folding.fold(drafts)
    records = {(draft.rule, draft.subject): draft.as_json() for draft in drafts}
    return records, {
        tuple((item.rule, item.subject) for item in (draft, *draft.parts)): draft.as_json() for draft in folded
    }


class Reading:
    """What is read of the findings of all worlds, by the own team and by others, if one value is another.

    `faults` {(value, rule): {member: where the value is, and both of what others read}}, of folded findings in
    `folded`; `speaking` are the rules that speak, `telling` those of which the own team reads something else.
    """

    def __init__(self):
        self.faults, self.folded = defaultdict(dict), defaultdict(dict)
        self.speaking, self.telling = set(), set()
        for evidence, is_of_ends in fact_worlds.every():
            before = records_of(evidence, is_of_ends)
            self.speaking |= {record["rule"] for records in before for record in records.values()}
            for place, facts in fact_worlds.variants(fact_worlds.facts_in(evidence)):
                after = records_of(fact_worlds.with_facts(evidence, facts), is_of_ends)
                self.telling |= {rule for rule, *_values in differing(before[0], after[0])}
                for faults, *both in zip((self.faults, self.folded), before, after, strict=True):
                    for rule, name, *values in differing(*map(for_others, both)):
                        faults[place.rpartition("/")[2], rule][name] = (place, *values)


def for_others(records):
    return {key: of_nodes.for_others(record, record["rule"]) for key, record in records.items()}


def differing(before, after):
    """Yield the rule and the member of what differs between records of the same findings, with both."""
    for key in before.keys() & after.keys():
        for name, value in before[key].items():
            if value != after[key][name]:
                yield before[key]["rule"], name, value, after[key][name]


@pytest.fixture(scope="module")
def reading():
    return Reading()


def test_records_for_others_are_the_same_whatever_value_an_agent_told(reading):
    faults = {key: names for key, names in reading.faults.items() if key[1] not in FOR_ALL.get(key[0], ())}
    assert faults | {key: names for key, names in reading.folded.items() if key[0] not in FOR_ALL} == {}


def test_values_that_are_for_all_are_read_by_others(reading):
    assert {name: {rule for value, rule in reading.faults if value == name} for name in FOR_ALL} == FOR_ALL


def test_the_rules_that_are_named_say_how_nodes_are_set(reading):
    """Else a rule is named that has no need to be, or this test does not reach it."""
    assert reading.telling == of_nodes.RULES.keys()


def test_every_rule_speaks_in_some_world(reading):
    """Else one that reads facts may tell of them, and nobody sees it here."""
    assert SPEAKERS ^ reading.speaking == set()


def test_messages_bring_what_their_words_say_and_the_metric_that_flags_are_held_against():
    title = {"msgid": "Set it: %(most)s", "params": {"most": "1 MiB", "size": "64 KiB", "metric": "write"}}
    reason = {"msgid": "Also: %(title)s", "params": {"title": title, "size": "64 KiB", "pattern": "read"}}
    others = of_nodes.for_others({"title": title, "why": [reason]}, "storage-clients")
    shortened = title | {"params": {"most": "1 MiB", "metric": "write"}}
    assert others == {"title": shortened, "why": [reason | {"params": {"title": shortened, "pattern": "read"}}]}
