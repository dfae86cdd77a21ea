"""What a text repeats of a rule's constants is what they are: in the rules' sentences and in the guide to tuning."""

import ast
import pathlib
import re

import pytest

import apps.bench.rules
from apps.bench.rules import layers, shapes
from apps.bench.rules.gridftp import options
from apps.bench.rules.layers import fullness, limit
from apps.bench.rules.tcp import path
from apps.bench.sweep import verification
from tests.bench.rules.storing import CLIENTS, GIB, MB, NFS, RAID1, Storing

RULES = pathlib.Path(apps.bench.rules.__file__).parent
GUIDE = (pathlib.Path(__file__).parents[3] / "docs" / "tuning.md").read_text()
# What sentences say with a figure of their own: the constant that they repeat.
WRITTEN_OUT = {"From %(least)s to %(most)s all rates are within 5 %% of each other.": (5, shapes.EQUAL)}


def _sentences():
    """Yield (module, text) of each msgid of the rules."""
    for file in sorted(RULES.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            is_marked = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_"
            if is_marked and node.args and isinstance(node.args[0], ast.Constant):
                yield file.relative_to(RULES).as_posix(), node.args[0].value


def test_no_sentence_of_a_rule_writes_a_share_out_that_a_constant_has():
    sentences = list(_sentences())
    assert len(sentences) > 500
    told = [(module, text) for module, text in sentences if re.search(r"\d ?%%", text)]
    assert [item for item in told if item[1] not in WRITTEN_OUT] == []
    for text, (figure, constant) in WRITTEN_OUT.items():
        assert text in {sentence for _module, sentence in told}
        assert figure == pytest.approx(100 * constant)


@pytest.mark.parametrize(
    ("words", "constant"),
    [
        (r"From (\d+) % of the network on", fullness.FULL_NETWORK),
        (r"from (\d+) % of the disks on", fullness.FULL),
        (r"of which less than (\d+) % is used is ruled out", fullness.ROOM),
        (r"below (\d+) % no layer is named as the limit", fullness.ROOM),
        (r"below (\d+) % of what each one's own link carries", fullness.ROOM),
        (r"A rate of (\d+) % of what the links carry fills them", path.SURELY_FULL),
        (r"that is within (\d+) % of the best, and surely", options.WITHIN),
        (r"at (\d+) % or less the two agree", verification.AGREE),
    ],
)
def test_the_guide_to_tuning_repeats_what_the_rules_have(words, constant):
    figures = re.findall(words, GUIDE)
    assert figures
    assert [float(figure) for figure in figures] == pytest.approx([100 * constant] * len(figures))


@pytest.mark.parametrize("share", [0.86, 0.88, 0.895, 0.91, 0.97])
def test_a_network_is_named_from_where_the_finding_says_on(share):
    make = Storing()
    rates = [share * 123.2 * MB * factor for factor in (0.9999, 1, 1.0001)]
    make.point(
        "file-system",
        {"write": rates},
        tool="iozone",
        file_system="NFS_PGFS01",
        roles={"client": CLIENTS[:1]},
        file_size=64 * GIB,
        record_size=1048576,
        threads=1,
    )
    make.tcp("KGFS01", "PGFS01", [985, 986, 985], direction="forward", streams=1, window=0)
    make.disk("RAID1", "PGFS01", write=[240 * MB] * 3)
    evidence = make.evidence(NFS, RAID1)
    verdicts_of_writing = [item for item in layers.judge_all(evidence) if item.question.metric == "write"]
    drafts = limit.conclude_all(evidence, verdicts_of_writing)
    assert bool(drafts) == (share >= fullness.FULL_NETWORK)
    for draft in drafts:
        (told,) = (str(message) for message in draft.limits)
        figure = int(re.search(r"A network is named as the limit from (\d+) %", told)[1])
        assert figure == pytest.approx(100 * fullness.FULL_NETWORK)
        assert 100 * share >= figure
