"""What pages say beside findings: the panel of UDP's loss, the layers of two sites, and predictions asked for."""

from collections.abc import Iterator
from typing import Any

from apps.campaigns.models import Experiment
from apps.results import loss
from apps.toolbox import queries as toolbox
from apps.tuning.prediction import queries as prediction
from apps.tuning.sites import queries as sites
from benchmarks.truth.statements import Statement
from benchmarks.truth.store import Stored
from benchmarks.truth.worlds.base import Setup

UDP, LAYERS, PREDICTION = "udp-panel", "layers-panel", "prediction"
# The sweeps that predictions are asked of: tool and factor, with the metrics.
ASKED = {
    ("iperf3-tcp", "window"): ("goodput",),
    ("iperf3-tcp", "streams"): ("goodput",),
    ("iozone", "clients"): ("write", "read"),
    ("iozone", "record_size"): ("write", "read"),
}
NAMES = (
    ("Every load lost", "all-lossy"),
    ("No load lost", "none-lossy"),
    ("so much one flow of datagrams can have", "capacity"),
    ("carries so much or more", "bound"),
    ("can have lies in between", "between"),
    ("All loads lost", "unknown"),
    ("othing arrived", "silence"),
    ("not enough to tell chance", "burst"),
    ("short outages", "chance"),
    ("already lost more", "not-the-load"),
    ("The knee lies at", "knee"),
    ("simply full", "full-link"),
    ("times what a full link", "excess"),
    ("pieces", "pieces"),
)


def of_udp(stored: Stored) -> Iterator[Statement]:
    """Yield what the panel concludes of each sweep of loads."""
    for pk, setup in stored.experiments.items():
        if setup.tool != "iperf3-udp":
            continue
        experiment = Experiment.objects.get(pk=pk)
        for sweep in loss.sweeps_of(experiment, toolbox.get_tool(setup.tool)):
            for message in sweep.curve.conclusions:
                name = next((name for words, name in NAMES if words in message.msgid), message.msgid[:40])
                fields = {"msgid": message.msgid, "words": dict(message.params), "setup": setup}
                yield Statement(UDP, name, fields, about=setup.name)


def of_layers(stored: Stored) -> Iterator[Statement]:
    """Yield the findings beside the layers between the two sites."""
    a, b = list(stored.sites.values())[:2]
    layers = sites.layers_of(a, b)
    if layers.failures:
        raise RuntimeError("; ".join(f"{item.rule}: {item.error}" for item in layers.failures))
    for draft in (part for lead in layers.findings for part in (lead, *lead.parts)):
        data = draft.as_json()
        yield Statement(LAYERS, draft.rule, data, draft.confidence, f"{a} – {b}", tuple(data["evidence"]))


def predictions(stored: Stored, family: str) -> Iterator[Statement]:
    """Yield what the model of each sweep answers for a setting between and one beyond those measured.

    Of TCP beside a file system only what was measured is known to the simulation.
    """
    for pk, setup in stored.experiments.items():
        metrics = ASKED.get((setup.tool, setup.factors[0])) if len(setup.factors) == 1 else None
        if not metrics or (setup.tool == "iperf3-tcp" and family != "network"):
            continue
        experiment = Experiment.objects.select_related("campaign").get(pk=pk)
        tool, lane = toolbox.get_tool(setup.tool), experiment.lanes.get()
        for name in metrics:
            metric = next(item for item in tool.metrics if item.name == name)
            for where, value in settings_asked(setup):
                asked = prediction.PredictionQuestion(
                    experiment, tool, lane, metric, prediction.factors_of(experiment, tool),
                    {setup.factors[0]: str(value)},
                )  # fmt: skip
                try:
                    answer = prediction.predict(asked).prediction
                except prediction.UnansweredQuestion:
                    continue
                fields: dict[str, Any] = {
                    "value": answer.value, "low": answer.low, "high": answer.high, "metric": name,
                    "parameters": {**setup.cells[-1].parameters, setup.factors[0]: value},
                    "n": len(setup.cells[0].trials),
                }  # fmt: skip
                yield Statement(PREDICTION, f"{setup.factors[0]} {where}", fields, about=setup.name)


def settings_asked(setup: Setup) -> Iterator[tuple[str, int]]:
    """Yield a setting between the last two measured, if there is one, and one beyond the last."""
    values = sorted(int(cell.parameters[setup.factors[0]]) for cell in setup.cells)
    if values[-1] - values[-2] > 1:
        yield "between", (values[-2] + values[-1]) // 2
    yield "beyond", 2 * values[-1]
