"""Lines to paste hold no command and no operator that they have not of usual facts, whatever was told for them."""

import dataclasses
import shlex
from collections import defaultdict

import pytest

from apps.bench import lines, rules
from apps.bench.rules.base import Evidence, FileSystemFacts
from apps.bench.rules.tcp.mtu import interface_of
from tests.bench.rules.fact_worlds import ROOM, SWITCHES, of_files, of_tcp
from tests.bench.rules.storing import MB, Storing, the
from tests.rotation import part_of

PAYLOADS = (
    *(
        ";touch x",
        "$(touch x)",
        "`touch x`",
        "\ntouch x",
        "|touch x",
        "&touch x",
        ">x",
        "<x",
        "x #",
        "x touch x",
        "\r",
    ),
    *("'touch x'", '"touch x', "\\touch", "\u2028touch x", "*", "{a,b}", "~", "!x"),
)
OPTIONS = ("vers", "proto", "sec", "timeo", "retrans", "nconnect", "hard")


def worlds():
    """Return evidence of which the rules that yield lines read facts, parameters and names."""
    pairs = [item for switches in (SWITCHES, ROOM, {}) for item in of_tcp(switches)]
    files = [*of_files(), mounted(dict.fromkeys(OPTIONS, "4")), collective()]
    return [*((item, rules.of_ends()) for item in pairs), *((item, rules.of_whole()) for item in files)]


def mounted(options):
    usual = {"mount": "/mnt/fs", "source": "s:/x", "rsize": 65536, "wsize": 65536}
    facts = FileSystemFacts("fs", "nfs", None, ("S",), usual | options)
    return Storing().io("fs", write=30 * MB).evidence(facts)


def collective():
    make = Storing()
    for subtype, rate in (("full", 90e6), ("simple", 10e6), ("epio", 12e6)):
        rates = [rate, rate * 1.01, rate * 0.99]
        make.mpi("btio", {"io_rate": rates}, file_system="fs", subtype=subtype, problem="A", ranks=4)
    return make.evidence(FileSystemFacts("fs", "gpfs"))


def leaves(value, place=()):
    """Return the places of all values within facts."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, (*place, key))]
    if isinstance(value, list | tuple):
        return [leaf for number, item in enumerate(value) for leaf in leaves(item, (*place, number))]
    return [place]


def with_payload(value, payload, only=None, place=()):
    """Return facts with a payload in each value, or in that of one place."""
    if isinstance(value, dict):
        return {key: with_payload(item, payload, only, (*place, key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(with_payload(item, payload, only, (*place, at)) for at, item in enumerate(value))
    return f"{value}{payload}" if only in (None, place) else value


def told_of(evidence):
    """Return all that agents, archives and definitions tell of evidence."""
    return {
        "facts": dict(evidence.facts),
        "systems": {name: dict(item.options) for name, item in evidence.file_systems.items()},
        "texts": [{k: v for k, v in item.parameters.items() if isinstance(v, str)} for item in evidence.points],
    }


def retold(evidence: Evidence, facts) -> Evidence:
    points = zip(evidence.points, facts["texts"], strict=True)
    return dataclasses.replace(
        evidence,
        facts=facts["facts"],
        file_systems={
            name: dataclasses.replace(item, options=facts["systems"][name])
            for name, item in evidence.file_systems.items()
        },
        points=tuple(dataclasses.replace(item, parameters={**item.parameters, **texts}) for item, texts in points),
    )


def signs_of(text):
    """Return the commands of lines, the operators between them, and the words that a shell reads specially."""
    signs = set()
    for line in text.split("\n"):
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.commenters, is_command = "", True
        try:
            for word in words:
                is_operator = set(word) <= set("();<>|&")
                if is_operator or is_command or set(word) & set("$`\\*{~!\r\u2028"):
                    signs.add(word.partition("=")[0])
                is_command = is_operator
        except ValueError:
            signs.add(f"no end of a quotation: {line}")
    return signs


def drafts_of(evidence, questions):
    return [draft for answer in rules.runner.ask(questions, evidence) for draft in answer.drafts]


@pytest.fixture(scope="module")
def usual():
    """Return {rule: what its lines have of usual facts, and of those that are no numbers and do no harm}."""
    signs = defaultdict(set)
    for evidence, questions in worlds():
        for facts in (told_of(evidence), with_payload(told_of(evidence), ".")):
            for draft in drafts_of(retold(evidence, facts), questions):
                if draft.change or draft.undo:
                    signs[draft.rule] |= signs_of(draft.change) | signs_of(draft.undo)
    return signs


def faults_of(usual, facts, evidence, questions):
    drafts = drafts_of(retold(evidence, facts), questions)
    return {
        (draft.rule, *sorted(more))
        for draft in drafts
        if (more := (signs_of(draft.change) | signs_of(draft.undo)) - usual[draft.rule] - {""})
    }


def test_the_worlds_reach_the_rules_that_tell_lines_by_facts(usual):
    expected = {"storage-nfs-transfer", "storage-connections", "storage-gpfs-client", "tcp-mtu", "tcp-pacing"}
    assert usual.keys() >= expected | {"path-interface", "tcp-sysctl", "tcp-sack", "tcp-congestion", "mpi-collective"}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_line_has_what_all_that_was_told_brings(usual, payload):
    faults = set()
    for evidence, questions in worlds():
        faults |= faults_of(usual, with_payload(told_of(evidence), payload), evidence, questions)
    assert not faults


def test_no_line_has_what_any_one_value_brings(usual):
    faults, turn = set(), 0
    for evidence, questions in worlds():
        facts = told_of(evidence)
        for place in part_of(leaves(facts), 6):
            turn += 1
            text = with_payload(facts, PAYLOADS[turn % len(PAYLOADS)], place)
            faults |= {(*place, *fault) for fault in faults_of(usual, text, evidence, questions)}
    assert not faults


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_place_of_no_usual_form_is_not_told_in_lines(payload):
    draft = the(mounted({"mount": f"/mnt/fs{payload}"}), "storage-nfs-transfer")
    assert (draft.change, draft.undo) == ("", "")
    assert lines.LEFT_OUT in [limit.msgid for limit in draft.limits]
    assert the(mounted({}), "storage-nfs-transfer").change.startswith("at=/mnt/fs\nsource=$(findmnt ")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_line_takes_a_payload_at_any_place(payload):
    """Each form holds for its whole lines: a payload at any place within them makes them another."""
    drafts = [draft for evidence, questions in worlds() for draft in drafts_of(evidence, questions)]
    texts = {text for draft in drafts for text in (draft.change, draft.undo)}
    for text in sorted(texts):
        for place in range(len(text)):
            own = text[:place] + payload + text[place:]
            assert not lines.are_usual(own) or signs_of(own) <= signs_of(text) | {""}, own


def test_a_name_that_a_program_takes_for_an_option_is_no_interface():
    entry = {"name": "-s", "state": "up", "addresses": ["192.0.2.1/24"]}
    evidence = Evidence((), facts={"client": {"interfaces": [entry]}})
    assert interface_of(evidence, "client") == "INTERFACE"
