"""Which of two settings gives a parallel program's I/O the better rate, or that neither does."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from apps.bench.rules import shapes
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft, Proof, Ratio, Trend
from apps.bench.rules.runner import Rule
from apps.bench.rules.shapes.names import canonical
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

VERSION = 2
TOOLS = ("btio", "ior", "imb", "mdtest")
# Times: the smaller is the better.
COSTS = frozenset({"io_time", "run_time", "time", "latency"})
METRICS = ("io_rate", "io_time", "write", "read", "bandwidth")
SIZES = frozenset({shapes.BLOCK, "collective_size"})


class Choice(NamedTuple):
    """A factor with what to say: that one value is better, that it has no effect, when it counts, and the change.

    `change` is the command with a value in it (`{of}`, of sizes in B), `commands` those of values that are words.
    """

    rule: str
    better: str
    equal: str
    when: str
    change: str = ""
    can_prove: bool = True
    commands: Mapping[str, str] = {}


CHOICES = {
    "node_placement": Choice(
        "mpi-node-placement",
        _("%(of)s is better than %(to)s for %(whom)s: deal the ranks out to the nodes that way"),
        _("Dealing ranks out to the nodes in turn or filling one after the other is the same for %(whom)s"),
        _("Ranks fill several nodes, and each node has a path of its own to the file system."),
        commands={"BAL": "mpirun --map-by node\n", "UNBAL": "mpirun --map-by slot\n"},
    ),
    "core_placement": Choice(
        "mpi-core-placement",
        _("%(of)s is better than %(to)s for %(whom)s: place the ranks of a node that way"),
        _("Where in a node the ranks run has no effect on %(whom)s"),
        _("The I/O of all ranks of a node goes through the node's one path."),
        commands={
            "DIST": "mpirun --map-by socket --bind-to core\n",
            "ACC": "mpirun --map-by core --bind-to core\n",
        },
    ),
    shapes.BLOCK: Choice(
        "mpi-file-system-block",
        _("File-system blocks of %(of)s are better than %(to)s for %(whom)s"),
        _("The file system's block size has no effect on %(whom)s"),
        _("The program writes large shared files collectively."),
        "# A file system keeps its block size: this makes another.\nmmcrfs FILE_SYSTEM -F STANZA_FILE -B {of}\n",
        can_prove=False,
    ),
    "subtype": Choice(
        "mpi-collective",
        _('The kind of I/O "%(of)s" is better than "%(to)s" for %(whom)s'),
        _('The kinds of I/O "%(of)s" and "%(to)s" are the same for %(whom)s'),
        _("Many ranks write small pieces of one file: collective I/O gathers them; of tiny files it costs more."),
        "make bt SUBTYPE={of}\n",
    ),
    "collective_nodes": Choice(
        "mpi-collective-nodes",
        _("%(of)s collecting ranks are better than %(to)s for %(whom)s"),
        _("The number of collecting ranks (%(of)s or %(to)s) has no effect on %(whom)s"),
        _("Full MPI-IO: ROMIO's cb_nodes, or OMPI_MCA_io_ompio_num_aggregators with Open MPI's own."),
        "export OMPI_MCA_io_ompio_num_aggregators={of}\n",
    ),
    "collective_size": Choice(
        "mpi-collective-size",
        _("Collective buffers of %(of)s are better than %(to)s for %(whom)s"),
        _("The size of the collective buffers (%(of)s or %(to)s) has no effect on %(whom)s"),
        _("Full MPI-IO: cb_buffer_size; a multiple of the file system's block is best."),
        "echo cb_buffer_size {of} > romio-hints && export ROMIO_HINTS=$PWD/romio-hints\n",
    ),
}


def _conclude(factor: str, evidence: Evidence) -> list[FindingDraft]:
    """Return the better value of a factor, or that it has no effect, by problem class and file system."""
    drafts: dict[str, FindingDraft] = {}
    choice = CHOICES[factor]
    for ratio in shapes.ratios(evidence, factor=factor):
        if ratio.tool in TOOLS and ratio.metric in METRICS:
            _keep(drafts, _compare(choice, factor, ratio))
    for trend in evidence.trends:
        if trend.tool in TOOLS and canonical(trend.tool, trend.factor) == factor and trend.metric in METRICS:
            _keep(drafts, _of_trend(choice, trend))
    return list(drafts.values())


RULES = tuple(Rule(choice.rule, VERSION, partial(_conclude, factor)) for factor, choice in CHOICES.items())


def _keep(drafts: dict[str, FindingDraft], draft: FindingDraft | None) -> None:
    """Keep one finding of a subject: an effect before none, then the surer one."""
    if draft is None:
        return
    rank, earlier = (draft.kind == RECOMMENDATION, draft.confidence), drafts.get(draft.subject)
    if earlier is None or rank > (earlier.kind == RECOMMENDATION, earlier.confidence):
        drafts[draft.subject] = draft


def _compare(choice: Choice, factor: str, ratio: Ratio) -> FindingDraft | None:
    straight = shapes.inverse(ratio) if shapes.middle(ratio) < 1 else ratio
    # Of times the smaller side is the better.
    best = shapes.inverse(straight) if ratio.metric in COSTS else straight
    if shapes.is_equal(straight):
        return _draft(choice, factor, straight, best, is_better=False)
    return _draft(choice, factor, straight, best, is_better=True) if shapes.is_better(straight) else None


def _of_trend(choice: Choice, trend: Trend) -> FindingDraft | None:
    """Return what a printed trend says: no effect, or (of sizes) that the larger or smaller are better."""
    params = {"whom": _whom(trend.tool, trend.fixed, trend.file_system)}
    falls = trend.shape == shapes.FALLS
    if trend.shape == shapes.FLAT:
        text, kind = choice.equal, NO_CHANGE
        if "%(of)s" in text:
            return None
    elif choice is CHOICES[shapes.BLOCK] and trend.shape in (shapes.RISES, shapes.FALLS):
        kind = RECOMMENDATION
        text = _("Large file-system blocks are better than small ones for %(whom)s")
        if falls != (trend.metric in COSTS):
            text = _("Small file-system blocks are better than large ones for %(whom)s")
    else:
        return None
    return FindingDraft(
        rule=choice.rule,
        version=VERSION,
        kind=kind,
        subject=params["whom"][:200],
        title=Message(text, params),
        why=(Message(_("So it is printed; the figures are not.")),),
        formula=f"X({trend.factor})",
        evidence=trend.trials,
        confidence=0.65,
        applies_when=Message(choice.when),
        source="BTIO on a Power 595 (KISTI)",
    )


def _draft(choice: Choice, factor: str, ratio: Ratio, best: Ratio, *, is_better: bool) -> FindingDraft:
    """Return the finding; `ratio` is at least one by figures, `best` has the better side first."""
    whom = _whom(ratio.tool, shapes.common(ratio), str(shapes.common(ratio).get(shapes.FILE_SYSTEM, "")))
    params = {"of": _value(factor, best.of), "to": _value(factor, best.to), "whom": whom}
    gain = shapes.middle(ratio)
    high = "∞" if ratio.high == float("inf") else f"{ratio.high:.2f}"
    interval = f"{ratio.low:.2f}" if ratio.low == ratio.high else f"{ratio.low:.2f} - {high}"
    reason = Message(
        _("The ratio of the two is %(ratio)s (%(metric)s)."), {"ratio": interval, "metric": ratio.metric}
    )
    if ratio.high == float("inf"):
        reason = Message(_("One is better throughout; by how much is not printed."))
    names = {name: value for name, value in shapes.common(ratio).items() if name in KEPT.get(ratio.tool, ())}
    now, then = best.to.get(factor), best.of.get(factor)
    proof = Proof(ratio.tool, ratio.metric, {**names, factor: now}, {**names, factor: then})
    return FindingDraft(
        rule=choice.rule,
        version=VERSION,
        kind=RECOMMENDATION if is_better else NO_CHANGE,
        subject=whom[:200],
        title=Message(choice.better if is_better else choice.equal, params),
        compared_title=Message(_("%(of)s is better than %(to)s for %(whom)s"), params) if is_better else None,
        why=(reason,),
        value=gain,
        unit="1",
        low=ratio.low,
        high=None if ratio.high == float("inf") else ratio.high,
        formula=f"X({params['of']}) / X({params['to']}) = {interval}",
        evidence=ratio.trials,
        change=_command(choice, _raw(factor, best.of)) if is_better else "",
        undo=_command(choice, _raw(factor, best.to)) if is_better else "",
        confidence=0.85 if len(ratio.trials) >= 6 else 0.65,
        applies_when=Message(choice.when),
        limits=(
            Message(
                _("For other numbers of ranks and other classes it may be otherwise: the pattern changes with them.")
            ),
        ),
        source="BTIO on a Power 595 (KISTI)",
        proof=proof if is_better and choice.can_prove and ratio.trials else None,
    )


# What an A/B measurement keeps of the setting.
KEPT = {
    "btio": (
        "problem",
        "subtype",
        "ranks",
        "node_placement",
        "core_placement",
        "collective_nodes",
        "collective_size",
    ),
    "ior": ("api", "collective", "block_size", "transfer_size", "ranks", "file_per_process"),
    "imb": ("benchmark", "ranks", "message_size"),
    "mdtest": ("items", "kind", "ranks"),
}


def _command(choice: Choice, value: object) -> str:
    """Return the command that sets a factor to a value, "" for one that nobody knows how to set."""
    if choice.commands:
        return choice.commands.get(str(value), "")
    if value == 0 and choice.change.startswith("export "):
        return f"unset {choice.change.removeprefix('export ').partition('=')[0]}\n"
    return choice.change.format(of=value) if choice.change and value is not None else ""


def _whom(tool: str, fixed: object, file_system: str) -> str:
    parameters = fixed if isinstance(fixed, dict) else {}
    words = [tool.upper(), str(parameters.get("problem", "")), str(parameters.get("subtype", "")), file_system]
    ranks = f"-n {parameters['ranks']}" if parameters.get("ranks") else ""
    return " ".join(word for word in (*words, ranks) if word)


def _value(factor: str, side: object) -> str:
    value = _raw(factor, side)
    return format_quantity(value, "B") if factor in SIZES and isinstance(value, int) else str(value)


def _raw(factor: str, side: object) -> object:
    parameters = side if isinstance(side, dict) else {}
    return parameters.get(factor, parameters.get("block_size_bytes", ""))
