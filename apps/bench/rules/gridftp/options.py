"""The cheapest options that reach nearly the best rate of all that were tried."""

import math

from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft, Proof, Proposal
from apps.bench.rules.gridftp.transfers import METRIC, OPTIONS, Transfer, TriedChoices, read_choices, say, words
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.rules.tcp.scatter import Scatter, read_scatter
from apps.bench.rules.tcp.sweeps import SURELY, confidence_of
from apps.bench.text import Message, _
from apps.bench.units import canonical_text, format_quantity, percent

RULE, VERSION = "gridftp-options", 9
# A choice this near the best is as good.
WITHIN = 0.05
# A rate beyond the path by more than framing and rounding refutes what is known of it.
ABOVE = 1.02
# From this share of what TCP can have of the path on more options gain nothing.
FULL = 0.95
# The next to try beyond the largest count that was best.
MORE = 2
# Beyond so many streams others on the path suffer more than a transfer gains.
MOST_STREAMS = 64


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the command line; None unless two choices or more were measured and the chosen ones repeat well."""
    choices = read_choices(evidence)
    transfers = list(choices.kept)
    if len(transfers) < 2:
        return None
    best = max(transfers, key=lambda transfer: transfer.rate.mean)
    floor = (1 - WITHIN) * best.rate.mean
    near = [transfer for transfer in transfers if transfer.rate.mean >= floor]
    if near[0].is_scattered or best.is_scattered:
        return None
    plain = next((transfer for transfer in transfers if transfer.options == OPTIONS), None)
    least = plain or transfers[0]
    scatter = read_scatter(list(transfer.rates.values()) for transfer in transfers)
    sure = [transfer for transfer in near if _is_surely_more(transfer, least, scatter, len(transfers) - 1)]
    if least not in near and not sure:
        return _untold(choices, least, plain, scatter)
    choice = least if least in near else sure[0]
    argv = words(choice.options)
    command = " ".join(["globus-url-copy", "-vb", *argv, "SOURCE", "DESTINATION"])
    is_default = not argv
    params = {"options": say(choice), "rate": format_quantity(choice.rate.mean, "B/s")}
    title = _("GridFTP needs no option here: %(rate)s without any")
    if not is_default:
        title = _("Start GridFTP with %(options)s: %(rate)s")
    compared = _("Of the options of GridFTP that were tried %(options)s have nearly the highest rate: %(rate)s")
    path = read_path(evidence)
    is_full = best.ceiling is not None and best.rate.mean >= FULL * best.ceiling
    growing = None if is_full else _growing(transfers, choice)
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE if is_default else RECOMMENDATION,
        title=Message(title, params),
        compared_title=None if is_default else Message(compared, params),
        why=tuple(_reasons(choices, choice, best, plain, path)),
        against=_against(choice),
        value=choice.rate.mean,
        unit="B/s",
        formula=f"X({' '.join(argv) or 'no option'}) >= {1 - WITHIN:.2f} · max X = {format_quantity(floor, 'B/s')}",
        evidence=tuple(sorted({trial for transfer in transfers for trial in transfer.rates})),
        change="" if is_default else f"{command}\n",
        undo="" if is_default else "globus-url-copy -vb SOURCE DESTINATION\n",
        present=plain.rate.mean if plain and plain is not choice else None,
        predicted=choice.rate.mean,
        predicted_interval=scatter.interval(list(choice.rates.values())),
        predicted_unit="B/s",
        confidence=confidence_of((len(choice.rates) > 1, 0.2), (len(transfers) > 3, 0.15), base=0.5),
        applies_when=Message(_("Files of the size that was measured, between these ends.")),
        limits=(
            Message(_("Of choices within 5 % the one of fewest nodes, connections and streams is taken.")),
            Message(_("A window for -tcp-bs above rmem_max or wmem_max is cut without a word.")),
        ),
        source="globus-url-copy(1); RFC 6349, section 5.1",
        missing=(Message(_("Whether still more would gain: the largest tried did best.")),) if growing else (),
        proposals=(growing,) if growing else (),
        proof=_proof(choice, plain) if not is_default else None,
    )


def _is_surely_more(transfer: Transfer, least: Transfer, scatter: Scatter, looked: int) -> bool:
    """Return whether a choice has surely more than the least one, whichever of those looked at it is the best of."""
    return scatter.is_less(list(least.rates.values()), list(transfer.rates.values()), by=SURELY, looked=looked)


def _untold(choices: TriedChoices, least: Transfer, plain: Transfer | None, scatter: Scatter) -> FindingDraft:
    """Return that none of the choices tried can be told from the least: the best of many is above it by chance."""
    transfers = list(choices.kept)
    others = [transfer for transfer in transfers if transfer is not least]
    best = max(others, key=lambda transfer: transfer.rate.mean)
    rates, best_rates = list(least.rates.values()), list(best.rates.values())
    gain = math.exp(scatter.error(rates, best_rates, one_sided=True, looked=len(others)))
    params = {
        "count": len(others),
        "options": say(least),
        "rate": format_quantity(least.rate.mean, "B/s"),
        "best": say(best),
        "most": format_quantity(best.rate.mean, "B/s"),
        "gain": f"{gain:.2f}",
    }
    title = _(
        "No choice of options for GridFTP, of %(count)s tried, can be told from no option: %(rate)s without any"
    )
    if plain is None:
        title = _("No choice of options for GridFTP, of %(count)s tried, can be told from %(options)s: %(rate)s")
    text = _(
        "%(best)s had the highest rate, %(most)s: of so many choices tried one is as far above the others by chance."
    )
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE,
        title=Message(title, params),
        why=(Message(text, params), *choices.remarks),
        value=least.rate.mean,
        unit="B/s",
        formula=f"max X / X({' '.join(words(least.options)) or 'no option'}) < {gain:.2f}",
        evidence=tuple(sorted({trial for transfer in transfers for trial in transfer.rates})),
        confidence=0.5,
        applies_when=Message(_("Files of the size that was measured, between these ends.")),
        source="globus-url-copy(1)",
        missing=(Message(_("More repetitions: a gain below ×%(gain)s does not show in so few."), params),),
    )


def _against(choice: Transfer) -> tuple[Message, ...]:
    """Return that the rate is more than the paths are known to carry."""
    if not choice.is_beyond:
        return ()
    text = _("%(rate)s is more than TCP could have of the path as it is known, %(ceiling)s: one of them is wrong.")
    params = {
        "rate": format_quantity(choice.rate.mean, "B/s"),
        "ceiling": format_quantity(choice.ceiling or 0, "B/s"),
    }
    return (Message(text, params),)


def _reasons(
    choices: TriedChoices, choice: Transfer, best: Transfer, plain: Transfer | None, path: PathReading | None
) -> list[Message]:
    transfers = list(choices.kept)
    text = _(
        "Of %(count)s choices tried %(best)s had the highest rate, %(most)s; this one is within %(within)s %% of it."
    )
    params = {
        "count": len(transfers),
        "best": say(best),
        "most": format_quantity(best.rate.mean, "B/s"),
        "within": percent(WITHIN),
    }
    reasons = [Message(text, params), *choices.remarks]
    if plain and plain is not choice:
        text = _("Without options it is %(rate)s: the gain is ×%(gain)s.")
        gain = f"{choice.rate.mean / plain.rate.mean:.2f}"
        reasons.append(Message(text, {"rate": format_quantity(plain.rate.mean, "B/s"), "gain": gain}))
    elif plain is None:
        reasons.append(Message(_("Without options nothing was measured: whether they gain anything is not known.")))
    if reason := _share_of_paths(choice, path):
        reasons.append(reason)
    for name, label in (
        ("streams", _("Streams (-p): %(rates)s.")),
        ("window", _("Window (-tcp-bs): %(rates)s.")),
        ("concurrency", _("Files at once (-cc): %(rates)s.")),
    ):
        along = _along(transfers, choice, name)
        if len(along) > 1:
            rates = ", ".join(f"{_value(name, t.options[name])} {format_quantity(t.rate.mean, 'B/s')}" for t in along)
            reasons.append(Message(label, {"rates": rates}))
    return reasons


def _share_of_paths(choice: Transfer, path: PathReading | None) -> Message | None:
    """Return which share of the paths a choice has; None where they are not known."""
    is_one = choice.options["data_nodes"] == 1
    if choice.ceiling is None and (path is None or not is_one):
        return None
    ceiling = choice.ceiling or (path.ceiling_bps / 8 if path else 0.0)
    share = choice.rate.mean / ceiling
    params = {"share": percent(share), "ceiling": format_quantity(ceiling, "B/s")}
    if share > ABOVE:
        return Message(_("That is more than TCP could have of the path as it is known, %(ceiling)s."), params)
    if path is None or not is_one:
        text = _(
            "That is %(share)s %% of what TCP can have of the paths between all data nodes at once, %(ceiling)s."
        )
        return Message(text, params)
    if path.capacity.is_lower_bound:
        # Of a path that may hold more nobody knows the BDP, and of one that is not described no share either.
        text = _("That is %(share)s %% of what TCP can have of the links as described, %(ceiling)s.")
        return Message(text, params) if choice.ceiling else None
    text = _("That is %(share)s %% of what TCP can have of the path, %(ceiling)s; its BDP is %(bdp)s.")
    return Message(text, params | {"bdp": format_quantity(path.bdp_bytes, "B")})


def _value(name: str, value: float) -> str:
    return format_quantity(value, "B") if name == "window" and value else f"{value:g}"


def _along(transfers: list[Transfer], choice: Transfer, name: str) -> list[Transfer]:
    """Return the choices that differ from the chosen one in this option only, in its order."""
    fixed = {key: value for key, value in choice.options.items() if key != name}
    alike = [t for t in transfers if {key: value for key, value in t.options.items() if key != name} == fixed]
    return sorted(alike, key=lambda transfer: transfer.options[name])


def _growing(transfers: list[Transfer], choice: Transfer) -> Proposal | None:
    """Return what to try next if the largest count or window of a sweep did clearly best."""
    for name in ("streams", "window", "concurrency"):
        along = _along(transfers, choice, name)
        if len(along) > 1 and along[-1] is choice and choice.rate.mean * (1 - WITHIN) > along[-2].rate.mean:
            value = choice.options[name]
            if name == "streams" and value * MORE > MOST_STREAMS:
                continue
            steps = [value, value * MORE]
            texts = [canonical_text(step, "size") if name == "window" else str(step) for step in steps]
            fixed = {key: _text(key, item) for key, item in choice.options.items() if key != name}
            return Proposal(choice.tool or "gridftp", fixed, {name: ", ".join(texts)})
    return None


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    is_size = name in ("window", "block_size") and isinstance(value, int | float)
    return canonical_text(value, "size") if is_size and isinstance(value, int | float) else str(value)


def _proof(choice: Transfer, plain: Transfer | None) -> Proof:
    now = plain.options if plain else {**choice.options, "streams": 1, "window": 0}
    return Proof(choice.tool or "gridftp", METRIC, dict(now), dict(choice.options))
